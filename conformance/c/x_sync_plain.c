/*
 * An event in synchronous mode, alone: value 0 at first, set, add with the value before and wrap-around,
 * every wait with masks over the full unsigned range, each also in its yielding form.
 *
 * clauses: core-sync-graph Sync event: direct operations
 * covers: @
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "x_sync.h"

static void *later(void *event)
{
	two_sleep_ms(50);
	CHECK_OK(doca_sync_event_update_set(event, 100));
	return NULL;
}

int main(void)
{
	struct doca_dev *dev = sync_open(SYNC_CARD);
	struct doca_sync_event *event = sync_local(dev);
	uint64_t before = 99;
	pthread_t thread;

	CHECK_OK(doca_sync_event_start(event));
	CHECK_U64(sync_value(event), 0);
	CHECK_OK(doca_sync_event_update_set(event, 5));
	CHECK_OK(doca_sync_event_update_add(event, 3, &before));
	CHECK_U64(before, 5);
	CHECK_U64(sync_value(event), 8);
	CHECK_OK(doca_sync_event_update_add(event, UINT64_MAX - 8, &before));
	CHECK_U64(sync_value(event), UINT64_MAX);
	CHECK_OK(doca_sync_event_update_add(event, 2, &before));
	CHECK_U64(before, UINT64_MAX);
	CHECK_U64(sync_value(event), 1);
	CHECK_OK(doca_sync_event_update_add(event, UINT64_MAX, &before)); /* minus one */
	CHECK_U64(sync_value(event), 0);

	/* Already so. */
	CHECK_OK(doca_sync_event_update_set(event, 0xf1234567890abcdeull));
	CHECK_OK(doca_sync_event_wait_eq(event, 0xf1234567890abcdeull, UINT64_MAX));
	CHECK_OK(doca_sync_event_wait_eq(event, 0xde, 0xff)); /* any mask, here a byte */
	CHECK_OK(doca_sync_event_wait_eq_yield(event, 0x8d0, 0xbf1)); /* ... or one full of holes */
	CHECK_OK(doca_sync_event_wait_eq(event, 0, 0)); /* nothing is compared: equal to 0 */
	CHECK_OK(doca_sync_event_wait_gt(event, 0xf1234567890abcddull, UINT64_MAX));
	CHECK_OK(doca_sync_event_wait_gt_yield(event, 0x7fffffffffffffffull, UINT64_MAX)); /* unsigned */
	CHECK_OK(doca_sync_event_wait_gt(event, 0xd, 0xf));
	CHECK_OK(doca_sync_event_wait_neq(event, 0, UINT64_MAX));
	CHECK_OK(doca_sync_event_wait_neq_yield(event, 0xdf, 0xff));
	/* Only the event's side is masked: no value with these bits ever equals 0x1de. */
	CHECK_OK(doca_sync_event_wait_neq(event, 0x1de, 0xff));
	CHECK_OK(doca_sync_event_update_set(event, UINT64_MAX));
	CHECK_OK(doca_sync_event_wait_gt(event, UINT64_MAX - 1, UINT64_MAX));

	/* Not yet so: another thread, which waits with nobody. */
	CHECK_OK(doca_sync_event_update_set(event, 7));
	MUST_BE(pthread_create(&thread, NULL, later, event) == 0);
	CHECK_OK(doca_sync_event_wait_neq_yield(event, 7, UINT64_MAX));
	CHECK_U64(sync_value(event), 100);
	pthread_join(thread, NULL);
	sync_end(event);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
