/*
 * A ring of equal slots: a buffer pool hands out destinations, each is filled by a copy, read, and
 * goes back to the pool; the program simply waits for a slot when all are out.
 *
 * clauses: core-memory Buffer pool; dma Behaviour (appended destinations)
 * covers: @
 */
#include <doca_buf_pool.h>

#include "rig.h"

#define SLOTS 8
#define SLOT 2000
#define MESSAGES 500

static struct doca_buf *filled[SLOTS];
static unsigned filled_count;

static void collect(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	(void)rig;
	filled[filled_count++] = doca_dma_task_memcpy_get_dst(task);
	CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
}

int main(void)
{
	struct rig rig;
	struct doca_buf_pool *pool;
	struct doca_mmap *slots_map;
	uint8_t *slots = aligned_alloc(4096, SLOTS * 2048);
	unsigned sent = 0, received = 0, waits = 0;
	uint32_t free_slots = 0;

	MUST_BE(slots != NULL);
	rig_setup(&rig, 64 * SLOT, SLOTS);
	rig.drop_bufs = 0;
	rig.on_done = collect;
	slots_map = rig_map(rig.dev, slots, SLOTS * 2048, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_pool_create(SLOTS, SLOT, slots_map, &pool));
	MUST(doca_buf_pool_set_element_alignment(pool, 2048));
	MUST(doca_buf_pool_start(pool));

	while (received < MESSAGES) {
		struct doca_buf *slot = NULL;
		doca_error_t result = DOCA_ERROR_EMPTY;

		if (sent < MESSAGES)
			result = doca_buf_pool_buf_alloc(pool, &slot);
		if (result == DOCA_SUCCESS) {
			size_t len = 1 + sent * 37 % SLOT;
			struct doca_buf *src = rig_src(&rig, (size_t)(sent % 60) * SLOT, len);

			MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(&rig, src, slot, sent))));
			sent++;
			continue;
		}
		CHECK_STATUS(result, DOCA_ERROR_EMPTY);
		waits++;
		while (filled_count == 0)
			rig_progress(&rig);
		while (filled_count > 0) {
			struct doca_buf *full = filled[0];
			void *data;
			size_t len;

			memmove(filled, filled + 1, (filled_count - 1) * sizeof(filled[0]));
			filled_count--;
			MUST(doca_buf_get_data(full, &data));
			MUST(doca_buf_get_data_len(full, &len));
			CHECK_U64((uintptr_t)data % 2048, 0);
			CHECK_U64(len, 1 + received * 37 % SLOT);
			CHECK_BYTES(data, rig.mem + (size_t)(received % 60) * SLOT, len);
			CHECK_OK(doca_buf_dec_refcount(full, NULL));
			received++;
		}
	}
	CHECK_U64(sent, MESSAGES);
	CHECK(waits >= MESSAGES / SLOTS);
	CHECK_OK(doca_buf_pool_get_num_free_elements(pool, &free_slots));
	CHECK_U64(free_slots, SLOTS);
	CHECK_OK(doca_buf_pool_stop(pool));
	CHECK_OK(doca_buf_pool_destroy(pool));
	CHECK_OK(doca_mmap_destroy(slots_map));
	rig_teardown(&rig);
	free(slots);
	return check_result();
}
