/*
 * rule: destination-touched
 *
 * The program waits until the bytes are there instead of waiting for the callback, and makes use of their place.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	unsigned i;

	rig_setup(&rig, 4096, 4);
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	/* A worker of the card carries the copy out sooner or later, also when nobody calls progress. */
	for (i = 0; i < 500 && memcmp(rig.mem, rig.mem + 1024, 64) != 0; i++)
		nap(1);
	if (!WRONG)
		rig_drain(&rig);
	rig.mem[1024] ^= 1;
	rig_drain(&rig);
	rig_teardown(&rig);
	return check_result();
}
