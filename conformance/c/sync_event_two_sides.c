/*
 * Two processes: one side exports, the other imports; both modes on both sides; contended adds; a
 * killed importer and a killed owner; exports that were changed, cut, or are stale.
 *
 * clauses: core-sync-graph export, create_from_export, Behaviour (sync event)
 * covers: @
 */
#define _GNU_SOURCE
#include "sync_event_rig.h"

#define ADDS 200000

static union doca_data cookie(uint64_t value)
{
	union doca_data data;

	data.u64 = value;
	return data;
}

static void wait_and_set(struct doca_sync_event *event, int tasks, uint64_t wait_for, uint64_t then)
{
	if (!tasks) {
		MUST(doca_sync_event_start(event));
		CHECK_OK(doca_sync_event_wait_eq(event, wait_for, UINT64_MAX));
		CHECK_OK(doca_sync_event_update_set(event, then));
		CHECK_OK(doca_sync_event_stop(event));
		CHECK_OK(doca_sync_event_destroy(event));
	} else {
		struct doca_sync_event_task_wait_eq *eq = NULL;
		struct doca_sync_event_task_notify_set *set = NULL;
		struct se_ctx se;

		se_start(&se, event, 1);
		MUST(doca_sync_event_task_wait_eq_alloc_init(event, wait_for, UINT64_MAX, cookie(0), &eq));
		MUST(doca_sync_event_task_notify_set_alloc_init(event, then, cookie(0), &set));
		se_carry_out(&se, doca_sync_event_task_wait_eq_as_doca_task(eq));
		se_carry_out(&se, doca_sync_event_task_notify_set_as_doca_task(set));
		CHECK_U64(se.bad, 0);
		doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(eq));
		doca_task_free(doca_sync_event_task_notify_set_as_doca_task(set));
		se_end(&se);
	}
}

/* The card's side. */
static int importer(struct se_peer *peer)
{
	struct doca_dev *dev = se_open_dev();
	struct doca_sync_event *event = NULL;
	uint8_t data[1024];
	uint64_t fetched, i;
	size_t size;
	int tasks;

	for (tasks = 0; tasks < 2; tasks++) {
		size = se_receive(peer, data, sizeof(data));
		MUST(doca_sync_event_create_from_export(dev, data, size, &event));
		wait_and_set(event, tasks, 1, 2);
	}
	size = se_receive(peer, data, sizeof(data));
	for (i = 0; i < size; i++) {
		data[i] ^= 0x20;
		CHECK_STATUS(doca_sync_event_create_from_export(dev, data, size, &event), DOCA_ERROR_INVALID_VALUE);
		data[i] ^= 0x20;
		CHECK_STATUS(doca_sync_event_create_from_export(dev, data, i, &event), DOCA_ERROR_INVALID_VALUE);
	}
	MUST(doca_sync_event_create_from_export(dev, data, size, &event));
	MUST(doca_sync_event_start(event));
	for (i = 0; i < ADDS; i++)
		CHECK_OK(doca_sync_event_update_add(event, 1, &fetched));
	/* Waits for what never comes, until it is killed. */
	CHECK_OK(doca_sync_event_wait_gt_yield(event, UINT64_MAX - 1, UINT64_MAX));
	return 1;
}

static void exporter(struct se_peer *peer)
{
	struct doca_dev *dev = se_open_dev();
	struct doca_sync_event *event = NULL;
	const uint8_t *data = NULL, *again = NULL;
	uint64_t value = 0, fetched = 0;
	size_t size = 0, size_again = 0;
	int status = 0, i;

	/* Synchronously: changes, then waits for the answer, although its locations say otherwise. */
	event = se_make(dev);
	CHECK_STATUS(doca_sync_event_export_to_remote_pci(event, dev, &data, &size), DOCA_ERROR_BAD_STATE);
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_export_to_remote_pci(event, dev, &data, &size));
	CHECK_OK(doca_sync_event_export_to_remote_pci(event, dev, &again, &size_again));
	CHECK_PTR(again, data);
	CHECK_U64(size_again, size);
	CHECK_STATUS(doca_sync_event_export_to_remote_pci(event, NULL, &data, &size), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_export_to_remote_pci(event, dev, NULL, &size), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_export_to_remote_pci(event, dev, &data, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_REFUSED(doca_sync_event_export_to_remote_net(event, &data, &size));
	se_send(peer, data, size);
	CHECK_OK(doca_sync_event_update_set(event, 1));
	CHECK_OK(doca_sync_event_wait_gt(event, 1, UINT64_MAX));
	CHECK_OK(doca_sync_event_stop(event));
	CHECK_OK(doca_sync_event_destroy(event));

	/* With tasks on both sides. */
	event = se_make(dev);
	{
		struct doca_sync_event_task_wait_eq *eq = NULL;
		struct doca_sync_event_task_notify_add *add = NULL;
		struct se_ctx se;

		se_start(&se, event, 1);
		MUST(doca_sync_event_export_to_remote_pci(event, dev, &data, &size));
		se_send(peer, data, size);
		MUST(doca_sync_event_task_notify_add_alloc_init(event, 1, &fetched, cookie(0), &add));
		MUST(doca_sync_event_task_wait_eq_alloc_init(event, 2, UINT64_MAX, cookie(0), &eq));
		se_carry_out(&se, doca_sync_event_task_notify_add_as_doca_task(add));
		se_carry_out(&se, doca_sync_event_task_wait_eq_as_doca_task(eq));
		CHECK_U64(se.bad, 0);
		doca_task_free(doca_sync_event_task_notify_add_as_doca_task(add));
		doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(eq));
		se_end(&se);
	}

	/* Many adds at once, then the importer dies. */
	event = se_make(dev);
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_export_to_remote_pci(event, dev, &data, &size));
	se_send(peer, data, size);
	for (i = 0; i < ADDS; i++)
		CHECK_OK(doca_sync_event_update_add(event, 1, &fetched));
	CHECK_OK(doca_sync_event_wait_gt_yield(event, 2 * ADDS - 1, UINT64_MAX));
	MUST_BE(kill(peer->pid, SIGKILL) == 0);
	MUST_BE(waitpid(peer->pid, &status, 0) == peer->pid);
	CHECK_OK(doca_sync_event_get(event, &value));
	CHECK_U64(value, 2 * ADDS);
	CHECK_OK(doca_sync_event_update_set(event, 3));
	CHECK_OK(doca_sync_event_stop(event));
	CHECK_OK(doca_sync_event_destroy(event));
	CHECK_OK(doca_dev_close(dev));
}

/* The owner dies while the other side waits. */
static void orphan(struct se_peer *peer)
{
	struct doca_dev *dev = se_open_dev();
	struct doca_sync_event *event = NULL;
	struct doca_sync_event *other = NULL;
	uint8_t data[1024];
	uint64_t value = 0;
	size_t size;
	int status = 0;

	size = se_receive(peer, data, sizeof(data));
	MUST(doca_sync_event_create_from_export(dev, data, size, &event));
	MUST(doca_sync_event_start(event));
	CHECK_OK(doca_sync_event_update_set(event, 1));
	MUST_BE(kill(peer->pid, SIGKILL) == 0);
	MUST_BE(waitpid(peer->pid, &status, 0) == peer->pid);
	CHECK_STATUS(doca_sync_event_wait_eq(event, UINT64_MAX, UINT64_MAX), DOCA_ERROR_CONNECTION_RESET);
	CHECK_STATUS(doca_sync_event_get(event, &value), DOCA_ERROR_CONNECTION_RESET);
	CHECK_STATUS(doca_sync_event_create_from_export(dev, data, size, &other), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sync_event_stop(event));
	CHECK_OK(doca_sync_event_destroy(event));
	CHECK_OK(doca_dev_close(dev));
}

static int owner(struct se_peer *peer)
{
	struct doca_dev *dev = se_open_dev();
	struct doca_sync_event *event = se_make(dev);
	const uint8_t *data = NULL;
	size_t size = 0;

	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_export_to_remote_pci(event, dev, &data, &size));
	se_send(peer, data, size);
	for (;;)
		pause();
	return 1;
}

int main(void)
{
	struct se_peer card, host;

	/* Nobody has called the library yet. */
	se_fork(&card);
	if (card.pid == 0)
		return importer(&card);
	se_fork(&host);
	if (host.pid == 0)
		return owner(&host);
	exporter(&card);
	orphan(&host);
	return check_result();
}
