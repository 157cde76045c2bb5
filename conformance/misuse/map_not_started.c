/*
 * rule: map-not-started
 *
 * A buffer is asked of a map that was not started.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_mmap *map = NULL;
	struct doca_buf *buf = NULL;

	rig_setup(&rig, 4096, 2);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, rig.dev));
	MUST(doca_mmap_set_memrange(map, rig.mem, rig.len));
	if (!WRONG)
		MUST(doca_mmap_start(map));
	(void)doca_buf_inventory_buf_get_by_addr(rig.inv, map, rig.mem, 64, &buf);
	if (buf != NULL)
		MUST(doca_buf_dec_refcount(buf, NULL));
	MUST(doca_mmap_destroy(map));
	rig_teardown(&rig);
	return check_result();
}
