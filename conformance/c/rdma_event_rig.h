/*
 * Sync events of RDMA peers: completions of the three kinds of tasks, and events for the network.
 */
#ifndef CONFORMANCE_RDMA_EVENT_RIG_H
#define CONFORMANCE_RDMA_EVENT_RIG_H

#include <doca_sync_event.h>

#include "rdma_rig.h"

static uint32_t event_len; /* result length of the last get */

SIDE_CALLBACKS(remote_net_sync_event_notify_set)
SIDE_CALLBACKS(remote_net_sync_event_notify_add)

static void side_remote_net_sync_event_get_good(struct doca_rdma_task_remote_net_sync_event_get *task,
						union doca_data user, union doca_data ctx)
{
	event_len = doca_rdma_task_remote_net_sync_event_get_get_result_len(task);
	side_record((struct side *)ctx.ptr, doca_rdma_task_remote_net_sync_event_get_as_task(task), user, 1);
}

static void side_remote_net_sync_event_get_bad(struct doca_rdma_task_remote_net_sync_event_get *task,
					       union doca_data user, union doca_data ctx)
{
	side_record((struct side *)ctx.ptr, doca_rdma_task_remote_net_sync_event_get_as_task(task), user, 0);
}

/* After side_prepare, before the start. */
static inline void event_conf(struct side *side, uint32_t tasks)
{
	SIDE_CONF(remote_net_sync_event_get);
	SIDE_CONF(remote_net_sync_event_notify_set);
	SIDE_CONF(remote_net_sync_event_notify_add);
}

/* An event that RDMA peers change and this side waits for. */
static inline struct doca_sync_event *event_make(struct side *side)
{
	struct doca_sync_event *event = NULL;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_remote_net(event));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, side->dev));
	MUST(doca_sync_event_start(event));
	return event;
}

static inline doca_error_t event_get(struct side *side, struct doca_rdma_connection *conn,
				     struct doca_sync_event_remote_net *event, struct doca_buf *to, uint64_t value)
{
	SIDE_SUBMIT(remote_net_sync_event_get, conn, event, to);
}
static inline doca_error_t event_set(struct side *side, struct doca_rdma_connection *conn,
				     struct doca_sync_event_remote_net *event, struct doca_buf *from, uint64_t value)
{
	SIDE_SUBMIT(remote_net_sync_event_notify_set, conn, event, from);
}
static inline doca_error_t event_add(struct side *side, struct doca_rdma_connection *conn,
				     struct doca_sync_event_remote_net *event, struct doca_buf *result, uint64_t add,
				     uint64_t value)
{
	SIDE_SUBMIT(remote_net_sync_event_notify_add, conn, event, result, add);
}

#endif
