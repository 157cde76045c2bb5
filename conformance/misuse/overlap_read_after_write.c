/*
 * rule: overlap-in-flight
 *
 * A task reads what another one in flight writes: their order is not promised.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	if (!WRONG)
		rig_drain(&rig);
	MUST(doca_task_submit(copy_task(&rig, 1024, 2048, 64)));
	rig_drain(&rig);
	rig_teardown(&rig);
	return check_result();
}
