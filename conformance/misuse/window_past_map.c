/*
 * rule: window-past-map
 *
 * A buffer reaches one byte past the end of the map.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_buf *buf = NULL;

	rig_setup(&rig, 4096, 2);
	(void)doca_buf_inventory_buf_get_by_addr(rig.inv, rig.map, rig.mem + 4000, WRONG ? 97 : 96, &buf);
	CHECK((buf == NULL) == WRONG);
	if (buf != NULL)
		MUST(doca_buf_dec_refcount(buf, NULL));
	rig_teardown(&rig);
	return check_result();
}
