/*
 * The synchronous mode: values, waits, masks, states, and memory of the program as the value's home.
 *
 * clauses: core-sync-graph direct operations, configuration, running
 * covers: @
 */
#define _GNU_SOURCE
#include <pthread.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_mmap.h>

#include "sync_event_rig.h"

static void values(struct doca_dev *dev)
{
	struct doca_sync_event *event = se_make(dev);
	uint64_t value = 7, fetched = 7;

	CHECK_STATUS(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sync_event_update_set(event, 1), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sync_event_wait_eq(event, 0, UINT64_MAX), DOCA_ERROR_BAD_STATE);
	CHECK_REFUSED(doca_sync_event_stop(event));
	MUST(doca_sync_event_start(event));
	CHECK_STATUS(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	CHECK(doca_sync_event_as_ctx(event) == NULL);
	CHECK_STATUS(doca_sync_event_add_publisher_location_remote_pci(event), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sync_event_set_addr(event, &value), DOCA_ERROR_BAD_STATE);
	CHECK_REFUSED(doca_sync_event_destroy(event));

	CHECK_OK(doca_sync_event_get(event, &value));
	CHECK_U64(value, 0);
	CHECK_OK(doca_sync_event_update_set(event, UINT64_MAX));
	CHECK_OK(doca_sync_event_update_add(event, 3, &fetched));
	CHECK_U64(fetched, UINT64_MAX);
	CHECK_OK(doca_sync_event_get(event, &value));
	CHECK_U64(value, 2);
	CHECK_STATUS(doca_sync_event_get(event, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_update_add(event, 3, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sync_event_get(event, &value));
	CHECK_U64(value, 2);

	CHECK_OK(doca_sync_event_update_set(event, 0x1234));
	CHECK_OK(doca_sync_event_wait_eq(event, 0x1234, UINT64_MAX));
	CHECK_OK(doca_sync_event_wait_eq(event, 0x34, 0xff));
	CHECK_OK(doca_sync_event_wait_eq_yield(event, 0x4, 0xf)); /* direct waits take any mask */
	CHECK_OK(doca_sync_event_wait_neq(event, 0x1234, 0xff));  /* the value is not masked */
	CHECK_OK(doca_sync_event_wait_neq_yield(event, 0, UINT64_MAX));
	CHECK_OK(doca_sync_event_wait_gt(event, 0x33, 0xff));
	CHECK_OK(doca_sync_event_wait_gt_yield(event, 0x1233, UINT64_MAX));
	CHECK_OK(doca_sync_event_update_set(event, UINT64_MAX));
	CHECK_OK(doca_sync_event_wait_gt(event, UINT64_MAX - 1, UINT64_MAX));

	CHECK_OK(doca_sync_event_stop(event));
	CHECK_STATUS(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_sync_event_destroy(event));
}

static void *waiter(void *arg)
{
	CHECK_OK(doca_sync_event_wait_gt((struct doca_sync_event *)arg, 0, UINT64_MAX));
	return NULL;
}

/* A cell of the program: changed by plain atomics of another thread. */
static void at_an_address(struct doca_dev *dev)
{
	struct doca_sync_event *event = se_make(dev);
	uint64_t cells[2] = {5, 9}, value = 0;
	pthread_t thread;

	CHECK_STATUS(doca_sync_event_set_addr(event, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_set_addr(event, (uint64_t *)(void *)((char *)cells + 4)),
		     DOCA_ERROR_INVALID_VALUE);
	MUST(doca_sync_event_set_addr(event, &cells[0]));
	MUST(doca_sync_event_start(event));
	CHECK_OK(doca_sync_event_get(event, &value));
	CHECK_U64(value, 5);
	CHECK_OK(doca_sync_event_update_set(event, 0));
	CHECK_U64(__atomic_load_n(&cells[0], __ATOMIC_ACQUIRE), 0);
	CHECK_U64(cells[1], 9);
	MUST_BE(pthread_create(&thread, NULL, waiter, event) == 0);
	usleep(2000);
	__atomic_store_n(&cells[0], 1, __ATOMIC_RELEASE);
	MUST_BE(pthread_join(thread, NULL) == 0);
	{
		const uint8_t *data = NULL;
		size_t size = 0;

		/* Nobody else can get at it. */
		CHECK_STATUS(doca_sync_event_export_to_remote_pci(event, dev, &data, &size), DOCA_ERROR_NOT_SUPPORTED);
	}
	CHECK_OK(doca_sync_event_stop(event));
	CHECK_OK(doca_sync_event_destroy(event));
}

static void in_a_buffer(struct doca_dev *dev)
{
	static const uint32_t enough = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
				       DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC;
	struct doca_buf_inventory *inv = NULL;
	uint64_t cells[4] = {1, 2, 3, 4}, fetched = 0, value = 0;
	uint32_t rights;

	MUST(doca_buf_inventory_create(8, &inv));
	MUST(doca_buf_inventory_start(inv));
	for (rights = 0; rights < 5; rights++) {
		/* All of them, and all but one. */
		uint32_t mask = rights == 4 ? enough : enough & ~(1u << rights);
		struct doca_sync_event *one = se_make(dev), *two = se_make(dev);
		struct doca_mmap *map = NULL;
		struct doca_buf *buf = NULL, *tail = NULL;

		MUST(doca_mmap_create(&map));
		MUST(doca_mmap_add_dev(map, dev));
		MUST(doca_mmap_set_memrange(map, cells, sizeof(cells)));
		MUST(doca_mmap_set_permissions(map, mask));
		MUST(doca_mmap_start(map));
		MUST(doca_buf_inventory_buf_get_by_data(inv, map, &cells[1], 8, &buf));
		if (rights != 4) {
			CHECK_STATUS(doca_sync_event_set_doca_buf(one, buf), DOCA_ERROR_NOT_PERMITTED);
		} else {
			CHECK_OK(doca_buf_set_data(buf, &cells[1], 7));
			CHECK_STATUS(doca_sync_event_set_doca_buf(one, buf), DOCA_ERROR_INVALID_VALUE);
			CHECK_OK(doca_buf_set_data(buf, &cells[1], 8));
			MUST(doca_buf_inventory_buf_get_by_data(inv, map, &cells[2], 8, &tail));
			CHECK_OK(doca_buf_chain_list(buf, tail));
			CHECK_STATUS(doca_sync_event_set_doca_buf(one, buf), DOCA_ERROR_INVALID_VALUE);
			CHECK_OK(doca_buf_unchain_list(buf, tail));
			CHECK_OK(doca_buf_dec_refcount(tail, NULL));
			CHECK_STATUS(doca_sync_event_set_doca_buf(one, NULL), DOCA_ERROR_INVALID_VALUE);
			/* Two events on one value. */
			MUST(doca_sync_event_set_doca_buf(one, buf));
			MUST(doca_sync_event_set_doca_buf(two, buf));
			MUST(doca_sync_event_start(one));
			MUST(doca_sync_event_start(two));
			CHECK_OK(doca_sync_event_update_add(one, 40, &fetched));
			CHECK_U64(fetched, 2);
			CHECK_OK(doca_sync_event_get(two, &value));
			CHECK_U64(value, 42);
			CHECK_U64(cells[1], 42);
			CHECK_OK(doca_sync_event_stop(one));
			CHECK_OK(doca_sync_event_stop(two));
		}
		CHECK_OK(doca_sync_event_destroy(one));
		CHECK_OK(doca_sync_event_destroy(two));
		CHECK_OK(doca_buf_dec_refcount(buf, NULL));
		CHECK_OK(doca_mmap_destroy(map));
	}
	CHECK_OK(doca_buf_inventory_destroy(inv));
}

static void configuration(struct doca_dev *dev)
{
	struct doca_sync_event *event = NULL;

	CHECK_STATUS(doca_sync_event_create(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_start(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_sync_event_as_ctx(NULL) == NULL);
	MUST(doca_sync_event_create(&event));
	CHECK_STATUS(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sync_event_add_publisher_location_cpu(event, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sync_event_add_publisher_location_cpu(event, dev));
	CHECK_STATUS(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_sync_event_add_subscriber_location_remote_pci(event));
	CHECK_OK(doca_sync_event_start(event));
	CHECK_OK(doca_sync_event_stop(event));
	CHECK_OK(doca_sync_event_destroy(event));
	CHECK_STATUS(doca_sync_event_destroy(event), DOCA_ERROR_INVALID_VALUE);
}

static void capabilities(struct doca_dev *dev)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(dev);

	CHECK_OK(doca_sync_event_cap_is_create_from_export_supported(info));
	CHECK_OK(doca_sync_event_cap_remote_net_is_create_from_export_supported(info));
	CHECK_OK(doca_sync_event_cap_is_export_to_remote_pci_supported(info));
	CHECK_OK(doca_sync_event_cap_is_export_to_remote_net_supported(info));
	CHECK_OK(doca_sync_event_cap_task_get_is_supported(info));
	CHECK_OK(doca_sync_event_cap_task_notify_set_is_supported(info));
	CHECK_OK(doca_sync_event_cap_task_notify_add_is_supported(info));
	CHECK_OK(doca_sync_event_cap_task_wait_eq_is_supported(info));
	CHECK_OK(doca_sync_event_cap_task_wait_neq_is_supported(info));
	CHECK_STATUS(doca_sync_event_cap_is_export_to_dpa_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_sync_event_cap_is_export_to_gpu_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_sync_event_cap_remote_net_is_export_to_dpa_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_sync_event_cap_remote_net_is_export_to_gpu_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_sync_event_cap_task_get_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sync_event_cap_is_export_to_gpu_supported(NULL), DOCA_ERROR_INVALID_VALUE);
}

int main(void)
{
	struct doca_dev *dev = se_open_dev();

	values(dev);
	at_an_address(dev);
	in_a_buffer(dev);
	configuration(dev);
	capabilities(dev);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
