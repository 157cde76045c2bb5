/*
 * A peer that stands still (SIGSTOP) is no reason to stand still as well: sends stay in flight or are handed
 * over, other guests are served, the server stops and becomes idle, and the frozen one, thawed, finds the
 * messages and then the end.
 *
 * clauses: comch Server life (stop with connections), Control messages
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

static void guest(int line)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;

	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, "frozen", 4);
	MUST(doca_comch_client_set_recv_queue_size(end.client, 16));
	comch_run(&end);
	two_tell(line, 'r');
	COMCH_UNTIL(pe, comch_state(&end) == DOCA_CTX_STATE_IDLE);
	two_send(line, &end.messages, sizeof(end.messages));
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

int main(void)
{
	struct comch_end server = {0}, other = {0};
	struct doca_comch_connection *frozen;
	struct doca_pe *pe = NULL;
	unsigned heard = 0;
	int line, status, i;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		guest(line);
		exit(check_result());
	}
	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "frozen", 64);
	comch_run(&server);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, server.connects == 1 && two_ready(line));
	two_await(line, 'r');
	frozen = server.peer;
	MUST_BE(kill(pid, SIGSTOP) == 0);
	MUST_BE(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
	for (i = 0; i < 10; i++)
		comch_send(&server, frozen, "are you there", 13);
	comch_make_client(&other, pe, "frozen", 4);
	comch_run(&other);
	comch_send(&other, other.peer, "I am", 4);
	COMCH_UNTIL(pe, server.messages == 1 && other.sent == 1);
	comch_stop(&other);
	COMCH_UNTIL(pe, server.disconnects == 1);
	COMCH_UNTIL(pe, server.sent == 10); /* its queue takes 16 */
	CHECK_STATUS(doca_ctx_stop(server.ctx), DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, comch_state(&server) == DOCA_CTX_STATE_IDLE);
	MUST_BE(kill(pid, SIGCONT) == 0);
	two_recv(line, &heard, sizeof(heard));
	CHECK_U64(heard, 10);
	two_reap(pid);
	comch_destroy(&other);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
	return check_result();
}
