/*
 * rule: free-in-flight
 *
 * The program frees a task that waits for an event.
 */
#include "misuse.h"

#include "../c/sync_event_rig.h"

static unsigned ended;

static void waited(struct doca_sync_event_task_wait_eq *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	ended++;
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
}

int main(void)
{
	struct doca_dev *dev = se_open_dev();
	struct doca_sync_event *event = NULL;
	struct doca_sync_event_task_wait_eq *task = NULL;
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	union doca_data user = {0};
	struct doca_pe *pe = NULL;
	struct doca_ctx *ctx;

	MUST(doca_pe_create(&pe));
	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_cpu(event, dev));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	ctx = doca_sync_event_as_ctx(event);
	MUST(doca_pe_connect_ctx(pe, ctx));
	MUST(doca_sync_event_task_wait_eq_set_conf(event, waited, waited, 2));
	MUST(doca_ctx_start(ctx));
	MUST(doca_sync_event_task_wait_eq_alloc_init(event, 5, UINT64_MAX, user, &task));
	MUST(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(task)));
	if (WRONG)
		doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
	/* Nobody sets it: the wait ends with the context. */
	CHECK_STATUS2(doca_ctx_stop(ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	while (state != DOCA_CTX_STATE_IDLE) {
		(void)doca_pe_progress(pe);
		MUST(doca_ctx_get_state(ctx, &state));
	}
	CHECK_U64(ended, !WRONG);
	MUST(doca_sync_event_destroy(event));
	MUST(doca_pe_destroy(pe));
	MUST(doca_dev_close(dev));
	return check_result();
}
