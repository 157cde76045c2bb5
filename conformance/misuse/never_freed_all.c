/*
 * rule: never-freed
 *
 * The program returns from main without giving anything back.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	rig_copy(&rig, 0, 1024, 64, 0);
	rig_drain(&rig);
	if (!WRONG)
		rig_teardown(&rig);
	return check_result();
}
