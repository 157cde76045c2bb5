/*
 * rule: wrong-engine
 *
 * The program progresses another engine than the one that its context is connected to.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_pe *other = NULL;
	unsigned i;

	rig_setup(&rig, 4096, 4);
	MUST(doca_pe_create(&other));
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	for (i = 0; i < 200 && (WRONG || rig.good == 0); i++) {
		(void)doca_pe_progress(WRONG ? other : rig.pe);
		nap(10);
	}
	rig_drain(&rig);
	MUST(doca_pe_destroy(other));
	rig_teardown(&rig);
	return check_result();
}
