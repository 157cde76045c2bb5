/*
 * rule: submit-in-flight
 *
 * A task is submitted twice without waiting in between.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_task *task;

	rig_setup(&rig, 4096, 4);
	task = copy_task(&rig, 0, 1024, 64);
	MUST(doca_task_submit(task));
	if (WRONG)
		(void)doca_task_submit(task);
	rig_drain(&rig);
	rig_teardown(&rig);
	return check_result();
}
