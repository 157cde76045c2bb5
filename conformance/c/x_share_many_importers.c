/*
 * One exporter, eight importing processes at once: each writes its own slices of the memory and reads
 * those of its neighbour; the exporter sleeps meanwhile and finds every byte in its place.
 *
 * clauses: core-memory Export / import (one-sided access)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"

#define IMPORTERS 8
#define SLICE 9973
#define ROUNDS 20
#define BYTES ((size_t)IMPORTERS * ROUNDS * SLICE)

static size_t slice_of(unsigned who, unsigned round)
{
	return ((size_t)round * IMPORTERS + who) * SLICE;
}

static void importer(int line, unsigned who)
{
	unsigned round, next = (who + 1) % IMPORTERS;
	struct doca_mmap *remote;
	struct letter letter;
	struct rig rig;

	share_card(&rig, 2 * SLICE, 2);
	two_recv(line, &letter, sizeof(letter));
	remote = share_import(&letter, rig.dev);
	for (round = 0; round < ROUNDS; round++) {
		two_fill(rig.mem, SLICE, who * 100 + round);
		CHECK_STATUS(share_write(&rig, remote, share_at(&letter, slice_of(who, round)), 0, SLICE), DOCA_SUCCESS);
	}
	two_tell(line, 'w');
	two_await(line, 'a'); /* all have written */
	for (round = 0; round < ROUNDS; round++) {
		CHECK_STATUS(share_read(&rig, remote, share_at(&letter, slice_of(next, round)), SLICE, SLICE),
			     DOCA_SUCCESS);
		CHECK(two_is(rig.mem + SLICE, SLICE, next * 100 + round));
	}
	CHECK_OK(doca_mmap_destroy(remote));
	rig_teardown(&rig);
	close(line);
}

int main(void)
{
	pid_t pids[IMPORTERS];
	int lines[IMPORTERS];
	struct doca_mmap *map;
	struct letter letter;
	struct doca_dev *dev;
	unsigned who, round;
	uint8_t *mem;

	for (who = 0; who < IMPORTERS; who++) {
		pids[who] = two_fork(&lines[who]);
		if (pids[who] == 0) {
			importer(lines[who], who);
			exit(check_result());
		}
	}
	dev = rig_open_dev(SHARE_HOST);
	mem = calloc(1, BYTES);
	MUST_BE(mem != NULL);
	map = rig_map(dev, mem, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	share_export(map, dev, &letter);
	for (who = 0; who < IMPORTERS; who++)
		two_send(lines[who], &letter, sizeof(letter));
	for (who = 0; who < IMPORTERS; who++)
		two_await(lines[who], 'w');
	for (who = 0; who < IMPORTERS; who++)
		for (round = 0; round < ROUNDS; round++)
			CHECK(two_is(mem + slice_of(who, round), SLICE, who * 100 + round));
	for (who = 0; who < IMPORTERS; who++)
		two_tell(lines[who], 'a');
	for (who = 0; who < IMPORTERS; who++) {
		two_reap(pids[who]);
		close(lines[who]);
	}
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	free(mem);
	return check_result();
}
