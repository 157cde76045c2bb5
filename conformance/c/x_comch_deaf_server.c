/*
 * Servers that never look: one that makes no progress, one that is frozen, one that is killed while the
 * client waits. The clients give up by themselves, STARTING to IDLE, and the server that wakes up late is
 * not left with a guest.
 *
 * clauses: comch Client life (timeout)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

static void server(int line, const char *name, int looks_later)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	comch_make_server(&end, pe, name, 1);
	comch_run(&end);
	two_tell(line, 'l');
	if (!looks_later)
		for (;;)
			pause();
	two_await(line, 'w');
	comch_idle(pe, 50);
	COMCH_UNTIL(pe, end.connects == end.disconnects);
	/* And a guest that comes now is welcome. */
	two_tell(line, 'o');
	COMCH_UNTIL(pe, end.messages == 1 && end.connects == end.disconnects);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

int main(void)
{
	static const char *const names[3] = {"no progress", "standstill", "dies"};
	struct comch_end clients[3];
	struct doca_pe *pe = NULL;
	int lines[3], i, status;
	pid_t pids[3];

	for (i = 0; i < 3; i++) {
		pids[i] = two_fork(&lines[i]);
		if (pids[i] == 0) {
			server(lines[i], names[i], i == 0);
			exit(check_result());
		}
	}
	memset(clients, 0, sizeof(clients));
	MUST(doca_pe_create(&pe));
	for (i = 0; i < 3; i++) {
		two_await(lines[i], 'l');
		comch_make_client(&clients[i], pe, names[i], 1);
	}
	MUST_BE(kill(pids[1], SIGSTOP) == 0);
	MUST_BE(waitpid(pids[1], &status, WUNTRACED) == pids[1]);
	for (i = 0; i < 3; i++)
		MUST_BE(doca_ctx_start(clients[i].ctx) == DOCA_ERROR_IN_PROGRESS);
	comch_idle(pe, 100);
	two_kill(pids[2]);
	for (i = 2; i >= 0; i--) {
		COMCH_UNTIL(pe, comch_state(&clients[i]) != DOCA_CTX_STATE_STARTING);
		/* A library that answers for its blocked program is as good; a frozen one cannot. */
		if (i == 0 && comch_state(&clients[i]) == DOCA_CTX_STATE_RUNNING) {
			comch_stop(&clients[i]);
			continue;
		}
		CHECK_U64(comch_state(&clients[i]), DOCA_CTX_STATE_IDLE);
		CHECK_U64(clients[i].changes, 2);
	}
	two_tell(lines[0], 'w');
	two_await(lines[0], 'o');
	comch_run(&clients[0]);
	comch_send(&clients[0], clients[0].peer, "good morning", 12);
	comch_stop(&clients[0]);
	two_reap(pids[0]);
	two_kill(pids[1]);
	for (i = 0; i < 3; i++) {
		comch_destroy(&clients[i]);
		close(lines[i]);
	}
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
