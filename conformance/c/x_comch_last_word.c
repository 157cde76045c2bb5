/*
 * The last message must arrive: a server submits it inside its receive callback and stops in the same
 * callback; another server stops in the callback of the send's completion while the client has not yet
 * looked. The send tasks end well, the clients get the message, then see the connection end.
 *
 * clauses: comch Control messages (messages submitted before stop), Server life (stop inside callbacks)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

static void answer_and_stop(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	(void)bytes, (void)len;
	comch_send(end, peer, "bye from receive", 16);
	CHECK_STATUS(doca_ctx_stop(end->ctx), DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(comch_state(end), DOCA_CTX_STATE_STOPPING);
	/* No second answer. */
	CHECK_STATUS(comch_try_send(end, peer, "late", 4), DOCA_ERROR_BAD_STATE);
}

static void only_answer(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	(void)bytes, (void)len;
	comch_send(end, peer, "bye before send's end", 21);
}

static void stop_when_sent(struct comch_end *end, struct doca_task *task)
{
	CHECK_STATUS(doca_task_get_status(task), DOCA_SUCCESS);
	CHECK_STATUS(doca_ctx_stop(end->ctx), DOCA_ERROR_IN_PROGRESS);
}

static void serve(int line, int second)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	end.on_message = second ? only_answer : answer_and_stop;
	end.on_sent = second ? stop_when_sent : NULL;
	comch_make_server(&end, pe, second ? "last2" : "last1", 4);
	comch_run(&end);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, comch_state(&end) == DOCA_CTX_STATE_IDLE && end.changes > 1);
	CHECK_U64(end.sent, 1);
	CHECK_U64(end.failed, 0);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	two_tell(line, 'd');
	close(line);
}

static void ask(const char *name, int line)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;

	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, name, 4);
	comch_run(&end);
	comch_send(&end, end.peer, "please", 6);
	COMCH_UNTIL(pe, end.sent == 1);
	/* Asleep while the server says its last word and, perhaps, goes. */
	two_sleep_ms(200);
	COMCH_UNTIL(pe, comch_state(&end) == DOCA_CTX_STATE_IDLE);
	CHECK_U64(end.messages, 1);
	CHECK(end.last_len > 3 && memcmp(end.last, "bye", 3) == 0);
	CHECK_U64(end.to[end.changes - 2], DOCA_CTX_STATE_STOPPING);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	two_await(line, 'd');
}

int main(void)
{
	int lines[2], i;
	pid_t pids[2];

	for (i = 0; i < 2; i++) {
		pids[i] = two_fork(&lines[i]);
		if (pids[i] == 0) {
			serve(lines[i], i);
			exit(check_result());
		}
	}
	ask("last1", lines[0]);
	ask("last2", lines[1]);
	for (i = 0; i < 2; i++) {
		two_reap(pids[i]);
		close(lines[i]);
	}
	return check_result();
}
