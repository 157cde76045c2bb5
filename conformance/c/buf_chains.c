/*
 * Lists of buffers: chaining, cutting, walking, counting, duplicating; who may be chained, who owns
 * the members afterwards, lists over several maps and inventories.
 *
 * clauses: core-memory Buffer object (lists), buf_dup
 * covers: @
 */
#include "rig.h"

#define COUNT 6

static void shape(const char *file, int line, struct doca_buf *const *buf, size_t count)
{
	struct doca_buf *next = NULL, *last = NULL;
	uint32_t elements = 0;
	uint8_t first = 9, is_last = 9, in_list = 9;
	size_t i, failures = (size_t)check_failures;

	CHECK_OK(doca_buf_get_list_len(buf[0], &elements));
	CHECK_U64(elements, count);
	for (i = 0; i < count; i++) {
		CHECK_OK(doca_buf_get_next_in_list(buf[i], &next));
		CHECK_PTR(next, i + 1 < count ? buf[i + 1] : NULL);
		CHECK_OK(doca_buf_get_last_in_list(buf[i], &last));
		CHECK_PTR(last, buf[count - 1]);
		CHECK_OK(doca_buf_is_first_in_list(buf[i], &first));
		CHECK_U64(first, i == 0);
		CHECK_OK(doca_buf_is_last_in_list(buf[i], &is_last));
		CHECK_U64(is_last, i + 1 == count);
		CHECK_OK(doca_buf_is_in_list(buf[i], &in_list));
		CHECK_U64(in_list, count > 1);
		if (i > 0)
			CHECK_STATUS(doca_buf_get_list_len(buf[i], &elements), DOCA_ERROR_NOT_PERMITTED);
	}
	if ((size_t)check_failures != failures)
		check_fail(file, line, "a list of %zu has the wrong shape", count);
}

#define SHAPE(buf, count) shape(__FILE__, __LINE__, buf, count)

static uint32_t free_elements(struct doca_buf_inventory *inv)
{
	uint32_t count = 0;

	CHECK_OK(doca_buf_inventory_get_num_free_elements(inv, &count));
	return count;
}

int main(void)
{
	struct rig rig;
	struct doca_mmap *second_map;
	struct doca_buf_inventory *second;
	struct doca_buf *buf[COUNT] = {NULL}, *copy = NULL, *copies[COUNT], *lone;
	uint8_t mem[COUNT * 10];
	uint32_t before, i;
	size_t len = 0;
	void *data = NULL;

	rig_setup(&rig, 4096, 2);
	second_map = rig_map(rig.dev, mem, sizeof(mem), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create(COUNT, &second));
	MUST(doca_buf_inventory_start(second));
	before = free_elements(rig.inv);

	/* Every other one from another map and another inventory. */
	for (i = 0; i < COUNT; i++) {
		if (i % 2 == 0)
			buf[i] = rig_src(&rig, i * 100, 50 + i);
		else
			MUST(doca_buf_inventory_buf_get_by_data(second, second_map, mem + i * 10, 10, &buf[i]));
		SHAPE(&buf[i], 1);
	}
	CHECK_OK(doca_buf_chain_list(buf[0], buf[1]));
	SHAPE(buf, 2);
	CHECK_OK(doca_buf_chain_list(buf[2], buf[3]));
	CHECK_OK(doca_buf_chain_list(buf[0], buf[2])); /* list to list */
	SHAPE(buf, 4);
	CHECK_OK(doca_buf_chain_list_tail(buf[0], buf[3], buf[4]));
	CHECK_OK(doca_buf_chain_list_tail(buf[0], buf[4], buf[5]));
	SHAPE(buf, COUNT);

	/* Members cannot be chained, counted or measured by themselves. */
	lone = rig_src(&rig, 0, 5);
	CHECK_STATUS(doca_buf_chain_list(buf[2], lone), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_buf_chain_list(lone, buf[2]), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_buf_chain_list_tail(buf[1], buf[5], lone), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_buf_chain_list_tail(buf[0], buf[5], buf[3]), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_buf_dec_refcount(buf[3], NULL), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_buf_inc_refcount(buf[3], NULL), DOCA_ERROR_NOT_PERMITTED);
	/* A list that somebody else counts on may not be swallowed. */
	CHECK_OK(doca_buf_inc_refcount(lone, NULL));
	CHECK_STATUS(doca_buf_chain_list(buf[0], lone), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_buf_dec_refcount(lone, NULL));
	CHECK_REFUSED(doca_buf_chain_list(lone, lone));
	CHECK_STATUS(doca_buf_chain_list(NULL, lone), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_chain_list(lone, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_unchain_list(buf[0], lone), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_unchain_list(buf[0], buf[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_unchain_list(NULL, buf[1]), DOCA_ERROR_INVALID_VALUE);
	SHAPE(buf, COUNT);
	SHAPE(&lone, 1);

	/* A duplicate of the whole list, from one inventory, over the same windows. */
	CHECK_OK(doca_buf_set_data(buf[0], rig.mem + 1, 20));
	CHECK_OK(doca_buf_inventory_buf_dup(rig.inv, buf[0], &copy));
	MUST_BE(copy != NULL);
	for (i = 0; i < COUNT; i++) {
		size_t want_len = 0;
		void *want = NULL;

		copies[i] = copy;
		CHECK_OK(doca_buf_get_data(copy, &data));
		CHECK_OK(doca_buf_get_data(buf[i], &want));
		CHECK_PTR(data, want);
		CHECK_OK(doca_buf_get_data_len(copy, &len));
		CHECK_OK(doca_buf_get_data_len(buf[i], &want_len));
		CHECK_U64(len, want_len);
		CHECK(copy != buf[i]);
		MUST(doca_buf_get_next_in_list(copy, &copy));
	}
	SHAPE(copies, COUNT);
	CHECK_STATUS(doca_buf_inventory_buf_dup(rig.inv, buf[1], &copy), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_buf_inventory_buf_dup(second, buf[0], &copy), DOCA_ERROR_NO_MEMORY);
	CHECK_U64(free_elements(second), COUNT - 3); /* the failed one took nothing */
	CHECK_STATUS(doca_buf_inventory_buf_dup(NULL, buf[0], &copy), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_dup(rig.inv, NULL, &copy), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_dup(rig.inv, buf[0], NULL), DOCA_ERROR_INVALID_VALUE);

	/* Cut in the middle: two lists, each released by its head, each member to its own inventory. */
	CHECK_OK(doca_buf_unchain_list(buf[0], buf[4]));
	SHAPE(buf, 4);
	SHAPE(&buf[4], 2);
	CHECK_OK(doca_buf_dec_refcount(buf[0], NULL));
	CHECK_U64(free_elements(second), COUNT - 1);
	CHECK_OK(doca_buf_dec_refcount(buf[4], NULL));
	CHECK_U64(free_elements(second), COUNT);
	CHECK_OK(doca_buf_dec_refcount(copies[0], NULL));
	CHECK_OK(doca_buf_dec_refcount(lone, NULL));
	CHECK_U64(free_elements(rig.inv), before);
	CHECK_OK(doca_buf_inventory_destroy(second));
	CHECK_OK(doca_mmap_destroy(second_map));
	rig_teardown(&rig);
	return check_result();
}
