/*
 * rule: memory-gone
 *
 * The program moves the memory of a started map with mremap.
 */
#include "misuse.h"

#include <sys/mman.h>

int main(void)
{
	struct rig rig;
	struct doca_mmap *map;
	void *memory, *other;

	rig_setup(&rig, 4096, 4);
	memory = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST_BE(memory != MAP_FAILED);
	map = rig_map(rig.dev, memory, 16384, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	if (!WRONG)
		MUST(doca_mmap_stop(map));
	other = mremap(memory, 16384, 1 << 20, MREMAP_MAYMOVE);
	MUST_BE(other != MAP_FAILED);
	MUST(doca_mmap_destroy(map));
	MUST_BE(munmap(other, 1 << 20) == 0);
	rig_teardown(&rig);
	return check_result();
}
