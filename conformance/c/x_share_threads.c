/*
 * Worker threads that share one imported map, as storage programs do: thread safety is switched on right
 * after the import; every thread has its own inventory, progress engine and context; meanwhile the
 * exporting process is blocked.
 *
 * clauses: core-memory doca_mmap_enable_thread_safety, Buffers (threads); core-exec 8
 * covers: @
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "x_share.h"

#define THREADS 3
#define SLICE 20000
#define ROUNDS 60
#define BYTES ((size_t)THREADS * SLICE)

struct worker {
	pthread_t thread;
	unsigned number;
	struct doca_mmap *remote;
	struct letter letter;
};

static void *work(void *cookie)
{
	struct worker *worker = cookie;
	uint64_t at = (uint64_t)worker->number * SLICE;
	struct rig rig;
	unsigned round;

	share_card(&rig, 2 * SLICE, 2);
	for (round = 0; round < ROUNDS; round++) {
		two_fill(rig.mem, SLICE, round * 7 + worker->number);
		CHECK_STATUS(share_write(&rig, worker->remote, share_at(&worker->letter, at), 0, SLICE), DOCA_SUCCESS);
		CHECK_STATUS(share_read(&rig, worker->remote, share_at(&worker->letter, at), SLICE, SLICE),
			     DOCA_SUCCESS);
		CHECK(two_is(rig.mem + SLICE, SLICE, round * 7 + worker->number));
	}
	rig_teardown(&rig);
	return NULL;
}

static void card(int line)
{
	struct doca_dev *dev = rig_open_dev(SHARE_CARD);
	struct worker workers[THREADS];
	struct doca_mmap *remote;
	struct letter letter;
	unsigned i;

	two_recv(line, &letter, sizeof(letter));
	remote = share_import(&letter, dev);
	MUST(doca_mmap_enable_thread_safety(remote));
	for (i = 0; i < THREADS; i++) {
		workers[i].number = i;
		workers[i].remote = remote;
		workers[i].letter = letter;
		MUST_BE(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	CHECK_OK(doca_mmap_destroy(remote));
	CHECK_OK(doca_dev_close(dev));
	close(line);
}

int main(void)
{
	struct doca_mmap *map;
	struct letter letter;
	struct doca_dev *dev;
	uint8_t *mem;
	unsigned i;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	dev = rig_open_dev(SHARE_HOST);
	mem = calloc(1, BYTES);
	MUST_BE(mem != NULL);
	map = rig_map(dev, mem, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	share_export(map, dev, &letter);
	two_send(line, &letter, sizeof(letter));
	two_reap(pid);
	for (i = 0; i < THREADS; i++)
		CHECK(two_is(mem + (size_t)i * SLICE, SLICE, (ROUNDS - 1) * 7 + i));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	free(mem);
	close(line);
	return check_result();
}
