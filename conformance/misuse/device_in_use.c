/*
 * rule: device-in-use
 *
 * A device is closed while a context and a map use it.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	if (WRONG)
		(void)doca_dev_close(rig.dev);
	rig_teardown(&rig);
	return check_result();
}
