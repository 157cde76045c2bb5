/*
 * By connection manager: a server listens on a port, three clients connect to its IPv4 address one
 * after the other and at the same time, talk with it by send and receive, and leave; one wish is
 * rejected. The server tells the clients apart by the user data of their connections.
 *
 * clauses: engine-rdma Connection manager, Send, Receive
 * covers: @
 */
#define _GNU_SOURCE

#include "app_rdma.h"

#define PORT 13579
#define CLIENTS 3u
#define LINES 50u

static struct app_rdma app;

static void on_request(struct doca_rdma_connection *conn, union doca_data ctx)
{
	union doca_data user;

	(void)ctx;
	user.u64 = ++app.requested;
	if (user.u64 == 2) {
		CHECK_OK(doca_rdma_connection_reject(conn));
		return;
	}
	CHECK_OK(doca_rdma_connection_accept(conn, NULL, 0));
	CHECK_OK(doca_rdma_connection_set_user_data(conn, user));
}

static void on_established(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	app.conn = conn;
	app.established++;
}

static void on_failure(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	(void)conn, (void)user, (void)ctx;
	app.broken++;
}

static void on_disconnect(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	app.ended++;
	CHECK_OK(doca_rdma_connection_disconnect(conn));
}

static void prepare(void)
{
	app_rdma_make(&app, 65536, 16);
	MUST(doca_rdma_set_max_num_connections(app.rdma, 8));
	MUST(doca_rdma_set_connection_state_callbacks(app.rdma, on_request, on_established, on_failure,
						      on_disconnect));
	app_core_start(&app.core, doca_rdma_as_ctx(app.rdma));
}

static void turn(void)
{
	if (doca_pe_progress(app.core.pe) == 0)
		app_nap();
}

static void send_text(struct doca_rdma_connection *conn, const char *text, size_t slot)
{
	struct doca_rdma_task_send *task;
	union doca_data user = {0};
	struct doca_buf *src;
	uint32_t before = app.core.done + app.core.failed;

	memcpy(app.memory + slot * 64, text, strlen(text) + 1);
	src = app_near(&app, slot * 64, strlen(text) + 1, 1);
	MUST(doca_rdma_task_send_allocate_init(app.rdma, conn, src, user, &task));
	MUST(doca_task_submit(doca_rdma_task_send_as_task(task)));
	while (app.core.done + app.core.failed == before)
		turn();
	APP_DROP(src);
}

/* The server answers every line with the number of the connection it came from. */
struct post {
	struct doca_buf *buf;
};

static uint32_t answered, wanted;

static void answer(struct doca_rdma_task_receive *task, union doca_data user, union doca_data ctx)
{
	const struct doca_rdma_connection *from = doca_rdma_task_receive_get_result_rdma_connection(task);
	struct doca_buf *buf = doca_rdma_task_receive_get_dst_buf(task);
	struct doca_rdma_task_send *reply;
	union doca_data number, none = {0};
	struct doca_buf *src;
	void *data;

	(void)ctx;
	CHECK_OK(doca_rdma_connection_get_user_data(from, &number));
	MUST(doca_buf_get_data(buf, &data));
	CHECK(strncmp((char *)data, "line ", 5) == 0);
	CHECK_U64(app_length(buf), doca_rdma_task_receive_get_result_len(task));
	MUST(doca_buf_reset_data_len(buf));
	snprintf((char *)app.memory + 32768 + user.u64 * 64, 64, "you are %d", (int)number.u64);
	src = app_near(&app, 32768 + user.u64 * 64, 64, 1);
	none.ptr = src;
	MUST(doca_rdma_task_send_allocate_init(app.rdma, (struct doca_rdma_connection *)(uintptr_t)from, src, none,
					       &reply));
	MUST(doca_task_submit(doca_rdma_task_send_as_task(reply)));
	MUST(doca_task_submit(doca_rdma_task_receive_as_task(task)));
	answered++;
}

static void replied(struct doca_rdma_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)ctx;
	CHECK_OK(doca_task_get_status(doca_rdma_task_send_as_task(task)));
	APP_DROP((struct doca_buf *)user.ptr);
	doca_task_free(doca_rdma_task_send_as_task(task));
	app.core.done++;
}

static void unposted(struct doca_rdma_task_receive *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	APP_DROP(doca_rdma_task_receive_get_dst_buf(task));
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void server(void)
{
	uint8_t address[DOCA_DEVINFO_IPV4_ADDR_SIZE];
	char text[32];
	uint64_t i;

	app_rdma_make(&app, 65536, 64);
	MUST(doca_rdma_set_max_num_connections(app.rdma, 8));
	MUST(doca_rdma_set_connection_state_callbacks(app.rdma, on_request, on_established, on_failure,
						      on_disconnect));
	MUST(doca_rdma_task_receive_set_conf(app.rdma, answer, unposted, 16));
	MUST(doca_rdma_task_send_set_conf(app.rdma, replied, replied, 64));
	app_core_start(&app.core, doca_rdma_as_ctx(app.rdma));
	for (i = 0; i < 16; i++) {
		struct doca_rdma_task_receive *task;
		union doca_data user;

		user.u64 = i;
		MUST(doca_rdma_task_receive_allocate_init(app.rdma, app_near(&app, i * 64, 64, 0), user, &task));
		MUST(doca_task_submit(doca_rdma_task_receive_as_task(task)));
	}
	MUST(doca_rdma_start_listen_to_port(app.rdma, PORT));
	MUST(doca_devinfo_get_ipv4_addr(doca_dev_as_devinfo(app.core.dev), address, sizeof(address)));
	snprintf(text, sizeof(text), "%d.%d.%d.%d", address[0], address[1], address[2], address[3]);
	app_put_file("server.addr", text, strlen(text) + 1);
	wanted = CLIENTS * LINES;
	while (app.ended < CLIENTS || answered < wanted)
		turn();
	CHECK_U64(app.requested, CLIENTS + 1);
	CHECK_U64(app.established, CLIENTS);
	CHECK_U64(app.broken, 0);
	MUST(doca_rdma_stop_listen_to_port(app.rdma, PORT));
	app_rdma_free(&app);
}

static void client(void)
{
	struct doca_rdma_addr *address;
	union doca_data number;
	char text[32];
	uint32_t i;

	prepare();
	app_get_file("server.addr", text, sizeof(text));
	MUST(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, text, PORT, &address));
	number.u64 = 4711;
	/* Whoever is second is rejected and comes again. */
	do {
		app.broken = 0;
		MUST(doca_rdma_connect_to_addr(app.rdma, address, number));
		while (app.established == 0 && app.broken == 0)
			turn();
	} while (app.established == 0);
	for (i = 0; i < LINES; i++) {
		struct doca_buf *room = app_near(&app, 4096, 64, 0);
		char line[32];

		app_post(&app, room);
		snprintf(line, sizeof(line), "line %u", i);
		send_text(app.conn, line, 0);
		while (app.received == i)
			turn();
		CHECK_U64(app.got_len, 64);
		CHECK(strncmp((char *)app.memory + 4096, "you are ", 8) == 0);
		APP_DROP(room);
	}
	CHECK_U64(app.core.failed, 0);
	CHECK_OK(doca_rdma_connection_disconnect(app.conn));
	for (i = 0; i < 10; i++)
		turn();
	app_rdma_free(&app);
	CHECK_OK(doca_rdma_addr_destroy(address));
}

static void clients(void)
{
	pid_t child[CLIENTS];
	uint32_t i;
	int status;

	for (i = 0; i < CLIENTS; i++) {
		child[i] = fork();
		MUST_BE(child[i] >= 0);
		if (child[i] == 0) {
			alarm(57);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			client();
			exit(check_result());
		}
	}
	for (i = 0; i < CLIENTS; i++) {
		MUST_BE(waitpid(child[i], &status, 0) == child[i]);
		CHECK_U64(status, 0);
	}
}

int main(void)
{
	return app_two_roles(server, clients);
}
