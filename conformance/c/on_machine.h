/*
 * Machines described in a file: each in a process of its own, which is forked before the library is used.
 *
 * A program that includes this defines _GNU_SOURCE first.
 */
#ifndef CONFORMANCE_ON_MACHINE_H
#define CONFORMANCE_ON_MACHINE_H

#include <sys/wait.h>

#include "check.h"

/* Runs `body` on the machine that the text of a topology file describes, whatever the variables of this process say. */
static inline void on_machine(const char *toml, void (*body)(void))
{
	char name[] = "/tmp/conformance-machine-XXXXXX";
	int fd = mkstemp(name), status = 1;
	pid_t pid;

	MUST_BE(fd >= 0 && write(fd, toml, strlen(toml)) == (ssize_t)strlen(toml));
	close(fd);
	fflush(NULL);
	pid = fork();
	MUST_BE(pid >= 0);
	if (pid == 0) {
		setenv("SOFTDPU_CONFIG", name, 1);
		unsetenv("SOFTDPU_PROFILE");
		unsetenv("SOFTDPU_SIDE");
		unsetenv("SOFTDPU_STRICT");
		body();
		exit(check_result());
	}
	MUST_BE(waitpid(pid, &status, 0) == pid);
	unlink(name);
	if (status != 0)
		check_fail(__FILE__, __LINE__, "child ended with %d over this file:\n%s", status, toml);
}

#endif
