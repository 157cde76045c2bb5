/*
 * clauses: rdma Receive, Connecting through the connection manager; Behaviour 6, 8
 * covers: doca_rdma_task_receive_get_result_rdma_connection doca_rdma_connection_disconnect
 *   doca_rdma_connection_get_user_data doca_rdma_set_connection_state_callbacks
 *
 * Messages that came before a connection ended name it, whichever end ended it, and are told before its end: a program that
 * forgets a peer in its disconnect callback hears nothing of it afterwards.
 */
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "check.h"

/* Runs beside each other must not meet on the machine's own addresses. */
#define PORT (uint16_t)(20000 + getpid() % 20000)
#define MESSAGES 6
#define ROUNDS 20

/* What the server knows of a peer, until that is gone. */
struct peer {
	struct doca_rdma_connection *conn;
	int here, heard;
};

static struct doca_pe *pe[2];
static struct doca_rdma *server, *client;
static struct doca_rdma_connection *up;
static struct peer peer;
static int established, ends, sent, heard;

static void requested(struct doca_rdma_connection *conn, union doca_data ctx)
{
	union doca_data user;

	(void)ctx;
	peer = (struct peer){.conn = conn, .here = 1};
	user.ptr = &peer;
	CHECK_OK(doca_rdma_connection_set_user_data(conn, user));
	CHECK_OK(doca_rdma_connection_accept(conn, NULL, 0));
}

static void was_established(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	(void)user;
	established++;
	if (ctx.u64 == 1)
		up = conn;
}

static void has_failed(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	(void)conn, (void)user, (void)ctx;
	CHECK(0);
}

static void has_ended(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	ends++;
	if (ctx.u64 == 0) {
		CHECK_PTR(user.ptr, &peer);
		peer.here = 0;
	}
	CHECK_OK(doca_rdma_connection_disconnect(conn));
}

static void sending_ended(struct doca_rdma_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	CHECK_OK(doca_task_get_status(doca_rdma_task_send_as_task(task)));
	doca_task_free(doca_rdma_task_send_as_task(task));
	sent++;
}

static void receive_ended(struct doca_rdma_task_receive *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	if (doca_task_get_status(doca_rdma_task_receive_as_task(task)) == DOCA_SUCCESS) {
		const struct doca_rdma_connection *conn = doca_rdma_task_receive_get_result_rdma_connection(task);
		union doca_data whose = {0};

		CHECK_PTR(conn, peer.conn);
		CHECK_OK(doca_rdma_connection_get_user_data(conn, &whose));
		CHECK_PTR(whose.ptr, &peer);
		CHECK(peer.here);
		peer.heard++;
		heard++;
	}
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static struct doca_rdma *make(struct doca_dev *dev, unsigned which)
{
	union doca_data user = {.u64 = which};
	struct doca_rdma *rdma;

	MUST(doca_pe_create(&pe[which]));
	MUST(doca_rdma_create(dev, &rdma));
	MUST(doca_pe_connect_ctx(pe[which], doca_rdma_as_ctx(rdma)));
	MUST(doca_ctx_set_user_data(doca_rdma_as_ctx(rdma), user));
	MUST(doca_rdma_set_connection_state_callbacks(rdma, requested, was_established, has_failed, has_ended));
	MUST(doca_rdma_task_send_set_conf(rdma, sending_ended, sending_ended, MESSAGES));
	MUST(doca_rdma_task_receive_set_conf(rdma, receive_ended, receive_ended, MESSAGES));
	MUST(doca_ctx_start(doca_rdma_as_ctx(rdma)));
	return rdma;
}

static void both_until(const int *number, int wanted)
{
	while (*number < wanted) {
		doca_pe_progress(pe[0]);
		doca_pe_progress(pe[1]);
	}
}

static void stop(struct doca_rdma *rdma, struct doca_pe *engine)
{
	enum doca_ctx_states state;

	CHECK_STATUS2(doca_ctx_stop(doca_rdma_as_ctx(rdma)), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	do {
		doca_pe_progress(engine);
		MUST(doca_ctx_get_state(doca_rdma_as_ctx(rdma), &state));
	} while (state != DOCA_CTX_STATE_IDLE);
	CHECK_OK(doca_rdma_destroy(rdma));
	CHECK_OK(doca_pe_destroy(engine));
}

/* The server's engine stands still while the messages come and, but for `who` 0, while the client leaves. */
static void last_messages(struct doca_rdma_addr *addr, unsigned who)
{
	union doca_data none = {0};
	int i;

	established = ends = sent = heard = 0;
	MUST(doca_rdma_connect_to_addr(client, addr, none));
	both_until(&established, 2);
	for (i = 0; i < MESSAGES; i++) {
		struct doca_rdma_task_receive *receive;

		MUST(doca_rdma_task_receive_allocate_init(server, NULL, none, &receive));
		MUST(doca_task_submit(doca_rdma_task_receive_as_task(receive)));
	}
	while (doca_pe_progress(pe[0]) != 0)
		;
	for (i = 0; i < MESSAGES; i++) {
		struct doca_rdma_task_send *send;

		MUST(doca_rdma_task_send_allocate_init(client, up, NULL, none, &send));
		MUST(doca_task_submit(doca_rdma_task_send_as_task(send)));
	}
	while (sent < MESSAGES)
		doca_pe_progress(pe[1]);
	if (who == 0) {
		CHECK_OK(doca_rdma_connection_disconnect(peer.conn));
	} else {
		CHECK_OK(doca_rdma_connection_disconnect(up));
		while (ends == 0)
			doca_pe_progress(pe[1]);
	}
	both_until(&ends, 2);
	CHECK_U64(heard, MESSAGES);
	CHECK_U64(peer.heard, MESSAGES);
}

int main(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	struct doca_rdma_addr *addr;
	uint32_t count;
	unsigned i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++)
		if (doca_rdma_cap_task_send_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_destroy_list(list));
	server = make(dev, 0);
	client = make(dev, 1);
	MUST(doca_rdma_start_listen_to_port(server, PORT));
	MUST(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv6, "::1", PORT, &addr));
	for (i = 0; i < ROUNDS; i++)
		last_messages(addr, i % 2);
	CHECK_OK(doca_rdma_addr_destroy(addr));
	stop(client, pe[1]);
	stop(server, pe[0]);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
