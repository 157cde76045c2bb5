/*
 * Importers are killed while they write into the exporter's memory: stop of the map comes back all the
 * same, nothing writes afterwards, and the exporter serves the next importer.
 *
 * clauses: core-memory Memory map state machine (stop), Export / import
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"

#define BYTES (4u << 20)
#define ROUNDS 10

static void writer(int line)
{
	struct doca_mmap *remote;
	struct letter letter;
	struct rig rig;
	int first = 1;

	two_recv(line, &letter, sizeof(letter));
	share_card(&rig, BYTES, 4);
	remote = share_import(&letter, rig.dev);
	two_fill(rig.mem, BYTES, 3);
	for (;;) {
		if (share_write(&rig, remote, share_at(&letter, 0), 0, BYTES) != DOCA_SUCCESS)
			_exit(9);
		if (first)
			two_tell(line, 'w');
		first = 0;
	}
}

int main(void)
{
	struct doca_mmap *map;
	struct letter letter;
	pid_t pids[ROUNDS];
	int lines[ROUNDS];
	struct doca_dev *dev;
	uint8_t *mem;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		pids[round] = two_fork(&lines[round]);
		if (pids[round] == 0)
			writer(lines[round]);
	}
	dev = rig_open_dev(SHARE_HOST);
	mem = calloc(1, BYTES);
	MUST_BE(mem != NULL);
	map = rig_map(dev, mem, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (round = 0; round < ROUNDS; round++) {
		memset(mem, 0, BYTES);
		share_export(map, dev, &letter);
		two_send(lines[round], &letter, sizeof(letter));
		two_await(lines[round], 'w');
		CHECK(two_is(mem, BYTES, 3));
		two_sleep_ms(round);
		if (round % 2 == 0) {
			/* The importer dies in mid-copy, then the map stops. */
			two_kill(pids[round]);
			CHECK_OK(doca_mmap_stop(map));
		} else {
			/* The map stops in mid-copy: this waits for the access that is under way, not for more. */
			CHECK_OK(doca_mmap_stop(map));
			memset(mem, 0xcc, BYTES);
			two_sleep_ms(20);
			CHECK(mem[0] == 0xcc && memcmp(mem, mem + 1, BYTES - 1) == 0);
			two_kill_or_ended(pids[round]);
		}
		MUST(doca_mmap_start(map));
		close(lines[round]);
	}
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	free(mem);
	return check_result();
}
