/*
 * The two modes of an event exclude each other for its life; what is refused before start, when running, in
 * the wrong mode, with NULL; an event never started can be destroyed; its configuration is closed by start.
 *
 * clauses: core-sync-graph Sync event: objects, configuration, running
 * covers: @
 */
#define _GNU_SOURCE
#include "x_sync.h"

#define INVALID DOCA_ERROR_INVALID_VALUE

static void nulls(struct doca_dev *dev)
{
	struct doca_sync_event *event = sync_local(dev);
	uint64_t value = 0;

	CHECK_STATUS(doca_sync_event_create(NULL), INVALID);
	CHECK_STATUS(doca_sync_event_destroy(NULL), INVALID);
	CHECK_STATUS(doca_sync_event_add_publisher_location_cpu(NULL, dev), INVALID);
	CHECK_STATUS(doca_sync_event_add_publisher_location_cpu(event, NULL), INVALID);
	CHECK_STATUS(doca_sync_event_add_subscriber_location_cpu(event, NULL), INVALID);
	CHECK_STATUS(doca_sync_event_add_publisher_location_remote_pci(NULL), INVALID);
	CHECK_STATUS(doca_sync_event_add_subscriber_location_remote_pci(NULL), INVALID);
	CHECK_STATUS(doca_sync_event_add_publisher_location_remote_net(NULL), INVALID);
	CHECK_STATUS(doca_sync_event_start(NULL), INVALID);
	CHECK_STATUS(doca_sync_event_stop(NULL), INVALID);
	CHECK_PTR(doca_sync_event_as_ctx(NULL), NULL);
	MUST(doca_sync_event_start(event));
	CHECK_STATUS(doca_sync_event_get(event, NULL), INVALID);
	CHECK_STATUS(doca_sync_event_get(NULL, &value), INVALID);
	CHECK_STATUS(doca_sync_event_update_set(NULL, 1), INVALID);
	CHECK_STATUS(doca_sync_event_update_add(event, 1, NULL), INVALID);
	CHECK_STATUS(doca_sync_event_update_add(NULL, 1, &value), INVALID);
	CHECK_STATUS(doca_sync_event_wait_eq(NULL, 0, 0), INVALID);
	CHECK_STATUS(doca_sync_event_wait_gt_yield(NULL, 0, 0), INVALID);
	CHECK_U64(sync_value(event), 0);
	sync_end(event);
	CHECK_STATUS(doca_sync_event_destroy(event), INVALID);
	CHECK_STATUS(doca_sync_event_get(event, &value), INVALID);
}

static void synchronous(struct doca_dev *dev)
{
	struct doca_sync_event *event = NULL;
	uint64_t value = 0;

	MUST(doca_sync_event_create(&event));
	CHECK_STATUS(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE); /* no locations */
	CHECK_REFUSED(doca_sync_event_stop(event));
	CHECK_STATUS(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sync_event_update_set(event, 1), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sync_event_wait_eq(event, 0, UINT64_MAX), DOCA_ERROR_BAD_STATE);
	MUST(doca_sync_event_add_publisher_location_cpu(event, dev));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	MUST(doca_sync_event_start(event));
	CHECK_STATUS(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	CHECK_PTR(doca_sync_event_as_ctx(event), NULL);
	CHECK_STATUS(doca_sync_event_add_publisher_location_cpu(event, dev), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sync_event_add_subscriber_location_remote_pci(event), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sync_event_set_addr(event, &value), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS2(doca_sync_event_destroy(event), DOCA_ERROR_BAD_STATE, DOCA_ERROR_IN_USE);
	/* The refused destroy harmed nothing. */
	CHECK_OK(doca_sync_event_update_set(event, 3));
	CHECK_U64(sync_value(event), 3);
	CHECK_STATUS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_sync_event_stop(event));
	CHECK_STATUS(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_sync_event_destroy(event));
}

static void asynchronous(struct doca_dev *dev)
{
	struct doca_sync_event_task_get *task = NULL;
	struct sync_rig rig;
	union doca_data user = {0};
	uint64_t value = 0;

	sync_make(&rig, sync_local(dev), 2);
	CHECK_PTR(doca_sync_event_as_ctx(rig.event), rig.ctx);
	CHECK_STATUS(doca_sync_event_task_get_set_conf(rig.event, NULL, sync_get_bad, 1), INVALID);
	CHECK_STATUS(doca_sync_event_task_get_set_conf(NULL, sync_get_good, sync_get_bad, 1), INVALID);
	CHECK_STATUS(doca_sync_event_task_get_alloc_init(rig.event, &value, user, &task), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_ctx_start(rig.ctx)); /* synchronous, and at once */
	CHECK_U64(sync_state(&rig), DOCA_CTX_STATE_RUNNING);
	CHECK_STATUS(doca_sync_event_start(rig.event), DOCA_ERROR_BAD_STATE);
	CHECK_REFUSED(doca_sync_event_stop(rig.event));
	CHECK_STATUS(doca_sync_event_get(rig.event, &value), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sync_event_update_add(rig.event, 1, &value), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sync_event_task_get_set_conf(rig.event, sync_get_good, sync_get_bad, 1),
		     DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS2(doca_sync_event_destroy(rig.event), DOCA_ERROR_BAD_STATE, DOCA_ERROR_IN_USE);
	CHECK_STATUS(doca_sync_event_task_get_alloc_init(rig.event, &value, user, NULL), INVALID);
	sync_unmake(&rig);

	/* A context it was: it is none for direct calls afterwards. */
	sync_make(&rig, sync_local(dev), 0);
	MUST(doca_ctx_start(rig.ctx));
	/* Pools of 0 are fine, and empty. */
	CHECK_STATUS(doca_sync_event_task_get_alloc_init(rig.event, &value, user, &task), DOCA_ERROR_NO_MEMORY);
	MUST(doca_ctx_stop(rig.ctx));
	CHECK_STATUS(doca_sync_event_start(rig.event), DOCA_ERROR_BAD_STATE);
	sync_unmake(&rig);
}

int main(void)
{
	struct doca_dev *dev = sync_open(SYNC_CARD);
	struct doca_sync_event *event = NULL;

	nulls(dev);
	synchronous(dev);
	asynchronous(dev);
	MUST(doca_sync_event_create(&event));
	CHECK_OK(doca_sync_event_destroy(event));
	event = sync_remote_pci(dev);
	CHECK_OK(doca_sync_event_destroy(event));
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
