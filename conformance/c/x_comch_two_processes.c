/*
 * Server and client in two processes, each started with the same start-up code: a thousand messages of
 * all sizes there and back, answered from inside the receive callback; order and bytes kept.
 *
 * clauses: comch Control messages, Client life
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define ROUNDS 1000
#define LONGEST 4080

static uint32_t length_of(unsigned round)
{
	return round == 0 ? 1 : round == 1 ? LONGEST : 1 + round * 7919 % LONGEST;
}

static void echo(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	CHECK_U64(len, length_of(end->messages - 1));
	CHECK(two_is(bytes, len, end->messages - 1));
	two_fill(bytes, len, end->messages - 1 + 5000);
	comch_send(end, peer, bytes, len);
}

static void serve(int line)
{
	struct comch_end end = {.on_message = echo};
	struct doca_pe *pe = NULL;
	uint32_t size = 0;

	MUST(doca_pe_create(&pe));
	comch_make_server(&end, pe, "two", 8);
	MUST(doca_comch_cap_get_max_msg_size(doca_dev_as_devinfo(end.dev), &size));
	CHECK(size >= LONGEST);
	MUST(doca_comch_server_set_max_msg_size(end.server, LONGEST));
	comch_run(&end);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, end.disconnects == 1);
	CHECK_U64(end.messages, ROUNDS);
	CHECK_U64(end.sent, ROUNDS);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

int main(void)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;
	uint8_t bytes[LONGEST];
	unsigned round;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		serve(line);
		exit(check_result());
	}
	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, "two", 8);
	MUST(doca_comch_client_set_max_msg_size(end.client, LONGEST));
	comch_run(&end);
	for (round = 0; round < ROUNDS; round++) {
		uint32_t len = length_of(round);

		two_fill(bytes, len, round);
		comch_send(&end, end.peer, bytes, len);
		COMCH_UNTIL(pe, end.messages == round + 1);
		CHECK_U64(end.last_len, len);
		CHECK(two_is(end.last, len, round + 5000));
	}
	COMCH_UNTIL(pe, end.sent == ROUNDS);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	two_reap(pid);
	close(line);
	return check_result();
}
