/*
 * rule: start-without-engine
 *
 * A context is started that was not connected to a progress engine.
 */
#include "misuse.h"

static void callback(struct doca_dma_task_memcpy *task, union doca_data user, union doca_data ctx_user)
{
	(void)task;
	(void)user;
	(void)ctx_user;
}

int main(void)
{
	struct rig rig;
	struct doca_dma *dma = NULL;

	rig_setup(&rig, 4096, 4);
	MUST(doca_dma_create(rig.dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, callback, callback, 4));
	if (!WRONG)
		MUST(doca_pe_connect_ctx(rig.pe, doca_dma_as_ctx(dma)));
	CHECK((doca_ctx_start(doca_dma_as_ctx(dma)) != DOCA_SUCCESS) == WRONG);
	if (!WRONG)
		MUST(doca_ctx_stop(doca_dma_as_ctx(dma)));
	MUST(doca_dma_destroy(dma));
	rig_teardown(&rig);
	return check_result();
}
