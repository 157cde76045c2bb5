/*
 * Takes the completion of the copy that was submitted last for the completion of all: it hands the memory over then.
 * -DRIGHT counts. Both have asked for nothing but the default order, in which the contract promises none.
 */
#include "rig.h"

#define COPIES 12
#define LEN 256

static int over(const struct rig *rig)
{
#ifdef RIGHT
	return rig->good == COPIES;
#else
	return rig->good > 0 && rig->order[rig->good - 1] == COPIES - 1;
#endif
}

int main(void)
{
	struct rig rig;
	unsigned i;

	rig_setup(&rig, 2 * COPIES * LEN, COPIES);
	for (i = 0; i < COPIES; i++)
		(void)rig_copy(&rig, i * LEN, (COPIES + i) * LEN, LEN, i);
	while (!over(&rig))
		rig_progress(&rig);
	CHECK_BYTES(rig.mem + COPIES * LEN, rig.mem, COPIES * LEN);
	rig_drain(&rig);
	rig_teardown(&rig);
	return check_result();
}
