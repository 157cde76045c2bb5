/*
 * Buffer windows: head, length, data, data length; the three ways to get one; moving the data window
 * up to the borders and no further; re-aiming a descriptor in its map.
 *
 * clauses: core-memory Buffer object, Buffer inventory (get, reuse), Buffers
 * covers: @
 */
#include "rig.h"

static void expect(const char *file, int line, struct doca_buf *buf, void *head, size_t len, void *data, size_t data_len)
{
	void *got_head = NULL, *got_data = NULL;
	size_t got_len = 0, got_data_len = 0;
	uint16_t count = 0;

	CHECK_OK(doca_buf_get_head(buf, &got_head));
	CHECK_OK(doca_buf_get_len(buf, &got_len));
	CHECK_OK(doca_buf_get_data(buf, &got_data));
	CHECK_OK(doca_buf_get_data_len(buf, &got_data_len));
	CHECK_OK(doca_buf_get_refcount(buf, &count));
	CHECK_U64(count, 1);
	if (got_head != head || got_len != len || got_data != data || got_data_len != data_len)
		check_fail(file, line, "window [%p +%zu) data [%p +%zu), expected [%p +%zu) data [%p +%zu)", got_head,
			   got_len, got_data, got_data_len, head, len, data, data_len);
}

#define EXPECT(...) expect(__FILE__, __LINE__, __VA_ARGS__)

static void getters_and_setters(struct rig *rig)
{
	uint8_t *m = rig->mem;
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, rig->map, m + 100, 200, &buf));
	EXPECT(buf, m + 100, 200, m + 100, 0);
	CHECK_OK(doca_buf_set_data(buf, m + 150, 50));
	EXPECT(buf, m + 100, 200, m + 150, 50);
	CHECK_OK(doca_buf_set_data_len(buf, 150));
	EXPECT(buf, m + 100, 200, m + 150, 150);
	CHECK_STATUS(doca_buf_set_data_len(buf, 151), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_set_data_len(buf, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_set_data(buf, m + 99, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_set_data(buf, m + 100, 201), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_set_data(buf, m + 301, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_set_data(buf, m + 200, SIZE_MAX - 10), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_set_data(buf, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	/* Refused calls changed nothing. */
	EXPECT(buf, m + 100, 200, m + 150, 150);
	CHECK_OK(doca_buf_reset_data_len(buf));
	EXPECT(buf, m + 100, 200, m + 150, 0);
	CHECK_OK(doca_buf_set_data(buf, m + 300, 0));
	CHECK_OK(doca_buf_set_data(buf, m + 100, 200));
	EXPECT(buf, m + 100, 200, m + 100, 200);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
}

static void three_ways(struct rig *rig)
{
	uint8_t *m = rig->mem;
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_data(rig->inv, rig->map, m, rig->len, &buf));
	EXPECT(buf, m, rig->len, m, rig->len);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	MUST(doca_buf_inventory_buf_get_by_args(rig->inv, rig->map, m + 10, 20, m + 15, 15, &buf));
	EXPECT(buf, m + 10, 20, m + 15, 15);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	buf = NULL;
	/* Data outside the region, region outside the map. */
	CHECK_STATUS(doca_buf_inventory_buf_get_by_args(rig->inv, rig->map, m + 10, 20, m + 15, 16, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_args(rig->inv, rig->map, m + 10, 20, m + 9, 1, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_args(rig->inv, rig->map, m + 10, 20, m + 31, 0, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(rig->inv, rig->map, m, rig->len + 1, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(rig->inv, rig->map, m + rig->len, 1, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_data(rig->inv, rig->map, m - 1, 2, &buf), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_data(rig->inv, rig->map, m + 1, SIZE_MAX, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_data(rig->inv, rig->map, m, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_data(NULL, rig->map, m, 1, &buf), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_data(rig->inv, NULL, m, 1, &buf), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(buf, NULL);
}

static void reuse(struct rig *rig)
{
	uint8_t *m = rig->mem;
	struct doca_buf *head = NULL, *member = NULL, *next = NULL;
	uint32_t elements = 0;

	/* First of length one, then anywhere in the same map. */
	MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, rig->map, m, 1, &head));
	MUST(doca_buf_inventory_buf_get_by_data(rig->inv, rig->map, m, 1, &member));
	CHECK_OK(doca_buf_inventory_buf_reuse_by_addr(head, m + 50, 1000));
	EXPECT(head, m + 50, 1000, m + 50, 0);
	CHECK_OK(doca_buf_inventory_buf_reuse_by_data(head, m, rig->len));
	EXPECT(head, m, rig->len, m, rig->len);
	CHECK_OK(doca_buf_inventory_buf_reuse_by_args(head, m + 5, 50, m + 10, 20));
	EXPECT(head, m + 5, 50, m + 10, 20);
	CHECK_STATUS(doca_buf_inventory_buf_reuse_by_addr(head, m, rig->len + 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_reuse_by_data(head, m + rig->len, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_reuse_by_args(head, m + 5, 50, m + 10, 46), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_reuse_by_data(NULL, m, 1), DOCA_ERROR_INVALID_VALUE);
	EXPECT(head, m + 5, 50, m + 10, 20);
	/* Links are kept, for the head and for a member. */
	MUST(doca_buf_chain_list(head, member));
	CHECK_OK(doca_buf_inventory_buf_reuse_by_data(head, m + 1, 2));
	CHECK_OK(doca_buf_inventory_buf_reuse_by_addr(member, m + 3, 400));
	CHECK_OK(doca_buf_get_next_in_list(head, &next));
	CHECK_PTR(next, member);
	CHECK_OK(doca_buf_get_list_len(head, &elements));
	CHECK_U64(elements, 2);
	CHECK_OK(doca_buf_dec_refcount(head, NULL));
}

static void no_handle(struct rig *rig)
{
	struct doca_buf *gone = rig_src(rig, 0, 10), *wrong = (struct doca_buf *)rig->inv, *list[3];
	struct doca_buf *next = NULL;
	void *pointer = NULL;
	uint32_t number = 0;
	uint8_t flag = 0;
	size_t len = 0;
	int i;

	CHECK_OK(doca_buf_dec_refcount(gone, NULL));
	list[0] = NULL;
	list[1] = wrong;
	list[2] = gone;
	for (i = 0; i < 3; i++) {
		CHECK_STATUS(doca_buf_get_head(list[i], &pointer), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_buf_get_len(list[i], &len), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_buf_get_data(list[i], &pointer), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_buf_get_data_len(list[i], &len), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_buf_set_data(list[i], rig->mem, 1), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_buf_set_data_len(list[i], 1), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_buf_reset_data_len(list[i]), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_buf_get_next_in_list(list[i], &next), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_buf_get_last_in_list(list[i], &next), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_buf_get_list_len(list[i], &number), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_buf_is_first_in_list(list[i], &flag), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_buf_is_last_in_list(list[i], &flag), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_buf_is_in_list(list[i], &flag), DOCA_ERROR_INVALID_VALUE);
	}
	gone = rig_src(rig, 0, 10);
	CHECK_STATUS(doca_buf_get_head(gone, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_get_len(gone, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_get_data(gone, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_get_data_len(gone, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_get_next_in_list(gone, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_get_last_in_list(gone, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_get_list_len(gone, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_is_first_in_list(gone, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_is_last_in_list(gone, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_is_in_list(gone, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_get_refcount(gone, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_dec_refcount(gone, NULL));
}

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 2);
	getters_and_setters(&rig);
	three_ways(&rig);
	reuse(&rig);
	no_handle(&rig);
	rig_teardown(&rig);
	return check_result();
}
