/*
 * rule: memory-gone
 *
 * The program frees the memory of a map and destroys the map afterwards.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_mmap *map;
	uint8_t *memory;

	rig_setup(&rig, 4096, 4);
	memory = malloc(100000);
	MUST_BE(memory != NULL);
	map = rig_map(rig.dev, memory, 100000, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	if (WRONG)
		free(memory);
	MUST(doca_mmap_destroy(map));
	if (!WRONG)
		free(memory);
	rig_teardown(&rig);
	return check_result();
}
