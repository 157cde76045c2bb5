/*
 * Tasks of an event in asynchronous mode, one after the other as programs run them: submit, progress until
 * it says something, and that was this task; fields set anew for the next run; the pool; freed outside the
 * callback.
 *
 * clauses: core-sync-graph Sync event: tasks
 * covers: @
 */
#define _GNU_SOURCE
#include "x_sync.h"

int main(void)
{
	struct doca_dev *dev = sync_open(SYNC_CARD);
	struct doca_sync_event_task_notify_set *set = NULL;
	struct doca_sync_event_task_notify_add *add = NULL, *more = NULL;
	struct doca_sync_event_task_get *get = NULL;
	uint64_t value = 99, other = 99, before = 99;
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	union doca_data user = {.u64 = 31};
	struct doca_task *batch[3];
	struct sync_rig rig;

	CHECK_OK(doca_sync_event_cap_task_get_is_supported(info));
	CHECK_OK(doca_sync_event_cap_task_notify_set_is_supported(info));
	CHECK_OK(doca_sync_event_cap_task_notify_add_is_supported(info));
	CHECK_OK(doca_sync_event_cap_task_wait_eq_is_supported(info));
	CHECK_OK(doca_sync_event_cap_task_wait_neq_is_supported(info));
	CHECK_STATUS(doca_sync_event_cap_task_get_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	sync_make(&rig, sync_local(dev), 1);
	MUST(doca_ctx_start(rig.ctx));

	MUST(doca_sync_event_task_get_alloc_init(rig.event, &value, user, &get));
	CHECK_PTR(doca_sync_event_task_get_get_ret_val_ptr(get), &value);
	MUST(doca_sync_event_task_notify_set_alloc_init(rig.event, 1000, user, &set));
	CHECK_U64(doca_sync_event_task_notify_set_get_set_val(set), 1000);
	MUST(doca_sync_event_task_notify_add_alloc_init(rig.event, 11, &before, user, &add));
	CHECK_U64(doca_sync_event_task_notify_add_get_inc_val(add), 11);
	CHECK_PTR(doca_sync_event_task_notify_add_get_fetched_val_ptr(add), &before);
	CHECK_STATUS(doca_sync_event_task_notify_add_alloc_init(rig.event, 1, &other, user, &more),
		     DOCA_ERROR_NO_MEMORY);

	sync_run(&rig, doca_sync_event_task_get_as_doca_task(get));
	CHECK_U64(value, 0);
	CHECK_U64(rig.user, 31);
	sync_run(&rig, doca_sync_event_task_notify_set_as_doca_task(set));
	sync_run(&rig, doca_sync_event_task_notify_add_as_doca_task(add));
	CHECK_U64(before, 1000);
	doca_sync_event_task_get_set_ret_val_ptr(get, &other);
	CHECK_PTR(doca_sync_event_task_get_get_ret_val_ptr(get), &other);
	sync_run(&rig, doca_sync_event_task_get_as_doca_task(get));
	CHECK_U64(other, 1011);
	CHECK_U64(value, 0);
	/* The same tasks with other values. */
	doca_sync_event_task_notify_set_set_set_val(set, UINT64_MAX - 1);
	CHECK_U64(doca_sync_event_task_notify_set_get_set_val(set), UINT64_MAX - 1);
	doca_sync_event_task_notify_add_set_inc_val(add, 3);
	doca_sync_event_task_notify_add_set_fetched_val_ptr(add, &value);
	sync_run(&rig, doca_sync_event_task_notify_set_as_doca_task(set));
	sync_run(&rig, doca_sync_event_task_notify_add_as_doca_task(add));
	CHECK_U64(value, UINT64_MAX - 1);
	sync_run(&rig, doca_sync_event_task_get_as_doca_task(get));
	CHECK_U64(other, 1);
	/* Three at once: three reports. */
	batch[0] = doca_sync_event_task_notify_set_as_doca_task(set);
	batch[1] = doca_sync_event_task_notify_add_as_doca_task(add);
	batch[2] = doca_sync_event_task_get_as_doca_task(get);
	rig.good = 0;
	for (int i = 0; i < 3; i++)
		MUST(doca_task_submit(batch[i]));
	CHECK_U64(sync_inflight(&rig), 3);
	CHECK_U64(rig.good, 0); /* nothing is reported by submit */
	while (sync_inflight(&rig) != 0)
		sync_progress(&rig);
	CHECK_U64(rig.good, 3);
	CHECK_U64(sync_progress(&rig), 0);
	for (int i = 0; i < 3; i++)
		doca_task_free(batch[i]);
	MUST(doca_sync_event_task_notify_add_alloc_init(rig.event, 1, &other, user, &more));
	doca_task_free(doca_sync_event_task_notify_add_as_doca_task(more));
	sync_unmake(&rig);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
