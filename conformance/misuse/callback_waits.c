/*
 * rule: callback-blocks
 *
 * A callback waits for the completion of another task, which only the progress that it holds up could report.
 */
#include "misuse.h"

#include <stdatomic.h>

static atomic_uint second_done;

static void on_done(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	unsigned i;

	(void)task;
	if (rig->good == 2)
		second_done = 1;
	for (i = 0; WRONG && rig->good == 1 && second_done == 0 && i < 350; i++)
		nap(10);
}

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	rig.on_done = on_done;
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	MUST(doca_task_submit(copy_task(&rig, 128, 2048, 64)));
	rig_drain(&rig);
	MUST_BE(second_done == 1);
	rig_teardown(&rig);
	return check_result();
}
