/*
 * rule: again-without-progress
 *
 * All tasks of a pool are in flight, and the program asks for another one in a loop without progress.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_dma_task_memcpy *task = NULL;
	struct doca_buf *src, *dst;
	union doca_data user = {0};
	doca_error_t status = DOCA_ERROR_NO_MEMORY;
	unsigned i;

	rig_setup(&rig, 4096, 1);
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	src = rig_src(&rig, 128, 64);
	dst = rig_dst(&rig, 2048, 64);
	for (i = 0; i < 5000 && status != DOCA_SUCCESS; i++) {
		status = doca_dma_task_memcpy_alloc_init(rig.dma, src, dst, user, &task);
		if (!WRONG || i > 2000)
			rig_progress(&rig);
	}
	MUST(status);
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	rig_drain(&rig);
	rig_teardown(&rig);
	return check_result();
}
