/*
 * The server's process is killed: the client leaves RUNNING by itself through STOPPING to IDLE, sends that
 * were under way end in the error callback, every one exactly once; the name is free at once for the next
 * server, and the same client object connects again.
 *
 * clauses: comch Client life (server dies), Control messages
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define ROUNDS 6
#define TASKS 100

static void serve(int line)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;

	two_await(line, 'g');
	MUST(doca_pe_create(&pe));
	comch_make_server(&end, pe, "kill server", 8);
	MUST(doca_comch_server_set_recv_queue_size(end.server, 8));
	comch_run(&end);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, end.connects == 1 && two_ready(line)); /* the client runs */
	two_tell(line, 'c');
	pause();
}

int main(void)
{
	struct comch_end client = {0};
	struct doca_pe *pe = NULL;
	uint8_t bytes[4000] = {0};
	int lines[ROUNDS], round;
	pid_t pids[ROUNDS];
	unsigned i;

	for (round = 0; round < ROUNDS; round++) {
		pids[round] = two_fork(&lines[round]);
		if (pids[round] == 0)
			serve(lines[round]);
	}
	MUST(doca_pe_create(&pe));
	comch_make_client(&client, pe, "kill server", TASKS);
	for (round = 0; round < ROUNDS; round++) {
		size_t inflight = 1;

		two_tell(lines[round], 'g');
		two_await(lines[round], 'l');
		client.sent = client.failed = 0;
		client.changes = 0;
		comch_run(&client);
		two_tell(lines[round], 'r');
		two_await(lines[round], 'c');
		for (i = 0; i < TASKS; i++)
			CHECK_OK(comch_try_send(&client, client.peer, bytes, sizeof(bytes)));
		two_kill(pids[round]);
		COMCH_UNTIL(pe, comch_state(&client) == DOCA_CTX_STATE_IDLE);
		CHECK_U64(client.changes, 4);
		CHECK_U64(client.to[2], DOCA_CTX_STATE_STOPPING);
		CHECK_U64(client.to[3], DOCA_CTX_STATE_IDLE);
		CHECK_U64(client.sent + client.failed, TASKS);
		CHECK(client.failed > 0);
		CHECK_OK(doca_ctx_get_num_inflight_tasks(client.ctx, &inflight));
		CHECK_U64(inflight, 0);
		CHECK_STATUS(comch_try_send(&client, client.peer, bytes, 1), DOCA_ERROR_BAD_STATE);
		close(lines[round]);
	}
	comch_destroy(&client);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
