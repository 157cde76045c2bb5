/*
 * rule: task-not-running
 *
 * A task is allocated before the context was started.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_dma_task_memcpy *task = NULL;
	struct doca_buf *src, *dst;
	union doca_data user = {.u64 = 0};

	rig_setup(&rig, 4096, 4);
	src = rig_src(&rig, 0, 64);
	dst = rig_dst(&rig, 1024, 64);
	if (WRONG) {
		MUST(doca_ctx_stop(rig.ctx));
		rig_until_idle(&rig);
		(void)doca_dma_task_memcpy_alloc_init(rig.dma, src, dst, user, &task);
		MUST(doca_ctx_start(rig.ctx));
	} else {
		MUST(doca_dma_task_memcpy_alloc_init(rig.dma, src, dst, user, &task));
		doca_task_free(doca_dma_task_memcpy_as_task(task));
	}
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	rig_teardown(&rig);
	return check_result();
}
