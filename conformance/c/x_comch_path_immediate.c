/*
 * Immediate data: alone and together with bytes, in one completion; its length limits; the caller's bytes
 * may change right after submit; who sent it is told by the producer's id. One process, both directions.
 *
 * clauses: comch Producer, Consumer (immediate data), Sending on the data path
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch_path.h"

static struct comch_end server, client;
static struct path_memory host, card;
static struct doca_pe *pe;

static void one_way(struct comch_end *from, struct path_memory *from_memory, struct comch_end *to,
		    struct path_memory *to_memory)
{
	struct path_end producer = {0}, second = {0}, consumer = {0};
	struct doca_comch_producer_task_send *task = NULL;
	uint32_t ids[2] = {0}, limit = 0;
	unsigned before = from->newborn;
	uint8_t imm[33];

	MUST(doca_comch_consumer_cap_get_max_imm_data_len(doca_dev_as_devinfo(to->dev), &limit));
	MUST_BE(limit >= 32 && limit <= 64);
	path_consumer(&consumer, pe, to->peer, to_memory->map, 8);
	CHECK_STATUS(doca_comch_consumer_set_imm_data_len(consumer.consumer, limit + 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_comch_consumer_set_imm_data_len(consumer.consumer, 32));
	CHECK_OK(doca_comch_consumer_get_imm_data_len(consumer.consumer, &limit));
	CHECK_U64(limit, 32);
	MUST_BE(doca_ctx_start(consumer.ctx) == DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, path_state(&consumer) == DOCA_CTX_STATE_RUNNING && from->newborn == before + 1);
	CHECK_STATUS(doca_comch_consumer_set_imm_data_len(consumer.consumer, 8), DOCA_ERROR_BAD_STATE);
	path_producer(&producer, pe, from->peer, 8);
	path_producer(&second, pe, from->peer, 8);
	MUST(doca_ctx_start(producer.ctx));
	MUST(doca_ctx_start(second.ctx));
	CHECK_OK(doca_comch_producer_get_id(producer.producer, &ids[0]));
	CHECK_OK(doca_comch_producer_get_id(second.producer, &ids[1]));
	CHECK(ids[0] != ids[1]);
	/* Alone. */
	(void)path_post(&consumer, path_empty(to_memory, 0, 100));
	two_fill(imm, sizeof(imm), 1);
	path_send(&producer, NULL, imm, 32, from->consumer);
	memset(imm, 0, sizeof(imm));
	COMCH_UNTIL(pe, consumer.good == 1 && producer.good == 1);
	CHECK_U64(consumer.imm_len, 32);
	CHECK(two_is(consumer.imm, 32, 1));
	CHECK_U64(consumer.data_len, 0);
	CHECK_U64(consumer.producer_id, ids[0]);
	/* With bytes, from the other producer. */
	(void)path_post(&consumer, path_empty(to_memory, 200, 100));
	two_fill(from_memory->bytes, 77, 2);
	path_send(&second, path_full(from_memory, 0, 77), "seven", 5, from->consumer);
	COMCH_UNTIL(pe, consumer.good == 2 && second.good == 1);
	CHECK_U64(consumer.imm_len, 5);
	CHECK_BYTES(consumer.imm, "seven", 5);
	CHECK_U64(consumer.data_len, 77);
	CHECK(two_is(to_memory->bytes + 200, 77, 2));
	CHECK_U64(consumer.producer_id, ids[1]);
	/* Bytes alone: no immediate data is left over. */
	(void)path_post(&consumer, path_empty(to_memory, 400, 77));
	path_send(&producer, path_full(from_memory, 0, 77), NULL, 0, from->consumer);
	COMCH_UNTIL(pe, consumer.good == 3 && producer.good == 2);
	CHECK_U64(consumer.imm_len, 0);
	CHECK_U64(consumer.data_len, 77);
	/* Too long. */
	CHECK_STATUS(doca_comch_producer_task_send_alloc_init(producer.producer, NULL, imm, 1000, from->consumer, &task),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_producer_task_send_alloc_init(NULL, NULL, imm, 4, from->consumer, &task),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_producer_task_send_alloc_init(producer.producer, NULL, imm, 4, from->consumer, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	/* A consumer nobody has: refused by submit. */
	{
		doca_error_t status = path_try_send(&producer, NULL, "x", 1, from->consumer + 1000);

		CHECK_STATUS2(status, DOCA_ERROR_NOT_FOUND, DOCA_ERROR_INVALID_VALUE);
	}
	/* Fields, replaced before submit. */
	MUST(doca_comch_producer_task_send_alloc_init(producer.producer, NULL, imm, 4, 3, &task));
	CHECK_U64(doca_comch_producer_task_send_get_consumer_id(task), 3);
	doca_comch_producer_task_send_set_consumer_id(task, from->consumer);
	CHECK_U64(doca_comch_producer_task_send_get_consumer_id(task), from->consumer);
	CHECK_PTR(doca_comch_producer_task_send_get_imm_data(task), imm);
	CHECK_U64(doca_comch_producer_task_send_get_imm_data_len(task), 4);
	doca_comch_producer_task_send_set_imm_data(task, imm + 1, 3);
	CHECK_U64(doca_comch_producer_task_send_get_imm_data_len(task), 3);
	two_fill(imm, sizeof(imm), 5);
	(void)path_post(&consumer, path_empty(to_memory, 600, 10));
	MUST(doca_task_submit(doca_comch_producer_task_send_as_task(task)));
	COMCH_UNTIL(pe, consumer.good == 4 && producer.good == 3);
	CHECK_U64(consumer.imm_len, 3);
	CHECK_BYTES(consumer.imm, imm + 1, 3);
	before = from->expired;
	path_stop(&consumer, pe);
	COMCH_UNTIL(pe, from->expired == before + 1);
	path_stop(&producer, pe);
	path_stop(&second, pe);
}

int main(void)
{
	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "immediate", 4);
	comch_make_client(&client, pe, "immediate", 4);
	comch_run(&server);
	comch_run(&client);
	COMCH_UNTIL(pe, server.connects == 1);
	path_memory(&host, client.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	path_memory(&card, server.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	one_way(&client, &host, &server, &card);
	one_way(&server, &card, &client, &host);
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
