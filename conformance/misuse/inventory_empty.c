/*
 * rule: inventory-empty
 *
 * Buffers of completed tasks are not given back, until the inventory is empty.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_buf_inventory *inventory = NULL;
	struct doca_buf *bufs[3] = {NULL, NULL, NULL};
	unsigned i;

	rig_setup(&rig, 4096, 2);
	MUST(doca_buf_inventory_create(2, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	for (i = 0; i < 3; i++) {
		(void)doca_buf_inventory_buf_get_by_addr(inventory, rig.map, rig.mem, 64, &bufs[i]);
		if (!WRONG)
			MUST(doca_buf_dec_refcount(bufs[i], NULL));
	}
	for (i = 0; WRONG && i < 2; i++)
		MUST(doca_buf_dec_refcount(bufs[i], NULL));
	MUST(doca_buf_inventory_destroy(inventory));
	rig_teardown(&rig);
	return check_result();
}
