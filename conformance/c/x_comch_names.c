/*
 * Names: many servers of different names on one device and representor, each with its own guest; a name
 * that is taken, in this process and in another one, and that is free again after a stop and after its
 * process was killed.
 *
 * clauses: comch Roles and topology, doca_comch_server_create (name taken)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define SERVERS 12

static struct comch_end servers[SERVERS], clients[SERVERS];

/* A second server of this name is refused by create or by start. */
static void expect_taken(struct doca_pe *pe, struct comch_end *first, const char *name)
{
	struct doca_comch_server *second = NULL;

	if (doca_comch_server_create(first->dev, first->rep, name, &second) != DOCA_SUCCESS)
		return;
	MUST(doca_pe_connect_ctx(pe, doca_comch_server_as_ctx(second)));
	MUST(doca_comch_server_task_send_set_conf(second, comch_sent_cb, comch_failed_cb, 1));
	MUST(doca_comch_server_event_msg_recv_register(second, comch_message_cb));
	MUST(doca_comch_server_event_connection_status_changed_register(second, comch_connect_cb, comch_disconnect_cb));
	CHECK_REFUSED(doca_ctx_start(doca_comch_server_as_ctx(second)));
	CHECK_OK(doca_comch_server_destroy(second));
}

static void squatter(int line)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	comch_make_server(&end, pe, "the name", 1);
	comch_run(&end);
	two_tell(line, 'l');
	for (;;)
		comch_progress(pe);
}

int main(void)
{
	struct comch_end heir = {0}, probe = {0};
	struct doca_pe *pe = NULL;
	char name[32];
	int line, i;
	pid_t pid = two_fork(&line);

	if (pid == 0)
		squatter(line);
	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	for (i = 0; i < SERVERS; i++) {
		snprintf(name, sizeof(name), "server %d of many", i);
		comch_make_server(&servers[i], pe, name, 2);
		comch_run(&servers[i]);
		memset(name, 'x', sizeof(name)); /* it was copied */
	}
	expect_taken(pe, &servers[3], "server 3 of many");
	expect_taken(pe, &servers[3], "the name");
	for (i = SERVERS - 1; i >= 0; i--) {
		snprintf(name, sizeof(name), "server %d of many", i);
		comch_make_client(&clients[i], pe, name, 2);
		comch_run(&clients[i]);
		comch_send(&clients[i], clients[i].peer, name, (uint32_t)strlen(name) + 1);
	}
	for (i = 0; i < SERVERS; i++) {
		snprintf(name, sizeof(name), "server %d of many", i);
		COMCH_UNTIL(pe, servers[i].messages == 1 && clients[i].sent == 1);
		CHECK_U64(servers[i].connects, 1);
		CHECK_TEXT((const char *)servers[i].last, name);
	}
	/* Stopped: the name is free, the object keeps it for another start. */
	comch_stop(&clients[5]);
	COMCH_UNTIL(pe, servers[5].disconnects == 1);
	comch_stop(&servers[5]);
	comch_make_server(&heir, pe, "server 5 of many", 1);
	comch_run(&heir);
	expect_taken(pe, &heir, "server 5 of many");
	comch_stop(&heir);
	comch_destroy(&heir);
	comch_run(&servers[5]);
	/* Killed: the name is free. */
	two_kill(pid);
	memset(&heir, 0, sizeof(heir));
	comch_make_server(&heir, pe, "the name", 1);
	comch_run(&heir);
	comch_make_client(&probe, pe, "the name", 1);
	comch_run(&probe);
	comch_stop(&probe);
	COMCH_UNTIL(pe, heir.connects == 1 && heir.disconnects == 1);
	comch_stop(&heir);
	comch_destroy(&heir);
	comch_destroy(&probe);
	for (i = 0; i < SERVERS; i++) {
		if (i != 5)
			comch_stop(&clients[i]);
		comch_destroy(&clients[i]);
		COMCH_UNTIL(pe, servers[i].disconnects == servers[i].connects);
		comch_stop(&servers[i]);
		comch_destroy(&servers[i]);
	}
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
	return check_result();
}
