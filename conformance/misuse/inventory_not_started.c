/*
 * rule: inventory-not-started
 *
 * A buffer is asked of an inventory that was not started.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_buf_inventory *inventory = NULL;
	struct doca_buf *buf = NULL;

	rig_setup(&rig, 4096, 2);
	MUST(doca_buf_inventory_create(8, &inventory));
	if (!WRONG)
		MUST(doca_buf_inventory_start(inventory));
	(void)doca_buf_inventory_buf_get_by_addr(inventory, rig.map, rig.mem, 64, &buf);
	if (buf != NULL)
		MUST(doca_buf_dec_refcount(buf, NULL));
	MUST(doca_buf_inventory_destroy(inventory));
	rig_teardown(&rig);
	return check_result();
}
