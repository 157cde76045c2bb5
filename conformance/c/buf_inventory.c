/*
 * Buffer inventories: exact capacity, start and stop, expansion at run time, counts, user data, and
 * all refusals.
 *
 * clauses: core-memory Buffer inventory
 * covers: @
 */
#include "rig.h"

static uint8_t mem[4096];

static void counts(const char *file, int line, struct doca_buf_inventory *inv, uint32_t total, uint32_t free_now)
{
	uint32_t got_total = 0, got_free = 0;

	CHECK_OK(doca_buf_inventory_get_num_elements(inv, &got_total));
	CHECK_OK(doca_buf_inventory_get_num_free_elements(inv, &got_free));
	if (got_total != total || got_free != free_now)
		check_fail(file, line, "%u elements, %u free; expected %u and %u", got_total, got_free, total, free_now);
}

#define COUNTS(inv, total, free_now) counts(__FILE__, __LINE__, inv, total, free_now)

static void capacity(struct doca_mmap *map)
{
	struct doca_buf_inventory *inv = NULL;
	struct doca_buf *buf[20] = {NULL}, *none = NULL;
	union doca_data data = {.u64 = 6};
	uint32_t i;

	MUST(doca_buf_inventory_create(5, &inv));
	/* Nothing before start; user data at any time. */
	CHECK_STATUS2(doca_buf_inventory_buf_get_by_addr(inv, map, mem, 1, &none), DOCA_ERROR_BAD_STATE,
		      DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_buf_inventory_expand(inv, 3), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_buf_inventory_get_user_data(inv, &data));
	CHECK_U64(data.u64, 0);
	data.u64 = 0x123456789abcdef0;
	CHECK_OK(doca_buf_inventory_set_user_data(inv, data));
	MUST(doca_buf_inventory_start(inv));
	CHECK_OK(doca_buf_inventory_set_user_data(inv, data));
	data.u64 = 0;
	CHECK_OK(doca_buf_inventory_get_user_data(inv, &data));
	CHECK_U64(data.u64, 0x123456789abcdef0);
	COUNTS(inv, 5, 5);
	for (i = 0; i < 5; i++)
		MUST(doca_buf_inventory_buf_get_by_addr(inv, map, mem + i, 1, &buf[i]));
	COUNTS(inv, 5, 0);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(inv, map, mem, 1, &none), DOCA_ERROR_NO_MEMORY);
	CHECK_STATUS(doca_buf_inventory_buf_dup(inv, buf[0], &none), DOCA_ERROR_NO_MEMORY);
	CHECK_PTR(none, NULL);

	/* More at run time; those in use notice nothing. */
	CHECK_STATUS(doca_buf_inventory_expand(inv, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_inventory_expand(inv, 3));
	COUNTS(inv, 8, 3);
	for (i = 5; i < 8; i++)
		MUST(doca_buf_inventory_buf_get_by_data(inv, map, mem + i, 1, &buf[i]));
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(inv, map, mem, 1, &none), DOCA_ERROR_NO_MEMORY);
	for (i = 0; i < 8; i++) {
		void *head = NULL;

		CHECK_OK(doca_buf_get_head(buf[i], &head));
		CHECK_PTR(head, mem + i);
	}

	/* Stop with all out; no new ones, the old ones come home. */
	CHECK_OK(doca_buf_inventory_stop(inv));
	CHECK_STATUS(doca_buf_inventory_destroy(inv), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_buf_dec_refcount(buf[7], NULL));
	CHECK_STATUS2(doca_buf_inventory_buf_get_by_addr(inv, map, mem, 1, &none), DOCA_ERROR_BAD_STATE,
		      DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_buf_inventory_buf_dup(inv, buf[0], &none), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_buf_inventory_start(inv));
	CHECK_OK(doca_buf_inventory_buf_get_by_addr(inv, map, mem, 1, &buf[7]));
	for (i = 0; i < 8; i++) {
		CHECK_STATUS(doca_buf_inventory_destroy(inv), DOCA_ERROR_IN_USE);
		CHECK_OK(doca_buf_dec_refcount(buf[i], NULL));
	}
	COUNTS(inv, 8, 8);
	CHECK_OK(doca_buf_inventory_destroy(inv)); /* stops by itself */
	CHECK_STATUS(doca_buf_inventory_destroy(inv), DOCA_ERROR_INVALID_VALUE);
}

static void churn(struct doca_mmap *map)
{
	struct doca_buf_inventory *inv = NULL;
	struct doca_buf *out[64] = {NULL};
	uint32_t seed = 12345, live = 0, i;

	MUST(doca_buf_inventory_create(64, &inv));
	MUST(doca_buf_inventory_start(inv));
	for (i = 0; i < 50000; i++) {
		uint32_t at = (seed = seed * 1664525 + 1013904223) >> 26;

		if (out[at] == NULL) {
			MUST(doca_buf_inventory_buf_get_by_data(inv, map, mem + at, 100, &out[at]));
			live++;
		} else {
			void *data = NULL;

			CHECK_OK(doca_buf_get_data(out[at], &data));
			CHECK_PTR(data, mem + at);
			CHECK_OK(doca_buf_dec_refcount(out[at], NULL));
			out[at] = NULL;
			live--;
		}
		if (i % 1000 == 0)
			COUNTS(inv, 64, 64 - live);
	}
	for (i = 0; i < 64; i++)
		if (out[i] != NULL)
			CHECK_OK(doca_buf_dec_refcount(out[i], NULL));
	CHECK_OK(doca_buf_inventory_destroy(inv));
}

static void refused(struct doca_mmap *map)
{
	struct doca_buf_inventory *inv = NULL, *wrong = (struct doca_buf_inventory *)map;
	union doca_data data = {0};
	uint32_t count;

	CHECK_STATUS(doca_buf_inventory_create(0, &inv), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_create(4, NULL), DOCA_ERROR_INVALID_VALUE);
	/* More than there is memory: an error, not the end. */
	CHECK_STATUS2(doca_buf_inventory_create(SIZE_MAX / 2, &inv), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(inv, NULL);
	CHECK_STATUS(doca_buf_inventory_start(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_start(wrong), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_destroy(wrong), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_expand(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_get_num_elements(NULL, &count), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_get_num_free_elements(NULL, &count), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_buf_inventory_create(1, &inv));
	CHECK_STATUS(doca_buf_inventory_get_num_elements(inv, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_get_num_free_elements(inv, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_get_user_data(inv, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_inventory_destroy(inv)); /* never started */
}

int main(void)
{
	struct doca_dev *dev = rig_open_dev(NULL);
	struct doca_mmap *map = rig_map(dev, mem, sizeof(mem), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	capacity(map);
	churn(map);
	refused(map);
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
