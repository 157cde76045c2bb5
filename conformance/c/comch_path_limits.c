/*
 * What the data path refuses, and what fails there: receives that are too small, immediate data that is too long,
 * consumers nobody knows, memory without the right, lists of receive buffers.
 *
 * clauses: comch Producer, Consumer, Sending on the data path
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch_path.h"

static struct comch_end server, client;
static struct path_memory theirs, mine;
static struct path_end in, out;
static struct doca_pe *pe;

static void both(unsigned done)
{
	while (in.good + in.bad < done || out.good + out.bad < done)
		comch_progress(pe);
}

/* The receive is used up, both tasks fail, nothing is written; the next ones meet each other. */
static void too_small(void)
{
	unsigned before = in.bad;

	path_post(&in, path_empty(&theirs, 0, 100));
	path_post(&in, path_empty(&theirs, 200, 101));
	path_send(&out, path_full(&mine, 0, 101), NULL, 0, client.consumer);
	both(1);
	CHECK_U64(in.bad, before + 1);
	CHECK_U64(out.bad, 1);
	CHECK_U64(theirs.bytes[0], 0);
	CHECK_STATUS(in.status, out.status);
	path_send(&out, path_full(&mine, 0, 101), NULL, 0, client.consumer);
	both(2);
	CHECK_U64(in.good, 1);
	CHECK(two_is(theirs.bytes + 200, 101, 5));
}

/* More than the consumer takes: the send fails, the receive stays for the next. */
static void too_much_immediate(void)
{
	uint8_t imm[64];
	uint32_t most = 0;
	struct doca_comch_producer_task_send *task = NULL;

	two_fill(imm, sizeof(imm), 6);
	MUST(doca_comch_consumer_cap_get_max_imm_data_len(doca_dev_as_devinfo(client.dev), &most));
	MUST_BE(most >= 32 && most < sizeof(imm) + 1);
	if (most < sizeof(imm))
		CHECK_STATUS(doca_comch_producer_task_send_alloc_init(out.producer, NULL, imm, most + 1, client.consumer,
								     &task),
			     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_producer_task_send_alloc_init(out.producer, NULL, NULL, 0, client.consumer, &task),
		     DOCA_ERROR_INVALID_VALUE);
	path_post(&in, path_empty(&theirs, 400, 100));
	path_send(&out, NULL, imm, 17, client.consumer);
	while (out.bad < 2)
		comch_progress(pe);
	CHECK_U64(in.bad, 1);
	path_send(&out, path_full(&mine, 0, 50), imm, 16, client.consumer);
	while (in.good < 2 || out.good < 2)
		comch_progress(pe);
	CHECK_U64(in.imm_len, 16);
	CHECK_BYTES(in.imm, imm, 16);
	CHECK_U64(in.data_len, 50);
}

static void nobody_there(void)
{
	CHECK_STATUS2(path_try_send(&out, path_full(&mine, 0, 10), NULL, 0, client.consumer + 77), DOCA_ERROR_NOT_FOUND,
		      DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS2(path_try_send(&out, path_full(&mine, 0, 10), NULL, 0, 0xffff), DOCA_ERROR_NOT_FOUND,
		      DOCA_ERROR_INVALID_VALUE);
}

static void wrong_memory(void)
{
	struct doca_comch_consumer *consumer = NULL;
	struct doca_buf *list = path_empty(&theirs, 600, 10);
	struct path_memory local;
	unsigned before = in.bad;

	path_memory(&local, server.dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	CHECK_STATUS(doca_comch_consumer_create(server.peer, local.map, &consumer), DOCA_ERROR_NOT_PERMITTED);
	/* Not in the consumer's map; a list. */
	path_post(&in, path_empty(&local, 0, 10));
	MUST(doca_buf_chain_list(list, path_empty(&theirs, 620, 10)));
	path_post(&in, list);
	while (in.bad < before + 2)
		comch_progress(pe);
	path_forget(&local);
}

/* A list is fine as a source. */
static void gathered(void)
{
	struct doca_buf *list = path_full(&mine, 0, 7);
	unsigned before = in.good;

	MUST(doca_buf_chain_list(list, path_full(&mine, 7, 13)));
	path_post(&in, path_empty(&theirs, 800, 20));
	path_send(&out, list, NULL, 0, client.consumer);
	while (in.good == before)
		comch_progress(pe);
	CHECK(two_is(theirs.bytes + 800, 20, 5));
}

int main(void)
{
	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "limits", 4);
	comch_make_client(&client, pe, "limits", 4);
	comch_run(&server);
	comch_run(&client);
	COMCH_UNTIL(pe, server.connects == 1);
	path_memory(&theirs, server.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	path_memory(&mine, client.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	two_fill(mine.bytes, 4096, 5);
	path_consumer(&in, pe, server.peer, theirs.map, 4);
	CHECK_STATUS(doca_comch_consumer_set_imm_data_len(in.consumer, 1000), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_comch_consumer_set_imm_data_len(in.consumer, 16));
	MUST_BE(doca_ctx_start(in.ctx) == DOCA_ERROR_IN_PROGRESS);
	path_producer(&out, pe, client.peer, 4);
	MUST(doca_ctx_start(out.ctx));
	COMCH_UNTIL(pe, client.newborn == 1 && path_state(&in) == DOCA_CTX_STATE_RUNNING);
	CHECK_STATUS(doca_comch_consumer_set_imm_data_len(in.consumer, 8), DOCA_ERROR_BAD_STATE);

	too_small();
	too_much_immediate();
	nobody_there();
	wrong_memory();
	gathered();

	path_stop(&out, NULL);
	path_stop(&in, NULL);
	COMCH_UNTIL(pe, client.expired == 1);
	comch_stop(&client);
	COMCH_UNTIL(pe, server.disconnects == 1);
	comch_stop(&server);
	path_forget(&mine);
	path_forget(&theirs);
	comch_destroy(&client);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
