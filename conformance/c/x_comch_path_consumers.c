/*
 * Consumer events: new with the consumer's id, expired with the same id, for consumers with and without
 * receives posted; ids are neither 0 nor 0xffff and not the same at the same time; sends to an expired
 * consumer are refused; a killed process's consumers expire before its disconnect.
 *
 * clauses: comch Producer and consumer contexts, Event order
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch_path.h"

#define CONSUMERS 6

static struct comch_end server;
static unsigned expired_at_disconnect;

static void gone(struct comch_end *end, struct doca_comch_connection *peer)
{
	(void)peer;
	expired_at_disconnect = end->expired;
}

static void host(int line, const char *name)
{
	struct path_end consumers[CONSUMERS] = {0};
	struct comch_end control = {0};
	struct path_memory memory;
	struct doca_pe *pe = NULL;
	uint32_t ids[CONSUMERS];
	unsigned i, k;

	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&control, pe, name, 4);
	comch_run(&control);
	path_memory(&memory, control.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (i = 0; i < CONSUMERS; i++) {
		path_consumer(&consumers[i], pe, control.peer, memory.map, 4);
		MUST_BE(doca_ctx_start(consumers[i].ctx) == DOCA_ERROR_IN_PROGRESS);
		COMCH_UNTIL(pe, path_state(&consumers[i]) == DOCA_CTX_STATE_RUNNING);
		CHECK_OK(doca_comch_consumer_get_id(consumers[i].consumer, &ids[i]));
		CHECK(ids[i] != 0 && ids[i] != 0xffff);
		for (k = 0; k < i; k++)
			CHECK(ids[k] != ids[i]);
		for (k = 0; k < i % 3; k++) /* none, one or two receives */
			(void)path_post(&consumers[i], path_empty(&memory, i * 100 + k * 50, 50));
		two_send(line, &ids[i], sizeof(ids[i]));
	}
	while (!two_ready(line))
		comch_progress(pe);
	two_await(line, 's');
	for (i = 0; i < CONSUMERS; i++) {
		path_stop(&consumers[i], NULL);
		CHECK_U64(consumers[i].bad, i % 3);
		CHECK_U64(consumers[i].good, 0);
	}
	two_tell(line, 'd');
	while (!two_ready(line))
		comch_progress(pe);
	two_await(line, 'e');
	comch_stop(&control);
	path_forget(&memory);
	comch_destroy(&control);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

static void expect_births(struct doca_pe *pe, int line, uint32_t *ids)
{
	unsigned i, before = server.connects == 1 ? 0 : CONSUMERS;

	for (i = 0; i < CONSUMERS; i++) {
		COMCH_UNTIL(pe, server.newborn > before + i);
		while (!two_ready(line))
			comch_progress(pe);
		two_recv(line, &ids[i], sizeof(ids[i]));
		CHECK_U64(server.born[before + i], ids[i]);
	}
}

int main(void)
{
	struct path_end producer = {0};
	struct doca_pe *pe = NULL;
	uint32_t ids[CONSUMERS];
	int lines[2], i;
	pid_t pids[2];

	for (i = 0; i < 2; i++) {
		pids[i] = two_fork(&lines[i]);
		if (pids[i] == 0) {
			host(lines[i], "consumers");
			exit(check_result());
		}
	}
	MUST(doca_pe_create(&pe));
	server.on_disconnect = gone;
	comch_make_server(&server, pe, "consumers", 4);
	comch_run(&server);
	/* One that goes by the rules. */
	two_tell(lines[0], 'l');
	COMCH_UNTIL(pe, server.connects == 1);
	expect_births(pe, lines[0], ids);
	path_producer(&producer, pe, server.peer, 4);
	MUST(doca_ctx_start(producer.ctx));
	CHECK_STATUS(path_try_send(&producer, NULL, "x", 1, ids[0]), DOCA_ERROR_AGAIN);
	two_tell(lines[0], 's');
	COMCH_UNTIL(pe, server.expired == CONSUMERS);
	for (i = 0; i < CONSUMERS; i++)
		CHECK_U64(server.died[i], ids[i]);
	{
		doca_error_t status = path_try_send(&producer, NULL, "x", 1, ids[1]);

		CHECK_STATUS2(status, DOCA_ERROR_NOT_FOUND, DOCA_ERROR_INVALID_VALUE);
	}
	while (!two_ready(lines[0]))
		comch_progress(pe);
	two_await(lines[0], 'd');
	path_stop(&producer, NULL);
	two_tell(lines[0], 'e');
	COMCH_UNTIL(pe, server.disconnects == 1);
	two_reap(pids[0]);
	CHECK_U64(server.expired, CONSUMERS);
	/* One that is killed. */
	two_tell(lines[1], 'l');
	COMCH_UNTIL(pe, server.connects == 2);
	expect_births(pe, lines[1], ids);
	two_kill(pids[1]);
	COMCH_UNTIL(pe, server.disconnects == 2);
	CHECK_U64(expired_at_disconnect, 2 * CONSUMERS);
	CHECK_U64(server.expired, 2 * CONSUMERS);
	comch_stop(&server);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	close(lines[0]);
	close(lines[1]);
	return check_result();
}
