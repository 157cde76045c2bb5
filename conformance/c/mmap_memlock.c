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

#include "capture.h"
#include "on_machine.h"
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

/* The limit of an ordinary user. */
static void limited(void)
{
	struct rlimit limit = {.rlim_cur = 65536, .rlim_max = 65536};

	MUST_BE(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
}

static void generous(void)
{
	struct doca_dev *dev = rig_open_dev(NULL);
	uint8_t *mem = pages(1400 * MIB);
	struct doca_mmap *map = configured(dev, mem, 1400 * MIB);

	limited();
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

	limited();
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

int main(void)
{
	on_machine("strict = false\n[[card]]\n", generous);
	on_machine("strict = true\nmemlock = 8388608\n[[card]]\n", strict);
	return check_result();
}
