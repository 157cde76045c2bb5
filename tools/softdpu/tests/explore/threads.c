/*
 * Two threads, each with its progress engine and context, which work in turns. The producer copies records into a shared table and
 * publishes how many there are by counting completions; the consumer copies record after record out of it. That the
 * n-th completion is the n-th record is true by chance only: -DRIGHT publishes the records that are there up to the
 * first that is not.
 */
#include <pthread.h>

#include "rig.h"

#define RECORDS 24
#define LEN 128
#define DEPTH 8

static uint8_t table[RECORDS * LEN];
static unsigned published, taken;
static struct rig producer, consumer;
static uint8_t landed[RECORDS];

static void on_done(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	unsigned up_to = published;

	(void)task;
	landed[rig->order[rig->good - 1]] = 1;
#ifdef RIGHT
	while (up_to < RECORDS && landed[up_to])
		up_to++;
#else
	up_to++;
#endif
	__atomic_store_n(&published, up_to, __ATOMIC_RELEASE);
	while (__atomic_load_n(&taken, __ATOMIC_ACQUIRE) != up_to)
		sched_yield();
}

static struct doca_buf *shared(struct rig *rig, struct doca_mmap *map, unsigned record, size_t data)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_args(rig->inv, map, table + record * LEN, LEN, table + record * LEN, data,
						&buf));
	return buf;
}

static void *produce(void *unused)
{
	struct rig *rig = &producer;
	struct doca_mmap *map;
	unsigned i;

	memset(rig->mem, 0x77, RECORDS * LEN);
	rig->on_done = on_done;
	map = rig_map(rig->dev, table, sizeof(table), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	for (i = 0; i < RECORDS; i++) {
		while (rig_inflight(rig) == DEPTH)
			rig_progress(rig);
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(
			rig_task(rig, rig_src(rig, i * LEN, LEN), shared(rig, map, i, 0), i))));
	}
	rig_drain(rig);
	CHECK_OK(doca_mmap_destroy(map));
	rig_teardown(rig);
	return unused;
}

static void *consume(void *unused)
{
	struct rig *rig = &consumer;
	struct doca_mmap *map;
	unsigned i;

	map = rig_map(rig->dev, table, sizeof(table), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	for (i = 0; i < RECORDS; i++) {
		while (__atomic_load_n(&published, __ATOMIC_ACQUIRE) <= i)
			sched_yield();
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(
			rig_task(rig, shared(rig, map, i, LEN), rig_dst(rig, i * LEN, LEN), i))));
		rig_drain(rig);
		CHECK_U64(rig->mem[i * LEN], 0x77);
		__atomic_store_n(&taken, i + 1, __ATOMIC_RELEASE);
	}
	CHECK_OK(doca_mmap_destroy(map));
	rig_teardown(rig);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	/* In this order, so that the contexts have the same numbers each time. */
	rig_setup(&producer, RECORDS * LEN, DEPTH);
	rig_setup(&consumer, RECORDS * LEN, 1);
	MUST_BE(pthread_create(&threads[0], NULL, produce, NULL) == 0);
	MUST_BE(pthread_create(&threads[1], NULL, consume, NULL) == 0);
	MUST_BE(pthread_join(threads[0], NULL) == 0);
	MUST_BE(pthread_join(threads[1], NULL) == 0);
	return check_result();
}
