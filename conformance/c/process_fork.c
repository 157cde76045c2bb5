/*
 * fork and exec: forking before the first device is open is fully fine; afterwards the child's calls
 * answer BAD_STATE and say why, the parent is unharmed; exec starts afresh.
 *
 * clauses: core-exec 8 (processes); one process, one view of the card
 * covers: @
 */
#include <sys/wait.h>

#include "capture.h"
#include "rig.h"

static void whole_copy(void)
{
	struct rig rig;

	rig_setup(&rig, 8192, 2);
	(void)rig_copy(&rig, 0, 4096, 4096, 1);
	rig_drain(&rig);
	CHECK_U64(rig.good, 1);
	CHECK_BYTES(rig.mem + 4096, rig.mem, 4096);
	rig_teardown(&rig);
}

static void expect_child(pid_t pid, const char *what)
{
	int status = 1;

	MUST_BE(pid > 0);
	MUST_BE(waitpid(pid, &status, 0) == pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		check_fail(__FILE__, __LINE__, "%s: the child ended with %d", what, status);
}

static void child_after_open(struct rig *rig)
{
	struct doca_devinfo **list = NULL;
	struct doca_dma *dma = NULL;
	struct doca_dev *dev = NULL;
	struct doca_mmap *map = NULL;
	struct doca_pe *pe = NULL;
	uint32_t count = 0;

	capture_clear();
	CHECK_STATUS(doca_devinfo_create_list(&list, &count), DOCA_ERROR_BAD_STATE);
	CHECK(capture_count >= 1);
	CHECK_STATUS(doca_dev_open(doca_dev_as_devinfo(rig->dev), &dev), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_dma_create(rig->dev, &dma), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_mmap_create(&map), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_pe_create(&pe), DOCA_ERROR_BAD_STATE);
	_exit(check_result());
}

int main(int argc, char **argv)
{
	struct rig rig;
	pid_t pid;
	int i;

	if (argc > 1) { /* started by exec */
		whole_copy();
		return check_result();
	}
	/* Before any device: each child a full user of the card. */
	for (i = 0; i < 4; i++) {
		fflush(NULL);
		pid = fork();
		if (pid == 0) {
			whole_copy();
			exit(check_result());
		}
		expect_child(pid, "fork before open");
	}
	capture_sdk(DOCA_LOG_LEVEL_WARNING);
	rig_setup(&rig, 1 << 20, 8);
	for (i = 0; i < 8; i++)
		(void)rig_copy(&rig, (size_t)i * 1000, 500000, 1000, (uint64_t)i);
	/* With work in flight. */
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		child_after_open(&rig);
	expect_child(pid, "fork after open");
	rig_drain(&rig);
	CHECK_U64(rig.good, 8);
	/* Exec from a child of such a process. */
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		execl("/proc/self/exe", argv[0], "again", (char *)NULL);
		_exit(99);
	}
	expect_child(pid, "exec");
	(void)rig_copy(&rig, 0, 500000, 1000, 9);
	rig_drain(&rig);
	CHECK_U64(rig.good, 9);
	rig_teardown(&rig);
	return check_result();
}
