/*
 * The two grades of submit against everything that can be wrong with a copy: the checked one refuses
 * with a code and leaves task and context alone; the plain one accepts, the task fails with IO_FAILED
 * and the context stops when that is delivered, not before.
 *
 * clauses: core-exec doca_task_submit, doca_task_try_submit, 4; dma Behaviour (what counts as failure)
 * env: SOFTDPU_PROFILE=bf3
 * covers: @
 */
#include "rig.h"

#define BIG ((size_t)2097152 + 1)

struct wrong {
	const char *what;
	struct doca_buf *(*src)(struct rig *rig);
	struct doca_buf *(*dst)(struct rig *rig);
	doca_error_t refused, or_refused;
};

static struct doca_buf *src_100(struct rig *rig)
{
	return rig_src(rig, 0, 100);
}

static struct doca_buf *src_empty(struct rig *rig)
{
	return rig_dst(rig, 0, 100);
}

static struct doca_buf *src_large(struct rig *rig)
{
	return rig_src(rig, 0, BIG);
}

static struct doca_buf *long_list(struct rig *rig, struct doca_buf *(*piece)(struct rig *, size_t, size_t))
{
	struct doca_buf *head = piece(rig, 0, 10);
	int i;

	for (i = 1; i < 65; i++)
		MUST(doca_buf_chain_list(head, piece(rig, (size_t)i * 10, 10)));
	return head;
}

static struct doca_buf *src_65(struct rig *rig)
{
	return long_list(rig, rig_src);
}

static struct doca_buf *dst_65(struct rig *rig)
{
	return long_list(rig, rig_dst);
}

static struct doca_buf *dst_100(struct rig *rig)
{
	return rig_dst(rig, BIG, 100);
}

static struct doca_buf *dst_99(struct rig *rig)
{
	return rig_dst(rig, BIG, 99);
}

static struct doca_buf *dst_large(struct rig *rig)
{
	return rig_dst(rig, BIG, BIG);
}

static struct doca_buf *dst_half_full(struct rig *rig)
{
	struct doca_buf *buf = rig_dst(rig, BIG, 150);

	MUST(doca_buf_set_data(buf, rig->mem + BIG + 1, 50));
	return buf; /* tail room 99 */
}

static struct doca_buf *dst_full(struct rig *rig)
{
	return rig_src(rig, BIG, 100);
}

static const struct wrong table[] = {
	{"empty source", src_empty, dst_100, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
	{"destination one byte short", src_100, dst_99, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
	{"tail room one byte short", src_100, dst_half_full, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
	{"destination full", src_100, dst_full, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
	{"one byte over the largest copy", src_large, dst_large, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
	{"source list too long", src_65, dst_large, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
	{"destination list too long", src_100, dst_65, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
	{"no source", NULL, dst_100, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
	{"no destination", src_100, NULL, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_INVALID_VALUE},
};

static size_t data_len(struct doca_buf *buf)
{
	size_t len = 0;

	CHECK_OK(doca_buf_get_data_len(buf, &len));
	return len;
}

static void one(struct rig *rig, const struct wrong *row)
{
	struct doca_buf *src = row->src ? row->src(rig) : NULL, *dst = row->dst ? row->dst(rig) : NULL;
	struct doca_dma_task_memcpy *good_task, *task = rig_task(rig, src, dst, 9), *after;
	size_t src_len = src ? data_len(src) : 0, dst_len = dst ? data_len(dst) : 0;
	unsigned at = rig->good + rig->bad, changes = rig->changes, failures = (unsigned)check_failures;

	CHECK_STATUS2(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)), row->refused, row->or_refused);
	CHECK_U64(rig_state(rig), DOCA_CTX_STATE_RUNNING);
	CHECK_U64(rig_inflight(rig), 0);
	/* One before, one after; all three are accepted. */
	good_task = rig_copy(rig, 0, BIG + 1000, 64, 8);
	CHECK_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	after = rig_copy(rig, 0, BIG + 2000, 64, 10);
	CHECK_U64(rig_state(rig), DOCA_CTX_STATE_RUNNING);
	CHECK_U64(rig_inflight(rig), 3);
	rig_drain(rig);
	CHECK_U64(rig->good + rig->bad, at + 3);
	CHECK_U64(rig->order[at], 8);
	CHECK_U64(rig->order[at + 1], 9);
	CHECK_U64(rig->order[at + 2], 10);
	CHECK_STATUS(rig->status[at], DOCA_SUCCESS);
	CHECK_STATUS(rig->status[at + 1], DOCA_ERROR_IO_FAILED);
	CHECK_STATUS2(rig->status[at + 2], DOCA_SUCCESS, DOCA_ERROR_IO_FAILED);
	CHECK_U64(rig_state(rig), DOCA_CTX_STATE_STOPPING);
	CHECK_U64(rig->changes, changes + 1);
	/* The descriptors are as they were. */
	if (src != NULL) {
		CHECK_U64(data_len(src), src_len);
		CHECK_OK(doca_buf_dec_refcount(src, NULL));
	}
	if (dst != NULL) {
		CHECK_U64(data_len(dst), dst_len);
		CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	}
	CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(good_task), NULL));
	CHECK_OK(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(good_task), NULL));
	CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(after), NULL));
	CHECK_OK(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(after), NULL));
	doca_task_free(doca_dma_task_memcpy_as_task(good_task));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	doca_task_free(doca_dma_task_memcpy_as_task(after));
	rig_until_idle(rig);
	MUST(doca_ctx_start(rig->ctx));
	if ((unsigned)check_failures != failures)
		fprintf(stderr, "  ... in the case \"%s\"\n", row->what);
}

int main(void)
{
	struct rig rig;
	struct doca_dma_task_memcpy *task;
	size_t i;

	rig_setup(&rig, 2 * BIG, 4);
	rig.free_tasks = 0;
	rig.drop_bufs = 0;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		one(&rig, &table[i]);
	/* Exactly at the limits all is well. */
	rig.free_tasks = rig.drop_bufs = 1;
	rig.good = rig.bad = 0;
	task = rig_task(&rig, rig_src(&rig, 0, BIG - 1), rig_dst(&rig, BIG, BIG - 1), 1);
	CHECK_OK(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)));
	rig_drain(&rig);
	CHECK_U64(rig.good, 1);
	CHECK_BYTES(rig.mem + BIG, rig.mem, BIG - 1);
	rig_teardown(&rig);
	return check_result();
}
