/*
 * rule: memory-gone
 *
 * The program tells the system that it needs the bytes of a started map no longer. Next to it: the same for memory that is
 * shared, whose bytes stay, since they are not this process's alone.
 */
#include "misuse.h"

#include <sys/mman.h>

int main(void)
{
	struct rig rig;
	struct doca_mmap *map;
	void *memory;

	rig_setup(&rig, 4096, 4);
	memory = mmap(NULL, 16384, PROT_READ | PROT_WRITE, (WRONG ? MAP_PRIVATE : MAP_SHARED) | MAP_ANONYMOUS, -1, 0);
	MUST_BE(memory != MAP_FAILED);
	map = rig_map(rig.dev, memory, 16384, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	memset(memory, 7, 16384);
	MUST_BE(madvise(memory, 16384, MADV_WILLNEED) == 0);
	MUST_BE(madvise(memory, 16384, MADV_DONTNEED) == 0);
	MUST_BE(((const uint8_t *)memory)[9000] == (WRONG ? 0 : 7));
	MUST(doca_mmap_destroy(map));
	MUST_BE(munmap(memory, 16384) == 0);
	rig_teardown(&rig);
	return check_result();
}
