/*
 * Two sync events between host and card, exported over the channel: the host publishes a number and
 * blocks until the card has answered, the card awaits it with a task and answers with another one,
 * two thousand times. A slow progress on the way, as in programs that sleep.
 *
 * clauses: core-sync-graph Sync event
 * covers: @
 */
#define _GNU_SOURCE

#include <doca_sync_event.h>

#include "app_common.h"

#define TURNS 2000u

struct offer {
	uint32_t len;
	uint8_t blob[2000];
};

static uint32_t waits, notifies;

static void waited(struct doca_sync_event_task_wait_eq *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	CHECK_OK(doca_task_get_status(doca_sync_event_task_wait_eq_as_doca_task(task)));
	waits++;
}

static void notified(struct doca_sync_event_task_notify_set *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	CHECK_OK(doca_task_get_status(doca_sync_event_task_notify_set_as_doca_task(task)));
	notifies++;
}

static void card(void)
{
	static struct app_line line;
	struct doca_sync_event_task_notify_set *notify = NULL;
	struct doca_sync_event_task_wait_eq *wait = NULL;
	struct doca_sync_event *ask, *reply;
	union doca_data user = {0};
	struct offer offer;
	struct doca_pe *pe;
	uint64_t turn;

	app_line_serve(&line, "sync events");
	memcpy(&offer, app_receive(&line, NULL), sizeof(offer));
	MUST(doca_sync_event_create_from_export(line.dev, offer.blob, offer.len, &ask));
	memcpy(&offer, app_receive(&line, NULL), sizeof(offer));
	MUST(doca_sync_event_create_from_export(line.dev, offer.blob, offer.len, &reply));
	MUST(doca_pe_create(&pe));
	MUST(doca_sync_event_task_wait_eq_set_conf(ask, waited, waited, 1));
	MUST(doca_pe_connect_ctx(pe, doca_sync_event_as_ctx(ask)));
	MUST(doca_ctx_start(doca_sync_event_as_ctx(ask)));
	MUST(doca_sync_event_task_notify_set_set_conf(reply, notified, notified, 1));
	MUST(doca_pe_connect_ctx(pe, doca_sync_event_as_ctx(reply)));
	MUST(doca_ctx_start(doca_sync_event_as_ctx(reply)));
	MUST(doca_sync_event_task_wait_eq_alloc_init(ask, 1, UINT64_MAX, user, &wait));
	MUST(doca_sync_event_task_notify_set_alloc_init(reply, 1, user, &notify));
	app_send(&line, "ready", 6);
	for (turn = 1; turn <= TURNS; turn++) {
		doca_sync_event_task_wait_eq_set_wait_val(wait, turn);
		MUST(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(wait)));
		while (waits < turn)
			if (doca_pe_progress(pe) == 0 && turn % 500 == 0)
				app_nap();
		doca_sync_event_task_notify_set_set_set_val(notify, turn * 3);
		MUST(doca_task_submit(doca_sync_event_task_notify_set_as_doca_task(notify)));
		while (notifies < turn)
			(void)doca_pe_progress(pe);
	}
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(wait));
	doca_task_free(doca_sync_event_task_notify_set_as_doca_task(notify));
	CHECK_OK(doca_ctx_stop(doca_sync_event_as_ctx(ask)));
	CHECK_OK(doca_ctx_stop(doca_sync_event_as_ctx(reply)));
	CHECK_OK(doca_sync_event_destroy(ask));
	CHECK_OK(doca_sync_event_destroy(reply));
	CHECK_OK(doca_pe_destroy(pe));
	app_send(&line, "done", 5);
	app_line_close(&line);
}

static void offer_event(struct app_line *line, struct doca_sync_event *event)
{
	struct offer offer;
	const uint8_t *blob;
	size_t len;

	MUST(doca_sync_event_export_to_remote_pci(event, line->dev, &blob, &len));
	MUST_BE(len <= sizeof(offer.blob));
	offer.len = (uint32_t)len;
	memcpy(offer.blob, blob, len);
	app_send(line, &offer, sizeof(offer));
}

static void host(void)
{
	static struct app_line line;
	struct doca_sync_event *ask, *reply;
	uint64_t turn, value = 0;

	app_line_reach(&line, "sync events");
	MUST(doca_sync_event_create(&ask));
	MUST(doca_sync_event_add_publisher_location_cpu(ask, line.dev));
	MUST(doca_sync_event_add_subscriber_location_remote_pci(ask));
	MUST(doca_sync_event_start(ask));
	MUST(doca_sync_event_create(&reply));
	MUST(doca_sync_event_add_publisher_location_remote_pci(reply));
	MUST(doca_sync_event_add_subscriber_location_cpu(reply, line.dev));
	MUST(doca_sync_event_start(reply));
	offer_event(&line, ask);
	offer_event(&line, reply);
	CHECK_TEXT((const char *)app_receive(&line, NULL), "ready");
	for (turn = 1; turn <= TURNS; turn++) {
		if (turn % 2)
			MUST(doca_sync_event_update_set(ask, turn));
		else
			MUST(doca_sync_event_update_add(ask, 1, &value));
		if (turn % 3)
			MUST(doca_sync_event_wait_gt(reply, turn * 3 - 1, UINT64_MAX));
		else
			MUST(doca_sync_event_wait_eq_yield(reply, turn * 3, UINT64_MAX));
		MUST(doca_sync_event_get(reply, &value));
		CHECK_U64(value, turn * 3);
	}
	CHECK_TEXT((const char *)app_receive(&line, NULL), "done");
	CHECK_OK(doca_sync_event_stop(ask));
	CHECK_OK(doca_sync_event_stop(reply));
	CHECK_OK(doca_sync_event_destroy(ask));
	CHECK_OK(doca_sync_event_destroy(reply));
	app_line_close(&line);
}

int main(void)
{
	return app_two_roles(card, host);
}
