/*
 * Locked memory: by default a limit of the system changes nothing; a strict machine counts what is
 * registered, refuses what goes beyond with limit and size in the log, and takes it back at stop.
 *
 * clauses: core-memory doca_mmap_start (pinning); a strict machine
 * covers: @
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "capture.h"
#include "rig.h"

#define MIB ((size_t)1 << 20)

static struct doca_mmap *configured(struct doca_dev *dev, uint8_t *addr, size_t len)
{
	struct doca_mmap *map = NULL;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, addr, len));
	return map;
}

static uint8_t *pages(size_t len)
{
	void *addr = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	MUST_BE(addr != MAP_FAILED);
	return addr;
}

static void generous(void)
{
	struct doca_dev *dev = rig_open_dev(NULL);
	uint8_t *mem = pages(1400 * MIB);
	struct doca_mmap *map = configured(dev, mem, 1400 * MIB);

	CHECK_OK(doca_mmap_start(map));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	munmap(mem, 1400 * MIB);
}

static void strict(void)
{
	struct doca_dev *dev = rig_open_dev(NULL);
	uint8_t *mem = pages(64 * MIB);
	struct doca_mmap *half = configured(dev, mem, 4 * MIB), *rest = configured(dev, mem + 8 * MIB, 5 * MIB);
	int i;

	capture_sdk(DOCA_LOG_LEVEL_WARNING);
	CHECK_OK(doca_mmap_start(half));
	capture_clear();
	CHECK_STATUS2(doca_mmap_start(rest), DOCA_ERROR_DRIVER, DOCA_ERROR_NOT_PERMITTED);
	/* The limit and what was asked for. */
	CHECK(strstr(capture_text, "8388608") != NULL && strstr(capture_text, "5242880") != NULL);
	CHECK_OK(doca_mmap_stop(half));
	CHECK_OK(doca_mmap_start(rest));
	CHECK_STATUS2(doca_mmap_start(half), DOCA_ERROR_DRIVER, DOCA_ERROR_NOT_PERMITTED);
	/* Nothing leaks by failing or by repeating. */
	for (i = 0; i < 20; i++) {
		CHECK_OK(doca_mmap_stop(rest));
		CHECK_OK(doca_mmap_start(half));
		CHECK_REFUSED(doca_mmap_start(rest));
		CHECK_OK(doca_mmap_stop(half));
		CHECK_OK(doca_mmap_start(rest));
	}
	CHECK_OK(doca_mmap_destroy(rest));
	CHECK_OK(doca_mmap_start(half));
	CHECK_OK(doca_mmap_destroy(half));
	CHECK_OK(doca_dev_close(dev));
	munmap(mem, 64 * MIB);
}

static void in_child(const char *toml, void (*body)(void))
{
	char name[] = "/tmp/conformance-strict-XXXXXX";
	struct rlimit limit = {.rlim_cur = 65536, .rlim_max = 65536};
	int fd = mkstemp(name), status = 1;
	pid_t pid;

	MUST_BE(fd >= 0 && write(fd, toml, strlen(toml)) == (ssize_t)strlen(toml));
	close(fd);
	fflush(NULL);
	pid = fork();
	MUST_BE(pid >= 0);
	if (pid == 0) {
		MUST_BE(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
		setenv("SOFTDPU_CONFIG", name, 1);
		body();
		exit(check_result());
	}
	MUST_BE(waitpid(pid, &status, 0) == pid);
	unlink(name);
	CHECK_U64(status, 0);
}

int main(void)
{
	in_child("strict = false\n[[card]]\n", generous);
	in_child("strict = true\nmemlock = 8388608\n[[card]]\n", strict);
	return check_result();
}
