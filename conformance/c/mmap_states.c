/*
 * Memory map life cycle: what may be called before start, while started, after stop; live buffers;
 * every order of configuration; handles that are NULL, of another kind, gone.
 *
 * clauses: core-memory Memory map: life cycle, configuration, state machine
 * covers: @
 */
#include "rig.h"

static struct doca_dev *dev, *other;
static uint8_t mem[8192];

static void orders(void)
{
	struct doca_mmap *map = NULL;
	int order;

	for (order = 0; order < 4; order++) {
		MUST(doca_mmap_create(&map));
		switch (order) {
		case 0:
			CHECK_OK(doca_mmap_add_dev(map, dev));
			CHECK_OK(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_ONLY));
			CHECK_OK(doca_mmap_set_memrange(map, mem, sizeof(mem)));
			break;
		case 1:
			CHECK_OK(doca_mmap_set_memrange(map, mem, sizeof(mem)));
			CHECK_OK(doca_mmap_add_dev(map, dev));
			CHECK_OK(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
			break;
		case 2:
			CHECK_OK(doca_mmap_set_memrange(map, mem, sizeof(mem)));
			CHECK_OK(doca_mmap_set_max_num_devices(map, 2));
			CHECK_OK(doca_mmap_add_dev(map, dev));
			CHECK_OK(doca_mmap_add_dev(map, other));
			break;
		default:
			CHECK_OK(doca_mmap_set_permissions(map, 0x27));
			CHECK_OK(doca_mmap_add_dev(map, dev));
			CHECK_OK(doca_mmap_set_memrange(map, mem + 1, 17));
			break;
		}
		CHECK_OK(doca_mmap_start(map));
		CHECK_OK(doca_mmap_stop(map));
		CHECK_OK(doca_mmap_start(map));
		CHECK_OK(doca_mmap_destroy(map)); /* stops by itself */
	}
	/* Half configured ones go without complaint. */
	MUST(doca_mmap_create(&map));
	CHECK_OK(doca_mmap_destroy(map));
	MUST(doca_mmap_create(&map));
	CHECK_OK(doca_mmap_add_dev(map, dev));
	CHECK_OK(doca_mmap_destroy(map));
}

static void range_rules(void)
{
	struct doca_mmap *map = NULL;
	void *addr = &addr;
	size_t len = 7;

	MUST(doca_mmap_create(&map));
	CHECK_STATUS(doca_mmap_get_memrange(map, &addr, &len), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_mmap_add_dev(map, dev));
	CHECK_STATUS(doca_mmap_start(map), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_set_memrange(map, NULL, 100), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_set_memrange(map, mem, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_set_memrange(map, mem, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
	/* Refused ranges do not count as the one that is allowed. */
	CHECK_OK(doca_mmap_set_memrange(map, mem, 100));
	CHECK_STATUS(doca_mmap_set_memrange(map, mem, 200), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_mmap_start(map));
	CHECK_STATUS2(doca_mmap_set_memrange(map, mem, 200), DOCA_ERROR_BAD_STATE, DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_mmap_stop(map));
	CHECK_STATUS(doca_mmap_set_memrange(map, mem, 200), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_mmap_get_memrange(map, &addr, &len));
	CHECK_PTR(addr, mem);
	CHECK_U64(len, 100);
	CHECK_STATUS(doca_mmap_get_memrange(map, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_get_memrange(map, &addr, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_destroy(map));
}

static void nothing_cb(void *addr, size_t len, void *cookie)
{
	(void)addr;
	(void)len;
	(void)cookie;
}

static void started_refuses(void)
{
	struct doca_mmap *map = rig_map(dev, mem, sizeof(mem), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	union doca_data user = {.u64 = 5};
	uint8_t token = 1;
	int round;

	CHECK_STATUS(doca_mmap_set_permissions(map, 0), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_mmap_set_free_cb(map, nothing_cb, NULL), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_mmap_set_user_data(map, user), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_mmap_set_export_access_token(map, dev, &token, 1), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_mmap_add_dev(map, other), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_mmap_rm_dev(map, dev), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_mmap_set_max_num_devices(map, 9), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_mmap_enable_thread_safety(map), DOCA_ERROR_NOT_PERMITTED);
	/* Stopped, it may be changed again; the device limit may not. */
	for (round = 0; round < 3; round++) {
		CHECK_OK(doca_mmap_stop(map));
		CHECK_OK(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
		CHECK_OK(doca_mmap_set_user_data(map, user));
		CHECK_OK(doca_mmap_rm_dev(map, dev));
		CHECK_OK(doca_mmap_add_dev(map, other));
		CHECK_OK(doca_mmap_rm_dev(map, other));
		CHECK_OK(doca_mmap_add_dev(map, dev));
		CHECK_STATUS(doca_mmap_set_max_num_devices(map, 9), DOCA_ERROR_NOT_PERMITTED);
		CHECK_OK(doca_mmap_start(map));
	}
	CHECK_OK(doca_mmap_destroy(map));
}

static void live_buffers(void)
{
	struct doca_mmap *map = rig_map(dev, mem, sizeof(mem), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf_inventory *inv = NULL;
	struct doca_buf *one = NULL, *two = NULL;
	uint32_t count = 9;

	MUST(doca_buf_inventory_create(2, &inv));
	MUST(doca_buf_inventory_start(inv));
	MUST(doca_buf_inventory_buf_get_by_addr(inv, map, mem, 10, &one));
	MUST(doca_buf_inventory_buf_get_by_addr(inv, map, mem, 10, &two));
	CHECK_OK(doca_mmap_get_num_bufs(map, &count));
	CHECK_U64(count, 2);
	MUST(doca_buf_chain_list(one, two));
	CHECK_OK(doca_mmap_get_num_bufs(map, &count));
	CHECK_U64(count, 2);
	CHECK_STATUS(doca_mmap_stop(map), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_mmap_destroy(map), DOCA_ERROR_NOT_PERMITTED);
	/* Refused means untouched: the map still serves. */
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(inv, map, mem, 10, &two), DOCA_ERROR_NO_MEMORY);
	CHECK_OK(doca_buf_dec_refcount(one, NULL));
	CHECK_OK(doca_mmap_get_num_bufs(map, &count));
	CHECK_U64(count, 0);
	MUST(doca_buf_inventory_buf_get_by_addr(inv, map, mem, 10, &two));
	CHECK_OK(doca_buf_dec_refcount(two, NULL));
	CHECK_OK(doca_mmap_stop(map));
	/* A stopped map gives no buffers. */
	CHECK_STATUS2(doca_buf_inventory_buf_get_by_addr(inv, map, mem, 10, &two), DOCA_ERROR_BAD_STATE,
		      DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(inv, map, mem, 10, &two), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_inventory_destroy(inv));
}

static void bad_handles(void)
{
	struct doca_mmap *map = NULL, *wrong = (struct doca_mmap *)dev;

	CHECK_STATUS(doca_mmap_create(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_start(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_start(wrong), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_destroy(wrong), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_create(&map));
	CHECK_STATUS(doca_mmap_add_dev(map, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_add_dev(NULL, dev), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_rm_dev(map, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_rm_dev(map, dev), DOCA_ERROR_NOT_FOUND);
	CHECK_OK(doca_mmap_add_dev(map, dev));
	CHECK_STATUS(doca_mmap_add_dev(map, dev), DOCA_ERROR_ALREADY_EXIST);
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_STATUS(doca_mmap_destroy(map), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_start(map), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_set_memrange(map, mem, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_set_permissions(map, 0), DOCA_ERROR_INVALID_VALUE);
}

int main(void)
{
	dev = rig_open_dev("03:00.0");
	other = rig_open_dev("03:00.1");
	orders();
	range_rules();
	started_refuses();
	live_buffers();
	bad_handles();
	CHECK_OK(doca_dev_close(other));
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
