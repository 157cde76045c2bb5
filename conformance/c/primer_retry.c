/*
 * Trying again: what is refused for a passing reason is tried again, a bounded number of times, while
 * the progress engine goes on; what is wrong is not; what failed on its way only when asked for.
 *
 * clauses: primer Error classes
 * covers: softdpu_primer_backoff doca_retry doca_retry_failed doca_error_is_retryable
 */
#define _GNU_SOURCE

#include <time.h>

#include <doca_primer.h>

#include "check.h"
#include "rig.h"

struct script {
	const doca_error_t *answers;
	unsigned calls;
};

static doca_error_t play(void *arg)
{
	struct script *script = (struct script *)arg;

	return script->answers[script->calls++];
}

static void check_play(doca_error_t (*retry)(struct doca_pe *, uint32_t, doca_retry_call_t, void *), uint32_t times,
		       const doca_error_t *answers, doca_error_t want, unsigned calls)
{
	struct script script = {answers, 0};

	CHECK_STATUS(retry(NULL, times, play, &script), want);
	CHECK_U64(script.calls, calls);
}

/* A context with one task: the second submit finds none, until progress has brought it back. */
struct second {
	struct rig *rig;
	struct doca_buf *src, *dst;
	unsigned tries;
};

static doca_error_t second_copy(void *arg)
{
	struct second *second = (struct second *)arg;
	struct doca_dma_task_memcpy *task;
	union doca_data user;
	doca_error_t status;

	second->tries++;
	user.u64 = 2;
	status = doca_dma_task_memcpy_alloc_init(second->rig->dma, second->src, second->dst, user, &task);
	/* The pool is empty until a completion frees a task: for this program that is a passing reason. */
	if (status == DOCA_ERROR_NO_MEMORY)
		return DOCA_ERROR_AGAIN;
	if (status != DOCA_SUCCESS)
		return status;
	return doca_task_submit(doca_dma_task_memcpy_as_task(task));
}

static void while_progress_goes_on(void)
{
	static struct rig rig;
	struct doca_dev *dev = rig_open_dev(NULL);
	struct second second = {&rig, NULL, NULL, 0};
	struct doca_dma_task_memcpy *task;
	union doca_data user;
	struct doca_pe *pe;

	MUST(doca_pe_create(&pe));
	rig_make_ctx(&rig, dev, pe, 1);
	rig.free_tasks = 1;
	rig.len = 4u * 1024 * 1024;
	rig.mem = (uint8_t *)calloc(1, rig.len);
	rig.map = rig_map(dev, rig.mem, rig.len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create(8, &rig.inv));
	MUST(doca_buf_inventory_start(rig.inv));
	MUST(doca_ctx_start(rig.ctx));
	MUST(doca_buf_inventory_buf_get_by_data(rig.inv, rig.map, rig.mem, rig.len / 2, &second.src));
	MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, rig.map, rig.mem + rig.len / 2, rig.len / 2, &second.dst));
	user.u64 = 1;
	MUST(doca_dma_task_memcpy_alloc_init(rig.dma, second.src, second.dst, user, &task));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	CHECK_OK(doca_retry(pe, 1000, second_copy, &second));
	CHECK(second.tries > 1);
	CHECK_U64(rig.good, 1);
	while (rig.good + rig.bad < 2)
		(void)doca_pe_progress(pe);
	/* The destination is full by now, so that the second copy fails. */
	CHECK_U64(rig.bad, 1);
	CHECK_U64(rig.order[1], 2);
	CHECK_OK(doca_buf_dec_refcount(second.src, NULL));
	CHECK_OK(doca_buf_dec_refcount(second.dst, NULL));
	(void)doca_ctx_stop(rig.ctx);
	while (rig.changes == 0 || rig.to[rig.changes - 1] != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(pe);
	CHECK_OK(doca_dma_destroy(rig.dma));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_buf_inventory_destroy(rig.inv));
	CHECK_OK(doca_mmap_destroy(rig.map));
	CHECK_OK(doca_dev_close(dev));
	free(rig.mem);
}

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(void)
{
	const doca_error_t good[] = {DOCA_SUCCESS};
	const doca_error_t later[] = {DOCA_ERROR_AGAIN, DOCA_ERROR_FULL, DOCA_ERROR_TIME_OUT, DOCA_SUCCESS};
	const doca_error_t never[] = {DOCA_ERROR_AGAIN, DOCA_ERROR_AGAIN, DOCA_ERROR_AGAIN, DOCA_ERROR_EMPTY};
	const doca_error_t wrong[] = {DOCA_ERROR_AGAIN, DOCA_ERROR_INVALID_VALUE};
	const doca_error_t missing[] = {DOCA_ERROR_NO_MEMORY};
	const doca_error_t failed[] = {DOCA_ERROR_IO_FAILED, DOCA_ERROR_AGAIN, DOCA_SUCCESS};
	const doca_error_t begun[] = {DOCA_ERROR_IN_PROGRESS};
	double before;

	check_play(doca_retry, 5, good, DOCA_SUCCESS, 1);
	check_play(doca_retry, 5, later, DOCA_SUCCESS, 4);
	check_play(doca_retry, 2, later, DOCA_ERROR_TIME_OUT, 3);
	check_play(doca_retry, 0, later, DOCA_ERROR_AGAIN, 1);
	check_play(doca_retry, 3, never, DOCA_ERROR_EMPTY, 4);
	check_play(doca_retry, 5, wrong, DOCA_ERROR_INVALID_VALUE, 2);
	check_play(doca_retry, 5, missing, DOCA_ERROR_NO_MEMORY, 1);
	check_play(doca_retry, 5, failed, DOCA_ERROR_IO_FAILED, 1);
	check_play(doca_retry_failed, 5, failed, DOCA_SUCCESS, 3);
	check_play(doca_retry_failed, 0, failed, DOCA_ERROR_IO_FAILED, 1);
	check_play(doca_retry_failed, 5, begun, DOCA_ERROR_IN_PROGRESS, 1);
	/* The wait grows and has a bound below; that above is no promise of a test. */
	before = now_ms();
	CHECK_U64(softdpu_primer_backoff(NULL, 10), 0);
	CHECK(now_ms() - before >= 1.0);
	CHECK_U64(softdpu_primer_backoff(NULL, UINT32_MAX), 0);
	CHECK(now_ms() - before >= 11.0);
	while_progress_goes_on();
	return check_result();
}
