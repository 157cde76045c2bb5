/*
 * Two threads, each with its own progress engine and DMA context, copy 10,000 times; one device and one
 * thread-safe memory map are shared. Every sixteenth copy is large enough for the card's workers to help.
 * Made to be run with library and program both instrumented by a sanitizer. RACE and STALE put in what a
 * sanitizer must find.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#define COPIES 10000
#define DEPTH 8
#define SMALL 256
#define LARGE (160 * 1024)

#define MUST(call)                                                                                              \
	do {                                                                                                    \
		doca_error_t must_ = (call);                                                                    \
		if (must_ != DOCA_SUCCESS) {                                                                    \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, doca_error_get_name(must_)); \
			abort();                                                                                \
		}                                                                                               \
	} while (0)

#ifdef RACE
static unsigned both; /* counted by both threads, without a lock */
#endif
static struct doca_dev *dev;
static struct doca_mmap *map;
static uint8_t *memory;

struct worker {
	pthread_t thread;
	struct doca_buf_inventory *inv;
	uint8_t *src, *dst;
	unsigned submitted, landed;
};

static size_t length(unsigned number)
{
	return number % 16 == 0 ? LARGE : SMALL;
}

static void aim(struct worker *w, struct doca_dma_task_memcpy *task, unsigned number)
{
	struct doca_buf *src = (struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task);
	size_t slot = number % DEPTH;
	union doca_data user = {.u64 = number};

	memset(w->src + slot * LARGE, (int)(number * 31 + 7), length(number));
	MUST(doca_buf_set_data(src, w->src + slot * LARGE, length(number)));
	MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
	doca_task_set_user_data(doca_dma_task_memcpy_as_task(task), user);
}

static void done(struct doca_dma_task_memcpy *task, union doca_data task_user, union doca_data ctx_user)
{
	struct worker *w = ctx_user.ptr;
	unsigned number = (unsigned)task_user.u64;
	size_t slot = number % DEPTH, len = 0;

	MUST(doca_buf_get_data_len(doca_dma_task_memcpy_get_dst(task), &len));
	if (len != length(number) || memcmp(w->src + slot * LARGE, w->dst + slot * LARGE, len) != 0) {
		fprintf(stderr, "copy %u differs\n", number);
		abort();
	}
	w->landed++;
#ifdef RACE
	both++;
#endif
	if (w->submitted == COPIES) {
		struct doca_buf *src = (struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task);
		struct doca_buf *dst = doca_dma_task_memcpy_get_dst(task);

		doca_task_free(doca_dma_task_memcpy_as_task(task));
		MUST(doca_buf_dec_refcount(src, NULL));
		MUST(doca_buf_dec_refcount(dst, NULL));
		return;
	}
	/* The same place is used every DEPTH numbers. */
	aim(w, task, number + DEPTH);
	w->submitted++;
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
}

static void failed(struct doca_dma_task_memcpy *task, union doca_data task_user, union doca_data ctx_user)
{
	(void)ctx_user;
	fprintf(stderr, "copy %llu failed: %s\n", (unsigned long long)task_user.u64,
		doca_error_get_name(doca_task_get_status(doca_dma_task_memcpy_as_task(task))));
	abort();
}

static void *work(void *argument)
{
	struct worker *w = argument;
	union doca_data self = {.ptr = w};
	struct doca_pe *pe;
	struct doca_dma *dma;
	unsigned i;

	MUST(doca_pe_create(&pe));
	MUST(doca_dma_create(dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, done, failed, DEPTH));
	MUST(doca_ctx_set_user_data(doca_dma_as_ctx(dma), self));
	MUST(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
	MUST(doca_ctx_start(doca_dma_as_ctx(dma)));
	MUST(doca_buf_inventory_create(2 * DEPTH, &w->inv));
	MUST(doca_buf_inventory_start(w->inv));
	for (i = 0; i < DEPTH; i++) {
		struct doca_dma_task_memcpy *task;
		struct doca_buf *src, *dst;

		MUST(doca_buf_inventory_buf_get_by_addr(w->inv, map, w->src + i * LARGE, LARGE, &src));
		MUST(doca_buf_inventory_buf_get_by_addr(w->inv, map, w->dst + i * LARGE, LARGE, &dst));
		MUST(doca_dma_task_memcpy_alloc_init(dma, src, dst, self, &task));
		aim(w, task, i);
		w->submitted++;
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	}
#ifdef STALE
	if (w->src == memory)
		free(memory);
#endif
	while (w->landed < COPIES)
		(void)doca_pe_progress(pe);
	MUST(doca_ctx_stop(doca_dma_as_ctx(dma)));
	MUST(doca_dma_destroy(dma));
	MUST(doca_buf_inventory_destroy(w->inv));
	MUST(doca_pe_destroy(pe));
	return NULL;
}

int main(void)
{
	static struct worker workers[2];
	struct doca_devinfo **list;
	uint32_t count, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++)
		if (doca_dma_cap_task_memcpy_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_destroy_list(list));
	memory = calloc(4 * DEPTH, LARGE);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_enable_thread_safety(map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, memory, (size_t)4 * DEPTH * LARGE));
	MUST(doca_mmap_start(map));
	for (i = 0; i < 2; i++) {
		workers[i].src = memory + (size_t)2 * i * DEPTH * LARGE;
		workers[i].dst = workers[i].src + (size_t)DEPTH * LARGE;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			abort();
	}
	for (i = 0; i < 2; i++)
		pthread_join(workers[i].thread, NULL);
	MUST(doca_mmap_destroy(map));
	MUST(doca_dev_close(dev));
	free(memory);
	printf("2 threads x %d copies\n", COPIES);
	return 0;
}
