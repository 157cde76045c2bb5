/*
 * rule: engine-in-use
 *
 * A progress engine is destroyed before its context.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	if (WRONG)
		(void)doca_pe_destroy(rig.pe);
	rig_teardown(&rig);
	return check_result();
}
