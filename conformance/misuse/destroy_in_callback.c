/*
 * rule: destroy-in-callback
 *
 * A callback destroys the progress engine that runs it.
 */
#include "misuse.h"

static void on_done(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	(void)task;
	if (WRONG)
		(void)doca_pe_destroy(rig->pe);
}

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	rig.on_done = on_done;
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	rig_drain(&rig);
	rig_teardown(&rig);
	return check_result();
}
