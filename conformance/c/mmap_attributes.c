/*
 * Attributes of a memory map: access masks good and bad, user data, device limit, keys, access token,
 * the switch for thread safety.
 *
 * clauses: core-memory Memory map: configuration, queries
 * covers: @
 */
#include "rig.h"

static uint8_t mem[4096];

static void masks(struct doca_dev *dev)
{
	static const uint32_t good[] = {0x00, 0x01, 0x03, 0x05, 0x07, 0x0f, 0x10, 0x20, 0x21, 0x27, 0x41, 0x40};
	static const uint32_t bad[] = {0x30, 0x31, 0x80, 0x100, 0x80000000u, 0x50, 0x60, 0xffffffffu};
	struct doca_mmap *map = NULL;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		MUST(doca_mmap_create(&map));
		MUST(doca_mmap_add_dev(map, dev));
		MUST(doca_mmap_set_memrange(map, mem, sizeof(mem)));
		if (doca_mmap_set_permissions(map, good[i]) != DOCA_SUCCESS)
			check_fail(__FILE__, __LINE__, "mask 0x%x was refused", good[i]);
		CHECK_OK(doca_mmap_start(map));
		CHECK_OK(doca_mmap_destroy(map));
	}
	MUST(doca_mmap_create(&map));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (doca_mmap_set_permissions(map, bad[i]) != DOCA_ERROR_INVALID_VALUE)
			check_fail(__FILE__, __LINE__, "mask 0x%x should answer INVALID_VALUE", bad[i]);
	CHECK_STATUS(doca_mmap_set_permissions(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_destroy(map));
}

static void user_data(void)
{
	struct doca_mmap *map = NULL;
	union doca_data data = {.u64 = 99};

	MUST(doca_mmap_create(&map));
	CHECK_OK(doca_mmap_get_user_data(map, &data));
	CHECK_U64(data.u64, 0);
	data.ptr = mem;
	CHECK_OK(doca_mmap_set_user_data(map, data));
	data.u64 = 1;
	CHECK_OK(doca_mmap_get_user_data(map, &data));
	CHECK_PTR(data.ptr, mem);
	CHECK_STATUS(doca_mmap_get_user_data(map, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_destroy(map));
}

static void device_limit(struct doca_dev *one, struct doca_dev *two)
{
	struct doca_mmap *map = NULL;
	uint32_t limit = 0;

	MUST(doca_mmap_create(&map));
	CHECK_OK(doca_mmap_get_max_num_devices(map, &limit));
	CHECK(limit >= 1);
	CHECK_STATUS(doca_mmap_set_max_num_devices(map, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_set_max_num_devices(map, 1));
	CHECK_OK(doca_mmap_get_max_num_devices(map, &limit));
	CHECK_U64(limit, 1);
	CHECK_OK(doca_mmap_add_dev(map, one));
	CHECK_STATUS(doca_mmap_add_dev(map, two), DOCA_ERROR_NO_MEMORY);
	CHECK_OK(doca_mmap_set_max_num_devices(map, 2));
	CHECK_OK(doca_mmap_add_dev(map, two));
	CHECK_STATUS(doca_mmap_set_max_num_devices(map, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_get_max_num_devices(map, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_get_max_num_devices(NULL, &limit), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_destroy(map));
}

static void keys(struct doca_dev *one, struct doca_dev *two)
{
	struct doca_mmap *map = NULL, *other;
	uint32_t a = 0, b = 0, again = 0, c = 0;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_set_max_num_devices(map, 2));
	MUST(doca_mmap_set_memrange(map, mem, sizeof(mem)));
	MUST(doca_mmap_add_dev(map, one));
	CHECK_STATUS(doca_mmap_get_mkey(map, one, &a), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_start(map));
	CHECK_OK(doca_mmap_get_mkey(map, one, &a));
	CHECK_STATUS(doca_mmap_get_mkey(map, two, &b), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_stop(map));
	MUST(doca_mmap_add_dev(map, two));
	MUST(doca_mmap_start(map));
	CHECK_OK(doca_mmap_get_mkey(map, one, &a));
	CHECK_OK(doca_mmap_get_mkey(map, one, &again));
	CHECK_OK(doca_mmap_get_mkey(map, two, &b));
	CHECK(a != 0 && b != 0 && a != b);
	CHECK_U64(again, a);
	other = rig_map(one, mem, 64, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY); /* ranges may overlap */
	CHECK_OK(doca_mmap_get_mkey(other, one, &c));
	CHECK(c != 0 && c != a && c != b);
	CHECK_STATUS(doca_mmap_get_mkey(map, NULL, &a), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_get_mkey(map, one, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_get_mkey(NULL, one, &a), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_destroy(other));
	CHECK_OK(doca_mmap_destroy(map));
}

static void token(struct doca_dev *one, struct doca_dev *two)
{
	struct doca_mmap *map = NULL;
	uint8_t *bytes;
	size_t most = 0;

	CHECK_OK(doca_mmap_cap_get_max_export_access_token_size(doca_dev_as_devinfo(one), &most));
	MUST_BE(most > 0 && most < 4096);
	bytes = calloc(1, most + 1);
	MUST_BE(bytes != NULL);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, one));
	CHECK_STATUS(doca_mmap_set_export_access_token(map, two, bytes, most), DOCA_ERROR_NOT_FOUND);
	CHECK_STATUS(doca_mmap_set_export_access_token(map, one, bytes, most + 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_set_export_access_token(map, one, NULL, most), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_set_export_access_token(map, NULL, bytes, most), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_set_export_access_token(map, one, bytes, most));
	CHECK_OK(doca_mmap_destroy(map));
	free(bytes);
}

static void counts_and_flags(struct doca_dev *dev)
{
	struct doca_mmap *map = rig_map(dev, mem, sizeof(mem), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	uint32_t count = 9;
	uint8_t flag = 9;

	CHECK_OK(doca_mmap_get_num_bufs(map, &count));
	CHECK_U64(count, 0);
	CHECK_OK(doca_mmap_get_exported(map, &flag));
	CHECK_U64(flag, 0);
	flag = 9;
	CHECK_OK(doca_mmap_get_from_export(map, &flag));
	CHECK_U64(flag, 0);
	CHECK_STATUS(doca_mmap_get_num_bufs(map, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_get_num_bufs(NULL, &count), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_get_exported(map, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_get_exported(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_get_from_export(map, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_get_from_export(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_destroy(map));
}

static void thread_safety(struct doca_dev *dev)
{
	struct doca_mmap *map = NULL;
	struct doca_buf_inventory *inv = NULL;
	struct doca_buf *buf = NULL;

	MUST(doca_mmap_create(&map));
	CHECK_OK(doca_mmap_enable_thread_safety(map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, mem, sizeof(mem)));
	MUST(doca_mmap_start(map));
	MUST(doca_buf_inventory_create(1, &inv));
	MUST(doca_buf_inventory_start(inv));
	MUST(doca_buf_inventory_buf_get_by_data(inv, map, mem, 10, &buf));
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_STATUS(doca_mmap_enable_thread_safety(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_buf_inventory_destroy(inv));
}

int main(void)
{
	struct doca_dev *one = rig_open_dev("03:00.0"), *two = rig_open_dev("b1:00.0");

	masks(one);
	user_data();
	device_limit(one, two);
	keys(one, two);
	token(one, two);
	counts_and_flags(one);
	thread_safety(one);
	CHECK_OK(doca_dev_close(two));
	CHECK_OK(doca_dev_close(one));
	return check_result();
}
