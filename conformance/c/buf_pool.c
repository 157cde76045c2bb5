/*
 * Buffer pools: equal slots of one map, alignment, capacity, what start and stop demand, lists of
 * slots, all refusals.
 *
 * clauses: core-memory Buffer pool
 * covers: @
 */
#include <doca_buf_pool.h>

#include "rig.h"

#define SLOT 100

static void slots(struct rig *rig, uint8_t *mem, struct doca_mmap *map, size_t alignment)
{
	struct doca_buf_pool *pool = NULL;
	struct doca_buf *buf[8], *none = NULL;
	uint8_t seen[8 * 256] = {0};
	uint32_t count = 0;
	size_t got = 0, i, j;

	MUST(doca_buf_pool_create(8, SLOT, map, &pool));
	CHECK_OK(doca_buf_pool_get_element_alignment(pool, &got));
	CHECK_U64(got, 1);
	CHECK_OK(doca_buf_pool_set_element_alignment(pool, alignment));
	CHECK_OK(doca_buf_pool_get_element_alignment(pool, &got));
	CHECK_U64(got, alignment);
	CHECK_STATUS(doca_buf_pool_buf_alloc(pool, &none), DOCA_ERROR_BAD_STATE);
	MUST(doca_buf_pool_start(pool));
	CHECK_STATUS(doca_buf_pool_set_element_alignment(pool, 1), DOCA_ERROR_BAD_STATE);
	for (i = 0; i < 8; i++) {
		void *head = NULL, *data = NULL;
		size_t len = 0, data_len = 9;
		uint16_t refs = 0;

		MUST(doca_buf_pool_buf_alloc(pool, &buf[i]));
		CHECK_OK(doca_buf_get_head(buf[i], &head));
		CHECK_OK(doca_buf_get_data(buf[i], &data));
		CHECK_OK(doca_buf_get_len(buf[i], &len));
		CHECK_OK(doca_buf_get_data_len(buf[i], &data_len));
		CHECK_OK(doca_buf_get_refcount(buf[i], &refs));
		CHECK_PTR(data, head);
		CHECK_U64(len, SLOT);
		CHECK_U64(data_len, 0);
		CHECK_U64(refs, 1);
		CHECK_U64((uintptr_t)head % alignment, 0);
		/* Inside the map and on nobody else's bytes. */
		MUST_BE((uint8_t *)head >= mem && (uint8_t *)head + SLOT <= mem + sizeof(seen));
		for (j = 0; j < SLOT; j++)
			MUST_BE(seen[(uint8_t *)head - mem + (ptrdiff_t)j]++ == 0);
	}
	CHECK_STATUS(doca_buf_pool_buf_alloc(pool, &none), DOCA_ERROR_EMPTY);
	CHECK_OK(doca_buf_pool_get_num_elements(pool, &count));
	CHECK_U64(count, 8);
	CHECK_OK(doca_buf_pool_get_num_free_elements(pool, &count));
	CHECK_U64(count, 0);
	/* They hold the pool and the map. */
	CHECK_STATUS(doca_buf_pool_stop(pool), DOCA_ERROR_IN_USE);
	CHECK_STATUS(doca_buf_pool_destroy(pool), DOCA_ERROR_IN_USE);
	CHECK_STATUS(doca_mmap_stop(map), DOCA_ERROR_NOT_PERMITTED);
	/* Slots make lists as all buffers do, together with others. */
	for (i = 1; i < 8; i++)
		MUST(doca_buf_chain_list(buf[0], buf[i]));
	MUST(doca_buf_chain_list(buf[0], rig_src(rig, 0, 10)));
	CHECK_OK(doca_buf_dec_refcount(buf[0], NULL));
	CHECK_OK(doca_buf_pool_get_num_free_elements(pool, &count));
	CHECK_U64(count, 8);
	/* A used slot comes back as new. */
	MUST(doca_buf_pool_buf_alloc(pool, &none));
	CHECK_OK(doca_buf_set_data_len(none, 50));
	CHECK_OK(doca_buf_dec_refcount(none, NULL));
	for (i = 0; i < 8; i++) {
		MUST(doca_buf_pool_buf_alloc(pool, &buf[i]));
		CHECK_OK(doca_buf_get_data_len(buf[i], &got));
		CHECK_U64(got, 0);
	}
	for (i = 0; i < 8; i++)
		CHECK_OK(doca_buf_dec_refcount(buf[i], NULL));
	CHECK_OK(doca_buf_pool_stop(pool));
	CHECK_OK(doca_buf_pool_set_element_alignment(pool, alignment));
	CHECK_STATUS(doca_buf_pool_buf_alloc(pool, &none), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_buf_pool_start(pool));
	CHECK_OK(doca_buf_pool_destroy(pool)); /* stops by itself */
	CHECK_STATUS(doca_buf_pool_destroy(pool), DOCA_ERROR_INVALID_VALUE);
}

static void demands(struct rig *rig, uint8_t *mem)
{
	struct doca_mmap *map = NULL;
	struct doca_buf_pool *pool = NULL;
	union doca_data data = {.u64 = 3};

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, rig->dev));
	/* The map needs a range at create, and has to run at start. */
	CHECK_STATUS(doca_buf_pool_create(4, SLOT, map, &pool), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_set_memrange(map, mem, 4 * SLOT));
	MUST(doca_buf_pool_create(4, SLOT, map, &pool));
	CHECK_STATUS(doca_buf_pool_start(pool), DOCA_ERROR_BAD_STATE);
	MUST(doca_mmap_start(map));
	CHECK_OK(doca_buf_pool_start(pool));
	CHECK_STATUS(doca_buf_pool_set_user_data(pool, data), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_buf_pool_stop(pool));
	/* No room with this alignment. */
	CHECK_OK(doca_buf_pool_set_element_alignment(pool, 128));
	CHECK_STATUS(doca_buf_pool_start(pool), DOCA_ERROR_INITIALIZATION);
	CHECK_STATUS(doca_buf_pool_set_element_alignment(pool, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_pool_set_element_alignment(pool, 48), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_pool_get_user_data(pool, &data));
	CHECK_U64(data.u64, 0);
	data.ptr = mem;
	CHECK_OK(doca_buf_pool_set_user_data(pool, data));
	data.u64 = 0;
	CHECK_OK(doca_buf_pool_get_user_data(pool, &data));
	CHECK_PTR(data.ptr, mem);
	CHECK_OK(doca_buf_pool_destroy(pool));
	MUST(doca_buf_pool_create(5, SLOT, map, &pool));
	CHECK_STATUS(doca_buf_pool_start(pool), DOCA_ERROR_INITIALIZATION);
	CHECK_OK(doca_buf_pool_destroy(pool));
	CHECK_STATUS(doca_buf_pool_create(0, SLOT, map, &pool), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_pool_create(4, 0, map, &pool), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_pool_create(4, SLOT, NULL, &pool), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_pool_create(4, SLOT, map, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_pool_start(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_pool_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_pool_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_pool_destroy((struct doca_buf_pool *)map), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_pool_buf_alloc(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_pool_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_pool_get_num_elements(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_pool_get_num_free_elements(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_pool_get_element_alignment(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_destroy(map));
}

int main(void)
{
	struct rig rig;
	uint8_t *mem = aligned_alloc(256, 8 * 256);
	struct doca_mmap *map;

	MUST_BE(mem != NULL);
	rig_setup(&rig, 4096, 2);
	map = rig_map(rig.dev, mem, 8 * 256, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	slots(&rig, mem, map, 1);
	slots(&rig, mem, map, 16);
	slots(&rig, mem, map, 256);
	CHECK_OK(doca_mmap_destroy(map));
	demands(&rig, mem);
	rig_teardown(&rig);
	free(mem);
	return check_result();
}
