/*
 * Every kind of memory a program may own: heap, stack, static, file mappings shared and private,
 * POSIX shared memory, memfd, huge pages, read-only mappings, holes. Whatever starts is copied from
 * and to; what cannot be used says so and never crashes.
 *
 * clauses: core-memory set_memrange (any readable memory), start (hole: DRIVER, read-only mapping)
 * covers: @
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>

#include "rig.h"

#define BYTES 20000

static uint8_t in_bss[BYTES];
static const uint8_t in_rodata[BYTES] = {1, 2, 3};

/* Copies this memory out, and a pattern in when it may be written. */
static void use(struct rig *rig, const char *kind, void *addr, size_t len, int writable)
{
	struct doca_mmap *map = NULL;
	struct doca_buf *buf = NULL;
	struct doca_dma_task_memcpy *task;
	unsigned good, bad;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, rig->dev));
	MUST(doca_mmap_set_memrange(map, addr, len));
	if (doca_mmap_start(map) != DOCA_SUCCESS) {
		check_fail(__FILE__, __LINE__, "%s: the map does not start", kind);
		CHECK_OK(doca_mmap_destroy(map));
		return;
	}
	if (len > BYTES)
		len = BYTES;
	/* Out: memory -> rig. */
	good = rig->good;
	memset(rig->mem + BYTES, 0xee, len);
	MUST(doca_buf_inventory_buf_get_by_data(rig->inv, map, addr, len, &buf));
	task = rig_task(rig, buf, rig_dst(rig, BYTES, len), 0);
	CHECK_OK(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)));
	rig_drain(rig);
	CHECK_U64(rig->good, good + 1);
	if (memcmp(rig->mem + BYTES, addr, len) != 0)
		check_fail(__FILE__, __LINE__, "%s: wrong bytes came out", kind);

	/* In: rig -> memory. */
	good = rig->good;
	bad = rig->bad;
	MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, map, addr, len, &buf));
	task = rig_task(rig, rig_src(rig, 0, len), buf, 0);
	if (writable) {
		CHECK_OK(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)));
		rig_drain(rig);
		CHECK_U64(rig->good, good + 1);
		if (memcmp(rig->mem, addr, len) != 0)
			check_fail(__FILE__, __LINE__, "%s: wrong bytes went in", kind);
	} else {
		/* A device's write fails as a task, never as a signal. */
		CHECK_STATUS(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)), DOCA_ERROR_NOT_PERMITTED);
		CHECK_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
		rig_until_idle(rig);
		CHECK_U64(rig->bad, bad + 1);
		CHECK_STATUS(rig->status[rig->good + rig->bad - 1], DOCA_ERROR_IO_FAILED);
		MUST(doca_ctx_start(rig->ctx));
	}
	CHECK_OK(doca_mmap_destroy(map));
}

static void *mapped(size_t len, int protection, int flags, int fd)
{
	void *addr = mmap(NULL, len, protection, flags, fd, 0);

	MUST_BE(addr != MAP_FAILED);
	return addr;
}

static void file_kinds(struct rig *rig)
{
	char name[] = "/tmp/conformance-kind-XXXXXX", shm_name[64];
	int file = mkstemp(name), memfd = memfd_create("conformance", MFD_CLOEXEC), shm;
	uint8_t block[BYTES];
	void *addr;
	int fds[3], i;

	snprintf(shm_name, sizeof(shm_name), "/conformance-%d", (int)getpid());
	shm = shm_open(shm_name, O_RDWR | O_CREAT | O_EXCL, 0600);
	MUST_BE(file >= 0 && memfd >= 0 && shm >= 0);
	unlink(name);
	shm_unlink(shm_name);
	fds[0] = file;
	fds[1] = memfd;
	fds[2] = shm;
	memset(block, 0x5c, sizeof(block));
	for (i = 0; i < 3; i++) {
		static const char *const kind[] = {"file mapping", "memfd mapping", "POSIX shared memory"};

		MUST_BE(pwrite(fds[i], block, BYTES, 0) == BYTES);
		addr = mapped(BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fds[i]);
		use(rig, kind[i], addr, BYTES, 1);
		/* What the engine wrote is in the file. */
		MUST_BE(pread(fds[i], block, BYTES, 0) == BYTES);
		CHECK_BYTES(block, rig->mem, BYTES);
		munmap(addr, BYTES);
		addr = mapped(BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fds[i]);
		use(rig, "private mapping", addr, BYTES, 1);
		munmap(addr, BYTES);
		addr = mapped(BYTES, PROT_READ, MAP_SHARED, fds[i]);
		use(rig, "read-only mapping", addr, BYTES, 0);
		munmap(addr, BYTES);
		close(fds[i]);
	}
}

static void holes(struct rig *rig)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* Far from where the system puts new mappings: nobody moves into the holes. */
	uint8_t *addr = mmap((void *)(uintptr_t)0x200000000000, 8 * page, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	struct doca_mmap *map = NULL;
	size_t i;

	MUST_BE(addr != MAP_FAILED);
	munmap(addr + 3 * page, page);
	munmap(addr + 7 * page, page);
	for (i = 0; i < 4; i++) {
		/* A hole in the middle, at the start, at the end, nothing at all. */
		static const size_t first[] = {0, 3, 4, 3}, count[] = {7, 2, 4, 1};

		MUST(doca_mmap_create(&map));
		MUST(doca_mmap_add_dev(map, rig->dev));
		MUST(doca_mmap_set_memrange(map, addr + first[i] * page, count[i] * page));
		CHECK_STATUS(doca_mmap_start(map), DOCA_ERROR_DRIVER);
		CHECK_OK(doca_mmap_destroy(map));
	}
	use(rig, "between two holes", addr + 4 * page, 3 * page, 1);
	use(rig, "up to a hole by the byte", addr + 2 * page + 5, page - 5, 1);
	munmap(addr, 3 * page);
	munmap(addr + 4 * page, 3 * page);
}

int main(void)
{
	struct rig rig;
	uint8_t on_stack[BYTES];
	uint8_t *heap = malloc(BYTES + 3);
	void *addr;

	MUST_BE(heap != NULL);
	rig_setup(&rig, 2 * BYTES, 2);
	memset(on_stack, 3, sizeof(on_stack));
	memset(heap, 4, BYTES + 3);
	use(&rig, "heap", heap, BYTES, 1);
	use(&rig, "heap, odd address and length", heap + 3, 4999, 1);
	use(&rig, "one byte", heap + 7, 1, 1);
	use(&rig, "stack", on_stack, BYTES, 1);
	use(&rig, "static", in_bss, BYTES, 1);
	use(&rig, "constants", (void *)(uintptr_t)in_rodata, BYTES, 0);
	addr = mapped(BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	use(&rig, "shared anonymous", addr, BYTES, 1);
	/* Half of it loses the right to be written. */
	MUST_BE(mprotect((uint8_t *)addr + 4096, 4096, PROT_READ) == 0);
	use(&rig, "partly read-only", addr, BYTES, 0);
	munmap(addr, BYTES);
	file_kinds(&rig);
	holes(&rig);
	addr = mmap(NULL, 2u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (addr != MAP_FAILED) {
		use(&rig, "huge pages", addr, 2u << 20, 1);
		munmap(addr, 2u << 20);
	} else {
		printf("no huge pages on this machine: that kind is left out\n");
	}
	free(heap);
	rig_teardown(&rig);
	return check_result();
}
