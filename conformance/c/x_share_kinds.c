/*
 * Every kind of memory a program may export reaches the other process: heap, stack, static, anonymous
 * private and shared mappings, a private and a shared file mapping, a memfd, memory in the middle of a
 * mapping, memory that was written to only after the export.
 *
 * clauses: core-memory Memory map configuration (any readable process memory), Export / import
 * covers: @
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "x_share.h"

#define BYTES 50001
#define KINDS 9

static uint8_t fixed[BYTES];

static void card(int line)
{
	struct letter letter;
	struct rig rig;
	unsigned kind;

	share_card(&rig, BYTES, 2);
	for (kind = 0; kind < KINDS; kind++) {
		struct doca_mmap *remote;

		two_recv(line, &letter, sizeof(letter));
		remote = share_import(&letter, rig.dev);
		CHECK_STATUS(share_read(&rig, remote, share_at(&letter, 0), 0, BYTES), DOCA_SUCCESS);
		if (!two_is(rig.mem, BYTES, kind))
			check_fail(__FILE__, __LINE__, "kind %u read wrongly", kind);
		two_fill(rig.mem, BYTES, kind + 50);
		CHECK_STATUS(share_write(&rig, remote, share_at(&letter, 0), 0, BYTES), DOCA_SUCCESS);
		two_tell(line, 'k');
		CHECK_OK(doca_mmap_destroy(remote));
	}
	rig_teardown(&rig);
	close(line);
}

static void *mapping(int flags, int fd)
{
	void *at = mmap(NULL, BYTES + 8192, PROT_READ | PROT_WRITE, flags, fd, 0);

	MUST_BE(at != MAP_FAILED);
	return at;
}

static int file_of(const char *name)
{
	int fd = name == NULL ? memfd_create("kinds", MFD_CLOEXEC | MFD_ALLOW_SEALING) :
				open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	MUST_BE(fd >= 0);
	MUST_BE(ftruncate(fd, BYTES + 8192) == 0);
	return fd;
}

int main(void)
{
	uint8_t stack[BYTES], *kinds[KINDS], byte = 0;
	struct letter letter;
	struct doca_dev *dev;
	int line, fds[3];
	unsigned kind;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	fds[0] = file_of("kinds-private");
	fds[1] = file_of("kinds-shared");
	fds[2] = file_of(NULL);
	kinds[0] = malloc(BYTES);
	kinds[1] = stack;
	kinds[2] = fixed;
	kinds[3] = mapping(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	kinds[4] = mapping(MAP_SHARED | MAP_ANONYMOUS, -1);
	kinds[5] = mapping(MAP_PRIVATE, fds[0]);
	kinds[6] = mapping(MAP_SHARED, fds[1]);
	kinds[7] = mapping(MAP_SHARED, fds[2]);
	kinds[8] = kinds[7] + 3001; /* a second export into one mapping, at an odd place */
	MUST_BE(kinds[0] != NULL);
	dev = rig_open_dev(SHARE_HOST);
	for (kind = 0; kind < KINDS; kind++) {
		size_t len = BYTES;
		uint8_t *mem = kinds[kind];
		struct doca_mmap *map = rig_map(dev, mem, len, DOCA_ACCESS_FLAG_PCI_READ_WRITE);

		share_export(map, dev, &letter);
		two_fill(mem, len, kind);
		two_send(line, &letter, sizeof(letter));
		two_await(line, 'k');
		if (!two_is(mem, len, kind + 50))
			check_fail(__FILE__, __LINE__, "kind %u written wrongly", kind);
		CHECK_OK(doca_mmap_stop(map));
		CHECK_OK(doca_mmap_destroy(map));
	}
	/* A private mapping stays private: the file has not changed. */
	CHECK(pread(fds[0], &byte, 1, 0) == 1 && byte == 0);
	two_reap(pid);
	CHECK_OK(doca_dev_close(dev));
	free(kinds[0]);
	unlink("kinds-private");
	unlink("kinds-shared");
	close(line);
	return check_result();
}
