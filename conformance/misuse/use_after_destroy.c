/*
 * rule: use-after-destroy
 *
 * A buffer is asked of a map that was destroyed.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_buf *buf = NULL;

	rig_setup(&rig, 4096, 4);
	if (!WRONG)
		MUST(doca_buf_dec_refcount(rig_src(&rig, 0, 64), NULL));
	MUST(doca_mmap_destroy(rig.map));
	if (WRONG)
		(void)doca_buf_inventory_buf_get_by_addr(rig.inv, rig.map, rig.mem, 64, &buf);
	rig.map = NULL;
	rig_teardown(&rig);
	return check_result();
}
