/*
 * rule: range-set-twice
 *
 * The program gives a memory map a second range.
 */
#include "misuse.h"

#include <fcntl.h>
#include <sys/mman.h>

int main(void)
{
	struct rig rig;
	struct doca_mmap *map = NULL, *other = NULL;

	rig_setup(&rig, 8192, 4);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_set_memrange(map, rig.mem, 4096));
	if (WRONG) {
		CHECK_REFUSED(doca_mmap_set_memrange(map, rig.mem + 4096, 4096));
	} else {
		/* Of memory without an address the program names one, at which nothing has to be. */
		int fd = memfd_create("misuse", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		struct doca_buf *dst = NULL;

		MUST_BE(fd >= 0 && ftruncate(fd, 4096) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
		MUST(doca_mmap_create(&other));
		MUST(doca_mmap_add_dev(other, rig.dev));
		MUST(doca_mmap_set_dmabuf_memrange(other, fd, (void *)0x100000, 0, 4096));
		MUST(doca_mmap_start(other));
		MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, other, (void *)0x100000, 4096, &dst));
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(&rig, rig_src(&rig, 0, 4096), dst, 0))));
		rig_drain(&rig);
		CHECK_U64(rig.good, 1);
		MUST(doca_mmap_destroy(other));
		close(fd);
	}
	MUST(doca_mmap_destroy(map));
	rig_teardown(&rig);
	return check_result();
}
