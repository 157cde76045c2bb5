/*
 * rule: tasks-not-freed
 *
 * Completed tasks are not freed, until none is left to allocate.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_dma_task_memcpy *tasks[2], *more = NULL;
	struct doca_buf *src, *dst;
	union doca_data user = {.u64 = 0};
	unsigned i;

	rig_setup(&rig, 4096, 2);
	rig.free_tasks = !WRONG;
	for (i = 0; i < 2; i++)
		tasks[i] = rig_copy(&rig, 0, 1024 + 64 * i, 64, i);
	rig_drain(&rig);
	src = rig_src(&rig, 0, 64);
	dst = rig_dst(&rig, 1024, 64);
	if (doca_dma_task_memcpy_alloc_init(rig.dma, src, dst, user, &more) == DOCA_SUCCESS)
		doca_task_free(doca_dma_task_memcpy_as_task(more));
	CHECK((more == NULL) == WRONG);
	for (i = 0; WRONG && i < 2; i++)
		doca_task_free(doca_dma_task_memcpy_as_task(tasks[i]));
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	rig_teardown(&rig);
	return check_result();
}
