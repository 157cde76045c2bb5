/*
 * rule: not-armed
 *
 * The program sleeps on the notification handle of its engine, which it has not armed.
 */
#include "misuse.h"

#include <poll.h>

int main(void)
{
	struct rig rig;
	struct pollfd fd = {.fd = -1, .events = POLLIN};

	rig_setup(&rig, 4096, 4);
	MUST(doca_pe_get_notification_handle(rig.pe, &fd.fd));
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	while (rig.good == 0) {
		if (!WRONG)
			MUST(doca_pe_request_notification(rig.pe));
		(void)poll(&fd, 1, 1800);
		MUST(doca_pe_clear_notification(rig.pe, fd.fd));
		while (rig_progress(&rig) != 0)
			;
	}
	rig_teardown(&rig);
	return check_result();
}
