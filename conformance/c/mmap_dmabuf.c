/*
 * A range given as a dmabuf descriptor. The kernel's udmabuf device stands in for the memory of an
 * accelerator; descriptors that are no dmabuf and impossible ranges are refused everywhere.
 *
 * clauses: core-memory set_dmabuf_memrange
 * covers: @
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "rig.h"

#define BYTES 65536

int main(void)
{
	struct rig rig;
	struct doca_mmap *map = NULL;
	struct doca_buf *src = NULL, *dst = NULL;
	struct udmabuf_create create = {.flags = UDMABUF_FLAGS_CLOEXEC, .size = BYTES};
	uint8_t *view;
	int memfd = memfd_create("conformance", MFD_CLOEXEC | MFD_ALLOW_SEALING), device, dmabuf;

	rig_setup(&rig, 2 * BYTES, 2);
	MUST_BE(memfd >= 0 && ftruncate(memfd, BYTES) == 0);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, rig.dev));
	CHECK_REFUSED(doca_mmap_set_dmabuf_memrange(map, -1, rig.mem, 0, BYTES));
	CHECK_STATUS2(doca_mmap_set_dmabuf_memrange(map, memfd, rig.mem, 0, 0), DOCA_ERROR_INVALID_VALUE,
		      DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_mmap_set_dmabuf_memrange(NULL, memfd, rig.mem, 0, BYTES), DOCA_ERROR_INVALID_VALUE);
	/* Refusals do not use up the one range. */
	CHECK_OK(doca_mmap_set_memrange(map, rig.mem, BYTES));
	CHECK_STATUS2(doca_mmap_set_dmabuf_memrange(map, memfd, rig.mem, 0, BYTES), DOCA_ERROR_NOT_PERMITTED,
		      DOCA_ERROR_NOT_SUPPORTED);
	CHECK_OK(doca_mmap_destroy(map));

	/* A memfd that can be cut short any time is none; once it cannot, it stands in for a dmabuf. The
	 * program may name its bytes by any address, and close its descriptor. */
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, rig.dev));
	CHECK_STATUS(doca_mmap_set_dmabuf_memrange(map, memfd, (void *)0x100000, 0, BYTES), DOCA_ERROR_NOT_SUPPORTED);
	MUST_BE(fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
	CHECK_STATUS(doca_mmap_set_dmabuf_memrange(map, memfd, (void *)0x100000, 1, BYTES), DOCA_ERROR_INVALID_VALUE);
	{
		int again = dup(memfd);

		MUST(doca_mmap_set_dmabuf_memrange(map, again, (void *)0x100000, 4096, 8192));
		close(again);
	}
	MUST(doca_mmap_start(map));
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(rig.inv, map, (void *)0x100000, 8193, &dst),
		     DOCA_ERROR_INVALID_VALUE);
	MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, map, (void *)0x100000, 8192, &dst));
	src = rig_src(&rig, 100, 8192);
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(&rig, src, dst, 0))));
	rig_drain(&rig);
	view = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	MUST_BE(view != MAP_FAILED);
	CHECK_BYTES(view + 4096, rig.mem + 100, 8192);
	munmap(view, BYTES);
	CHECK_OK(doca_mmap_destroy(map));

	device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	if (device < 0) {
		rig_teardown(&rig);
		close(memfd);
		if (check_result() != 0)
			return 1;
		SKIP("no /dev/udmabuf for the rest");
	}
	create.memfd = (uint32_t)memfd;
	dmabuf = ioctl(device, UDMABUF_CREATE, &create);
	MUST_BE(dmabuf >= 0);
	view = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);
	MUST_BE(view != MAP_FAILED);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, rig.dev));
	MUST(doca_mmap_set_dmabuf_memrange(map, dmabuf, view, 0, BYTES));
	CHECK_OK(doca_mmap_start(map));
	MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, map, view, BYTES, &dst));
	src = rig_src(&rig, 0, BYTES);
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(&rig, src, dst, 0))));
	rig_drain(&rig);
	CHECK_BYTES(view, rig.mem, BYTES);
	/* The descriptor stays the program's. */
	CHECK_OK(doca_mmap_destroy(map));
	CHECK(fcntl(dmabuf, F_GETFD) >= 0);
	munmap(view, BYTES);
	close(dmabuf);
	close(device);
	close(memfd);
	rig_teardown(&rig);
	return check_result();
}
