/*
 * A chain of copies where each one takes what the one before it wrote, all submitted at once. Copies of one context
 * may be carried out in any order: only -DRIGHT waits in between.
 */
#include "rig.h"

#define STEPS 6
#define LEN 64

int main(void)
{
	struct rig rig;
	unsigned i;

	rig_setup(&rig, (STEPS + 1) * LEN, STEPS);
	memset(rig.mem, 0, (STEPS + 1) * LEN);
	memset(rig.mem, 0x5a, LEN);
	for (i = 0; i < STEPS; i++) {
		(void)rig_copy(&rig, i * LEN, (i + 1) * LEN, LEN, i);
#ifdef RIGHT
		rig_drain(&rig);
#endif
	}
	rig_drain(&rig);
	CHECK_U64(rig.mem[STEPS * LEN], 0x5a);
	rig_teardown(&rig);
	return check_result();
}
