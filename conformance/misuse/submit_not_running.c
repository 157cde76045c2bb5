/*
 * rule: submit-not-running
 *
 * A task is submitted after the stop.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_task *task;
	struct doca_buf *src, *dst;

	rig_setup(&rig, 4096, 4);
	rig.free_tasks = 0;
	rig.drop_bufs = 0;
	src = rig_src(&rig, 0, 64);
	dst = rig_dst(&rig, 1024, 64);
	task = doca_dma_task_memcpy_as_task(rig_task(&rig, src, dst, 0));
	if (!WRONG)
		MUST(doca_task_submit(task));
	if (!WRONG)
		rig_drain(&rig);
	(void)doca_ctx_stop(rig.ctx);
	if (WRONG)
		(void)doca_task_submit(task);
	doca_task_free(task);
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	failed_teardown(&rig);
	return check_result();
}
