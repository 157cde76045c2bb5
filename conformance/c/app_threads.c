/*
 * A thread per engine, as the textbook advises: four threads with an engine and contexts each, one
 * memory map for all that was made safe for threads, buffers handed from copier to hasher over a
 * lock-free ring, results collected by the first.
 *
 * clauses: core-exec Threads; core-memory Thread safety
 * covers: @
 */
#define _GNU_SOURCE

#include <pthread.h>
#include <stdatomic.h>

#include <doca_dma.h>
#include <doca_sha.h>

#include "app_common.h"

#define PAIRS 2u
#define BLOCKS 1500u
#define BLOCK 2048u
#define RING 16u

static struct doca_dev *dev;
static struct doca_mmap *map;
static uint8_t *memory;

/* One producer, one consumer. */
struct ring {
	atomic_uint head, tail;
	struct doca_buf *buf[RING];
};

struct pair {
	struct ring ring;
	uint8_t *area; /* RING source blocks, RING copies, RING digests */
	atomic_uint hashed;
	uint32_t digests;
	uint8_t sum[32];
};

static struct pair pairs[PAIRS];

static doca_error_t capable(const struct doca_devinfo *info)
{
	doca_error_t result = doca_dma_cap_task_memcpy_is_supported(info);

	return result != DOCA_SUCCESS ? result :
					doca_sha_cap_task_hash_get_supported(info, DOCA_SHA_ALGORITHM_SHA256);
}

static void copied(struct doca_dma_task_memcpy *task, union doca_data user, union doca_data ctx)
{
	struct pair *pair = (struct pair *)ctx.ptr;
	unsigned head = atomic_load_explicit(&pair->ring.head, memory_order_relaxed);

	(void)user;
	CHECK_OK(doca_task_get_status(doca_dma_task_memcpy_as_task(task)));
	CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
	pair->ring.buf[head % RING] = doca_dma_task_memcpy_get_dst(task);
	atomic_store_explicit(&pair->ring.head, head + 1, memory_order_release);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void *copier(void *arg)
{
	struct pair *pair = (struct pair *)arg;
	struct doca_buf_inventory *inv;
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst, *lent[RING] = {NULL};
	union doca_data user;
	struct doca_dma *dma;
	struct doca_pe *pe;
	uint32_t i;

	MUST(doca_pe_create(&pe));
	MUST(doca_buf_inventory_create(2 * RING + 2, &inv));
	MUST(doca_buf_inventory_start(inv));
	MUST(doca_dma_create(dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, copied, copied, RING));
	user.ptr = pair;
	MUST(doca_ctx_set_user_data(doca_dma_as_ctx(dma), user));
	MUST(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
	MUST(doca_ctx_start(doca_dma_as_ctx(dma)));
	for (i = 0; i < BLOCKS; i++) {
		uint8_t *from = pair->area + i % RING * BLOCK, *to = from + RING * BLOCK;

		/* The block is free when its last digest is there. */
		while (i >= atomic_load(&pair->hashed) + RING)
			if (doca_pe_progress(pe) == 0)
				app_nap();
		/* An inventory belongs to one thread: what was handed over comes back here. */
		if (lent[i % RING] != NULL)
			CHECK_OK(doca_buf_dec_refcount(lent[i % RING], NULL));
		app_text(from, BLOCK, i);
		MUST(doca_buf_inventory_buf_get_by_data(inv, map, from, BLOCK, &src));
		MUST(doca_buf_inventory_buf_get_by_addr(inv, map, to, BLOCK, &dst));
		lent[i % RING] = dst;
		MUST(doca_dma_task_memcpy_alloc_init(dma, src, dst, user, &task));
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
		(void)doca_pe_progress(pe);
	}
	while (atomic_load(&pair->hashed) < BLOCKS)
		if (doca_pe_progress(pe) == 0)
			app_nap();
	for (i = 0; i < RING; i++)
		CHECK_OK(doca_buf_dec_refcount(lent[i], NULL));
	CHECK_OK(doca_ctx_stop(doca_dma_as_ctx(dma)));
	CHECK_OK(doca_dma_destroy(dma));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_buf_inventory_destroy(inv));
	return NULL;
}

static void hashed(struct doca_sha_task_hash *task, union doca_data user, union doca_data ctx)
{
	struct pair *pair = (struct pair *)ctx.ptr;
	struct doca_buf *out = (struct doca_buf *)(uintptr_t)doca_sha_task_hash_get_dst(task);
	uint8_t *digest;
	void *data;
	int i;

	(void)user;
	CHECK_OK(doca_task_get_status(doca_sha_task_hash_as_task(task)));
	MUST(doca_buf_get_data(out, &data));
	digest = (uint8_t *)data;
	for (i = 0; i < 32; i++)
		pair->sum[i] ^= digest[i];
	CHECK_OK(doca_buf_dec_refcount(out, NULL));
	doca_task_free(doca_sha_task_hash_as_task(task));
	pair->digests++;
	atomic_store(&pair->hashed, pair->digests);
}

static void *hasher(void *arg)
{
	struct pair *pair = (struct pair *)arg;
	struct doca_buf_inventory *inv;
	struct doca_sha_task_hash *task;
	struct doca_buf *out, *in;
	union doca_data user;
	struct doca_sha *sha;
	struct doca_pe *pe;
	unsigned tail = 0;

	MUST(doca_pe_create(&pe));
	MUST(doca_buf_inventory_create(2 * RING, &inv));
	MUST(doca_buf_inventory_start(inv));
	MUST(doca_sha_create(dev, &sha));
	MUST(doca_sha_task_hash_set_conf(sha, hashed, hashed, 4));
	user.ptr = pair;
	MUST(doca_ctx_set_user_data(doca_sha_as_ctx(sha), user));
	MUST(doca_pe_connect_ctx(pe, doca_sha_as_ctx(sha)));
	MUST(doca_ctx_start(doca_sha_as_ctx(sha)));
	while (pair->digests < BLOCKS) {
		if (tail != atomic_load_explicit(&pair->ring.head, memory_order_acquire)) {
			in = pair->ring.buf[tail % RING];
			MUST(doca_buf_inventory_buf_get_by_addr(
				inv, map, pair->area + 2 * RING * BLOCK + tail % RING * 32, 32, &out));
			user.u64 = tail;
			MUST(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, in, out, user, &task));
			MUST(doca_task_submit(doca_sha_task_hash_as_task(task)));
			tail++;
		}
		if (doca_pe_progress(pe) == 0)
			app_nap();
	}
	CHECK_OK(doca_ctx_stop(doca_sha_as_ctx(sha)));
	CHECK_OK(doca_sha_destroy(sha));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_buf_inventory_destroy(inv));
	return NULL;
}

int main(void)
{
	const size_t area = 2 * RING * BLOCK + RING * 32;
	pthread_t threads[2 * PAIRS];
	uint32_t i;

	MUST(app_open_device(NULL, capable, &dev));
	memory = (uint8_t *)aligned_alloc(4096, (PAIRS * area + 4095) / 4096 * 4096);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_enable_thread_safety(map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, memory, PAIRS * area));
	MUST(doca_mmap_start(map));
	for (i = 0; i < PAIRS; i++) {
		pairs[i].area = memory + i * area;
		MUST_BE(pthread_create(&threads[2 * i], NULL, copier, &pairs[i]) == 0);
		MUST_BE(pthread_create(&threads[2 * i + 1], NULL, hasher, &pairs[i]) == 0);
	}
	for (i = 0; i < PAIRS; i++) {
		MUST_BE(pthread_join(threads[2 * i + 1], NULL) == 0);
		MUST_BE(pthread_join(threads[2 * i], NULL) == 0);
		CHECK_U64(pairs[i].digests, BLOCKS);
		CHECK_BYTES(pairs[i].sum, pairs[0].sum, 32);
	}
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	free(memory);
	return check_result();
}
