/*
 * rule: source-changed
 *
 * The program fills the source of a copy anew while the copy is in flight.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	if (!WRONG)
		rig_drain(&rig);
	memset(rig.mem, 7, 64);
	rig_drain(&rig);
	rig_teardown(&rig);
	return check_result();
}
