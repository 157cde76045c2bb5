/*
 * One server, sixteen client processes at the same time, each with its own conversation; what belongs to a
 * connection travels in its user data; messages are never mixed up; every leave is told once.
 *
 * clauses: comch Roles and topology (one server, many connections), Connection
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define CLIENTS 16
#define ROUNDS 100

struct visit {
	unsigned count;
	unsigned who;
};

static struct visit visits[CLIENTS];
static unsigned visitors;

static void came(struct comch_end *end, struct doca_comch_connection *peer)
{
	union doca_data user = {0};

	(void)end;
	MUST_BE(visitors < CLIENTS);
	user.ptr = &visits[visitors++];
	MUST(doca_comch_connection_set_user_data(peer, user));
}

static void heard(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	struct visit *visit = doca_comch_connection_get_user_data(peer).ptr;
	uint32_t word[2];

	CHECK_U64(len, sizeof(word));
	memcpy(word, bytes, sizeof(word));
	if (visit->count == 0)
		visit->who = word[0];
	CHECK_U64(word[0], visit->who);
	CHECK_U64(word[1], visit->count);
	visit->count++;
	word[1] = ~word[1];
	comch_send(end, peer, word, sizeof(word));
}

static void left(struct comch_end *end, struct doca_comch_connection *peer)
{
	struct visit *visit = doca_comch_connection_get_user_data(peer).ptr;

	(void)end;
	CHECK_U64(visit->count, ROUNDS);
	visit->count = 0;
}

static void guest(int line, uint32_t who)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;
	uint32_t word[2], i;

	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, "many", 4);
	comch_run(&end);
	two_tell(line, 'c');
	two_await(line, 'a'); /* all are there */
	for (i = 0; i < ROUNDS; i++) {
		word[0] = who;
		word[1] = i;
		comch_send(&end, end.peer, word, sizeof(word));
		COMCH_UNTIL(pe, end.messages == i + 1);
		memcpy(word, end.last, sizeof(word));
		CHECK_U64(word[0], who);
		CHECK_U64(word[1], ~i);
	}
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

int main(void)
{
	struct comch_end server = {.on_connect = came, .on_message = heard, .on_disconnect = left};
	struct doca_pe *pe = NULL;
	pid_t pids[CLIENTS];
	int lines[CLIENTS];
	uint32_t i, most = 0;

	for (i = 0; i < CLIENTS; i++) {
		pids[i] = two_fork(&lines[i]);
		if (pids[i] == 0) {
			guest(lines[i], i * 1000 + 17);
			exit(check_result());
		}
	}
	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "many", 32);
	MUST(doca_comch_cap_get_max_clients(doca_dev_as_devinfo(server.dev), &most));
	MUST_BE(most >= CLIENTS);
	comch_run(&server);
	for (i = 0; i < CLIENTS; i++)
		two_tell(lines[i], 'l');
	COMCH_UNTIL(pe, server.connects == CLIENTS);
	for (i = 0; i < CLIENTS; i++) {
		while (!two_ready(lines[i]))
			comch_progress(pe);
		two_await(lines[i], 'c');
	}
	CHECK_U64(server.messages, 0);
	for (i = 0; i < CLIENTS; i++)
		two_tell(lines[i], 'a');
	COMCH_UNTIL(pe, server.disconnects == CLIENTS);
	CHECK_U64(server.messages, CLIENTS * ROUNDS);
	CHECK_U64(server.failed, 0);
	comch_stop(&server);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	for (i = 0; i < CLIENTS; i++) {
		two_reap(pids[i]);
		close(lines[i]);
	}
	return check_result();
}
