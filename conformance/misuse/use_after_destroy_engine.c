/*
 * rule: use-after-destroy
 *
 * A context is connected to a progress engine that was destroyed.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_pe *pe = NULL;
	struct doca_dma *dma = NULL;

	rig_setup(&rig, 4096, 4);
	MUST(doca_pe_create(&pe));
	MUST(doca_dma_create(rig.dev, &dma));
	if (!WRONG)
		MUST(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
	if (!WRONG)
		MUST(doca_dma_destroy(dma));
	MUST(doca_pe_destroy(pe));
	if (WRONG)
		(void)doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma));
	if (WRONG)
		MUST(doca_dma_destroy(dma));
	rig_teardown(&rig);
	return check_result();
}
