/*
 * rule: context-not-idle
 *
 * DOCA_ERROR_IN_PROGRESS of a stop is ignored: the context has a task in flight yet.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	CHECK_STATUS(doca_ctx_stop(rig.ctx), DOCA_ERROR_IN_PROGRESS);
	if (WRONG)
		(void)doca_dma_destroy(rig.dma);
	failed_teardown(&rig);
	return check_result();
}
