/*
 * rule: missing-permission
 *
 * The destination lies in a map that devices may only read.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_mmap *map;
	struct doca_buf *dst = NULL;

	rig_setup(&rig, 4096, 2);
	map = rig_map(rig.dev, rig.mem, rig.len,
		      WRONG ? DOCA_ACCESS_FLAG_LOCAL_READ_ONLY : DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, map, rig.mem + 1024, 64, &dst));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(&rig, rig_src(&rig, 0, 64), dst, 0))));
	rig_drain(&rig);
	CHECK_U64(rig.bad, WRONG);
	(void)doca_ctx_stop(rig.ctx);
	rig_until_idle(&rig);
	MUST(doca_mmap_destroy(map));
	failed_teardown(&rig);
	return check_result();
}
