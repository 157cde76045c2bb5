/*
 * A large region moved in pieces by four tasks that are submitted again from their own callback, the
 * buffers re-aimed at the next piece. The pool holds exactly four tasks and eight descriptors.
 *
 * clauses: core-exec 5 (ownership in the callback); core-memory Inventory (reuse)
 * covers: @
 */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "rig.h"

#define TASKS 4
#define PIECE 60000
#define PIECES 97
#define TOTAL ((size_t)PIECE * PIECES)

struct mover {
	uint8_t *from, *to;
	size_t next;
	size_t moved;
	unsigned callbacks;
};

static void piece_done(struct doca_dma_task_memcpy *task, union doca_data task_user, union doca_data ctx_user)
{
	struct mover *mover = ctx_user.ptr;
	struct doca_buf *src = (struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task);
	struct doca_buf *dst = doca_dma_task_memcpy_get_dst(task);
	size_t len = 0, at;

	(void)task_user;
	mover->callbacks++;
	CHECK_OK(doca_task_get_status(doca_dma_task_memcpy_as_task(task)));
	CHECK_OK(doca_buf_get_data_len(dst, &len));
	CHECK_U64(len, PIECE);
	mover->moved += len;
	if (mover->next == TOTAL) {
		doca_task_free(doca_dma_task_memcpy_as_task(task));
		CHECK_OK(doca_buf_dec_refcount(src, NULL));
		CHECK_OK(doca_buf_dec_refcount(dst, NULL));
		return;
	}
	at = mover->next;
	mover->next += PIECE;
	MUST(doca_buf_inventory_buf_reuse_by_data(src, mover->from + at, PIECE));
	MUST(doca_buf_inventory_buf_reuse_by_addr(dst, mover->to + at, PIECE));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
}

static void piece_failed(struct doca_dma_task_memcpy *task, union doca_data task_user, union doca_data ctx_user)
{
	(void)task_user;
	(void)ctx_user;
	CHECK(!"a piece failed");
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

int main(void)
{
	struct mover mover = {0};
	struct doca_dev *dev = rig_open_dev("0000:b1:00.0");
	struct doca_mmap *from_map, *to_map;
	struct doca_buf_inventory *inv;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	union doca_data user = {.ptr = &mover}, none = {0};
	size_t i, inflight;

	mover.from = malloc(TOTAL);
	mover.to = calloc(1, TOTAL);
	MUST_BE(mover.from != NULL && mover.to != NULL);
	for (i = 0; i < TOTAL; i++)
		mover.from[i] = (uint8_t)(i * 2654435761u >> 13);
	from_map = rig_map(dev, mover.from, TOTAL, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	to_map = rig_map(dev, mover.to, TOTAL, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create(2 * TASKS, &inv));
	MUST(doca_buf_inventory_start(inv));
	MUST(doca_pe_create(&pe));
	MUST(doca_dma_create(dev, &dma));
	ctx = doca_dma_as_ctx(dma);
	MUST(doca_pe_connect_ctx(pe, ctx));
	MUST(doca_ctx_set_user_data(ctx, user));
	MUST(doca_dma_task_memcpy_set_conf(dma, piece_done, piece_failed, TASKS));
	MUST(doca_ctx_start(ctx));

	for (i = 0; i < TASKS; i++) {
		struct doca_dma_task_memcpy *task;
		struct doca_buf *src, *dst;

		MUST(doca_buf_inventory_buf_get_by_data(inv, from_map, mover.from + mover.next, PIECE, &src));
		MUST(doca_buf_inventory_buf_get_by_addr(inv, to_map, mover.to + mover.next, PIECE, &dst));
		mover.next += PIECE;
		MUST(doca_dma_task_memcpy_alloc_init(dma, src, dst, none, &task));
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	}
	do {
		(void)doca_pe_progress(pe);
		MUST(doca_ctx_get_num_inflight_tasks(ctx, &inflight));
	} while (inflight != 0);
	CHECK_U64(mover.callbacks, PIECES);
	CHECK_U64(mover.moved, TOTAL);
	CHECK_BYTES(mover.to, mover.from, TOTAL);

	CHECK_OK(doca_ctx_stop(ctx));
	CHECK_OK(doca_dma_destroy(dma));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_buf_inventory_stop(inv));
	CHECK_OK(doca_buf_inventory_destroy(inv));
	CHECK_OK(doca_mmap_destroy(from_map));
	CHECK_OK(doca_mmap_destroy(to_map));
	CHECK_OK(doca_dev_close(dev));
	free(mover.from);
	free(mover.to);
	return check_result();
}
