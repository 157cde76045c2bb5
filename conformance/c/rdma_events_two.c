/*
 * Sync events between processes: the responder blocks in waits for its events inside its
 * running-state callback and makes no progress, while two requesters add to the one, set the other
 * and look at it until it has a value, each from the callback of the look before. An event of a third
 * process is not reached over the connection. The responder is killed: tasks fail.
 *
 * clauses: rdma Behaviour 1, 10, 14
 * covers: @
 */
#define _GNU_SOURCE
#include "rdma_event_rig.h"

#define BYTES 65536
#define ADDS 20000u
#define REQUESTERS 2u

struct peer {
	pid_t pid;
	int in, out; /* at this end */
};

static void put(int fd, const void *bytes, size_t len)
{
	uint32_t n = (uint32_t)len;

	MUST_BE(write(fd, &n, sizeof(n)) == (ssize_t)sizeof(n));
	MUST_BE(write(fd, bytes, len) == (ssize_t)len);
}

static size_t get(int fd, void *bytes, size_t room)
{
	uint32_t n = 0;
	size_t done = 0;

	MUST_BE(read(fd, &n, sizeof(n)) == (ssize_t)sizeof(n));
	MUST_BE(n <= room);
	while (done < n) {
		ssize_t got = read(fd, (char *)bytes + done, n - done);

		MUST_BE(got > 0);
		done += (size_t)got;
	}
	return n;
}

static struct side side;
static struct peer peers[REQUESTERS];

/* All happens here; the program makes no progress. */
static void responder_running(struct side *me)
{
	struct doca_sync_event *sum = event_make(me), *flag = event_make(me);
	struct doca_rdma_connection *conn[REQUESTERS];
	const uint8_t *data;
	const void *blob;
	uint8_t text[1024];
	uint64_t value = 0;
	size_t len;
	unsigned i;

	for (i = 0; i < REQUESTERS; i++) {
		MUST(doca_rdma_export(me->rdma, &blob, &len, &conn[i]));
		put(peers[i].out, blob, len);
		MUST(doca_sync_event_export_to_remote_net(sum, &data, &len));
		put(peers[i].out, data, len);
		MUST(doca_sync_event_export_to_remote_net(flag, &data, &len));
		put(peers[i].out, data, len);
		len = get(peers[i].in, text, sizeof(text));
		MUST(doca_rdma_connect(me->rdma, text, len, conn[i]));
	}
	/* Each requester brings the other an event of its own, too. */
	for (i = 0; i < REQUESTERS; i++) {
		len = get(peers[i].in, text, sizeof(text));
		put(peers[1 - i].out, text, len);
	}
	CHECK_OK(doca_sync_event_wait_gt(sum, REQUESTERS * ADDS - 1, UINT64_MAX));
	CHECK_OK(doca_sync_event_get(sum, &value));
	CHECK_U64(value, REQUESTERS * ADDS);
	/* They look for this one. */
	CHECK_OK(doca_sync_event_update_set(flag, 41));
	CHECK_OK(doca_sync_event_wait_eq(flag, 42, UINT64_MAX));
	for (i = 0; i < REQUESTERS; i++)
		put(peers[i].out, "done", 4);
}

static struct doca_task *look; /* looks again until it sees something */
static struct doca_buf *looked;

static void look_again(struct doca_rdma_task_remote_net_sync_event_get *task, union doca_data user,
		       union doca_data ctx)
{
	uint64_t value;

	memcpy(&value, side.mem, sizeof(value));
	if (value == 0) {
		CHECK_OK(doca_buf_reset_data_len(looked));
		MUST(doca_task_submit(doca_rdma_task_remote_net_sync_event_get_as_task(task)));
		return;
	}
	CHECK(value == 41 || value == 42);
	side_remote_net_sync_event_get_good(task, user, ctx);
}

static int requester(const struct peer *parent)
{
	struct doca_sync_event_remote_net *sum, *flag, *foreign;
	struct doca_rdma_task_remote_net_sync_event_get *task = NULL;
	struct doca_rdma_connection *conn;
	struct doca_sync_event *own;
	struct doca_buf *result, *from;
	const uint8_t *data;
	const void *blob;
	uint8_t text[1024];
	union doca_data user = {.u64 = 5};
	size_t len;
	unsigned i, sent, good;
	uint64_t value = 42;

	side_prepare(&side, NULL, NULL, BYTES, 16);
	event_conf(&side, 16);
	MUST(doca_rdma_task_remote_net_sync_event_get_set_conf(side.rdma, look_again,
							       side_remote_net_sync_event_get_bad, 16));
	side_start(&side);
	own = event_make(&side);
	MUST(doca_rdma_export(side.rdma, &blob, &len, &conn));
	put(parent->out, blob, len);
	len = get(parent->in, text, sizeof(text));
	MUST(doca_rdma_connect(side.rdma, text, len, conn));
	len = get(parent->in, text, sizeof(text));
	MUST(doca_sync_event_remote_net_create_from_export(side.dev, text, len, &sum));
	len = get(parent->in, text, sizeof(text));
	MUST(doca_sync_event_remote_net_create_from_export(side.dev, text, len, &flag));
	MUST(doca_sync_event_export_to_remote_net(own, &data, &len));
	put(parent->out, data, len);
	len = get(parent->in, text, sizeof(text));
	MUST(doca_sync_event_remote_net_create_from_export(side.dev, text, len, &foreign));
	result = side_room(&side, side.map, side.mem + 64, 8);
	for (sent = 0; side.good < ADDS;) {
		while (sent < ADDS && sent - side.good < 16) {
			CHECK_OK(event_add(&side, conn, sum, result, 1, sent));
			sent++;
		}
		side_progress(&side);
		MUST_BE(side.bad == 0);
	}
	/* Looks until there is a value. */
	memset(side.mem, 0, 8);
	looked = side_room(&side, side.map, side.mem, 8);
	MUST(doca_rdma_task_remote_net_sync_event_get_allocate_init(side.rdma, conn, flag, looked, user, &task));
	look = doca_rdma_task_remote_net_sync_event_get_as_task(task);
	MUST(doca_task_submit(look));
	UNTIL(&side, side.good + side.bad == ADDS + 1);
	CHECK_U64(side.bad, 0);
	CHECK_U64(event_len, 8);
	memcpy(side.mem + 128, &value, 8);
	from = side_data(&side, side.map, side.mem + 128, 8);
	CHECK_OK(event_set(&side, conn, flag, from, 6));
	UNTIL(&side, side.good + side.bad == ADDS + 2);
	CHECK_U64(side.bad, 0);
	len = get(parent->in, text, sizeof(text));
	CHECK_U64(len, 4);
	/* Now nobody may answer any more. */
	put(parent->out, "kill", 4);
	for (i = 0; side.bad == 0; i++) {
		good = side.good;
		CHECK_OK(event_set(&side, conn, flag, from, 7));
		UNTIL(&side, side.good + side.bad == good + 1);
	}
	CHECK_U64(side.last_status, DOCA_ERROR_IO_FAILED);
	/* Of a process that is not the peer. */
	CHECK_OK(event_set(&side, conn, foreign, from, 8));
	UNTIL(&side, side.bad == 2);
	value = 1;
	CHECK_OK(doca_sync_event_get(own, &value));
	CHECK_U64(value, 0);
	DROP(result);
	DROP(from);
	DROP(looked);
	CHECK_OK(doca_sync_event_remote_net_destroy(sum));
	CHECK_OK(doca_sync_event_remote_net_destroy(flag));
	CHECK_OK(doca_sync_event_remote_net_destroy(foreign));
	CHECK_OK(doca_sync_event_stop(own));
	CHECK_OK(doca_sync_event_destroy(own));
	side_teardown(&side, 1);
	return check_result();
}

static int responder(void)
{
	char text[8];
	unsigned i;

	side_prepare(&side, "b1:00.0", NULL, BYTES, 16);
	event_conf(&side, 16);
	side.on_running = responder_running;
	side_start(&side);
	for (i = 0; i < REQUESTERS; i++)
		CHECK_U64(get(peers[i].in, text, sizeof(text)), 4);
	if (check_result() == 0)
		kill(getpid(), SIGKILL);
	return 1;
}

int main(void)
{
	int to[REQUESTERS][2], from[REQUESTERS][2], status = 0;
	pid_t child;
	unsigned i;

	side_make_folder();
	for (i = 0; i < REQUESTERS; i++) {
		MUST_BE(pipe(to[i]) == 0 && pipe(from[i]) == 0);
		peers[i].in = from[i][0];
		peers[i].out = to[i][1];
	}
	for (i = 0; i < REQUESTERS; i++) {
		peers[i].pid = fork(); /* before the first call of the library */
		MUST_BE(peers[i].pid >= 0);
		if (peers[i].pid == 0) {
			struct peer parent = {0, to[i][0], from[i][1]};

			_exit(requester(&parent));
		}
	}
	child = fork();
	MUST_BE(child >= 0);
	if (child == 0)
		_exit(responder());
	MUST_BE(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	for (i = 0; i < REQUESTERS; i++) {
		MUST_BE(waitpid(peers[i].pid, &status, 0) == peers[i].pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	return check_result();
}
