/*
 * Children first: a connection with producers or consumers is not dropped by its server (IN_USE), its server
 * and client do not become idle under them; a child can be neither made without a connection nor destroyed
 * before it is idle; when the connection drops, the children end by themselves. Receives that are too small.
 *
 * clauses: comch Producer and consumer contexts (children first, connection drops), doca_comch_server_disconnect
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch_path.h"

static struct comch_end server, client;
static struct path_memory host, card;
static struct doca_pe *pe;

static void too_small(struct path_end *producer, struct path_end *consumer)
{
	unsigned good = consumer->good, bad = consumer->bad, lost = producer->bad, sent = producer->good;

	memset(card.bytes, 0x22, 100);
	(void)path_post(consumer, path_empty(&card, 0, 50));
	path_send(producer, path_full(&host, 0, 51), NULL, 0, client.consumer);
	COMCH_UNTIL(pe, producer->good + producer->bad == sent + lost + 1 &&
				consumer->good + consumer->bad == good + bad + 1);
	CHECK_U64(producer->bad, lost + 1);
	CHECK_U64(consumer->bad, bad + 1);
	CHECK_U64(card.bytes[50], 0x22);
	/* Both go on. */
	CHECK_U64(path_state(producer), DOCA_CTX_STATE_RUNNING);
	CHECK_U64(path_state(consumer), DOCA_CTX_STATE_RUNNING);
	(void)path_post(consumer, path_empty(&card, 0, 51));
	path_send(producer, path_full(&host, 0, 51), NULL, 0, client.consumer);
	COMCH_UNTIL(pe, producer->good == sent + 1 && consumer->good == good + 1);
}

static void make_children(struct path_end *producer, struct path_end *consumer)
{
	unsigned before = client.newborn;

	memset(producer, 0, sizeof(*producer));
	memset(consumer, 0, sizeof(*consumer));
	path_consumer(consumer, pe, server.peer, card.map, 4);
	path_producer(producer, pe, client.peer, 4);
	MUST_BE(doca_ctx_start(consumer->ctx) == DOCA_ERROR_IN_PROGRESS);
	MUST(doca_ctx_start(producer->ctx));
	COMCH_UNTIL(pe, path_state(consumer) == DOCA_CTX_STATE_RUNNING && client.newborn == before + 1);
}

int main(void)
{
	struct doca_comch_producer *orphan = NULL;
	struct doca_comch_consumer *lonely = NULL;
	struct path_end producer, consumer;
	struct doca_comch_connection *peer;
	doca_error_t status;
	uint32_t most = 0;
	int i;

	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "children", 4);
	comch_make_client(&client, pe, "children", 4);
	comch_run(&server);
	comch_run(&client);
	COMCH_UNTIL(pe, server.connects == 1);
	peer = server.peer;
	path_memory(&host, client.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	path_memory(&card, server.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	CHECK_STATUS(doca_comch_producer_create(NULL, &orphan), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_producer_create(client.peer, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_consumer_create(NULL, card.map, &lonely), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_consumer_create(peer, NULL, &lonely), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_comch_producer_cap_get_max_num_tasks(doca_dev_as_devinfo(client.dev), &most));
	CHECK(most >= 1024);
	MUST(doca_comch_consumer_cap_get_max_num_tasks(doca_dev_as_devinfo(server.dev), &most));
	CHECK(most >= 1024);
	make_children(&producer, &consumer);
	CHECK_STATUS2(doca_comch_producer_destroy(producer.producer), DOCA_ERROR_IN_USE, DOCA_ERROR_BAD_STATE);
	CHECK_STATUS2(doca_comch_consumer_destroy(consumer.consumer), DOCA_ERROR_IN_USE, DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_comch_producer_task_send_set_conf(producer.producer, path_sent_cb, path_not_sent_cb, 1),
		     DOCA_ERROR_BAD_STATE);
	too_small(&producer, &consumer);
	CHECK_STATUS(doca_comch_server_disconnect(server.server, peer), DOCA_ERROR_IN_USE);
	for (i = 0; i < 2; i++) {
		/* Refused with IN_USE, or begun and waiting for the children. */
		struct comch_end *end = i == 0 ? &client : &server;

		status = doca_ctx_stop(end->ctx);
		CHECK_STATUS2(status, DOCA_ERROR_IN_USE, DOCA_ERROR_IN_PROGRESS);
		if (status == DOCA_ERROR_IN_PROGRESS) {
			comch_idle(pe, 30);
			CHECK_U64(comch_state(end), DOCA_CTX_STATE_STOPPING);
			break;
		}
		CHECK_U64(comch_state(end), DOCA_CTX_STATE_RUNNING);
	}
	path_stop(&consumer, pe);
	path_stop(&producer, pe);
	comch_stop(&client);
	COMCH_UNTIL(pe, server.disconnects == 1 || comch_state(&server) == DOCA_CTX_STATE_IDLE);
	comch_stop(&server);
	path_forget(&host);
	path_forget(&card);
	comch_destroy(&client);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
