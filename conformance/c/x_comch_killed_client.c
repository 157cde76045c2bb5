/*
 * Client processes that are killed: in the middle of a conversation, just after connecting, while messages
 * for them wait. The server always gets its disconnect callback, sends that had not gone through fail, and
 * the next client finds a server in good health.
 *
 * clauses: comch Server life (process is killed), Control messages
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define ROUNDS 10

static void guest(int line, int talks)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;

	two_await(line, 'g');
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, "kill client", 8);
	MUST(doca_comch_client_set_recv_queue_size(end.client, 8));
	comch_run(&end);
	two_tell(line, 'c');
	for (;;) {
		if (!talks)
			pause();
		comch_send(&end, end.peer, "talk", 4);
		comch_progress(pe);
	}
}

int main(void)
{
	struct comch_end server = {0};
	struct doca_pe *pe = NULL;
	int lines[ROUNDS], round;
	pid_t pids[ROUNDS];
	uint8_t bytes[1000] = {0};

	for (round = 0; round < ROUNDS; round++) {
		pids[round] = two_fork(&lines[round]);
		if (pids[round] == 0)
			guest(lines[round], round % 2);
	}
	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "kill client", 64);
	MUST(doca_comch_server_set_recv_queue_size(server.server, 8));
	comch_run(&server);
	for (round = 0; round < ROUNDS; round++) {
		unsigned heard = server.messages, want;

		server.sent = server.failed = 0;
		two_tell(lines[round], 'g');
		COMCH_UNTIL(pe, server.connects == (unsigned)round + 1);
		if (round % 2 == 1)
			COMCH_UNTIL(pe, server.messages > heard + 20);
		else
			while (!two_ready(lines[round]))
				comch_progress(pe);
		/* More than its queue takes. */
		for (want = 0; want < 64; want++)
			CHECK_OK(comch_try_send(&server, server.peer, bytes, sizeof(bytes)));
		two_kill(pids[round]);
		COMCH_UNTIL(pe, server.disconnects == (unsigned)round + 1);
		COMCH_UNTIL(pe, server.sent + server.failed == want);
		if (round % 2 == 0)
			CHECK(server.failed > 0);
		if (server.failed > 0)
			CHECK_STATUS(server.status, DOCA_ERROR_CONNECTION_RESET);
		CHECK_PTR(server.peer, NULL);
		CHECK_U64(comch_state(&server), DOCA_CTX_STATE_RUNNING);
		close(lines[round]);
	}
	comch_stop(&server);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
