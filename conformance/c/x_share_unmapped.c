/*
 * The exporter unmaps half of the memory that it exported, without stopping the map: no signal and no hang on either
 * side, in any reach. Where its pages are mapped by the importer they stay; otherwise copies of that half fail with
 * IO_FAILED, large and small ones, both ways, and those of the other half go on.
 *
 * clauses: core-memory Export / import (exporter unmaps)
 * covers: @
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "x_share.h"

#define BYTES (8u << 20)
#define HALF (BYTES / 2)

static void owner(int line, int as_file)
{
	struct doca_dev *dev = rig_open_dev(SHARE_HOST);
	struct letter letter;
	uint8_t *mem;
	char word;
	int fd = -1;

	if (as_file) {
		fd = memfd_create("conformance", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		MUST_BE(fd >= 0 && ftruncate(fd, BYTES) == 0);
	}
	mem = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, as_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	MUST_BE(mem != MAP_FAILED);
	two_fill(mem, BYTES, 5);
	share_export(rig_map(dev, mem, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE), dev, &letter);
	two_send(line, &letter, sizeof(letter));
	two_recv(line, &word, 1);
	MUST_BE(munmap(mem + HALF, HALF) == 0);
	two_send(line, &word, 1);
	two_recv(line, &word, 1);
	/* What was written after that came to the half that is still there. */
	CHECK(two_is(mem, HALF, 6));
	exit(check_result());
}

/* In a process of its own, since a process has one way to reach others. */
static void round_of(const char *reach, int as_file)
{
	static const size_t lens[] = {64, 4096, 100000, HALF};
	const doca_error_t gone = as_file ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
	struct doca_mmap *remote;
	struct letter letter;
	struct rig rig;
	char word = 'u';
	pid_t pid;
	size_t i;
	int line;

	MUST_BE(setenv("SOFTDPU_REACH", reach, 1) == 0);
	pid = two_fork(&line);
	if (pid == 0)
		owner(line, as_file);
	share_card(&rig, BYTES, 2);
	two_recv(line, &letter, sizeof(letter));
	remote = share_import(&letter, rig.dev);
	CHECK_STATUS(share_read(&rig, remote, share_at(&letter, 0), 0, BYTES), DOCA_SUCCESS);
	CHECK(two_is(rig.mem, BYTES, 5));
	two_send(line, &word, 1);
	two_recv(line, &word, 1);
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		CHECK_STATUS(share_read(&rig, remote, share_at(&letter, HALF), 0, lens[i]), gone);
		CHECK_STATUS(share_write(&rig, remote, share_at(&letter, BYTES - lens[i]), 0, lens[i]), gone);
		/* One that reaches into it. */
		CHECK_STATUS(share_read(&rig, remote, share_at(&letter, HALF - 32), 0, lens[i]), gone);
	}
	two_fill(rig.mem, HALF, 6);
	CHECK_STATUS(share_write(&rig, remote, share_at(&letter, 0), 0, HALF), DOCA_SUCCESS);
	memset(rig.mem, 0, HALF);
	CHECK_STATUS(share_read(&rig, remote, share_at(&letter, 0), 0, HALF), DOCA_SUCCESS);
	CHECK(two_is(rig.mem, HALF, 6));
	two_send(line, &word, 1);
	two_reap(pid);
	exit(check_result());
}

int main(void)
{
	static const struct {
		const char *reach;
		int as_file;
	} rounds[] = {{"kernel", 0}, {"worker", 0}, {"mapped", 1}};
	size_t i;

	for (i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		int line;
		pid_t pid = two_fork(&line);

		if (pid == 0)
			round_of(rounds[i].reach, rounds[i].as_file);
		two_reap(pid);
		close(line);
	}
	return check_result();
}
