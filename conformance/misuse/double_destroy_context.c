/*
 * rule: double-destroy
 *
 * A context is destroyed twice.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	MUST(doca_ctx_stop(rig.ctx));
	rig_until_idle(&rig);
	MUST(doca_dma_destroy(rig.dma));
	if (WRONG)
		(void)doca_dma_destroy(rig.dma);
	rig.dma = NULL;
	rig_teardown(&rig);
	return check_result();
}
