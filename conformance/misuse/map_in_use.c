/*
 * rule: map-in-use
 *
 * A memory map is destroyed while a buffer of it is out.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_buf *buf;

	rig_setup(&rig, 4096, 4);
	buf = rig_src(&rig, 0, 64);
	if (WRONG)
		(void)doca_mmap_destroy(rig.map);
	MUST(doca_buf_dec_refcount(buf, NULL));
	rig_teardown(&rig);
	return check_result();
}
