/*
 * rule: double-free
 *
 * A task is freed in its callback, and again where it was waited for.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_task *task;

	rig_setup(&rig, 4096, 4);
	task = copy_task(&rig, 0, 1024, 64);
	MUST(doca_task_submit(task));
	rig_drain(&rig);
	if (WRONG)
		doca_task_free(task);
	rig_teardown(&rig);
	return check_result();
}
