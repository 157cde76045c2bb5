/*
 * rule: inventory-in-use
 *
 * An inventory is destroyed while a buffer of it is out.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_buf_inventory *inventory = NULL;
	struct doca_buf *buf = NULL;

	rig_setup(&rig, 4096, 4);
	MUST(doca_buf_inventory_create(8, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	MUST(doca_buf_inventory_buf_get_by_addr(inventory, rig.map, rig.mem, 64, &buf));
	if (WRONG)
		(void)doca_buf_inventory_destroy(inventory);
	MUST(doca_buf_dec_refcount(buf, NULL));
	MUST(doca_buf_inventory_destroy(inventory));
	rig_teardown(&rig);
	return check_result();
}
