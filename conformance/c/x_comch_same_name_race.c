/*
 * Four processes that start a server of the same name at the same moment, twenty times: exactly one gets the
 * name; a client that was waiting finds it; the others may try again once the name is free.
 *
 * clauses: comch doca_comch_server_create (name taken)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define RACERS 4
#define ROUNDS 20

static void racer(int line)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;
	char step = 0, won;
	int round;

	MUST(doca_pe_create(&pe));
	for (round = 0; round < ROUNDS; round++) {
		memset(&end, 0, sizeof(end));
		comch_make_server(&end, pe, "race", 1);
		two_tell(line, 'r');
		two_await(line, 'g');
		won = doca_ctx_start(end.ctx) == DOCA_SUCCESS ? 'w' : 'n';
		CHECK_U64(comch_state(&end), won == 'w' ? DOCA_CTX_STATE_RUNNING : DOCA_CTX_STATE_IDLE);
		two_send(line, &won, 1);
		while (!two_ready(line))
			comch_progress(pe);
		two_recv(line, &step, 1);
		if (won == 'w') {
			COMCH_UNTIL(pe, end.disconnects == 1);
			CHECK_U64(end.connects, 1);
		}
		comch_stop(&end);
		comch_destroy(&end);
		two_tell(line, 'd');
	}
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

int main(void)
{
	struct comch_end client = {0};
	struct doca_pe *pe = NULL;
	int lines[RACERS], i, round;
	pid_t pids[RACERS];

	for (i = 0; i < RACERS; i++) {
		pids[i] = two_fork(&lines[i]);
		if (pids[i] == 0) {
			racer(lines[i]);
			exit(check_result());
		}
	}
	MUST(doca_pe_create(&pe));
	comch_make_client(&client, pe, "race", 1);
	for (round = 0; round < ROUNDS; round++) {
		unsigned winners = 0;
		char won;

		for (i = 0; i < RACERS; i++)
			two_await(lines[i], 'r');
		for (i = 0; i < RACERS; i++)
			two_tell(lines[i], 'g');
		for (i = 0; i < RACERS; i++) {
			two_recv(lines[i], &won, 1);
			winners += won == 'w';
		}
		CHECK_U64(winners, 1);
		comch_run(&client);
		comch_stop(&client);
		for (i = 0; i < RACERS; i++)
			two_tell(lines[i], 's');
		for (i = 0; i < RACERS; i++)
			two_await(lines[i], 'd');
	}
	comch_destroy(&client);
	CHECK_OK(doca_pe_destroy(pe));
	for (i = 0; i < RACERS; i++) {
		two_reap(pids[i]);
		close(lines[i]);
	}
	return check_result();
}
