/*
 * rule: fork-after-open
 *
 * The program opens its device and forks, and the child uses the library.
 */
#include "misuse.h"

#include <sys/wait.h>

int main(void)
{
	struct doca_pe *pe = NULL;
	struct rig rig;
	int status = 1;
	pid_t pid;

	if (WRONG)
		rig_setup(&rig, 4096, 4);
	pid = fork();
	MUST_BE(pid >= 0);
	if (pid == 0) {
		doca_error_t made = doca_pe_create(&pe);

		if (made == DOCA_SUCCESS)
			MUST(doca_pe_destroy(pe));
		exit((made == DOCA_SUCCESS) == WRONG);
	}
	MUST_BE(waitpid(pid, &status, 0) == pid);
	CHECK_U64(status, 0);
	if (!WRONG)
		rig_setup(&rig, 4096, 4);
	rig_teardown(&rig);
	return check_result();
}
