/*
 * The exporter stops its map and takes the memory away while an importer on another thread copies
 * from and to it without pause. When stop has returned nobody touches the memory any more: copies
 * succeed before, fail after, and nothing crashes.
 *
 * clauses: core-memory Export / import (import after the exporter stopped), doca_mmap_stop
 * covers: @
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "rig.h"

#define BYTES ((size_t)1 << 21)
#define DEPTH 4
#define ROUNDS 60

static struct doca_dev *card;
static uint8_t *shared;
static const void *desc;
static size_t desc_len;
static unsigned copied; /* by the importer in this round */
static int importer_up;

static void one_more(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	if (rig->status[(rig->good + rig->bad - 1) % RIG_LOG] == DOCA_SUCCESS)
		__atomic_add_fetch(&copied, 1, __ATOMIC_RELEASE);
	if (rig->bad == 0 && rig->good > RIG_LOG / 2)
		rig->good = 0;
	if (rig_state(rig) == DOCA_CTX_STATE_RUNNING && rig->bad == 0) {
		MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
		return;
	}
	CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
	CHECK_OK(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void *importer(void *argument)
{
	struct rig rig = {0};
	struct doca_mmap *remote = NULL, *local;
	struct doca_pe *pe = NULL;
	size_t i, len = *(size_t *)argument;

	MUST(doca_pe_create(&pe));
	rig_make_ctx(&rig, card, pe, DEPTH);
	rig.on_done = one_more;
	rig.mem = malloc(DEPTH * len);
	MUST_BE(rig.mem != NULL);
	memset(rig.mem, 1, DEPTH * len);
	local = rig_map(card, rig.mem, DEPTH * len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create(2 * DEPTH, &rig.inv));
	MUST(doca_buf_inventory_start(rig.inv));
	MUST(doca_mmap_create_from_export(NULL, desc, desc_len, card, &remote));
	MUST(doca_ctx_start(rig.ctx));
	for (i = 0; i < DEPTH; i++) {
		struct doca_buf *src, *dst;

		/* Out of it and into it in turn. */
		MUST(doca_buf_inventory_buf_get_by_data(rig.inv, i % 2 ? remote : local,
							i % 2 ? shared : rig.mem + i * len, len, &src));
		MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, i % 2 ? local : remote,
							i % 2 ? rig.mem + i * len : shared + len, len, &dst));
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(&rig, src, dst, i))));
	}
	__atomic_store_n(&importer_up, 1, __ATOMIC_RELEASE);
	/* A failed copy ends it: the context stops itself. */
	rig_until_idle(&rig);
	CHECK(rig.bad > 0);
	CHECK_OK(doca_dma_destroy(rig.dma));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_buf_inventory_destroy(rig.inv));
	CHECK_OK(doca_mmap_destroy(remote));
	CHECK_OK(doca_mmap_destroy(local));
	free(rig.mem);
	return NULL;
}

int main(void)
{
	struct doca_dev *host = rig_open_dev("b1:00.0");
	size_t round;

	card = rig_open_dev("03:00.0");
	for (round = 0; round < ROUNDS; round++) {
		static const size_t lens[] = {64, 4096, 100000, BYTES / 2};
		size_t len = lens[round % 4];
		struct doca_mmap *map;
		pthread_t thread;
		unsigned want = 1 + (unsigned)(round * 7 % 40);

		shared = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		MUST_BE(shared != MAP_FAILED);
		memset(shared, 2, BYTES);
		map = rig_map(host, shared, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
		MUST(doca_mmap_export_pci(map, host, &desc, &desc_len));
		copied = 0;
		importer_up = 0;
		MUST_BE(pthread_create(&thread, NULL, importer, &len) == 0);
		while (__atomic_load_n(&importer_up, __ATOMIC_ACQUIRE) == 0 ||
		       __atomic_load_n(&copied, __ATOMIC_ACQUIRE) < want)
			sched_yield();
		CHECK_OK(doca_mmap_stop(map));
		/* Whoever touched this now would be caught by a signal. */
		MUST_BE(munmap(shared, BYTES) == 0);
		MUST_BE(pthread_join(thread, NULL) == 0);
		CHECK_OK(doca_mmap_destroy(map));
	}
	CHECK_OK(doca_dev_close(card));
	CHECK_OK(doca_dev_close(host));
	return check_result();
}
