/*
 * clauses: rdma Connecting through the connection manager; Behaviour 6
 * covers: doca_rdma_connect_to_addr doca_rdma_connection_reject doca_rdma_connection_disconnect
 *   doca_rdma_set_max_num_connections doca_rdma_start_listen_to_port doca_rdma_connection_accept
 *
 * Attempts to connect that come to nothing leave nothing behind, however often and in whatever way they end: refused by
 * the server's program, given up by the client's, cut off by a stop of either side; also when the next attempt is made
 * in the very callback that tells of the last one. A client with room for a single connection connects after all of them.
 */
#include <dirent.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "check.h"

/* Runs beside each other must not meet on the machine's own addresses. */
#define PORT (uint16_t)(20000 + getpid() % 20000)

enum server_mode { ACCEPT, REJECT, DISCONNECT, LEAVE_OPEN };

static struct doca_pe *pe;
static struct doca_rdma *server, *client;
static struct doca_rdma_addr *addr;
static struct doca_rdma_connection *up, *asked;
static enum server_mode mode;
static int requests, established, failures, ends, again, done;
static uint64_t value;

static void requested(struct doca_rdma_connection *conn, union doca_data ctx)
{
	(void)ctx;
	requests++;
	asked = conn;
	if (mode == ACCEPT)
		CHECK_OK(doca_rdma_connection_accept(conn, NULL, 0));
	else if (mode == REJECT)
		CHECK_OK(doca_rdma_connection_reject(conn));
	else if (mode == DISCONNECT)
		CHECK_OK(doca_rdma_connection_disconnect(conn));
}

static void was_established(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	(void)ctx, (void)user;
	established++;
	up = conn;
}

static void call(uint64_t number)
{
	union doca_data user = {.u64 = number};

	value = number;
	CHECK_OK(doca_rdma_connect_to_addr(client, addr, user));
}

static void has_failed(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	(void)ctx, (void)conn;
	failures++;
	CHECK_U64(user.u64, value);
	if (again > 0) {
		again--;
		call(value + 1);
	}
}

static void has_ended(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	(void)conn, (void)user, (void)ctx;
	ends++;
}

static void sent(struct doca_rdma_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	CHECK_OK(doca_task_get_status(doca_rdma_task_send_as_task(task)));
	doca_task_free(doca_rdma_task_send_as_task(task));
	done++;
}

static void received(struct doca_rdma_task_receive *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	CHECK_OK(doca_task_get_status(doca_rdma_task_receive_as_task(task)));
	doca_task_free(doca_rdma_task_receive_as_task(task));
	done++;
}

static struct doca_rdma *make(struct doca_dev *dev)
{
	struct doca_rdma *rdma;

	MUST(doca_rdma_create(dev, &rdma));
	MUST(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma)));
	MUST(doca_rdma_set_connection_state_callbacks(rdma, requested, was_established, has_failed, has_ended));
	MUST(doca_rdma_set_connection_request_timeout(rdma, 60000));
	MUST(doca_rdma_task_send_set_conf(rdma, sent, sent, 1));
	MUST(doca_rdma_task_receive_set_conf(rdma, received, received, 1));
	return rdma;
}

static enum doca_ctx_states state_of(struct doca_rdma *rdma)
{
	enum doca_ctx_states state;

	MUST(doca_ctx_get_state(doca_rdma_as_ctx(rdma), &state));
	return state;
}

static void stop(struct doca_rdma *rdma)
{
	CHECK_STATUS2(doca_ctx_stop(doca_rdma_as_ctx(rdma)), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	while (state_of(rdma) != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(pe);
}

static void listen_again(void)
{
	MUST(doca_ctx_start(doca_rdma_as_ctx(server)));
	MUST(doca_rdma_start_listen_to_port(server, PORT));
}

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	MUST_BE(dir != NULL);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

#define UNTIL(condition_) \
	while (!(condition_)) \
	doca_pe_progress(pe)

/* A connection, a message over it, its end. */
static void works(void)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	union doca_data none = {0};

	mode = ACCEPT;
	established = ends = done = 0;
	call(7);
	UNTIL(established == 2);
	MUST(doca_rdma_task_receive_allocate_init(client, NULL, none, &receive));
	MUST(doca_task_submit(doca_rdma_task_receive_as_task(receive)));
	MUST(doca_rdma_task_send_allocate_init(server, asked, NULL, none, &send));
	MUST(doca_task_submit(doca_rdma_task_send_as_task(send)));
	UNTIL(done == 2);
	CHECK_OK(doca_rdma_connection_disconnect(asked));
	UNTIL(ends == 2);
}

int main(void)
{
	struct doca_devinfo **list;
	struct doca_dev *devs[2] = {NULL, NULL};
	uint32_t count;
	int files, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (uint32_t at = 0, have = 0; at < count && have < 2; at++)
		if (doca_rdma_cap_task_send_is_supported(list[at]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[at], &devs[have++]));
	MUST(doca_devinfo_destroy_list(list));
	MUST(doca_pe_create(&pe));
	server = make(devs[0]);
	client = make(devs[1]);
	MUST(doca_rdma_set_max_num_connections(server, 3));
	MUST(doca_rdma_set_max_num_connections(client, 1));
	MUST(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "127.0.0.1", PORT, &addr));
	listen_again();
	MUST(doca_ctx_start(doca_rdma_as_ctx(client)));
	works();
	files = open_files();

	/* Refused, in both ways, each time asked again out of the failure callback. */
	for (i = 0; i < 2; i++) {
		mode = i == 0 ? REJECT : DISCONNECT;
		requests = failures = 0;
		again = 19;
		call(100);
		UNTIL(failures == 20);
		CHECK_U64(requests, 20);
		works();
	}
	CHECK_U64(failures, 20);

	/* Nobody answers: cut off by a stop of the client, which asks again, and by one of the server. */
	for (i = 0; i < 10; i++) {
		mode = LEAVE_OPEN;
		requests = failures = 0;
		call(200 + i);
		UNTIL(requests == 1);
		/* Of what came of its attempt the program hears before its context is idle. */
		CHECK_STATUS(doca_ctx_stop(doca_rdma_as_ctx(client)), DOCA_ERROR_IN_PROGRESS);
		CHECK_U64(failures, 0);
		UNTIL(state_of(client) == DOCA_CTX_STATE_IDLE);
		CHECK_U64(failures, 1);
		MUST(doca_ctx_start(doca_rdma_as_ctx(client)));
		works();
		mode = LEAVE_OPEN;
		requests = failures = 0;
		call(300 + i);
		if (i % 2 == 0)
			UNTIL(requests == 1);
		stop(server);
		UNTIL(failures == 1);
		CHECK(requests == (i % 2 == 0));
		listen_again();
		works();
	}

	/* What they held is given back; the library's own thread may be a moment behind. */
	while (open_files() > files)
		doca_pe_progress(pe);

	stop(client);
	stop(server);
	CHECK_OK(doca_rdma_addr_destroy(addr));
	CHECK_OK(doca_rdma_destroy(client));
	CHECK_OK(doca_rdma_destroy(server));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_dev_close(devs[0]));
	CHECK_OK(doca_dev_close(devs[1]));
	return check_result();
}
