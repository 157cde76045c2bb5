/*
 * rule: overlap-in-flight
 *
 * Two tasks that are in flight together write to the same memory.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	MUST(doca_task_submit(copy_task(&rig, 128, WRONG ? 1087 : 1088, 64)));
	rig_drain(&rig);
	rig_teardown(&rig);
	return check_result();
}
