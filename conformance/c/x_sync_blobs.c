/*
 * Descriptors of events: small, plain bytes; damaged or cut short in any place they are INVALID_VALUE in
 * another process, as they are once the event has stopped; an event's descriptor is not a map's; the
 * network form and its handle; capabilities.
 *
 * clauses: core-sync-graph Sync event: export, objects
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"
#include "x_sync.h"

#define INVALID DOCA_ERROR_INVALID_VALUE

static void importer(int line)
{
	struct doca_dev *dev = sync_open(SYNC_CARD);
	struct doca_sync_event_remote_net *net = NULL;
	struct doca_sync_event *event = NULL;
	struct doca_mmap *map = NULL;
	struct sync_blob blob, bent;
	struct letter letter;
	size_t i;

	two_recv(line, &blob, sizeof(blob));
	two_recv(line, &letter, sizeof(letter));
	for (i = 0; i < blob.len; i++)
		CHECK_STATUS(doca_sync_event_create_from_export(dev, blob.bytes, i, &event), INVALID);
	for (i = 0; i < blob.len * 8; i++) {
		bent = blob;
		bent.bytes[i / 8] ^= (uint8_t)(1u << (i % 8));
		CHECK_STATUS(doca_sync_event_create_from_export(dev, bent.bytes, (size_t)bent.len, &event), INVALID);
	}
	CHECK_STATUS(doca_sync_event_create_from_export(NULL, blob.bytes, (size_t)blob.len, &event), INVALID);
	CHECK_STATUS(doca_sync_event_create_from_export(dev, NULL, (size_t)blob.len, &event), INVALID);
	CHECK_STATUS(doca_sync_event_create_from_export(dev, blob.bytes, (size_t)blob.len, NULL), INVALID);
	/* Of another kind. */
	CHECK_STATUS(doca_sync_event_create_from_export(dev, letter.desc, (size_t)letter.desc_len, &event), INVALID);
	CHECK_STATUS(doca_mmap_create_from_export(NULL, blob.bytes, (size_t)blob.len, dev, &map), INVALID);
	CHECK_STATUS(doca_sync_event_remote_net_create_from_export(dev, blob.bytes, (size_t)blob.len, &net), INVALID);
	CHECK_PTR(event, NULL);
	bent = blob;
	event = sync_import(&bent, dev);
	MUST(doca_sync_event_start(event));
	CHECK_OK(doca_sync_event_update_set(event, 12));
	sync_end(event);
	two_tell(line, '1');
	two_await(line, 's'); /* it was stopped */
	CHECK_STATUS(doca_sync_event_create_from_export(dev, blob.bytes, (size_t)blob.len, &event), INVALID);
	CHECK_OK(doca_dev_close(dev));
	close(line);
}

static void network(struct doca_dev *dev)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	struct doca_sync_event_remote_net *net = NULL;
	struct doca_sync_event *event = NULL;
	const uint8_t *data = NULL;
	uint8_t copy[4096];
	size_t len = 0;

	CHECK_STATUS(doca_sync_event_remote_net_destroy(NULL), INVALID);
	CHECK_STATUS(doca_sync_event_cap_is_export_to_remote_net_supported(NULL), INVALID);
	if (doca_sync_event_cap_is_export_to_remote_net_supported(info) != DOCA_SUCCESS)
		return;
	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_remote_net(event));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	MUST(doca_sync_event_start(event));
	CHECK_STATUS(doca_sync_event_export_to_remote_net(event, NULL, &len), INVALID);
	CHECK_STATUS(doca_sync_event_export_to_remote_net(event, &data, NULL), INVALID);
	MUST(doca_sync_event_export_to_remote_net(event, &data, &len));
	MUST_BE(len > 0 && len <= sizeof(copy));
	memcpy(copy, data, len);
	CHECK_OK(doca_sync_event_cap_remote_net_is_create_from_export_supported(info));
	CHECK_OK(doca_sync_event_remote_net_create_from_export(dev, copy, len, &net));
	CHECK_OK(doca_sync_event_remote_net_destroy(net));
	CHECK_STATUS(doca_sync_event_remote_net_destroy(net), INVALID);
	copy[len / 2] ^= 4;
	CHECK_STATUS(doca_sync_event_remote_net_create_from_export(dev, copy, len, &net), INVALID);
	/* Its publisher is the network: not for the other side of the PCIe. */
	CHECK_REFUSED(doca_sync_event_export_to_remote_pci(event, dev, &data, &len));
	sync_end(event);
}

int main(void)
{
	struct doca_sync_event *event;
	const uint8_t *data = NULL;
	struct doca_mmap *map;
	struct letter letter;
	struct sync_blob blob;
	struct doca_dev *dev;
	uint8_t memory[64];
	size_t len = 0;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		importer(line);
		exit(check_result());
	}
	dev = sync_open(SYNC_HOST);
	event = sync_remote_pci(dev);
	MUST(doca_sync_event_start(event));
	CHECK_STATUS(doca_sync_event_export_to_remote_pci(NULL, dev, &data, &len), INVALID);
	CHECK_STATUS(doca_sync_event_export_to_remote_pci(event, NULL, &data, &len), INVALID);
	CHECK_STATUS(doca_sync_event_export_to_remote_pci(event, dev, NULL, &len), INVALID);
	CHECK_STATUS(doca_sync_event_export_to_remote_pci(event, dev, &data, NULL), INVALID);
	CHECK_REFUSED(doca_sync_event_export_to_remote_net(event, &data, &len));
	sync_export(event, dev, &blob);
	map = rig_map(dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	share_export(map, dev, &letter);
	two_send(line, &blob, sizeof(blob));
	two_send(line, &letter, sizeof(letter));
	two_await(line, '1');
	CHECK_U64(sync_value(event), 12);
	CHECK_OK(doca_sync_event_stop(event));
	two_tell(line, 's');
	two_reap(pid);
	CHECK_OK(doca_sync_event_destroy(event));
	CHECK_OK(doca_mmap_destroy(map));
	network(dev);
	CHECK_OK(doca_dev_close(dev));
	close(line);
	return check_result();
}
