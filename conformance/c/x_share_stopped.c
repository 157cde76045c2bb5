/*
 * The exporter stops its map while another process holds an import: the importer's tasks fail with
 * IO_FAILED, its context can be started again, its other maps work on; the old descriptor is dead for
 * good, also when the exporter starts the map again, and a new descriptor works.
 *
 * clauses: core-memory Memory map state machine, Export / import (stop, stale descriptors)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"

#define BYTES 40000

static void card(int line)
{
	struct doca_mmap *first, *second, *third = NULL;
	struct letter letter, kept;
	struct rig rig;

	share_card(&rig, 2 * BYTES, 2);
	two_recv(line, &letter, sizeof(letter));
	kept = letter;
	first = share_import(&letter, rig.dev);
	CHECK_STATUS(share_read(&rig, first, share_at(&letter, 0), 0, BYTES), DOCA_SUCCESS);
	CHECK(two_is(rig.mem, BYTES, 1));
	two_tell(line, 'r');
	two_await(line, 's'); /* stopped */
	share_expect_gone(&rig, first, share_at(&letter, 0), BYTES);
	share_expect_gone(&rig, first, share_at(&letter, 7), 1);
	CHECK_STATUS(doca_mmap_create_from_export(NULL, kept.desc, kept.desc_len, rig.dev, &third),
		     DOCA_ERROR_INVALID_VALUE);
	/* Local work goes on. */
	CHECK_STATUS(share_copy(&rig, rig.map, rig.mem, rig.map, rig.mem + BYTES, BYTES), DOCA_SUCCESS);
	two_tell(line, 'f');
	two_recv(line, &letter, sizeof(letter)); /* started once more */
	CHECK_STATUS(doca_mmap_create_from_export(NULL, kept.desc, kept.desc_len, rig.dev, &third),
		     DOCA_ERROR_INVALID_VALUE);
	share_expect_gone(&rig, first, share_at(&letter, 0), BYTES);
	second = share_import(&letter, rig.dev);
	CHECK_STATUS(share_read(&rig, second, share_at(&letter, 0), 0, BYTES), DOCA_SUCCESS);
	CHECK(two_is(rig.mem, BYTES, 2));
	CHECK_OK(doca_mmap_destroy(first));
	/* Of two imports one going does not take the other along. */
	CHECK_STATUS(share_read(&rig, second, share_at(&letter, 0), 0, 100), DOCA_SUCCESS);
	two_tell(line, 'g');
	two_await(line, 'd'); /* destroyed */
	share_expect_gone(&rig, second, share_at(&letter, 0), BYTES);
	CHECK_OK(doca_mmap_stop(second));
	CHECK_OK(doca_mmap_destroy(second));
	rig_teardown(&rig);
	close(line);
}

int main(void)
{
	struct doca_mmap *map;
	struct letter letter;
	struct doca_dev *dev;
	uint8_t *mem;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	dev = rig_open_dev(SHARE_HOST);
	mem = malloc(BYTES);
	MUST_BE(mem != NULL);
	two_fill(mem, BYTES, 1);
	map = rig_map(dev, mem, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	share_export(map, dev, &letter);
	two_send(line, &letter, sizeof(letter));
	two_await(line, 'r');
	CHECK_OK(doca_mmap_stop(map));
	two_fill(mem, BYTES, 2);
	two_tell(line, 's');
	two_await(line, 'f');
	MUST(doca_mmap_start(map));
	share_export(map, dev, &letter);
	two_send(line, &letter, sizeof(letter));
	two_await(line, 'g');
	CHECK_OK(doca_mmap_destroy(map));
	/* From here on the memory is the program's alone. */
	memset(mem, 0, BYTES);
	free(mem);
	two_tell(line, 'd');
	two_reap(pid);
	CHECK_OK(doca_dev_close(dev));
	close(line);
	return check_result();
}
