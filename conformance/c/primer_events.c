/*
 * The second chapter's second half: event channels and the write by address. Where a write may go and
 * where not, what its task says when, many in flight, an engine per thread, a channel over the
 * program's own RDMA context that is connected to a peer.
 *
 * clauses: primer Second chapter (event channels, RDMA write, done)
 * covers: softdpu_primer_rdma_create_event_channel softdpu_primer_pe_connect_event_channel
 *   softdpu_primer_event_channel_destroy softdpu_primer_rdma_task_write softdpu_primer_mmap_start
 *   doca_task_get_status
 */
#define _GNU_SOURCE

#include <pthread.h>

#include <doca_primer.h>

#include "check.h"
#include "rdma_rig.h"

#define BYTES (4u * 1024 * 1024)
#define BAD DOCA_ERROR_INVALID_VALUE

/* A map without a device over memory of the program. */
static struct doca_mmap *map_over(void *memory, size_t bytes, uint32_t rights)
{
	struct doca_mmap *map;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_set_memrange(map, memory, bytes));
	MUST(doca_mmap_set_permissions(map, rights));
	MUST(doca_mmap_start(map));
	return map;
}

/* Progress until nothing flies; the calls that said something moved. */
static unsigned drain(struct doca_pe *pe)
{
	size_t flying = 1;
	unsigned moved = 0;

	while (flying != 0) {
		uint8_t some = doca_pe_progress(pe);
		size_t left = 0;

		CHECK_OK(doca_pe_get_num_inflight_tasks(pe, &left));
		/* It falls exactly when progress says so. */
		if (flying != 1 || moved != 0)
			CHECK_U64(left, flying - some);
		moved += some;
		flying = left;
	}
	return moved;
}

static doca_error_t write_once(struct doca_pe *pe, const void *from, size_t len, uint64_t to)
{
	struct doca_task *task = NULL;
	doca_error_t status;

	MUST(doca_rdma_task_write(NULL, from, len, to, &task));
	MUST_BE(task != NULL);
	CHECK_U64(drain(pe), 1);
	status = doca_task_get_status(task);
	doca_task_free(task);
	return status;
}

static void where_to(void)
{
	uint8_t *memory = (uint8_t *)malloc(BYTES), *secret = (uint8_t *)calloc(1, 4096);
	uint8_t *open = (uint8_t *)calloc(1, 4096), *shared = (uint8_t *)calloc(1, 4096);
	struct doca_event_channel *channel;
	struct doca_mmap *map, *read_only, *writable, *remote;
	struct doca_task *task = NULL;
	struct doca_pe *pe;
	size_t i;

	for (i = 0; i < BYTES; i++)
		memory[i] = (uint8_t)(i * 13 + (i >> 10));
	map = map_over(memory, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	read_only = map_over(secret, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	writable = map_over(open, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	remote = map_over(shared, 4096, DOCA_ACCESS_FLAG_RDMA_WRITE);
	MUST(doca_pe_create(&pe));
	/* Nothing is connected yet. */
	CHECK_STATUS(doca_rdma_task_write(NULL, memory, 8, memory + 100, &task), DOCA_ERROR_BAD_STATE);
	MUST(doca_rdma_create_event_channel(&channel));
	CHECK_STATUS(doca_rdma_task_write(channel, memory, 8, memory + 100, &task), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_pe_connect_event_channel(NULL, channel), BAD);
	CHECK_STATUS(doca_pe_connect_event_channel(pe, NULL), BAD);
	MUST(doca_pe_connect_event_channel(pe, channel));
	CHECK_STATUS(doca_pe_connect_event_channel(pe, channel), DOCA_ERROR_NOT_PERMITTED);

	/* One map, the others by each of the three rights, a megabyte, one byte, none. */
	CHECK_OK(write_once(pe, memory, 1000, (uintptr_t)memory + 2000000));
	CHECK_BYTES(memory + 2000000, memory, 1000);
	CHECK_OK(write_once(pe, memory, 4096, (uintptr_t)open));
	CHECK_BYTES(open, memory, 4096);
	CHECK_OK(write_once(pe, memory + 1, 4095, (uintptr_t)shared + 1));
	CHECK_BYTES(shared + 1, memory + 1, 4095);
	CHECK_OK(write_once(pe, memory, BYTES / 2, (uintptr_t)memory + BYTES / 2));
	CHECK_BYTES(memory + BYTES / 2, memory, BYTES / 2);
	CHECK_OK(write_once(pe, memory + 7, 1, (uintptr_t)open + 4095));
	CHECK_U64(open[4095], memory[7]);
	CHECK_OK(write_once(pe, memory, 0, (uintptr_t)open));
	CHECK_OK(write_once(pe, secret, 16, (uintptr_t)open));
	CHECK_U64(open[0], 0);

	/* Not permitted: by right, outside, over the end. The next write goes through. */
	CHECK_STATUS(write_once(pe, memory, 16, (uintptr_t)secret), DOCA_ERROR_NOT_PERMITTED);
	CHECK_U64(secret[0], 0);
	CHECK_STATUS(write_once(pe, memory, 16, 0), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(write_once(pe, memory, 16, UINT64_MAX), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(write_once(pe, memory, 16, (uintptr_t)open + 4081), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(write_once(pe, memory, 16, (uintptr_t)&i), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(write_once(pe, memory, 16, (uintptr_t)open + 4080));

	/* The source has to be in a map; wrong handles are refused at once. */
	CHECK_STATUS(doca_rdma_task_write(NULL, &i, sizeof(i), open, &task), BAD);
	CHECK_STATUS(doca_rdma_task_write(NULL, NULL, 8, open, &task), BAD);
	CHECK_STATUS(doca_rdma_task_write(NULL, memory + BYTES - 8, 9, open, &task), BAD);
	CHECK_STATUS(doca_rdma_task_write(NULL, memory, 8, open, NULL), BAD);
	CHECK_STATUS(doca_rdma_task_write(pe, memory, 8, open, &task), BAD);
	CHECK_PTR(task, NULL);

	/* A map that was stopped is none; started again it is one. While a write flies it does not stop. */
	CHECK_OK(doca_mmap_stop(writable));
	CHECK_STATUS(write_once(pe, memory, 16, (uintptr_t)open), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_mmap_start(writable));
	CHECK_OK(write_once(pe, memory, 16, (uintptr_t)open));
	MUST(doca_rdma_task_write(NULL, memory, 1024 * 1024, memory + 1024 * 1024, &task));
	CHECK_STATUS(doca_mmap_stop(map), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_event_channel_destroy(channel), DOCA_ERROR_IN_USE);
	CHECK_STATUS(doca_task_get_status(task), DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(drain(pe), 1);
	CHECK_OK(doca_task_get_status(task));
	/* The task stays allocated: the channel frees it. */
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_mmap_destroy(read_only));
	CHECK_OK(doca_event_channel_destroy(channel));
	CHECK_STATUS(doca_task_get_status(task), BAD);
	CHECK_STATUS(doca_event_channel_destroy(channel), BAD);
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_mmap_destroy(writable));
	CHECK_OK(doca_mmap_destroy(remote));
	free(memory), free(secret), free(open), free(shared);
}

/* A full pool, landed in the order of submission, with bad ones in between. */
static void many(void)
{
	enum { COUNT = 1024 };
	static struct doca_task *tasks[COUNT];
	uint32_t *words = (uint32_t *)calloc(2 * COUNT, sizeof(*words));
	struct doca_mmap *map = map_over(words, 2 * COUNT * sizeof(*words), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_event_channel *channel;
	struct doca_task *more = NULL;
	struct doca_pe *pe;
	size_t flying, i;
	int turn;

	MUST(doca_pe_create(&pe));
	MUST(doca_rdma_create_event_channel(&channel));
	MUST(doca_pe_connect_event_channel(pe, channel));
	for (turn = 0; turn < 3; turn++) {
		for (i = 0; i < COUNT; i++) {
			uintptr_t to = i % 16 == 5 ? 4096 : (uintptr_t)&words[COUNT + i];

			words[i] = (uint32_t)(i * 3 + (size_t)turn + 1);
			MUST(doca_rdma_task_write(channel, &words[i], sizeof(*words), to, &tasks[i]));
		}
		CHECK_STATUS(doca_rdma_task_write(channel, words, 4, words + COUNT, &more), DOCA_ERROR_NO_MEMORY);
		CHECK_OK(doca_pe_get_num_inflight_tasks(pe, &flying));
		CHECK_U64(flying, COUNT);
		for (i = 0; i < COUNT; i++) {
			while (doca_pe_progress(pe) == 0)
				sched_yield();
			CHECK_STATUS(doca_task_get_status(tasks[i]),
				     i % 16 == 5 ? DOCA_ERROR_NOT_PERMITTED : DOCA_SUCCESS);
			if (i + 1 < COUNT)
				CHECK_STATUS(doca_task_get_status(tasks[i + 1]), DOCA_ERROR_IN_PROGRESS);
			CHECK_U64(words[COUNT + i], i % 16 == 5 ? 0 : words[i]);
			doca_task_free(tasks[i]);
		}
	}
	CHECK_OK(doca_event_channel_destroy(channel));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_mmap_destroy(map));
	free(words);
}

/* An engine and a channel per thread; NULL means the thread's own. */
static void *one_thread(void *memory)
{
	uint8_t *own = (uint8_t *)memory;
	struct doca_event_channel *channel;
	struct doca_pe *pe;
	int i;

	MUST(doca_pe_create(&pe));
	MUST(doca_rdma_create_event_channel(&channel));
	MUST(doca_pe_connect_event_channel(pe, channel));
	for (i = 0; i < 500; i++) {
		memset(own, i + 1, 512);
		CHECK_OK(write_once(pe, own, 512, (uintptr_t)own + 2048));
		CHECK_BYTES(own + 2048, own, 512);
	}
	CHECK_OK(doca_event_channel_destroy(channel));
	CHECK_OK(doca_pe_destroy(pe));
	return NULL;
}

static void threads(void)
{
	uint8_t *memory = (uint8_t *)calloc(4, 4096);
	struct doca_mmap *map;
	pthread_t thread[4];
	int i;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_enable_thread_safety(map));
	MUST(doca_mmap_set_memrange(map, memory, 4 * 4096));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	MUST(doca_mmap_start(map));
	for (i = 0; i < 4; i++)
		MUST_BE(pthread_create(&thread[i], NULL, one_thread, memory + 4096 * i) == 0);
	for (i = 0; i < 4; i++)
		MUST_BE(pthread_join(thread[i], NULL) == 0);
	CHECK_OK(doca_mmap_destroy(map));
	free(memory);
}

/* The program's own context, connected to a peer: the write goes to what the peer has exported. */
static void to_a_peer(void)
{
	static struct side peer;
	struct doca_rdma_connection *ours, *theirs;
	const void *blob, *peers_blob;
	struct doca_event_channel *channel, *second;
	struct doca_mmap *map, *remote;
	struct doca_rdma *rdma;
	struct doca_task *task;
	struct doca_dev *dev;
	struct doca_pe *pe;
	size_t len, peers_len;
	uint8_t *memory = (uint8_t *)malloc(4096);

	memset(memory, 0x77, 4096);
	side_prepare(&peer, NULL, NULL, 8192, 4);
	side_start(&peer);
	dev = side_open_dev(NULL);
	map = map_over(memory, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_pe_create(&pe));
	MUST(doca_rdma_create(dev, &rdma));
	CHECK_STATUS(doca_rdma_create_event_channel(rdma, NULL), BAD);
	CHECK_STATUS(doca_rdma_create_event_channel(pe, &channel), BAD);
	MUST(doca_rdma_create_event_channel(rdma, &channel));
	CHECK_STATUS(doca_rdma_create_event_channel(rdma, &second), DOCA_ERROR_ALREADY_EXIST);
	MUST(doca_pe_connect_event_channel(pe, channel));
	MUST(doca_ctx_start(doca_rdma_as_ctx(rdma)));
	CHECK_STATUS(doca_rdma_task_write(rdma, memory, 8, peer.mem, &task), DOCA_ERROR_NOT_CONNECTED);
	MUST(doca_rdma_export(rdma, &blob, &len, &ours));
	MUST(doca_rdma_export(peer.rdma, &peers_blob, &peers_len, &theirs));
	MUST(doca_rdma_connect(rdma, peers_blob, peers_len, ours));
	MUST(doca_rdma_connect(peer.rdma, blob, len, theirs));

	/* Not imported yet: nobody permits it. By its context and by its channel. */
	MUST(doca_rdma_task_write(rdma, memory, 8, peer.mem, &task));
	CHECK_U64(drain(pe), 1);
	CHECK_STATUS(doca_task_get_status(task), DOCA_ERROR_NOT_PERMITTED);
	doca_task_free(task);
	MUST(doca_mmap_export_rdma(peer.map, peer.dev, &blob, &len));
	MUST(doca_mmap_create_from_export(NULL, blob, len, dev, &remote));
	MUST(doca_rdma_task_write(rdma, memory, 4096, peer.mem + 4096, &task));
	CHECK_U64(drain(pe), 1);
	CHECK_OK(doca_task_get_status(task));
	CHECK_BYTES(peer.mem + 4096, memory, 4096);
	doca_task_free(task);
	memory[0] = 1;
	MUST(doca_rdma_task_write(channel, memory, 1, peer.mem, &task));
	CHECK_U64(drain(pe), 1);
	CHECK_OK(doca_task_get_status(task));
	CHECK_U64(peer.mem[0], 1);
	doca_task_free(task);

	CHECK_OK(doca_mmap_destroy(remote));
	CHECK_OK(doca_event_channel_destroy(channel));
	CHECK_STATUS2(doca_ctx_stop(doca_rdma_as_ctx(rdma)), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	for (;;) {
		enum doca_ctx_states state;

		MUST(doca_ctx_get_state(doca_rdma_as_ctx(rdma), &state));
		if (state == DOCA_CTX_STATE_IDLE)
			break;
		(void)doca_pe_progress(pe);
	}
	CHECK_OK(doca_rdma_destroy(rdma));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_mmap_destroy(map));
	side_teardown(&peer, 1);
	CHECK_OK(doca_dev_close(dev));
	free(memory);
}

int main(void)
{
	where_to();
	many();
	threads();
	to_a_peer();
	return check_result();
}
