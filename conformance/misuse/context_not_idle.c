/*
 * rule: context-not-idle
 *
 * A running context is destroyed.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	if (WRONG)
		(void)doca_dma_destroy(rig.dma);
	rig_teardown(&rig);
	return check_result();
}
