/*
 * rule: task-too-large
 *
 * On a card that copies 2 MiB at once the program submits a copy of 3 MiB.
 */
#include "misuse.h"

#define MIB (1u << 20)

int main(void)
{
	struct rig rig;
	uint64_t most = 0;
	size_t at, len;

	setenv("SOFTDPU_PROFILE", "bf3", 1);
	rig_setup(&rig, 8 * MIB, 4);
	MUST(doca_dma_cap_task_memcpy_get_max_buf_size(doca_dev_as_devinfo(rig.dev), &most));
	for (at = 0; at < 3 * MIB; at += len) {
		len = WRONG || 3 * MIB - at < most ? 3 * MIB - at : most;
		(void)rig_copy(&rig, at, 4 * MIB + at, len, at);
		rig_drain(&rig);
	}
	CHECK_U64(rig.bad, WRONG);
	(void)doca_ctx_stop(rig.ctx);
	failed_teardown(&rig);
	return check_result();
}
