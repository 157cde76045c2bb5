/*
 * rule: use-after-free
 *
 * A task is submitted again after it was freed.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_task *task;
	struct doca_buf *src, *dst;

	rig_setup(&rig, 4096, 4);
	rig.free_tasks = WRONG;
	rig.drop_bufs = 0;
	src = rig_src(&rig, 0, 64);
	dst = rig_dst(&rig, 1024, 128);
	task = doca_dma_task_memcpy_as_task(rig_task(&rig, src, dst, 0));
	MUST(doca_task_submit(task));
	rig_drain(&rig);
	(void)doca_task_submit(task);
	rig_drain(&rig);
	if (!WRONG)
		doca_task_free(task);
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	rig_teardown(&rig);
	return check_result();
}
