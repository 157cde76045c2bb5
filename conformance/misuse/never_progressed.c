/*
 * rule: never-progressed
 *
 * The program waits for a task without calling progress.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	unsigned i;

	rig_setup(&rig, 4096, 4);
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	for (i = 0; i < 100 && (WRONG || rig.good == 0); i++) {
		if (!WRONG)
			rig_progress(&rig);
		nap(20);
	}
	rig_drain(&rig);
	rig_teardown(&rig);
	return check_result();
}
