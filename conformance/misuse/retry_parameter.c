/*
 * rule: retry-parameter
 *
 * A call that is wrong is repeated until it succeeds, which it never will.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	unsigned i;

	rig_setup(&rig, 4096, 4);
	for (i = 0; i < 500 && doca_mmap_set_memrange(rig.map, NULL, WRONG ? 0 : rig.len) != DOCA_SUCCESS; i++)
		if (!WRONG)
			break;
	rig_teardown(&rig);
	return check_result();
}
