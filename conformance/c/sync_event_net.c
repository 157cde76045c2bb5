/*
 * Events for RDMA peers: their exports, the handles made of these, and what is refused.
 *
 * clauses: core-sync-graph remote_net, export_to_remote_net
 * covers: @
 */
#define _GNU_SOURCE
#include "sync_event_rig.h"

int main(void)
{
	struct doca_dev *dev = se_open_dev();
	struct doca_sync_event *event = NULL, *pci = se_make(dev), *twin = NULL;
	struct doca_sync_event_remote_net *remote = NULL;
	const uint8_t *data = NULL;
	uint8_t copy[4096];
	size_t size = 0, i;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_remote_net(event));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	CHECK_STATUS(doca_sync_event_export_to_remote_net(event, &data, &size), DOCA_ERROR_BAD_STATE);
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_start(pci));
	CHECK_STATUS(doca_sync_event_export_to_remote_net(NULL, &data, &size), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_export_to_remote_net(event, NULL, &size), DOCA_ERROR_INVALID_VALUE);
	CHECK_REFUSED(doca_sync_event_export_to_remote_pci(event, dev, &data, &size));
	CHECK_REFUSED(doca_sync_event_export_to_remote_net(pci, &data, &size));
	MUST(doca_sync_event_export_to_remote_net(event, &data, &size));
	MUST_BE(size <= sizeof(copy));
	memcpy(copy, data, size);
	for (i = 0; i < size; i++) {
		copy[i] ^= 4;
		CHECK_STATUS(doca_sync_event_remote_net_create_from_export(dev, copy, size, &remote),
			     DOCA_ERROR_INVALID_VALUE);
		copy[i] ^= 4;
		CHECK_STATUS(doca_sync_event_remote_net_create_from_export(dev, copy, i, &remote),
			     DOCA_ERROR_INVALID_VALUE);
	}
	CHECK_STATUS(doca_sync_event_remote_net_create_from_export(dev, NULL, size, &remote), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_remote_net_create_from_export(NULL, copy, size, &remote), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_remote_net_create_from_export(dev, copy, size, NULL), DOCA_ERROR_INVALID_VALUE);
	/* Neither kind of export stands for the other. */
	CHECK_STATUS(doca_sync_event_create_from_export(dev, copy, size, &twin), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_sync_event_export_to_remote_pci(pci, dev, &data, &size));
	CHECK_STATUS(doca_sync_event_remote_net_create_from_export(dev, data, size, &remote), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_sync_event_export_to_remote_net(event, &data, &size));
	MUST(doca_sync_event_remote_net_create_from_export(dev, copy, size, &remote));
	memset(copy, 0, sizeof(copy)); /* read during the call only */
	CHECK_OK(doca_sync_event_remote_net_destroy(remote));
	CHECK_STATUS(doca_sync_event_remote_net_destroy(remote), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_remote_net_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sync_event_stop(event));
	CHECK_OK(doca_sync_event_destroy(event));
	CHECK_OK(doca_sync_event_stop(pci));
	CHECK_OK(doca_sync_event_destroy(pci));
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
