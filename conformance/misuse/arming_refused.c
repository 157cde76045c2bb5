/*
 * rule: not-armed
 *
 * The program wants to arm its engine through a pointer that it never set, does not look at the answer, and sleeps.
 */
#include "misuse.h"

#include <poll.h>

int main(void)
{
	struct rig rig;
	struct doca_pe *armed = NULL;
	struct pollfd fd = {.fd = -1, .events = POLLIN};

	rig_setup(&rig, 4096, 4);
	MUST(doca_pe_get_notification_handle(rig.pe, &fd.fd));
	if (!WRONG)
		armed = rig.pe;
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	while (rig.good == 0) {
		(void)doca_pe_request_notification(armed);
		(void)poll(&fd, 1, 1800);
		MUST(doca_pe_clear_notification(rig.pe, fd.fd));
		while (rig_progress(&rig) != 0)
			;
	}
	rig_teardown(&rig);
	return check_result();
}
