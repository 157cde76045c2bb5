/*
 * Programs that end without taking anything down: exit in the middle of a conversation, with a producer, a
 * consumer and sends in flight. The other side is told as if it had been a proper leave; what was handed
 * over before still arrives.
 *
 * clauses: comch Server life (client leaves, dies), Control messages
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch_path.h"

#define ROUNDS 5

static void sloppy(int line, unsigned words)
{
	struct path_end consumer = {0}, producer = {0};
	struct comch_end end = {0};
	struct path_memory memory;
	struct doca_pe *pe = NULL;
	unsigned i;

	two_await(line, 'g');
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, "sloppy", 32);
	comch_run(&end);
	path_memory(&memory, end.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	path_consumer(&consumer, pe, end.peer, memory.map, 4);
	MUST_BE(doca_ctx_start(consumer.ctx) == DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, path_state(&consumer) == DOCA_CTX_STATE_RUNNING);
	(void)path_post(&consumer, path_empty(&memory, 0, 100));
	path_producer(&producer, pe, end.peer, 2);
	MUST(doca_ctx_start(producer.ctx));
	for (i = 0; i < words; i++)
		comch_send(&end, end.peer, &i, sizeof(i));
	COMCH_UNTIL(pe, end.sent == words);
	_exit(3);
}

int main(void)
{
	struct comch_end server = {0};
	struct doca_pe *pe = NULL;
	int lines[ROUNDS], round, status;
	pid_t pids[ROUNDS];

	for (round = 0; round < ROUNDS; round++) {
		pids[round] = two_fork(&lines[round]);
		if (pids[round] == 0)
			sloppy(lines[round], 10);
	}
	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "sloppy", 8);
	comch_run(&server);
	for (round = 0; round < ROUNDS; round++) {
		two_tell(lines[round], 'g');
		COMCH_UNTIL(pe, server.connects == (unsigned)round + 1);
		COMCH_UNTIL(pe, server.disconnects == (unsigned)round + 1);
		MUST_BE(waitpid(pids[round], &status, 0) == pids[round]);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
		/* Sent, that is handed over: it was there before the end. */
		CHECK_U64(server.messages, 10 * ((unsigned)round + 1));
		CHECK_U64(server.newborn, (unsigned)round + 1);
		CHECK_U64(server.expired, (unsigned)round + 1);
		close(lines[round]);
	}
	comch_stop(&server);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
