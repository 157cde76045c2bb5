/*
 * A file copied by the engine: both files are mapped, the maps unmap them through the free callback
 * when they are destroyed, the copy is cut at the largest size the device takes.
 *
 * clauses: core-memory Free callback, file mappings; dma Capabilities (largest copy)
 * env: SOFTDPU_PROFILE=bf3
 * covers: @
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>

#include "rig.h"

#define SIZE (5u * 1024 * 1024 + 4321)

static unsigned unmapped;

static void unmap_file(void *addr, size_t len, void *cookie)
{
	CHECK_U64(len, SIZE);
	MUST_BE(munmap(addr, len) == 0);
	*(unsigned *)cookie += 1;
}

static int make_file(int fill)
{
	char name[] = "/tmp/conformance-file-XXXXXX";
	int fd = mkstemp(name);
	uint8_t block[4096];
	size_t at, i;

	MUST_BE(fd >= 0);
	unlink(name);
	MUST_BE(ftruncate(fd, SIZE) == 0);
	for (at = 0; fill && at < SIZE; at += sizeof(block)) {
		size_t len = SIZE - at < sizeof(block) ? SIZE - at : sizeof(block);

		for (i = 0; i < len; i++)
			block[i] = (uint8_t)((at + i) * 131 >> 3);
		MUST_BE(pwrite(fd, block, len, (off_t)at) == (ssize_t)len);
	}
	return fd;
}

static struct doca_mmap *map_file(struct doca_dev *dev, int fd, int protection, void **addr)
{
	struct doca_mmap *map;

	*addr = mmap(NULL, SIZE, protection, MAP_SHARED, fd, 0);
	MUST_BE(*addr != MAP_FAILED);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, *addr, SIZE));
	/* With and without the ampersand: it is a function type. */
	if (protection == PROT_READ)
		MUST(doca_mmap_set_free_cb(map, unmap_file, &unmapped));
	else
		MUST(doca_mmap_set_free_cb(map, &unmap_file, &unmapped));
	MUST(doca_mmap_start(map));
	return map;
}

int main(void)
{
	int from_fd = make_file(1), to_fd = make_file(0);
	struct doca_mmap *from_map, *to_map;
	struct rig rig;
	void *from, *to;
	uint64_t most = 0;
	size_t at;
	uint8_t a[4096], b[4096];

	rig_setup(&rig, 64, 4);
	CHECK_OK(doca_dma_cap_task_memcpy_get_max_buf_size(doca_dev_as_devinfo(rig.dev), &most));
	CHECK_U64(most, 2097152);
	from_map = map_file(rig.dev, from_fd, PROT_READ, &from);
	to_map = map_file(rig.dev, to_fd, PROT_READ | PROT_WRITE, &to);
	for (at = 0; at < SIZE; at += most) {
		size_t len = SIZE - at < most ? SIZE - at : most;
		struct doca_buf *src, *dst;

		MUST(doca_buf_inventory_buf_get_by_data(rig.inv, from_map, (uint8_t *)from + at, len, &src));
		MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, to_map, (uint8_t *)to + at, len, &dst));
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(&rig, src, dst, at))));
	}
	rig_drain(&rig);
	CHECK_U64(rig.good, 3);
	CHECK_U64(rig.bad, 0);
	CHECK_U64(unmapped, 0);
	CHECK_OK(doca_mmap_destroy(from_map));
	CHECK_U64(unmapped, 1);
	CHECK_OK(doca_mmap_destroy(to_map));
	CHECK_U64(unmapped, 2);
	for (at = 0; at < SIZE; at += sizeof(a)) {
		ssize_t got = pread(from_fd, a, sizeof(a), (off_t)at);

		MUST_BE(got > 0);
		MUST_BE(pread(to_fd, b, sizeof(b), (off_t)at) == got);
		MUST_BE(memcmp(a, b, (size_t)got) == 0);
	}
	rig_teardown(&rig);
	close(from_fd);
	close(to_fd);
	return check_result();
}
