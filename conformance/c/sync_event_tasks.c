/*
 * The asynchronous mode: every task, waits that stay in flight, stops that flush them, rules of
 * configuration and allocation.
 *
 * clauses: core-sync-graph tasks, Behaviour (sync event); core-exec 3
 * covers: @
 */
#define _GNU_SOURCE
#include <poll.h>

#include "sync_event_rig.h"

static union doca_data cookie(uint64_t value)
{
	union doca_data data;

	data.u64 = value;
	return data;
}

static void every_task(struct doca_dev *dev)
{
	struct doca_sync_event_task_get *get = NULL;
	struct doca_sync_event_task_notify_set *set = NULL;
	struct doca_sync_event_task_notify_add *add = NULL;
	struct doca_sync_event_task_wait_eq *eq = NULL;
	struct doca_sync_event_task_wait_neq *neq = NULL;
	uint64_t seen = 99, fetched = 99, other = 99;
	struct se_ctx se;
	size_t inflight = 0;
	unsigned i;

	se_start(&se, se_make(dev), 2);
	CHECK_STATUS(doca_sync_event_get(se.event, &seen), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sync_event_start(se.event), DOCA_ERROR_BAD_STATE);
	CHECK_REFUSED(doca_sync_event_stop(se.event));
	CHECK_REFUSED(doca_sync_event_destroy(se.event));

	MUST(doca_sync_event_task_get_alloc_init(se.event, &seen, cookie(1), &get));
	MUST(doca_sync_event_task_notify_set_alloc_init(se.event, 40, cookie(2), &set));
	MUST(doca_sync_event_task_notify_add_alloc_init(se.event, 2, &fetched, cookie(3), &add));
	MUST(doca_sync_event_task_wait_eq_alloc_init(se.event, 42, UINT64_MAX, cookie(4), &eq));
	MUST(doca_sync_event_task_wait_neq_alloc_init(se.event, 42, UINT64_MAX, cookie(5), &neq));

	se_carry_out(&se, doca_sync_event_task_get_as_doca_task(get));
	CHECK_U64(seen, 0);
	/* A wait that is not satisfied holds nobody back. */
	MUST(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(eq)));
	for (i = 0; i < 1000; i++)
		CHECK_U64(se_progress(&se), 0);
	se_carry_out(&se, doca_sync_event_task_notify_set_as_doca_task(set));
	CHECK_OK(doca_ctx_get_num_inflight_tasks(se.ctx, &inflight));
	CHECK_U64(inflight, 1);
	se_carry_out(&se, doca_sync_event_task_notify_add_as_doca_task(add));
	CHECK_U64(fetched, 40);
	while (se_progress(&se) == 0)
		;
	CHECK_U64(se.order[3], 4);
	MUST(doca_task_submit(doca_sync_event_task_wait_neq_as_doca_task(neq)));
	for (i = 0; i < 100; i++)
		CHECK_U64(se_progress(&se), 0);

	/* Used again with other values. */
	doca_sync_event_task_get_set_ret_val_ptr(get, &other);
	CHECK_PTR(doca_sync_event_task_get_get_ret_val_ptr(get), &other);
	se_carry_out(&se, doca_sync_event_task_get_as_doca_task(get));
	CHECK_U64(other, 42);
	doca_sync_event_task_notify_set_set_set_val(set, 0x1234);
	CHECK_U64(doca_sync_event_task_notify_set_get_set_val(set), 0x1234);
	MUST(doca_task_submit(doca_sync_event_task_notify_set_as_doca_task(set)));
	while (se.good < 7)
		(void)se_progress(&se); /* the setter, and the wait for anything but 42 */
	doca_sync_event_task_notify_add_set_inc_val(add, UINT64_MAX);
	CHECK_U64(doca_sync_event_task_notify_add_get_inc_val(add), UINT64_MAX);
	doca_sync_event_task_notify_add_set_fetched_val_ptr(add, &other);
	CHECK_PTR(doca_sync_event_task_notify_add_get_fetched_val_ptr(add), &other);
	se_carry_out(&se, doca_sync_event_task_notify_add_as_doca_task(add));
	CHECK_U64(other, 0x1234);
	doca_sync_event_task_wait_eq_set_wait_val(eq, 0x33);
	doca_sync_event_task_wait_eq_set_mask(eq, 0xff);
	CHECK_U64(doca_sync_event_task_wait_eq_get_wait_val(eq), 0x33);
	CHECK_U64(doca_sync_event_task_wait_eq_get_mask(eq), 0xff);
	se_carry_out(&se, doca_sync_event_task_wait_eq_as_doca_task(eq));
	doca_sync_event_task_wait_neq_set_wait_val(neq, 0x1233);
	doca_sync_event_task_wait_neq_set_mask(neq, 0xffff0000);
	CHECK_U64(doca_sync_event_task_wait_neq_get_wait_val(neq), 0x1233);
	CHECK_U64(doca_sync_event_task_wait_neq_get_mask(neq), 0xffff0000);
	se_carry_out(&se, doca_sync_event_task_wait_neq_as_doca_task(neq));
	CHECK_U64(se.bad, 0);

	doca_task_free(doca_sync_event_task_get_as_doca_task(get));
	doca_task_free(doca_sync_event_task_notify_set_as_doca_task(set));
	doca_task_free(doca_sync_event_task_notify_add_as_doca_task(add));
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(eq));
	doca_task_free(doca_sync_event_task_wait_neq_as_doca_task(neq));
	se_end(&se);
}

static void allocation(struct doca_dev *dev)
{
	struct doca_sync_event_task_wait_eq *eq = NULL, *more = NULL;
	struct doca_sync_event_task_get *get = NULL;
	struct doca_sync_event *event = se_make(dev);
	static const uint64_t good[] = {0, 0xff, 0xff00, 0xffff0000, 0xffffffff, 0xffffffff0000, UINT64_MAX};
	static const uint64_t bad[] = {1, 0xf, 0xff0, 0xffffff, 0xff0000ff, 0x7fffffffffffffff};
	uint64_t value = 0;
	struct se_ctx se;
	unsigned i;

	CHECK_STATUS(doca_sync_event_task_get_alloc_init(event, &value, cookie(0), &get), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sync_event_task_get_set_conf(event, NULL, se_get_bad, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_task_get_set_conf(NULL, se_get_good, se_get_bad, 1), DOCA_ERROR_INVALID_VALUE);
	se_start(&se, event, 1);
	CHECK_STATUS(doca_sync_event_task_get_set_conf(event, se_get_good, se_get_bad, 1), DOCA_ERROR_NOT_PERMITTED);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK_OK(doca_sync_event_task_wait_eq_alloc_init(event, 0, good[i], cookie(0), &eq));
		CHECK_STATUS(doca_sync_event_task_wait_eq_alloc_init(event, 0, good[i], cookie(0), &more),
			     DOCA_ERROR_NO_MEMORY);
		doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(eq));
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_STATUS(doca_sync_event_task_wait_eq_alloc_init(event, 0, bad[i], cookie(0), &eq),
			     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_task_get_alloc_init(event, NULL, cookie(0), &get), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_task_get_alloc_init(event, &value, cookie(0), NULL), DOCA_ERROR_INVALID_VALUE);
	/* A mask that was made bad later: refused by the checked submit, failed by the other. */
	MUST(doca_sync_event_task_wait_eq_alloc_init(event, 0, 0xff, cookie(9), &eq));
	doca_sync_event_task_wait_eq_set_mask(eq, 0xff0);
	CHECK_STATUS(doca_task_try_submit(doca_sync_event_task_wait_eq_as_doca_task(eq)), DOCA_ERROR_INVALID_VALUE);
	se_carry_out(&se, doca_sync_event_task_wait_eq_as_doca_task(eq));
	CHECK_U64(se.bad, 1);
	CHECK_STATUS(se.status[0], DOCA_ERROR_INVALID_VALUE);
	/* A failed task does not stop the context. */
	CHECK_U64(se_state(&se), DOCA_CTX_STATE_RUNNING);
	doca_sync_event_task_wait_eq_set_mask(eq, 0xff);
	se_carry_out(&se, doca_sync_event_task_wait_eq_as_doca_task(eq));
	CHECK_U64(se.good, 1);
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(eq));
	se_end(&se);

	/* No tasks at all. */
	se_start(&se, se_make(dev), 0);
	CHECK_STATUS(doca_sync_event_task_wait_eq_alloc_init(se.event, 0, 0xff, cookie(0), &eq), DOCA_ERROR_NO_MEMORY);
	se_end(&se);
}

static void stop_flushes(struct doca_dev *dev)
{
	struct doca_sync_event_task_wait_eq *waits[8];
	struct doca_sync_event *event = se_make(dev);
	size_t inflight = 1;
	struct se_ctx se;
	unsigned i;

	se_start(&se, event, 8);
	for (i = 0; i < 8; i++) {
		MUST(doca_sync_event_task_wait_eq_alloc_init(event, 7, UINT64_MAX, cookie(i), &waits[i]));
		MUST(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(waits[i])));
		if (i == 3)
			CHECK_U64(se_progress(&se), 0);
	}
	CHECK_STATUS(doca_ctx_stop(se.ctx), DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(se.bad, 0);
	while (inflight != 0) {
		(void)se_progress(&se);
		CHECK_OK(doca_ctx_get_num_inflight_tasks(se.ctx, &inflight));
	}
	CHECK_U64(se.bad, 8);
	CHECK_U64(se.good, 0);
	for (i = 0; i < 8; i++) {
		CHECK_STATUS(se.status[i], DOCA_ERROR_IO_FAILED);
		doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(waits[i]));
	}
	while (se_state(&se) != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(se.pe);
	/* Started again it is a fresh event. */
	MUST(doca_ctx_start(se.ctx));
	{
		struct doca_sync_event_task_get *get = NULL;
		uint64_t value = 9;

		MUST(doca_sync_event_task_get_alloc_init(event, &value, cookie(0), &get));
		se_carry_out(&se, doca_sync_event_task_get_as_doca_task(get));
		CHECK_U64(value, 0);
		doca_task_free(doca_sync_event_task_get_as_doca_task(get));
	}
	se_end(&se);
}

/* The program sleeps; its own second handle, of the same process, changes the value. */
static void sleeping(struct doca_dev *dev)
{
	struct doca_sync_event *event = se_make(dev), *twin = NULL;
	struct doca_sync_event_task_wait_neq *neq = NULL;
	doca_notification_handle_t handle = doca_event_invalid_handle;
	const uint8_t *data = NULL;
	struct pollfd fd;
	struct se_ctx se;
	size_t size = 0;

	se_start(&se, event, 1);
	MUST(doca_sync_event_export_to_remote_pci(event, dev, &data, &size));
	CHECK(size <= 1024);
	MUST(doca_sync_event_create_from_export(dev, data, size, &twin));
	CHECK_STATUS(doca_sync_event_add_publisher_location_remote_pci(twin), DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_sync_event_start(twin));
	MUST(doca_sync_event_task_wait_neq_alloc_init(event, 0, UINT64_MAX, cookie(0), &neq));
	MUST(doca_task_submit(doca_sync_event_task_wait_neq_as_doca_task(neq)));
	CHECK_U64(se_progress(&se), 0);
	MUST(doca_pe_get_notification_handle(se.pe, &handle));
	MUST(doca_pe_request_notification(se.pe));
	fd.fd = handle;
	fd.events = POLLIN;
	fd.revents = 0;
	CHECK_U64(poll(&fd, 1, 20), 0);
	CHECK_OK(doca_sync_event_update_set(twin, 5));
	CHECK_U64(poll(&fd, 1, 50000), 1);
	CHECK_OK(doca_pe_clear_notification(se.pe, 0));
	while (se_progress(&se) == 0)
		;
	CHECK_U64(se.good, 1);
	doca_task_free(doca_sync_event_task_wait_neq_as_doca_task(neq));
	CHECK_OK(doca_sync_event_stop(twin));
	CHECK_OK(doca_sync_event_destroy(twin));
	se_end(&se);
}

int main(void)
{
	struct doca_dev *dev = se_open_dev();

	every_task(dev);
	allocation(dev);
	stop_flushes(dev);
	sleeping(dev);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
