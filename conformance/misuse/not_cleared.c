/*
 * rule: not-cleared
 *
 * The program sleeps on its engine again and again, and never clears a notification.
 */
#include "misuse.h"

#include <poll.h>

int main(void)
{
	struct rig rig;
	struct pollfd fd = {.fd = -1, .events = POLLIN};
	unsigned i;

	rig_setup(&rig, 4096, 4);
	MUST(doca_pe_get_notification_handle(rig.pe, &fd.fd));
	for (i = 0; i < 100; i++) {
		MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
		while (rig.good == i) {
			MUST(doca_pe_request_notification(rig.pe));
			(void)poll(&fd, 1, 1000);
			if (!WRONG)
				MUST(doca_pe_clear_notification(rig.pe, fd.fd));
			while (rig_progress(&rig) != 0)
				;
		}
	}
	rig_teardown(&rig);
	return check_result();
}
