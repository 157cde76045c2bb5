/*
 * rule: buffer-in-flight
 *
 * A buffer is given back while its task is in flight.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_buf *src, *dst;

	rig_setup(&rig, 4096, 4);
	rig.drop_bufs = 0;
	src = rig_src(&rig, 0, 64);
	dst = rig_dst(&rig, 1024, 64);
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(&rig, src, dst, 0))));
	if (WRONG)
		(void)doca_buf_dec_refcount(src, NULL);
	rig_drain(&rig);
	if (!WRONG)
		MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	(void)doca_ctx_stop(rig.ctx);
	failed_teardown(&rig);
	return check_result();
}
