/*
 * What the programs of the gallery about sync events of RDMA peers share: two connected contexts, an event of b, and a's
 * handle for it.
 */
#ifndef CONFORMANCE_RDMA_EVENT_MISUSE_H
#define CONFORMANCE_RDMA_EVENT_MISUSE_H

#include "misuse.h"

#include "../c/rdma_event_rig.h"

static struct side a, b;
static struct doca_rdma_connection *ab, *ba;
static struct doca_sync_event *event;
static struct doca_sync_event_remote_net *remote;

static inline void rdma_event_begin(void)
{
	const uint8_t *data;
	size_t len;

	side_prepare(&a, NULL, NULL, 65536, 8);
	side_prepare(&b, NULL, a.pe, 65536, 8);
	event_conf(&a, 8);
	side_start(&a);
	side_start(&b);
	side_join(&a, &b, &ab, &ba);
	event = event_make(&b);
	MUST(doca_sync_event_export_to_remote_net(event, &data, &len));
	MUST(doca_sync_event_remote_net_create_from_export(a.dev, data, len, &remote));
}

static inline void rdma_event_end(void)
{
	if (remote != NULL)
		MUST(doca_sync_event_remote_net_destroy(remote));
	MUST(doca_sync_event_stop(event));
	MUST(doca_sync_event_destroy(event));
	MUST(doca_rdma_connection_disconnect(ab));
	MUST(doca_rdma_connection_disconnect(ba));
	side_stop(&a);
	side_stop(&b);
	side_teardown(&b, 0);
	side_teardown(&a, 1);
}

#endif
