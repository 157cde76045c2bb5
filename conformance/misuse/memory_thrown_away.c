/*
 * rule: memory-gone
 *
 * The program tells the system that it needs the bytes of a started map no longer.
 */
#include "misuse.h"

#include <sys/mman.h>

int main(void)
{
	struct rig rig;
	struct doca_mmap *map;
	void *memory;

	rig_setup(&rig, 4096, 4);
	memory = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST_BE(memory != MAP_FAILED);
	map = rig_map(rig.dev, memory, 16384, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST_BE(madvise(memory, 16384, WRONG ? MADV_DONTNEED : MADV_WILLNEED) == 0);
	MUST(doca_mmap_destroy(map));
	MUST_BE(munmap(memory, 16384) == 0);
	rig_teardown(&rig);
	return check_result();
}
