/*
 * What belongs to a task: user data at allocation, between submits and at completion; its context,
 * also after it was freed; its buffers; its status; handles that are NULL, of another kind, gone.
 *
 * clauses: core-exec doca_pe.h tasks; dma memcpy task
 * covers: @
 */
#include "rig.h"

static void *seen_task;
static uint64_t seen_user;
static size_t seen_inflight;
static doca_error_t seen_status;

static void look(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	seen_task = task;
	seen_user = doca_task_get_user_data(doca_dma_task_memcpy_as_task(task)).u64;
	seen_inflight = rig_inflight(rig);
	seen_status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
}

static void life(struct rig *rig)
{
	struct doca_buf *src = rig_src(rig, 0, 100), *dst = rig_dst(rig, 1000, 100), *other = rig_dst(rig, 2000, 100);
	struct doca_dma_task_memcpy *task = rig_task(rig, src, dst, 11);
	struct doca_task *plain = doca_dma_task_memcpy_as_task(task);
	union doca_data user = {.u64 = 22};

	CHECK_PTR(doca_dma_task_memcpy_as_task(task), plain);
	CHECK_PTR(doca_task_get_ctx(plain), rig->ctx);
	CHECK_U64(doca_task_get_user_data(plain).u64, 11);
	CHECK_PTR(doca_dma_task_memcpy_get_src(task), src);
	CHECK_PTR(doca_dma_task_memcpy_get_dst(task), dst);
	CHECK_U64(rig_inflight(rig), 0); /* allocated is not submitted */
	doca_task_set_user_data(plain, user);
	CHECK_U64(doca_task_get_user_data(plain).u64, 22);
	MUST(doca_task_submit(plain));
	CHECK_U64(rig_inflight(rig), 1);
	rig_drain(rig);
	CHECK_PTR(seen_task, task);
	CHECK_U64(seen_user, 22);
	CHECK_U64(rig->order[0], 22);
	CHECK_U64(seen_inflight, 0); /* its callback has begun */
	CHECK_STATUS(seen_status, DOCA_SUCCESS);
	CHECK_OK(doca_task_get_status(plain));
	CHECK_BYTES(rig->mem + 1000, rig->mem, 100);

	/* Another destination, another cookie, the same task. */
	user.u64 = 33;
	doca_task_set_user_data(plain, user);
	doca_dma_task_memcpy_set_dst(task, other);
	doca_dma_task_memcpy_set_src(task, src);
	CHECK_PTR(doca_dma_task_memcpy_get_dst(task), other);
	MUST(doca_task_submit(plain));
	rig_drain(rig);
	CHECK_U64(seen_user, 33);
	CHECK_BYTES(rig->mem + 2000, rig->mem, 100);
	CHECK_PTR(doca_dma_task_memcpy_get_src(task), src);

	/* Freed: its context may still be asked for, to stop it. */
	doca_task_free(plain);
	CHECK_PTR(doca_task_get_ctx(plain), rig->ctx);
	CHECK_OK(doca_ctx_stop(doca_task_get_ctx(plain)));
	MUST(doca_ctx_start(rig->ctx));
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	CHECK_OK(doca_buf_dec_refcount(other, NULL));
}

/* One destination on two tasks, one in flight at a time. */
static void shared_buffer(struct rig *rig)
{
	struct doca_buf *src = rig_src(rig, 0, 100), *dst = rig_dst(rig, 1000, 100);
	struct doca_dma_task_memcpy *a = rig_task(rig, src, dst, 1), *b = rig_task(rig, src, dst, 2);
	unsigned good = rig->good;

	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(a)));
	rig_drain(rig);
	MUST(doca_buf_reset_data_len(dst));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(b)));
	rig_drain(rig);
	CHECK_U64(rig->good, good + 2);
	/* Buffers dropped before the tasks are freed. */
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	doca_task_free(doca_dma_task_memcpy_as_task(a));
	doca_task_free(doca_dma_task_memcpy_as_task(b));
}

/* Submitted twice, freed twice, submitted after free: refused, and never two callbacks. */
static void twice(struct rig *rig)
{
	struct doca_buf *src = rig_src(rig, 0, 1 << 12), *dst = rig_dst(rig, 1 << 13, 1 << 12);
	struct doca_dma_task_memcpy *task = rig_task(rig, src, dst, 5);
	struct doca_task *plain = doca_dma_task_memcpy_as_task(task);
	unsigned done = rig->good + rig->bad;
	int i;

	MUST(doca_task_submit(plain));
	CHECK_REFUSED(doca_task_submit(plain));
	CHECK_REFUSED(doca_task_try_submit(plain));
	CHECK_U64(rig_inflight(rig), 1);
	rig_drain(rig);
	for (i = 0; i < 20; i++)
		CHECK_U64(rig_progress(rig), 0);
	CHECK_U64(rig->good + rig->bad, done + 1);
	doca_task_free(plain);
	doca_task_free(plain);
	CHECK_REFUSED(doca_task_submit(plain));
	CHECK_REFUSED(doca_task_try_submit(plain));
	CHECK_U64(rig_inflight(rig), 0);
	/* The double free gave nothing away twice. */
	{
		struct doca_dma_task_memcpy *a = rig_task(rig, src, dst, 1), *b = rig_task(rig, src, dst, 2);

		CHECK(a != b);
		doca_task_free(doca_dma_task_memcpy_as_task(a));
		doca_task_free(doca_dma_task_memcpy_as_task(b));
	}
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
}

static void no_task(struct rig *rig)
{
	struct doca_task *list[2];
	union doca_data user = {0};
	int i;

	list[0] = NULL;
	list[1] = (struct doca_task *)rig->map;
	for (i = 0; i < 2; i++) {
		CHECK_STATUS(doca_task_submit(list[i]), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_task_submit_ex(list[i], 0), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_task_try_submit(list[i]), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_task_get_status(list[i]), DOCA_ERROR_INVALID_VALUE);
		doca_task_set_user_data(list[i], user);
		CHECK_U64(doca_task_get_user_data(list[i]).u64, 0);
		CHECK_PTR(doca_task_get_ctx(list[i]), NULL);
		doca_task_free(list[i]);
	}
	CHECK_PTR(doca_dma_task_memcpy_as_task(NULL), NULL);
	CHECK_PTR(doca_dma_task_memcpy_get_src(NULL), NULL);
	CHECK_PTR(doca_dma_task_memcpy_get_dst(NULL), NULL);
	doca_dma_task_memcpy_set_src(NULL, NULL);
	doca_dma_task_memcpy_set_dst(NULL, NULL);
	/* The map that was taken for a task is unharmed. */
	CHECK_STATUS(doca_mmap_set_permissions(rig->map, 0), DOCA_ERROR_BAD_STATE);
}

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 1 << 14, 4);
	rig.free_tasks = 0;
	rig.drop_bufs = 0;
	rig.on_done = look;
	life(&rig);
	shared_buffer(&rig);
	twice(&rig);
	no_task(&rig);
	rig_teardown(&rig);
	return check_result();
}
