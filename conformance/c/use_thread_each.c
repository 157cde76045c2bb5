/*
 * Four threads, each with its own progress engine, context and inventory, one device and one
 * thread-safe map shared by all, small copies and large ones. Each callback runs on the thread that
 * progresses.
 *
 * clauses: core-exec 8, 5; core-memory enable_thread_safety
 * covers: @
 */
#include <pthread.h>

#include "rig.h"

#define THREADS 4
#define DEPTH 16

static struct doca_dev *shared_dev;
static struct doca_mmap *shared_map;
static uint8_t *shared_mem;
static __thread unsigned callbacks_here;
static size_t piece;
static unsigned copies;

struct worker {
	struct rig rig; /* first: found again from the rig */
	pthread_t thread;
	unsigned submitted;
	unsigned elsewhere;
};

static void done(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	struct worker *worker = (struct worker *)rig;

	callbacks_here++;
	if (!pthread_equal(pthread_self(), worker->thread))
		worker->elsewhere++;
	if (worker->submitted == copies) {
		CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
		CHECK_OK(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL));
		doca_task_free(doca_dma_task_memcpy_as_task(task));
		return;
	}
	worker->submitted++;
	MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct rig *rig = &worker->rig;
	struct doca_pe *pe;
	size_t i;

	worker->thread = pthread_self();
	MUST(doca_pe_create(&pe));
	rig_make_ctx(rig, shared_dev, pe, DEPTH);
	rig->on_done = done;
	rig->map = shared_map;
	MUST(doca_buf_inventory_create(2 * DEPTH, &rig->inv));
	MUST(doca_buf_inventory_start(rig->inv));
	MUST(doca_ctx_start(rig->ctx));
	for (i = 0; i < DEPTH; i++) {
		(void)rig_copy(rig, i * piece, (DEPTH + i) * piece, piece, i);
		worker->submitted++;
	}
	rig_drain(rig);
	CHECK_U64(callbacks_here, copies);
	CHECK_OK(doca_ctx_stop(rig->ctx));
	CHECK_OK(doca_dma_destroy(rig->dma));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_buf_inventory_destroy(rig->inv));
	return NULL;
}

static void all_threads(size_t bytes, unsigned number)
{
	static struct worker workers[THREADS];
	size_t share = 2 * DEPTH * bytes, i;
	pthread_t threads[THREADS];

	piece = bytes;
	copies = number;
	memset(workers, 0, sizeof(workers));
	shared_mem = malloc(THREADS * share);
	MUST_BE(shared_mem != NULL);
	for (i = 0; i < THREADS * share; i++)
		shared_mem[i] = (uint8_t)(i * 7 + i / 256);
	MUST(doca_mmap_create(&shared_map));
	MUST(doca_mmap_enable_thread_safety(shared_map));
	MUST(doca_mmap_add_dev(shared_map, shared_dev));
	MUST(doca_mmap_set_memrange(shared_map, shared_mem, THREADS * share));
	MUST(doca_mmap_start(shared_map));
	for (i = 0; i < THREADS; i++) {
		workers[i].rig.mem = shared_mem + i * share;
		MUST_BE(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
	}
	for (i = 0; i < THREADS; i++) {
		MUST_BE(pthread_join(threads[i], NULL) == 0);
		CHECK_U64(workers[i].rig.good, copies);
		CHECK_U64(workers[i].rig.bad, 0);
		CHECK_U64(workers[i].elsewhere, 0);
		CHECK_BYTES(workers[i].rig.mem + DEPTH * piece, workers[i].rig.mem, DEPTH * piece);
	}
	CHECK_OK(doca_mmap_destroy(shared_map));
	free(shared_mem);
}

int main(void)
{
	shared_dev = rig_open_dev(NULL);
	all_threads(64, 4000);
	all_threads(5000, 1000);
	all_threads(100000, 200);
	all_threads(700001, 60);
	CHECK_OK(doca_dev_close(shared_dev));
	return check_result();
}
