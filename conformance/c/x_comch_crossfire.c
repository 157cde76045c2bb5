/*
 * Both sides talk before they listen: each submits a thousand messages, more than any queue holds, before
 * its first call to progress; all arrive, in order, and nobody waits for the other for ever.
 *
 * clauses: comch Control messages (receiver queue full)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define COUNT 1000
#define LEN 700

static void heard(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	(void)peer;
	CHECK_U64(len, LEN);
	CHECK(two_is(bytes, len, end->messages - 1));
}

static void fire(struct comch_end *end)
{
	uint8_t bytes[LEN];
	unsigned i;

	for (i = 0; i < COUNT; i++) {
		two_fill(bytes, LEN, i);
		CHECK_OK(comch_try_send(end, end->peer, bytes, LEN));
	}
}

int main(void)
{
	struct comch_end end = {.on_message = heard};
	struct doca_pe *pe = NULL;
	int line;
	pid_t pid = two_fork(&line);

	MUST(doca_pe_create(&pe));
	if (pid == 0) {
		comch_make_server(&end, pe, "crossfire", COUNT);
		MUST(doca_comch_server_set_recv_queue_size(end.server, 8));
		comch_run(&end);
		two_tell(line, 'l');
		COMCH_UNTIL(pe, end.connects == 1 && two_ready(line));
	} else {
		two_await(line, 'l');
		comch_make_client(&end, pe, "crossfire", COUNT);
		MUST(doca_comch_client_set_recv_queue_size(end.client, 8));
		comch_run(&end);
		two_tell(line, 'r');
	}
	fire(&end);
	COMCH_UNTIL(pe, end.messages == COUNT && end.sent == COUNT);
	/* Neither leaves while the other still listens. */
	two_tell(line, 'd');
	if (pid == 0) {
		two_await(line, 'r');
		two_await(line, 'd');
		COMCH_UNTIL(pe, end.disconnects == 1);
	} else {
		while (!two_ready(line))
			comch_progress(pe);
	}
	CHECK_U64(end.messages, COUNT);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	if (pid == 0) {
		close(line);
		exit(check_result());
	}
	two_reap(pid);
	close(line);
	return check_result();
}
