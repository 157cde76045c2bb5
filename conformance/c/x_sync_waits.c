/*
 * Wait tasks: they stay in flight until the value is right, hold nobody back, are re-checked by progress,
 * take masks of whole bytes only, and are flushed through the error callback when the context stops.
 *
 * clauses: core-sync-graph Sync event: tasks (waits), Behaviour
 * covers: @
 */
#define _GNU_SOURCE
#include "x_sync.h"

static struct doca_task *wait_eq(struct sync_rig *rig, uint64_t value, uint64_t mask, uint64_t number)
{
	struct doca_sync_event_task_wait_eq *task = NULL;
	union doca_data user = {.u64 = number};

	MUST(doca_sync_event_task_wait_eq_alloc_init(rig->event, value, mask, user, &task));
	CHECK_U64(doca_sync_event_task_wait_eq_get_wait_val(task), value);
	CHECK_U64(doca_sync_event_task_wait_eq_get_mask(task), mask);
	return doca_sync_event_task_wait_eq_as_doca_task(task);
}

static struct doca_task *wait_neq(struct sync_rig *rig, uint64_t value, uint64_t mask, uint64_t number)
{
	struct doca_sync_event_task_wait_neq *task = NULL;
	union doca_data user = {.u64 = number};

	MUST(doca_sync_event_task_wait_neq_alloc_init(rig->event, value, mask, user, &task));
	CHECK_U64(doca_sync_event_task_wait_neq_get_wait_val(task), value);
	CHECK_U64(doca_sync_event_task_wait_neq_get_mask(task), mask);
	return doca_sync_event_task_wait_neq_as_doca_task(task);
}

static void set(struct sync_rig *rig, uint64_t value)
{
	struct doca_sync_event_task_notify_set *task = NULL;
	union doca_data user = {.u64 = 0};

	MUST(doca_sync_event_task_notify_set_alloc_init(rig->event, value, user, &task));
	sync_run(rig, doca_sync_event_task_notify_set_as_doca_task(task));
	doca_task_free(doca_sync_event_task_notify_set_as_doca_task(task));
}

/* Nothing comes of 200 progress calls. */
static void quiet(struct sync_rig *rig)
{
	int i;

	for (i = 0; i < 200; i++)
		CHECK_U64(sync_progress(rig), 0);
}

static void expect(struct sync_rig *rig, uint64_t number)
{
	while (sync_progress(rig) == 0)
		;
	CHECK_U64(rig->user, number);
}

static void bad_masks(struct sync_rig *rig)
{
	static const uint64_t bad[] = {1, 0x7f, 0xfff, 0xff00ff, 0xffffff, 0xfffffffffffffffeull, 0xff0000ff00000000ull};
	struct doca_sync_event_task_wait_eq *task;
	union doca_data user = {.u64 = 0};
	size_t i;

	/* Refused at once, or by the checked submit. */
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		task = NULL;
		if (doca_sync_event_task_wait_eq_alloc_init(rig->event, 0, bad[i], user, &task) == DOCA_SUCCESS) {
			CHECK_STATUS(doca_task_try_submit(doca_sync_event_task_wait_eq_as_doca_task(task)),
				     DOCA_ERROR_INVALID_VALUE);
			doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
		}
	}
}

int main(void)
{
	struct doca_dev *dev = sync_open(SYNC_CARD);
	struct doca_task *first, *second, *third, *fourth;
	struct sync_rig rig;

	sync_make(&rig, sync_local(dev), 4);
	MUST(doca_ctx_start(rig.ctx));
	bad_masks(&rig);
	/* Satisfied from the start. */
	first = wait_eq(&rig, 0, UINT64_MAX, 1);
	sync_run(&rig, first);
	second = wait_neq(&rig, 5, UINT64_MAX, 2);
	sync_run(&rig, second);
	doca_task_free(second);
	/* Not yet: others overtake it. */
	doca_task_free(first);
	first = wait_eq(&rig, 3, UINT64_MAX, 1);
	second = wait_neq(&rig, 0, UINT64_MAX, 2);
	third = wait_eq(&rig, 0x0700, 0xff00, 3);
	fourth = wait_eq(&rig, 0x1234567800000000ull, 0xffffffff00000000ull, 4);
	MUST(doca_task_submit(first));
	MUST(doca_task_submit(second));
	MUST(doca_task_submit(third));
	MUST(doca_task_submit(fourth));
	quiet(&rig);
	CHECK_U64(sync_inflight(&rig), 4);
	{
		struct doca_sync_event_task_get *get = NULL;
		union doca_data user = {.u64 = 77};
		uint64_t value = 9;

		MUST(doca_sync_event_task_get_alloc_init(rig.event, &value, user, &get));
		sync_run(&rig, doca_sync_event_task_get_as_doca_task(get));
		CHECK_U64(value, 0);
		CHECK_U64(rig.user, 77);
		doca_task_free(doca_sync_event_task_get_as_doca_task(get));
	}
	set(&rig, 0);
	quiet(&rig);
	/* 0x0705: two become true, one after the other. */
	{
		struct doca_sync_event_task_notify_set *task = NULL;
		union doca_data user = {.u64 = 50};
		uint64_t seen = 0;
		int i;

		MUST(doca_sync_event_task_notify_set_alloc_init(rig.event, 0x0705, user, &task));
		MUST(doca_task_submit(doca_sync_event_task_notify_set_as_doca_task(task)));
		for (i = 0; i < 3; i++) {
			while (sync_progress(&rig) == 0)
				;
			seen += rig.user;
		}
		CHECK_U64(seen, 50 + 2 + 3);
		doca_task_free(doca_sync_event_task_notify_set_as_doca_task(task));
	}
	quiet(&rig);
	doca_task_free(second);
	doca_task_free(third);
	{
		struct doca_sync_event_task_notify_set *task = NULL;
		union doca_data user = {.u64 = 51};
		uint64_t seen = 0;
		int i;

		MUST(doca_sync_event_task_notify_set_alloc_init(rig.event, 0x1234567800000001ull, user, &task));
		MUST(doca_task_submit(doca_sync_event_task_notify_set_as_doca_task(task)));
		for (i = 0; i < 2; i++) {
			while (sync_progress(&rig) == 0)
				;
			seen += rig.user;
		}
		CHECK_U64(seen, 51 + 4);
		doca_task_free(doca_sync_event_task_notify_set_as_doca_task(task));
		doca_task_free(fourth);
	}
	/* The first waits on; stop flushes it, with one more beside it. */
	second = wait_neq(&rig, 0x1234567800000001ull, UINT64_MAX, 2);
	MUST(doca_task_submit(second));
	quiet(&rig);
	CHECK_U64(sync_inflight(&rig), 2);
	rig.bad = 0;
	CHECK_STATUS(doca_ctx_stop(rig.ctx), DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(rig.bad, 0);
	while (sync_inflight(&rig) != 0)
		sync_progress(&rig);
	CHECK_U64(rig.bad, 2);
	doca_task_free(first);
	doca_task_free(second);
	while (sync_state(&rig) != DOCA_CTX_STATE_IDLE)
		sync_progress(&rig);
	/* And once more from the start. */
	MUST(doca_ctx_start(rig.ctx));
	set(&rig, 6);
	first = wait_eq(&rig, 6, UINT64_MAX, 8);
	MUST(doca_task_submit(first));
	expect(&rig, 8);
	doca_task_free(first);
	sync_unmake(&rig);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
