/*
 * Programs that look at the channel once in a long while: one progress call, then a pause, on both sides
 * in turn, for connecting, for a message there and answers back, for disconnecting, for stopping; each has
 * to be through within 30 rounds.
 *
 * clauses: comch Client life (one progress call per second)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define ROUNDS 30
#define PAUSE_MS 60

/* One call on each side per round; over when both sides have what they wait for. */
#define PHASE(line, pe, condition) \
	do { \
		int round_ = 0; \
		char mine_ = 'n', theirs_ = 'n'; \
\
		while (mine_ != 'y' || theirs_ != 'y') { \
			MUST_BE(round_++ < ROUNDS); \
			comch_progress(pe); \
			two_sleep_ms(PAUSE_MS); \
			mine_ = (condition) ? 'y' : 'n'; \
			two_send(line, &mine_, 1); \
			two_recv(line, &theirs_, 1); \
		} \
	} while (0)

static void answer(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	int i;

	(void)bytes, (void)len;
	for (i = 0; i < 4; i++)
		CHECK_OK(comch_try_send(end, peer, "answer", 6));
}

static void serve(int line)
{
	struct comch_end end = {.on_message = answer};
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	comch_make_server(&end, pe, "slow", 8);
	MUST(doca_comch_server_set_max_msg_size(end.server, 1024));
	MUST(doca_comch_server_set_recv_queue_size(end.server, 8));
	comch_run(&end);
	two_tell(line, 'l');
	two_await(line, 's');
	PHASE(line, pe, end.connects == 1);
	PHASE(line, pe, end.messages == 1 && end.sent == 4);
	PHASE(line, pe, end.disconnects == 1);
	CHECK_STATUS2(doca_ctx_stop(end.ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	PHASE(line, pe, comch_state(&end) == DOCA_CTX_STATE_IDLE);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

int main(void)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		serve(line);
		exit(check_result());
	}
	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, "slow", 8);
	MUST(doca_comch_client_set_max_msg_size(end.client, 1024));
	MUST(doca_comch_client_set_recv_queue_size(end.client, 8));
	CHECK_STATUS(doca_ctx_start(end.ctx), DOCA_ERROR_IN_PROGRESS);
	two_tell(line, 's');
	PHASE(line, pe, comch_state(&end) == DOCA_CTX_STATE_RUNNING);
	MUST(doca_comch_client_get_connection(end.client, &end.peer));
	CHECK_OK(comch_try_send(&end, end.peer, "question", 8));
	PHASE(line, pe, end.sent == 1 && end.messages == 4);
	CHECK_STATUS(doca_ctx_stop(end.ctx), DOCA_ERROR_IN_PROGRESS);
	PHASE(line, pe, comch_state(&end) == DOCA_CTX_STATE_IDLE);
	PHASE(line, pe, 1);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	two_reap(pid);
	close(line);
	return check_result();
}
