/*
 * Four processes add to one event at the same time: not one addition is lost, and no two of them see the
 * same value before theirs; data written before an update is seen after the wait for it.
 *
 * clauses: core-sync-graph Behaviour (atomic accesses, memory order)
 * covers: @
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "x_sync.h"

#define ADDERS 3
#define ADDS 200000
#define TOTAL ((ADDERS + 1) * ADDS)

struct shared {
	uint8_t seen[TOTAL]; /* by value before the addition */
	uint64_t data[8];
};

static struct shared *shared;

static void adds(struct doca_sync_event *event)
{
	uint64_t before, last = 0;
	unsigned i;

	for (i = 0; i < ADDS; i++) {
		CHECK_OK(doca_sync_event_update_add(event, 1, &before));
		CHECK(i == 0 || before > last);
		last = before;
		MUST_BE(before < TOTAL);
		CHECK_U64(__atomic_fetch_add(&shared->seen[before], 1, __ATOMIC_RELAXED), 0);
	}
}

/* Values from 2^40 on: the two pass a page of data to and fro. */
static void passes(struct doca_sync_event *event, unsigned parity)
{
	uint64_t turn, base = 1ull << 40;
	unsigned i;

	for (turn = 0; turn < 2000; turn++) {
		if (turn % 2 != parity)
			continue;
		CHECK_OK(doca_sync_event_wait_eq_yield(event, base + turn, UINT64_MAX));
		for (i = 0; i < 8; i++) {
			CHECK_U64(shared->data[i], turn == 0 ? 0 : turn * 8 + i);
			shared->data[i] = (turn + 1) * 8 + i;
		}
		CHECK_OK(doca_sync_event_update_set(event, base + turn + 1));
	}
}

static void adder(int line, int passer)
{
	struct doca_dev *dev = sync_open(SYNC_CARD);
	struct doca_sync_event *event;
	struct sync_blob blob;

	two_recv(line, &blob, sizeof(blob));
	event = sync_import(&blob, dev);
	MUST(doca_sync_event_start(event));
	two_tell(line, 'r');
	two_await(line, 'g');
	adds(event);
	two_tell(line, 'a');
	if (passer)
		passes(event, 1);
	sync_end(event);
	CHECK_OK(doca_dev_close(dev));
	close(line);
}

int main(void)
{
	struct doca_sync_event *event;
	struct doca_dev *dev;
	struct sync_blob blob;
	pid_t pids[ADDERS];
	int lines[ADDERS];
	unsigned i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST_BE(shared != MAP_FAILED);
	for (i = 0; i < ADDERS; i++) {
		pids[i] = two_fork(&lines[i]);
		if (pids[i] == 0) {
			adder(lines[i], i == 0);
			exit(check_result());
		}
	}
	dev = sync_open(SYNC_HOST);
	event = sync_remote_pci(dev);
	MUST(doca_sync_event_start(event));
	sync_export(event, dev, &blob);
	for (i = 0; i < ADDERS; i++)
		two_send(lines[i], &blob, sizeof(blob));
	for (i = 0; i < ADDERS; i++)
		two_await(lines[i], 'r');
	for (i = 0; i < ADDERS; i++)
		two_tell(lines[i], 'g');
	adds(event);
	for (i = 0; i < ADDERS; i++)
		two_await(lines[i], 'a');
	CHECK_U64(sync_value(event), TOTAL);
	for (i = 0; i < TOTAL; i++)
		CHECK_U64(shared->seen[i], 1);
	CHECK_OK(doca_sync_event_update_set(event, 1ull << 40));
	passes(event, 0);
	CHECK_OK(doca_sync_event_wait_eq(event, (1ull << 40) + 2000, UINT64_MAX));
	for (i = 0; i < ADDERS; i++) {
		two_reap(pids[i]);
		close(lines[i]);
	}
	CHECK_U64(sync_value(event), (1ull << 40) + 2000);
	sync_end(event);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
