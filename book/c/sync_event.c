/* A sync event: one thread counts, the other one sleeps until it is time. */
#include "tutorial.h"

#include <doca_sync_event.h>
#include <pthread.h>

static void *worker(void *argument)
{
	struct doca_sync_event *event = argument;
	uint64_t before;

	/* The values before: 0, 1, 2. */
	for (int i = 0; i < 3; i++) {
		MUST(doca_sync_event_update_add(event, 1, &before));
		if (before != (uint64_t)i)
			abort();
	}
	return NULL;
}

int main(void)
{
	struct doca_dev *dev = device_that(doca_sync_event_cap_task_wait_eq_is_supported);
	struct doca_sync_event *event;
	pthread_t thread;
	uint64_t value;

	/* Who may change it, and who may look at it: here both are this process. */
	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_cpu(event, dev));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	MUST(doca_sync_event_start(event));

	pthread_create(&thread, NULL, worker, event);
	MUST(doca_sync_event_wait_gt_yield(event, 2, UINT64_MAX));
	MUST(doca_sync_event_get(event, &value));
	printf("value: %llu\n", (unsigned long long)value);
	pthread_join(thread, NULL);

	MUST(doca_sync_event_stop(event));
	MUST(doca_sync_event_destroy(event));
	MUST(doca_dev_close(dev));
	return 0;
}
