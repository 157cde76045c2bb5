/*
 * Data paths that are built where programs build them: the server's consumer in its connect callback, the
 * client's producer in the callback that tells of it, the sends in that of the producer's state; two
 * producers into one consumer; receives matched in posting order; the consumer destroyed in its own IDLE
 * callback.
 *
 * clauses: comch Producer and consumer contexts, Sending on the data path; core-exec 2
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch_path.h"

#define EACH 50

static struct comch_end server, client;
static struct path_memory host, card;
static struct path_end consumer, producers[2];
static struct doca_pe *pe;
static unsigned next[2]; /* by producer, as received */
static uint32_t ids[2];
static int consumer_gone;

static void destroy_when_idle(struct path_end *end, enum doca_ctx_states now)
{
	int i;

	if (now == DOCA_CTX_STATE_RUNNING)
		for (i = 0; i < 2 * EACH; i++)
			(void)path_post(end, path_empty(&card, (size_t)i * 16, 16));
	if (now == DOCA_CTX_STATE_IDLE) {
		CHECK_OK(doca_comch_consumer_destroy(end->consumer));
		consumer_gone = 1;
	}
}

static void received(struct path_end *end, struct doca_task *task)
{
	uint32_t words[2];
	unsigned who;

	(void)task;
	/* In posting order: the n-th completion is the n-th buffer. */
	CHECK_PTR(end->data, card.bytes + (end->good - 1) * 16);
	CHECK_U64(end->data_len, sizeof(words));
	memcpy(words, end->data, sizeof(words));
	who = words[0];
	MUST_BE(who < 2);
	CHECK_U64(end->producer_id, ids[who]);
	CHECK_U64(words[1], next[who]);
	next[who]++;
}

static void guest(struct comch_end *end, struct doca_comch_connection *peer)
{
	(void)end;
	consumer.on_state = destroy_when_idle;
	consumer.on_done = received;
	path_consumer(&consumer, pe, peer, card.map, 2 * EACH);
	CHECK_STATUS(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
}

static void send_all(struct path_end *end, enum doca_ctx_states now)
{
	uint32_t who = end == &producers[1], i;

	if (now != DOCA_CTX_STATE_RUNNING)
		return;
	MUST(doca_comch_producer_get_id(end->producer, &ids[who]));
	for (i = 0; i < EACH; i++) {
		size_t at = (who * EACH + i) * 8;
		uint32_t words[2] = {who, i};

		memcpy(host.bytes + at, words, sizeof(words));
		CHECK_OK(path_try_send(end, path_full(&host, at, 8), NULL, 0, client.consumer));
	}
}

int main(void)
{
	int i;

	MUST(doca_pe_create(&pe));
	server.on_connect = guest;
	comch_make_server(&server, pe, "callbacks", 4);
	comch_make_client(&client, pe, "callbacks", 4);
	path_memory(&host, client.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	path_memory(&card, server.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	comch_run(&server);
	comch_run(&client);
	/* The receives were posted in the callback that said RUNNING, before anybody knew of it. */
	COMCH_UNTIL(pe, client.newborn == 1 && path_state(&consumer) == DOCA_CTX_STATE_RUNNING);
	for (i = 0; i < 2; i++) {
		producers[i].on_state = send_all;
		path_producer(&producers[i], pe, client.peer, EACH);
		CHECK_OK(doca_ctx_start(producers[i].ctx));
	}
	COMCH_UNTIL(pe, consumer.good == 2 * EACH && producers[0].good == EACH && producers[1].good == EACH);
	CHECK_U64(next[0], EACH);
	CHECK_U64(next[1], EACH);
	/* None is left. */
	CHECK_STATUS(path_try_send(&producers[0], NULL, "x", 1, client.consumer), DOCA_ERROR_AGAIN);
	CHECK_STATUS2(doca_ctx_stop(consumer.ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, consumer_gone && client.expired == 1);
	producers[0].on_state = producers[1].on_state = NULL;
	path_stop(&producers[0], pe);
	path_stop(&producers[1], pe);
	comch_stop(&client);
	COMCH_UNTIL(pe, server.disconnects == 1);
	comch_stop(&server);
	path_forget(&host);
	path_forget(&card);
	comch_destroy(&client);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
