/*
 * rule: event-not-started
 *
 * The program sets an event before it has started it.
 */
#include "misuse.h"

#include "../c/sync_event_rig.h"

int main(void)
{
	struct doca_dev *dev = se_open_dev();
	struct doca_sync_event *event = NULL;
	uint64_t value = 0;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_cpu(event, dev));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	if (WRONG)
		CHECK_REFUSED(doca_sync_event_update_set(event, 5));
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_update_set(event, 6));
	MUST(doca_sync_event_get(event, &value));
	CHECK_U64(value, 6);
	MUST(doca_sync_event_stop(event));
	MUST(doca_sync_event_destroy(event));
	MUST(doca_dev_close(dev));
	return check_result();
}
