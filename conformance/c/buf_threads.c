/*
 * One thread-safe map, four threads with an inventory each: buffers come and go on all of them while
 * copies run. With the switch on, live buffers do not hold the map.
 *
 * clauses: core-memory enable_thread_safety, Buffers (threads)
 * covers: @
 */
#include <pthread.h>

#include "rig.h"

#define THREADS 4
#define ROUNDS 20000

static struct doca_mmap *map;
static uint8_t mem[THREADS * 1024];

static void *churn(void *argument)
{
	size_t number = (size_t)argument, i;
	uint8_t *mine = mem + number * 1024;
	struct doca_buf_inventory *inv = NULL;
	struct doca_buf *kept[4] = {NULL};

	MUST(doca_buf_inventory_create(4, &inv));
	MUST(doca_buf_inventory_start(inv));
	for (i = 0; i < ROUNDS; i++) {
		size_t at = i % 4, len = 1 + i % 1000, got = 0;

		if (kept[at] != NULL) {
			CHECK_OK(doca_buf_get_len(kept[at], &got));
			CHECK_U64(got, 1 + (i - 4) % 1000);
			CHECK_OK(doca_buf_dec_refcount(kept[at], NULL));
		}
		MUST(doca_buf_inventory_buf_get_by_data(inv, map, mine, len, &kept[at]));
	}
	for (i = 0; i < 4; i++)
		CHECK_OK(doca_buf_dec_refcount(kept[i], NULL));
	CHECK_OK(doca_buf_inventory_destroy(inv));
	return NULL;
}

int main(void)
{
	struct doca_dev *dev = rig_open_dev(NULL);
	struct doca_buf_inventory *inv = NULL;
	struct doca_buf *live = NULL;
	pthread_t threads[THREADS];
	size_t i;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, mem, sizeof(mem)));
	CHECK_OK(doca_mmap_enable_thread_safety(map));
	MUST(doca_mmap_start(map));
	for (i = 0; i < THREADS; i++)
		MUST_BE(pthread_create(&threads[i], NULL, churn, (void *)i) == 0);
	for (i = 0; i < THREADS; i++)
		MUST_BE(pthread_join(threads[i], NULL) == 0);

	/* Buffers are not counted now: stop does not ask for them. */
	MUST(doca_buf_inventory_create(1, &inv));
	MUST(doca_buf_inventory_start(inv));
	MUST(doca_buf_inventory_buf_get_by_data(inv, map, mem, 1, &live));
	CHECK_OK(doca_mmap_stop(map));
	CHECK_OK(doca_buf_dec_refcount(live, NULL));
	CHECK_OK(doca_buf_inventory_destroy(inv));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
