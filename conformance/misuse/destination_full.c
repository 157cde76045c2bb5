/*
 * rule: destination-too-small
 *
 * A destination is used again without resetting its data: it is full.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_buf *src, *dst;
	unsigned i;

	rig_setup(&rig, 4096, 2);
	rig.drop_bufs = 0;
	src = rig_src(&rig, 0, 64);
	dst = rig_dst(&rig, 1024, 64);
	for (i = 0; i < 2; i++) {
		if (!WRONG)
			MUST(doca_buf_reset_data_len(dst));
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(&rig, src, dst, 0))));
		rig_drain(&rig);
	}
	CHECK_U64(rig.bad, WRONG);
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	(void)doca_ctx_stop(rig.ctx);
	failed_teardown(&rig);
	return check_result();
}
