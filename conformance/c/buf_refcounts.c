/*
 * Reference counts of buffers: values before the change, release at zero and no earlier, the upper
 * end, releases while the inventory is stopped and inside callbacks.
 *
 * clauses: core-memory inc_refcount, dec_refcount, get_refcount
 * covers: @
 */
#include "rig.h"

static uint32_t free_elements(struct doca_buf_inventory *inv)
{
	uint32_t count = 0;

	CHECK_OK(doca_buf_inventory_get_num_free_elements(inv, &count));
	return count;
}

static void drop_inside(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	uint16_t count = 0;
	struct doca_buf *src = (struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task);

	(void)rig;
	/* The task held no reference of its own. */
	CHECK_OK(doca_buf_get_refcount(src, &count));
	CHECK_U64(count, 1);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), &count));
	CHECK_U64(count, 2);
}

int main(void)
{
	struct rig rig;
	struct doca_buf *buf, *dst, *more;
	struct doca_buf_inventory *inv;
	uint16_t count = 0;
	uint32_t i;

	rig_setup(&rig, 4096, 2);
	MUST(doca_buf_inventory_create(3, &inv));
	MUST(doca_buf_inventory_start(inv));
	MUST(doca_buf_inventory_buf_get_by_data(inv, rig.map, rig.mem, 100, &buf));
	CHECK_OK(doca_buf_get_refcount(buf, &count));
	CHECK_U64(count, 1);
	CHECK_OK(doca_buf_inc_refcount(buf, &count));
	CHECK_U64(count, 1); /* before the change */
	CHECK_OK(doca_buf_inc_refcount(buf, NULL));
	CHECK_OK(doca_buf_get_refcount(buf, &count));
	CHECK_U64(count, 3);
	CHECK_OK(doca_buf_dec_refcount(buf, &count));
	CHECK_U64(count, 3);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_U64(free_elements(inv), 2);
	/* All the way up. */
	for (i = 1; i < 65535; i++)
		MUST(doca_buf_inc_refcount(buf, NULL));
	CHECK_STATUS(doca_buf_inc_refcount(buf, &count), DOCA_ERROR_TOO_BIG);
	CHECK_OK(doca_buf_get_refcount(buf, &count));
	CHECK_U64(count, 65535);
	for (i = 65535; i > 1; i--)
		MUST(doca_buf_dec_refcount(buf, NULL));

	/* Stopped inventory: descriptors stay valid and come home. */
	CHECK_OK(doca_buf_inventory_stop(inv));
	CHECK_OK(doca_buf_set_data_len(buf, 7));
	CHECK_STATUS(doca_buf_inventory_destroy(inv), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_buf_dec_refcount(buf, &count));
	CHECK_U64(count, 1);
	CHECK_U64(free_elements(inv), 3);
	/* At zero it is gone. */
	CHECK_STATUS2(doca_buf_dec_refcount(buf, NULL), DOCA_ERROR_BAD_STATE, DOCA_ERROR_INVALID_VALUE);
	CHECK_U64(free_elements(inv), 3);
	CHECK_OK(doca_buf_inventory_start(inv));

	/* Head of a list with two owners: all members stay until the second lets go. */
	MUST(doca_buf_inventory_buf_get_by_data(inv, rig.map, rig.mem, 100, &buf));
	MUST(doca_buf_inventory_buf_get_by_data(inv, rig.map, rig.mem, 100, &more));
	CHECK_OK(doca_buf_inc_refcount(buf, NULL));
	CHECK_OK(doca_buf_chain_list(buf, more));
	CHECK_OK(doca_buf_get_refcount(more, &count));
	CHECK_U64(count, 1);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_U64(free_elements(inv), 1);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_U64(free_elements(inv), 3);

	/* Dropped inside the completion callback, before the task is freed. */
	rig.drop_bufs = 0;
	rig.on_done = drop_inside;
	MUST(doca_buf_inventory_buf_get_by_data(inv, rig.map, rig.mem, 100, &buf));
	MUST(doca_buf_inventory_buf_get_by_addr(inv, rig.map, rig.mem + 200, 100, &dst));
	CHECK_OK(doca_buf_inc_refcount(dst, NULL));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(&rig, buf, dst, 0))));
	rig_drain(&rig);
	CHECK_U64(rig.good, 1);
	CHECK_U64(free_elements(inv), 2);
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	CHECK_U64(free_elements(inv), 3);

	CHECK_STATUS(doca_buf_inc_refcount(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_dec_refcount(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_get_refcount(NULL, &count), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_inventory_destroy(inv));
	rig_teardown(&rig);
	return check_result();
}
