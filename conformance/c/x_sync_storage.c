/*
 * An event over the program's own memory: a cell by address, eight bytes of a buffer, which two events may
 * share; the value is seen in memory; bad alignment, wrong length, missing rights, and too late are
 * refused.
 *
 * clauses: core-sync-graph doca_sync_event_set_addr, doca_sync_event_set_doca_buf
 * covers: @
 */
#define _GNU_SOURCE
#include "rig.h"
#include "x_sync.h"

static const uint32_t all_rights = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE |
				   DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |
				   DOCA_ACCESS_FLAG_RDMA_ATOMIC;

static void by_address(struct doca_dev *dev)
{
	static uint64_t cell = 41;
	struct doca_sync_event *event = sync_local(dev);
	uint64_t before = 0;

	CHECK_STATUS(doca_sync_event_set_addr(event, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_set_addr(event, (uint64_t *)(void *)((char *)&cell + 4)), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_set_addr(NULL, &cell), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sync_event_set_addr(event, &cell));
	MUST(doca_sync_event_start(event));
	CHECK_OK(doca_sync_event_update_set(event, 1));
	CHECK_U64(__atomic_load_n(&cell, __ATOMIC_ACQUIRE), 1);
	__atomic_store_n(&cell, 100, __ATOMIC_RELEASE);
	CHECK_OK(doca_sync_event_wait_eq(event, 100, UINT64_MAX));
	CHECK_OK(doca_sync_event_update_add(event, 5, &before));
	CHECK_U64(before, 100);
	CHECK_U64(cell, 105);
	sync_end(event);
	CHECK_U64(cell, 105);
}

static void by_buffer(struct doca_dev *dev)
{
	struct doca_buf_inventory *inv = NULL;
	struct doca_sync_event *first = sync_local(dev), *second = sync_local(dev);
	struct doca_buf *buf = NULL, *poor_buf = NULL, *seven = NULL, *list = NULL;
	struct doca_mmap *map, *poor;
	uint64_t *memory = aligned_alloc(64, 256);
	uint64_t value = 0;

	MUST_BE(memory != NULL);
	memset(memory, 0, 256);
	map = rig_map(dev, memory, 256, all_rights);
	poor = rig_map(dev, memory, 256, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create(8, &inv));
	MUST(doca_buf_inventory_start(inv));
	MUST(doca_buf_inventory_buf_get_by_data(inv, map, memory + 2, 8, &buf));
	MUST(doca_buf_inventory_buf_get_by_data(inv, poor, memory, 8, &poor_buf));
	MUST(doca_buf_inventory_buf_get_by_data(inv, map, memory + 4, 7, &seven));
	MUST(doca_buf_inventory_buf_get_by_data(inv, map, memory + 8, 8, &list));
	{
		struct doca_buf *tail = NULL;

		MUST(doca_buf_inventory_buf_get_by_data(inv, map, memory + 9, 8, &tail));
		MUST(doca_buf_chain_list(list, tail));
	}
	CHECK_STATUS(doca_sync_event_set_doca_buf(first, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_set_doca_buf(NULL, buf), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_set_doca_buf(first, seven), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_set_doca_buf(first, list), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_dec_refcount(list, NULL));
	CHECK_OK(doca_buf_dec_refcount(seven, NULL));
	/* Rights are looked at here or, at the latest, by start. */
	{
		doca_error_t status = doca_sync_event_set_doca_buf(second, poor_buf);

		if (status == DOCA_SUCCESS)
			status = doca_sync_event_start(second);
		CHECK_STATUS(status, DOCA_ERROR_NOT_PERMITTED);
		CHECK_OK(doca_sync_event_destroy(second));
		second = sync_local(dev);
	}
	CHECK_OK(doca_buf_dec_refcount(poor_buf, NULL));
	CHECK_OK(doca_sync_event_set_doca_buf(first, buf));
	CHECK_OK(doca_sync_event_set_doca_buf(second, buf));
	MUST(doca_sync_event_start(first));
	MUST(doca_sync_event_start(second));
	CHECK_STATUS(doca_sync_event_set_doca_buf(first, buf), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_sync_event_update_set(first, 77));
	CHECK_U64(sync_value(second), 77);
	CHECK_U64(__atomic_load_n(&memory[2], __ATOMIC_ACQUIRE), 77);
	CHECK_OK(doca_sync_event_update_add(second, 1, &value));
	CHECK_OK(doca_sync_event_wait_eq(first, 78, UINT64_MAX));
	CHECK_U64(memory[1], 0);
	CHECK_U64(memory[3], 0);
	sync_end(first);
	sync_end(second);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_OK(doca_buf_inventory_destroy(inv));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_mmap_destroy(poor));
	free(memory);
}

int main(void)
{
	struct doca_dev *dev = sync_open(SYNC_CARD);

	by_address(dev);
	by_buffer(dev);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
