/*
 * A strict machine: capability calls tell narrower limits, which hold as told; what the topology file says
 * is as large as it says. Regions are as many and as large as the file says, strict or not.
 *
 * clauses: core-memory doca_mmap_start; a strict machine
 * covers: @
 */
#define _GNU_SOURCE
#include "capture.h"
#include "on_machine.h"
#include "rig.h"

#define BYTES ((size_t)8 << 20)

/* A copy of so many bytes, and what becomes of it. */
static doca_error_t copied(size_t len)
{
	struct rig rig;
	doca_error_t status;

	rig_setup(&rig, BYTES, 2);
	(void)rig_copy(&rig, 0, BYTES / 2, len, 1);
	rig_drain(&rig);
	status = rig.status[0];
	if (rig.bad == 0)
		CHECK_BYTES(rig.mem + BYTES / 2, rig.mem, len);
	(void)doca_ctx_stop(rig.ctx);
	rig_until_idle(&rig);
	MUST(doca_dma_destroy(rig.dma));
	rig.dma = NULL;
	rig_teardown(&rig);
	return status;
}

/* The limits that are told; a pool of as many tasks is granted, and one more is not. */
static void limits(uint64_t want_bytes, uint32_t want_tasks)
{
	struct doca_dev *dev = rig_open_dev(NULL);
	struct doca_dma *dma = NULL;
	uint64_t bytes = 0;
	uint32_t tasks = 0;

	CHECK_OK(doca_dma_cap_task_memcpy_get_max_buf_size(doca_dev_as_devinfo(dev), &bytes));
	CHECK_U64(bytes, want_bytes);
	MUST(doca_dma_create(dev, &dma));
	CHECK_OK(doca_dma_cap_get_max_num_tasks(dma, &tasks));
	CHECK_U64(tasks, want_tasks);
	CHECK_OK(doca_dma_task_memcpy_set_conf(dma, rig_good_cb, rig_bad_cb, want_tasks));
	CHECK_REFUSED(doca_dma_task_memcpy_set_conf(dma, rig_good_cb, rig_bad_cb, want_tasks + 1));
	CHECK_OK(doca_dma_destroy(dma));
	CHECK_OK(doca_dev_close(dev));
}

static void generous(void)
{
	limits((uint64_t)2 << 30, 65536);
	CHECK_OK(copied(3 << 20));
}

static void strict(void)
{
	limits(2 << 20, 1024);
	CHECK_OK(copied(2 << 20));
	CHECK_STATUS(copied((2 << 20) + 1), DOCA_ERROR_IO_FAILED);
}

static void strict_but_for(void)
{
	limits(4 << 20, 2048);
	CHECK_OK(copied(4 << 20));
}

static void regions(void)
{
	struct doca_dev *dev = rig_open_dev(NULL);
	uint8_t *mem = (uint8_t *)malloc(65537);
	struct doca_mmap *map[3] = {NULL, NULL, NULL};
	int i;

	for (i = 0; i < 3; i++) {
		MUST(doca_mmap_create(&map[i]));
		MUST(doca_mmap_add_dev(map[i], dev));
	}
	MUST(doca_mmap_set_memrange(map[0], mem, 65537));
	MUST(doca_mmap_set_memrange(map[1], mem, 65536));
	MUST(doca_mmap_set_memrange(map[2], mem, 100));
	capture_sdk(DOCA_LOG_LEVEL_WARNING);
	capture_clear();
	CHECK_STATUS(doca_mmap_start(map[0]), DOCA_ERROR_DRIVER);
	CHECK(strstr(capture_text, "65537") != NULL && strstr(capture_text, "65536") != NULL);
	for (i = 0; i < 10; i++) {
		CHECK_OK(doca_mmap_start(map[1]));
		capture_clear();
		CHECK_STATUS(doca_mmap_start(map[2]), DOCA_ERROR_DRIVER);
		CHECK_U64(capture_count, 1);
		CHECK_OK(doca_mmap_stop(map[1]));
		CHECK_OK(doca_mmap_start(map[2]));
		CHECK_STATUS(doca_mmap_start(map[1]), DOCA_ERROR_DRIVER);
		CHECK_OK(doca_mmap_stop(map[2]));
	}
	for (i = 0; i < 3; i++)
		CHECK_OK(doca_mmap_destroy(map[i]));
	CHECK_OK(doca_dev_close(dev));
	free(mem);
}

int main(void)
{
	on_machine("strict = false\n[[card]]\n", generous);
	on_machine("strict = true\nmemlock = 1073741824\n[[card]]\n", strict);
	on_machine("strict = true\nmemlock = 1073741824\n[[card]]\n[card.limits.dma]\nmax_buf_size = 4194304\n"
		 "max_num_tasks = 2048\n",
		 strict_but_for);
	on_machine("[[card]]\n[card.limits.memory]\nmax_regions = 1\nmax_region_size = 65536\n", regions);
	return check_result();
}
