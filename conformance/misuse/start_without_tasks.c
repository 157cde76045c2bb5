/*
 * rule: start-without-tasks
 *
 * A context is started without any kind of task.
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
	MUST(doca_pe_connect_ctx(rig.pe, doca_dma_as_ctx(dma)));
	if (!WRONG)
		MUST(doca_dma_task_memcpy_set_conf(dma, callback, callback, 4));
	CHECK((doca_ctx_start(doca_dma_as_ctx(dma)) != DOCA_SUCCESS) == WRONG);
	if (!WRONG)
		MUST(doca_ctx_stop(doca_dma_as_ctx(dma)));
	MUST(doca_dma_destroy(dma));
	rig_teardown(&rig);
	return check_result();
}
