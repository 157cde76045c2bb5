/*
 * The same conversation by sleeping: both processes wait with poll() on the progress engine's descriptor,
 * for connecting, for messages, for the end. A lost wake-up would leave them asleep for ever.
 *
 * clauses: comch Roles and topology (notifications); core-exec 7
 * covers: @
 */
#define _GNU_SOURCE
#include <poll.h>

#include "x_comch.h"

#define ROUNDS 500

static unsigned sleeps;

#define SLEEP_UNTIL(pe, condition) \
	do { \
		while (!(condition)) \
			sleep_once(pe); \
	} while (0)

static void sleep_once(struct doca_pe *pe)
{
	struct pollfd waiting = {.events = POLLIN};

	if (comch_progress(pe) != 0)
		return;
	MUST(doca_pe_get_notification_handle(pe, &waiting.fd));
	CHECK_OK(doca_pe_request_notification(pe));
	MUST_BE(poll(&waiting, 1, -1) == 1);
	CHECK_OK(doca_pe_clear_notification(pe, 0));
	sleeps++;
}

static void echo(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	CHECK_OK(comch_try_send(end, peer, bytes, len));
}

static void serve(int line)
{
	struct comch_end end = {.on_message = echo};
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	comch_make_server(&end, pe, "asleep", 32);
	comch_run(&end);
	two_tell(line, 'l');
	SLEEP_UNTIL(pe, end.connects == 1);
	SLEEP_UNTIL(pe, end.disconnects == 1);
	CHECK_U64(end.messages, ROUNDS);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

int main(void)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;
	uint32_t i;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		serve(line);
		exit(check_result());
	}
	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, "asleep", 8);
	two_sleep_ms(50); /* the server is asleep by now */
	MUST_BE(doca_ctx_start(end.ctx) == DOCA_ERROR_IN_PROGRESS);
	SLEEP_UNTIL(pe, comch_state(&end) != DOCA_CTX_STATE_STARTING);
	MUST_BE(comch_state(&end) == DOCA_CTX_STATE_RUNNING);
	MUST(doca_comch_client_get_connection(end.client, &end.peer));
	for (i = 0; i < ROUNDS; i++) {
		CHECK_OK(comch_try_send(&end, end.peer, &i, sizeof(i)));
		SLEEP_UNTIL(pe, end.messages == i + 1 && end.sent == i + 1);
		CHECK_BYTES(end.last, &i, sizeof(i));
		if (i % 100 == 0)
			two_sleep_ms(20);
	}
	CHECK(sleeps > 0);
	CHECK_STATUS(doca_ctx_stop(end.ctx), DOCA_ERROR_IN_PROGRESS);
	SLEEP_UNTIL(pe, comch_state(&end) == DOCA_CTX_STATE_IDLE);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	two_reap(pid);
	close(line);
	return check_result();
}
