/*
 * A secure channel: control messages to agree, then a producer and a consumer at each end, each on an
 * engine and a thread of its own; every message is checked; the sender spins on its submit as programs
 * do, and the ends are taken down in order.
 *
 * clauses: comch Producer and consumer contexts, Sending on the data path
 * covers: @
 */
#define _GNU_SOURCE

#include <pthread.h>

#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "app_common.h"

#define MESSAGES 3000u
#define SIZE 700u
#define POSTED 64u

struct plan {
	uint32_t messages, size;
};

/* One direction at one end. */
struct path {
	struct app_line *line;
	struct doca_pe *pe;
	struct doca_mmap *map;
	struct doca_buf_inventory *inv;
	uint8_t *memory;
	uint32_t id; /* of the peer's consumer */
	uint32_t done, failed;
	volatile uint32_t state;
	volatile int ready, finish;
	uint32_t seed;
};

static void path_state(const union doca_data user, struct doca_ctx *ctx, enum doca_ctx_states prev,
		       enum doca_ctx_states next)
{
	(void)ctx, (void)prev;
	((struct path *)user.ptr)->state = (uint32_t)next;
}

static void path_make(struct path *path, size_t bytes, uint32_t access)
{
	path->memory = (uint8_t *)calloc(1, bytes);
	path->map = app_map(path->line->dev, path->memory, bytes, access);
	path->state = DOCA_CTX_STATE_IDLE;
	MUST(doca_pe_create(&path->pe));
	MUST(doca_buf_inventory_create(POSTED + 2, &path->inv));
	MUST(doca_buf_inventory_start(path->inv));
}

static void path_free(struct path *path)
{
	CHECK_OK(doca_pe_destroy(path->pe));
	CHECK_OK(doca_buf_inventory_destroy(path->inv));
	CHECK_OK(doca_mmap_destroy(path->map));
	free(path->memory);
}

static void path_stop(struct path *path, struct doca_ctx *ctx)
{
	doca_error_t result = doca_ctx_stop(ctx);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	while (path->state != DOCA_CTX_STATE_IDLE)
		if (doca_pe_progress(path->pe) == 0)
			app_nap();
}

static void send_done(struct doca_comch_producer_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	((struct path *)ctx.ptr)->done++;
	doca_task_free(doca_comch_producer_task_send_as_task(task));
}

static void send_failed(struct doca_comch_producer_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	((struct path *)ctx.ptr)->failed++;
	doca_task_free(doca_comch_producer_task_send_as_task(task));
}

static void *sender(void *arg)
{
	struct path *path = (struct path *)arg;
	struct doca_comch_producer_task_send *task;
	struct doca_comch_producer *producer;
	struct doca_buf *buf;
	union doca_data user;
	uint32_t i;

	path_make(path, SIZE, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	app_text(path->memory, SIZE, path->seed);
	MUST(doca_comch_producer_create(path->line->peer, &producer));
	MUST(doca_comch_producer_task_send_set_conf(producer, send_done, send_failed, MESSAGES));
	user.ptr = path;
	MUST(doca_ctx_set_user_data(doca_comch_producer_as_ctx(producer), user));
	MUST(doca_ctx_set_state_changed_cb(doca_comch_producer_as_ctx(producer), path_state));
	MUST(doca_pe_connect_ctx(path->pe, doca_comch_producer_as_ctx(producer)));
	MUST(doca_ctx_start(doca_comch_producer_as_ctx(producer)));
	MUST(doca_buf_inventory_buf_get_by_data(path->inv, path->map, path->memory, SIZE, &buf));
	for (i = 0; i < MESSAGES; i++) {
		uint8_t number[4] = {(uint8_t)i, (uint8_t)(i >> 8), 0, 0};
		doca_error_t result;

		MUST(doca_comch_producer_task_send_alloc_init(producer, buf, number, 4, path->id, &task));
		do {
			result = doca_task_submit(doca_comch_producer_task_send_as_task(task));
		} while (result == DOCA_ERROR_AGAIN);
		MUST(result);
	}
	while (path->done + path->failed < MESSAGES)
		if (doca_pe_progress(path->pe) == 0)
			app_nap();
	CHECK_U64(path->failed, 0);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	path_stop(path, doca_comch_producer_as_ctx(producer));
	CHECK_OK(doca_comch_producer_destroy(producer));
	path_free(path);
	return NULL;
}

static void receive_done(struct doca_comch_consumer_task_post_recv *task, union doca_data user, union doca_data ctx)
{
	struct path *path = (struct path *)ctx.ptr;
	struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(task);
	const uint8_t *number = doca_comch_consumer_task_post_recv_get_imm_data(task);
	uint8_t want[SIZE];
	void *data;

	(void)user;
	CHECK_U64(doca_comch_consumer_task_post_recv_get_imm_data_len(task), 4);
	CHECK_U64(number[0] | number[1] << 8, path->done);
	CHECK_U64(app_length(buf), SIZE);
	MUST(doca_buf_get_data(buf, &data));
	app_text(want, SIZE, path->seed);
	CHECK_BYTES(data, want, SIZE);
	memset(data, 0, SIZE);
	path->done++;
	MUST(doca_buf_reset_data_len(buf));
	MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

static void receive_failed(struct doca_comch_consumer_task_post_recv *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	((struct path *)ctx.ptr)->failed++;
	CHECK_OK(doca_buf_dec_refcount(doca_comch_consumer_task_post_recv_get_buf(task), NULL));
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void *receiver(void *arg)
{
	struct path *path = (struct path *)arg;
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_comch_consumer *consumer;
	struct doca_buf *buf;
	union doca_data user;
	uint32_t i;

	path_make(path, SIZE * POSTED, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	MUST(doca_comch_consumer_create(path->line->peer, path->map, &consumer));
	MUST(doca_comch_consumer_set_imm_data_len(consumer, 4));
	MUST(doca_comch_consumer_task_post_recv_set_conf(consumer, receive_done, receive_failed, POSTED));
	user.ptr = path;
	MUST(doca_ctx_set_user_data(doca_comch_consumer_as_ctx(consumer), user));
	MUST(doca_ctx_set_state_changed_cb(doca_comch_consumer_as_ctx(consumer), path_state));
	MUST(doca_pe_connect_ctx(path->pe, doca_comch_consumer_as_ctx(consumer)));
	CHECK_STATUS(doca_ctx_start(doca_comch_consumer_as_ctx(consumer)), DOCA_ERROR_IN_PROGRESS);
	while (path->state != DOCA_CTX_STATE_RUNNING)
		if (doca_pe_progress(path->pe) == 0)
			app_nap();
	for (i = 0; i < POSTED; i++) {
		MUST(doca_buf_inventory_buf_get_by_addr(path->inv, path->map, path->memory + i * SIZE, SIZE, &buf));
		MUST(doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &task));
		MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	}
	path->ready = 1;
	while (path->done < MESSAGES || !path->finish)
		if (doca_pe_progress(path->pe) == 0)
			app_nap();
	CHECK_U64(path->done, MESSAGES);
	/* The posted ones come back as failed. */
	path_stop(path, doca_comch_consumer_as_ctx(consumer));
	CHECK_U64(path->failed, POSTED);
	CHECK_OK(doca_comch_consumer_destroy(consumer));
	path_free(path);
	return NULL;
}

static void both_ways(struct app_line *line, uint32_t own_seed, uint32_t peer_seed)
{
	static struct path out, in;
	struct plan plan = {MESSAGES, SIZE}, theirs;
	pthread_t send_thread, receive_thread;

	out.line = in.line = line;
	out.seed = own_seed;
	in.seed = peer_seed;
	app_send(line, &plan, sizeof(plan));
	memcpy(&theirs, app_receive(line, NULL), sizeof(theirs));
	MUST_BE(theirs.messages == MESSAGES && theirs.size == SIZE);
	MUST_BE(pthread_create(&receive_thread, NULL, receiver, &in) == 0);
	while (!in.ready || line->consumer == 0)
		app_line_turn(line);
	out.id = line->consumer;
	CHECK(out.id != 0xffff);
	MUST_BE(pthread_create(&send_thread, NULL, sender, &out) == 0);
	/* The control channel lives on meanwhile. */
	while (pthread_tryjoin_np(send_thread, NULL) != 0)
		app_line_turn(line);
	app_send(line, "sent", 5);
	CHECK_TEXT((const char *)app_receive(line, NULL), "sent");
	in.finish = 1;
	while (pthread_tryjoin_np(receive_thread, NULL) != 0)
		app_line_turn(line);
	while (line->consumer != 0)
		app_line_turn(line);
	app_send(line, "bye", 4);
	CHECK_TEXT((const char *)app_receive(line, NULL), "bye");
}

static void card(void)
{
	static struct app_line line;

	app_line_serve(&line, "secure channel");
	both_ways(&line, 1, 2);
	app_line_close(&line);
}

static void host(void)
{
	static struct app_line line;

	app_line_reach(&line, "secure channel");
	both_ways(&line, 2, 1);
	app_line_close(&line);
}

int main(void)
{
	return app_two_roles(card, host);
}
