/*
 * What a plan of faults makes of a connection of the channel: FAULT_EFFECT says whose second task finds the peer gone,
 * that of the consumer, of the producer, of the client or of the server. All of them end as when the peer was killed: tasks
 * come back, contexts become idle by themselves, and everything can be destroyed. Without a plan, nothing happens to
 * anything.
 *
 * clauses: none; for plans of faults
 * covers: @
 */
#define _GNU_SOURCE
#include "fault_rig.h"
#include "x_comch_path.h"

#define LEN 1000

static struct comch_end server, client;
static struct path_memory theirs, mine;
static struct path_end in, out;
static struct doca_pe *pe;

/* Client and producer are idle, and the server has no client. */
static int over(void)
{
	return path_state(&out) == DOCA_CTX_STATE_IDLE && path_state(&in) == DOCA_CTX_STATE_IDLE;
}

/* A message over the data path. */
static void piece(unsigned number)
{
	(void)path_post(&in, path_empty(&theirs, number * LEN, LEN));
	path_send(&out, path_full(&mine, 0, LEN), NULL, 0, client.consumer);
	COMCH_UNTIL(pe, (out.good + out.bad == number && in.good + in.bad >= number) || over());
}

int main(void)
{
	unsigned i;

	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "fault", 4);
	comch_run(&server);
	comch_make_client(&client, pe, "fault", 4);
	comch_run(&client);
	COMCH_UNTIL(pe, server.connects == 1);
	path_memory(&theirs, server.dev, 8 * LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	path_memory(&mine, client.dev, LEN, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	path_consumer(&in, pe, server.peer, theirs.map, 4);
	MUST_BE(doca_ctx_start(in.ctx) == DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, path_state(&in) == DOCA_CTX_STATE_RUNNING && client.newborn == 1);
	path_producer(&out, pe, client.peer, 4);
	MUST(doca_ctx_start(out.ctx));

	piece(1);
	CHECK_U64(in.good + out.good, 2);
	comch_send(&client, client.peer, "one", 3);
	comch_send(&server, server.peer, "two", 3);
	COMCH_UNTIL(pe, client.sent == 1 && server.sent == 1);
	if (is("client"))
		comch_send(&client, client.peer, "three", 5);
	else if (is("server"))
		comch_send(&server, server.peer, "three", 5);
	else
		piece(2);
	if (is("none")) {
		CHECK_U64(in.good + out.good, 4);
		path_stop(&out, pe);
		path_stop(&in, pe);
		comch_stop(&client);
	} else {
		/* Nobody stopped anything. */
		COMCH_UNTIL(pe, over() && server.disconnects == 1);
		CHECK_OK(doca_comch_producer_destroy(out.producer));
		CHECK_OK(doca_comch_consumer_destroy(in.consumer));
		COMCH_UNTIL(pe, comch_state(&client) == DOCA_CTX_STATE_IDLE);
		CHECK_U64(client.to[client.changes - 2], DOCA_CTX_STATE_STOPPING);
		/* Every task came back. */
		for (i = 0; i < 100; i++)
			comch_progress(pe);
		CHECK_U64(out.good + out.bad, is("client") || is("server") ? 1 : 2);
		CHECK_U64(in.good + in.bad, is("client") || is("server") ? 1 : 2);
	}
	comch_stop(&server);
	path_forget(&theirs);
	path_forget(&mine);
	comch_destroy(&client);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
