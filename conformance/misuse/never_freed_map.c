/*
 * rule: never-freed
 *
 * A memory map is not destroyed.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_mmap *map = NULL;

	rig_setup(&rig, 4096, 4);
	MUST(doca_mmap_create(&map));
	if (!WRONG)
		MUST(doca_mmap_destroy(map));
	rig_teardown(&rig);
	return check_result();
}
