/*
 * Two processes and the line between them: a child made by fork() before the first call into the
 * library, or by running the program itself again; both talk over a pair of sockets that the library
 * knows nothing about. A peer that fails is seen as the end of the line, a peer that hangs by its own
 * watchdog.
 *
 * A program that includes this defines _GNU_SOURCE first.
 */
#ifndef CONFORMANCE_X_TWO_H
#define CONFORMANCE_X_TWO_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"

static pid_t two_owner;
static char two_folder[64];

static inline int two_remove(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)info, (void)kind, (void)walk;
	return remove(path);
}

static inline void two_clean(void)
{
	if (getpid() == two_owner)
		nftw(two_folder, two_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* The suite gives every program a runtime folder; one started by hand makes its own. */
__attribute__((constructor)) static void two_start(void)
{
	setvbuf(stderr, NULL, _IOLBF, 0);
	if (getenv("SOFTDPU_RUNTIME_DIR") != NULL)
		return;
	snprintf(two_folder, sizeof(two_folder), "/tmp/conformance-XXXXXX");
	if (mkdtemp(two_folder) == NULL)
		exit(125);
	two_owner = getpid();
	setenv("SOFTDPU_RUNTIME_DIR", two_folder, 1);
	atexit(two_clean);
}

static inline void two_sleep_ms(long ms)
{
	struct timespec time;

	time.tv_sec = ms / 1000;
	time.tv_nsec = ms % 1000 * 1000000;
	nanosleep(&time, NULL);
}

/* What a child does first: a watchdog of its own, and no life without its parent. */
static inline void two_child(void)
{
	check_failures = 0;
	alarm(55);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* 0 in the child; `line` is the own end in both. */
static inline pid_t two_fork(int *line)
{
	int pair[2];
	pid_t pid;

	MUST_BE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	fflush(NULL);
	pid = fork();
	MUST_BE(pid >= 0);
	*line = pair[pid == 0 ? 1 : 0];
	close(pair[pid == 0 ? 0 : 1]);
	if (pid == 0)
		two_child();
	return pid;
}

/* Runs this program again with two arguments: the role, and the number of the descriptor of its line. */
static inline pid_t two_again(const char *self, const char *role, int *line)
{
	char number[16];
	int pair[2];
	pid_t pid;

	MUST_BE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	fflush(NULL);
	pid = fork();
	MUST_BE(pid >= 0);
	if (pid == 0) {
		close(pair[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		snprintf(number, sizeof(number), "%d", pair[1]);
		execl("/proc/self/exe", self, role, number, (char *)NULL);
		_exit(126);
	}
	close(pair[1]);
	*line = pair[0];
	fcntl(*line, F_SETFD, FD_CLOEXEC);
	return pid;
}

static inline void two_send(int line, const void *bytes, size_t len)
{
	const uint8_t *at = (const uint8_t *)bytes;

	while (len != 0) {
		ssize_t done = send(line, at, len, MSG_NOSIGNAL);

		if (done < 0 && errno == EINTR)
			continue;
		MUST_BE(done > 0);
		at += done;
		len -= (size_t)done;
	}
}

/* 0 when the line has ended before the first byte. */
static inline int two_recv_or_end(int line, void *bytes, size_t len)
{
	uint8_t *at = (uint8_t *)bytes;
	size_t got = 0;

	while (got < len) {
		ssize_t done = recv(line, at + got, len - got, 0);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0 && got == 0)
			return 0;
		MUST_BE(done > 0);
		got += (size_t)done;
	}
	return 1;
}

static inline void two_recv(int line, void *bytes, size_t len)
{
	MUST_BE(two_recv_or_end(line, bytes, len) && "the other side went away");
}

/* A step of the play: the other side waits for exactly this one. */
static inline void two_tell(int line, char step)
{
	two_send(line, &step, 1);
}

static inline void two_await(int line, char step)
{
	char got = 0;

	two_recv(line, &got, 1);
	MUST_BE(got == step);
}

/* Bytes of any length. */
static inline void two_send_blob(int line, const void *bytes, size_t len)
{
	uint64_t count = len;

	two_send(line, &count, sizeof(count));
	two_send(line, bytes, len);
}

static inline size_t two_recv_blob(int line, void *bytes, size_t room)
{
	uint64_t count = 0;

	two_recv(line, &count, sizeof(count));
	MUST_BE(count <= room);
	two_recv(line, bytes, (size_t)count);
	return (size_t)count;
}

/* Something to read without waiting? */
static inline int two_ready(int line)
{
	char byte;

	return recv(line, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

/* The child ends well. */
static inline void two_reap(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0)
		MUST_BE(errno == EINTR);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		check_fail(__FILE__, __LINE__, "the child ended with wait status 0x%x", (unsigned)status);
}

/* The child is killed now. */
static inline void two_kill(pid_t pid)
{
	int status = -1;

	MUST_BE(kill(pid, SIGKILL) == 0);
	while (waitpid(pid, &status, 0) < 0)
		MUST_BE(errno == EINTR);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* The child is killed unless it has ended already, which may be with any status. */
static inline void two_kill_or_ended(pid_t pid)
{
	int status = -1;

	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		MUST_BE(errno == EINTR);
}

/* The number of this process's open files. */
static inline unsigned two_open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	MUST_BE(folder != NULL);
	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

/* Some may be closed a little later, and a few be kept; one per round of something would be a leak, and
 * is waited for until the watchdog barks. */
static inline void two_no_leak(unsigned before)
{
	while (two_open_files() >= before + 20)
		two_sleep_ms(5);
}

/* Bytes that tell their place and their series. */
static inline uint8_t two_byte(size_t at, unsigned series)
{
	return (uint8_t)(at * 131 + (at >> 8) * 29 + (at >> 16) * 7 + series * 89 + 3);
}

static inline void two_fill(void *bytes, size_t len, unsigned series)
{
	size_t i;

	for (i = 0; i < len; i++)
		((uint8_t *)bytes)[i] = two_byte(i, series);
}

static inline int two_is(const void *bytes, size_t len, unsigned series)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (((const uint8_t *)bytes)[i] != two_byte(i, series)) {
			fprintf(stderr, "byte %zu of %zu (series %u): 0x%02x instead of 0x%02x\n", i, len, series,
				((const uint8_t *)bytes)[i], two_byte(i, series));
			return 0;
		}
	}
	return 1;
}

#endif
