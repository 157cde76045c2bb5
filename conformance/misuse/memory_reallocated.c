/*
 * rule: memory-gone
 *
 * The program makes the memory of a started map larger with realloc.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_mmap *map;
	uint8_t *memory, *larger;

	rig_setup(&rig, 4096, 4);
	memory = malloc(100000);
	MUST_BE(memory != NULL);
	map = rig_map(rig.dev, memory, 100000, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	if (!WRONG)
		MUST(doca_mmap_stop(map));
	larger = realloc(memory, 1000000);
	MUST_BE(larger != NULL);
	MUST(doca_mmap_destroy(map));
	free(larger);
	rig_teardown(&rig);
	return check_result();
}
