/*
 * rule: destination-too-small
 *
 * The destination is smaller than the data.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 2);
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(
		rig_task(&rig, rig_src(&rig, 0, 64), rig_dst(&rig, 1024, WRONG ? 63 : 64), 0))));
	rig_drain(&rig);
	CHECK_U64(rig.bad, WRONG);
	(void)doca_ctx_stop(rig.ctx);
	failed_teardown(&rig);
	return check_result();
}
