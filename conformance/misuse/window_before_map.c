/*
 * rule: window-past-map
 *
 * A buffer begins before the map.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_buf *buf = NULL;

	rig_setup(&rig, 4096, 2);
	(void)doca_buf_inventory_buf_get_by_data(rig.inv, rig.map, rig.mem - (WRONG ? 1 : 0), 64, &buf);
	if (buf != NULL)
		MUST(doca_buf_dec_refcount(buf, NULL));
	rig_teardown(&rig);
	return check_result();
}
