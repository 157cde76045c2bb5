/*
 * rule: callback-blocks
 *
 * A callback does work that takes seconds.
 */
#include "misuse.h"

static void on_done(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	(void)rig;
	(void)task;
	if (WRONG)
		nap(3500);
}

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	rig.on_done = on_done;
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	rig_drain(&rig);
	if (!WRONG)
		nap(3500);
	rig_teardown(&rig);
	return check_result();
}
