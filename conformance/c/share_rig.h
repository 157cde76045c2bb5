/*
 * Two processes around one piece of memory: the host process, which exports it and then does what it is told by single
 * letters, and the card process, which imports it. The host is forked off before the first call of the library.
 */
#ifndef CONFORMANCE_SHARE_RIG_H
#define CONFORMANCE_SHARE_RIG_H

#include <sys/mman.h>
#include <sys/wait.h>

#include "rig.h"

struct share_letter { /* what the host tells the card */
	uint64_t addr;
	uint64_t len;
	size_t desc_len;
	uint8_t desc[512];
};

struct share_host {
	pid_t pid;
	int orders;  /* letters to the host */
	int answers; /* and back */
	struct share_letter letter;
};

static inline uint8_t share_pattern(size_t i)
{
	return (uint8_t)(i * 37 + (i >> 9) * 11 + 3);
}

/* What the card makes of it. */
static inline uint8_t share_changed(size_t i)
{
	return (uint8_t)(share_pattern(i) + 101);
}

static inline void share_read(int fd, void *into, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t got = read(fd, (uint8_t *)into + done, len - done);

		MUST_BE(got > 0);
		done += (size_t)got;
	}
}

/* Memory of the host: plain heap, or a file in memory that the program mapped by itself. */
static inline uint8_t *share_alloc(int as_memfd, size_t len)
{
	void *mem;
	int fd;

	if (!as_memfd) {
		mem = malloc(len);
		MUST_BE(mem != NULL);
		return (uint8_t *)mem;
	}
	fd = memfd_create("conformance", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	MUST_BE(fd >= 0);
	MUST_BE(ftruncate(fd, (off_t)len) == 0);
	mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST_BE(mem != MAP_FAILED);
	return (uint8_t *)mem; /* the descriptor stays open, as in most programs */
}

/*
 * The host process. Letters: 'c' check that the memory is as the card left it (see share_changed), 's' stop the map,
 * 'e' end. It calls no progress, and between letters it sleeps in read().
 */
static inline void share_host_main(int orders, int answers, int as_memfd, size_t len, uint32_t access)
{
	struct doca_dev *dev = rig_open_dev("b1:00.0");
	struct share_letter letter;
	struct doca_mmap *map;
	const void *desc = NULL;
	uint8_t *mem = share_alloc(as_memfd, len);
	char order = 0;
	size_t i;

	for (i = 0; i < len; i++)
		mem[i] = share_pattern(i);
	memset(&letter, 0, sizeof(letter));
	map = rig_map(dev, mem, len, access);
	MUST(doca_mmap_export_pci(map, dev, &desc, &letter.desc_len));
	MUST_BE(letter.desc_len <= sizeof(letter.desc));
	memcpy(letter.desc, desc, letter.desc_len);
	letter.addr = (uint64_t)(uintptr_t)mem;
	letter.len = len;
	MUST_BE(write(answers, &letter, sizeof(letter)) == (ssize_t)sizeof(letter));
	while (order != 'e' && read(orders, &order, 1) == 1) {
		if (order == 'c') {
			for (i = 0; i < len; i++) {
				if (mem[i] != share_changed(i)) {
					check_fail(__FILE__, __LINE__, "host: byte %zu is wrong", i);
					break;
				}
			}
		} else if (order == 's') {
			CHECK_OK(doca_mmap_stop(map));
			/* From here on the memory is the host's alone. */
			memset(mem, 0x77, len);
		}
		MUST_BE(write(answers, &order, 1) == 1);
	}
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	if (as_memfd)
		munmap(mem, len);
	else
		free(mem);
	exit(check_result());
}

static inline void share_start(struct share_host *host, int as_memfd, size_t len, uint32_t access)
{
	int orders[2], answers[2];

	MUST_BE(pipe(orders) == 0 && pipe(answers) == 0);
	fflush(NULL);
	host->pid = fork();
	MUST_BE(host->pid >= 0);
	if (host->pid == 0) {
		close(orders[1]);
		close(answers[0]);
		share_host_main(orders[0], answers[1], as_memfd, len, access);
	}
	close(orders[0]);
	close(answers[1]);
	host->orders = orders[1];
	host->answers = answers[0];
}

/* The host's letter. To be called once all hosts are forked off. */
static inline void share_hear(struct share_host *host)
{
	share_read(host->answers, &host->letter, sizeof(host->letter));
}

static inline void share_tell(struct share_host *host, char order)
{
	char answer = 0;

	MUST_BE(write(host->orders, &order, 1) == 1);
	share_read(host->answers, &answer, 1);
	CHECK_U64(answer, order);
}

/* Ends the host in an orderly way, or by force. */
static inline void share_end(struct share_host *host, int by_force)
{
	int status = 1;

	if (by_force)
		kill(host->pid, SIGKILL);
	else
		share_tell(host, 'e');
	MUST_BE(waitpid(host->pid, &status, 0) == host->pid);
	if (!by_force)
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(host->orders);
	close(host->answers);
}

static inline struct doca_mmap *share_import(struct share_host *host, struct doca_dev *dev)
{
	struct doca_mmap *map = NULL;
	void *addr = NULL;
	size_t len = 0;
	doca_error_t status =
		doca_mmap_create_from_export(NULL, host->letter.desc, host->letter.desc_len, dev, &map);

	if (status == DOCA_ERROR_NOT_SUPPORTED)
		SKIP("the kernel does not let processes reach each other's memory in this way");
	MUST(status);
	CHECK_OK(doca_mmap_get_memrange(map, &addr, &len));
	CHECK_U64((uintptr_t)addr, host->letter.addr);
	CHECK_U64(len, host->letter.len);
	return map;
}

#endif
