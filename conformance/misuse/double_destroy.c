/*
 * rule: double-destroy
 *
 * A memory map is destroyed twice.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	MUST(doca_mmap_destroy(rig.map));
	if (WRONG)
		(void)doca_mmap_destroy(rig.map);
	rig.map = NULL;
	rig_teardown(&rig);
	return check_result();
}
