/*
 * rule: no-data
 *
 * The source was taken by address, and its data was never set.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_buf *src, *dst;

	rig_setup(&rig, 4096, 2);
	src = WRONG ? rig_dst(&rig, 0, 64) : rig_src(&rig, 0, 64);
	dst = rig_dst(&rig, 1024, 64);
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(&rig, src, dst, 0))));
	rig_drain(&rig);
	CHECK_U64(rig.bad, WRONG);
	(void)doca_ctx_stop(rig.ctx);
	failed_teardown(&rig);
	return check_result();
}
