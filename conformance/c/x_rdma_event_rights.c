/*
 * Events of a process that grants less than is asked for: set without RDMA_WRITE, add without RDMA_ATOMIC and
 * get without RDMA_READ at the peer's context fail, each on a connection of its own, and change nothing; what
 * a local buffer must be like; an event that its owner has stopped; a word that is no export.
 *
 * clauses: rdma Permissions; remote sync event tasks; core-sync-graph (remote net)
 * covers: @
 */
#define _GNU_SOURCE
#include "rdma_event_rig.h"
#include "x_two.h"

#define BYTES 65536

static struct side side;

static const uint32_t granted[4] = {
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | RDMA_ALL,
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_ATOMIC,
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE,
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC,
};

static int owner(int line)
{
	struct doca_sync_event *event;
	struct doca_rdma_connection *conn = NULL;
	const uint8_t *data;
	const void *blob;
	uint8_t text[4096];
	uint64_t value = 0;
	size_t len;
	unsigned i;

	for (i = 0; i < 4; i++) {
		side_prepare(&side, NULL, NULL, BYTES, 8);
		event_conf(&side, 8);
		MUST(doca_rdma_set_permissions(side.rdma, granted[i]));
		side_start(&side);
		event = event_make(&side);
		MUST(doca_sync_event_update_set(event, 500));
		MUST(doca_rdma_export(side.rdma, &blob, &len, &conn));
		two_send_blob(line, blob, len);
		MUST(doca_sync_event_export_to_remote_net(event, &data, &len));
		two_send_blob(line, data, len);
		len = two_recv_blob(line, text, sizeof(text));
		MUST(doca_rdma_connect(side.rdma, text, len, conn));
		two_tell(line, 'c');
		/* No progress while the other one tries. */
		two_await(line, 't');
		MUST(doca_sync_event_get(event, &value));
		CHECK_U64(value, i == 0 ? 45 : 500);
		MUST(doca_sync_event_stop(event));
		two_tell(line, 's');
		two_await(line, 'e');
		CHECK_OK(doca_sync_event_destroy(event));
		side_teardown(&side, 1);
	}
	return check_result();
}

static void good_buffers(struct doca_rdma_connection *conn, struct doca_sync_event_remote_net *event)
{
	struct doca_buf *from, *to, *small, *big, *pair;
	struct doca_rdma_task_remote_net_sync_event_notify_set *set = NULL;
	struct doca_rdma_task_remote_net_sync_event_get *get = NULL;
	struct doca_rdma_task_remote_net_sync_event_notify_add *sum = NULL;
	union doca_data user = {.u64 = 0};
	uint64_t value = 42;
	size_t len = 0;

	/* NULL. */
	from = side_data(&side, side.map, side.mem, 8);
	to = side_room(&side, side.map, side.mem + 64, 8);
	CHECK_REFUSED(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(NULL, conn, event, from, user, &set));
	CHECK_REFUSED(
		doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(side.rdma, NULL, event, from, user, &set));
	CHECK_REFUSED(
		doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(side.rdma, conn, NULL, from, user, &set));
	CHECK_REFUSED(
		doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(side.rdma, conn, event, from, user, NULL));
	memcpy(side.mem, &value, 8);
	CHECK_OK(event_set(&side, conn, event, from, 1));
	UNTIL(&side, side.good == 1);
	CHECK_OK(event_add(&side, conn, event, to, 3, 2));
	UNTIL(&side, side.good == 2);
	memcpy(&value, side.mem + 64, 8);
	CHECK_U64(value, 42);
	/* The place of a list: two of four bytes, appended behind what is there. */
	pair = side_room(&side, side.map, side.mem + 128, 4);
	MUST(doca_buf_chain_list(pair, side_room(&side, side.map, side.mem + 192, 4)));
	CHECK_OK(event_get(&side, conn, event, pair, 3));
	UNTIL(&side, side.good == 3);
	CHECK_U64(event_len, 8);
	CHECK_U64(side.mem[128], 45);
	CHECK_U64(side.mem[192], 0);
	big = side_data(&side, side.map, side.mem + 256, 100);
	MUST(doca_buf_set_data(big, side.mem + 256, 8));
	CHECK_OK(event_get(&side, conn, event, big, 4));
	UNTIL(&side, side.good == 4);
	CHECK_U64(side.mem[264], 45);
	CHECK_OK(doca_buf_get_data_len(big, &len));
	CHECK_U64(len, 16);
	/* Fields stay where they are after a free, and set what was asked for. */
	MUST(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(side.rdma, conn, event, to, 9, user, &sum));
	doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(sum, 0);
	CHECK_U64(doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(sum), 0);
	CHECK_PTR(doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(sum), event);
	CHECK_PTR(doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(sum), conn);
	doca_task_free(doca_rdma_task_remote_net_sync_event_notify_add_as_task(sum));
	CHECK_PTR(doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(sum), to);
	/* Too small for a value: try refuses, the event stays. */
	small = side_room(&side, side.map, side.mem + 512, 4);
	MUST(doca_rdma_task_remote_net_sync_event_get_allocate_init(side.rdma, conn, event, small, user, &get));
	CHECK_STATUS(doca_task_try_submit(doca_rdma_task_remote_net_sync_event_get_as_task(get)),
		     DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_remote_net_sync_event_get_as_task(get));
	MUST(doca_buf_set_data(small, side.mem + 512, 4));
	MUST(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(side.rdma, conn, event, small, user, &set));
	CHECK_STATUS(doca_task_try_submit(doca_rdma_task_remote_net_sync_event_notify_set_as_task(set)),
		     DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_remote_net_sync_event_notify_set_as_task(set));
	DROP(from);
	DROP(to);
	DROP(pair);
	DROP(big);
	DROP(small);
}

static int user_of(int line)
{
	struct doca_sync_event_remote_net *event = NULL, *none = NULL;
	struct doca_rdma_connection *conn = NULL;
	struct doca_buf *from, *to;
	const void *blob;
	static uint8_t text[4096], key[4096];
	size_t len, key_len;
	unsigned i;

	for (i = 0; i < 4; i++) {
		side_prepare(&side, NULL, NULL, BYTES, 8);
		event_conf(&side, 8);
		side_start(&side);
		MUST(doca_rdma_export(side.rdma, &blob, &len, &conn));
		two_send_blob(line, blob, len);
		len = two_recv_blob(line, text, sizeof(text));
		key_len = two_recv_blob(line, key, sizeof(key));
		/* Not whole, not that, not there. */
		CHECK_STATUS(doca_sync_event_remote_net_create_from_export(side.dev, NULL, key_len, &none),
			     DOCA_ERROR_INVALID_VALUE);
		CHECK_REFUSED(doca_sync_event_remote_net_create_from_export(side.dev, key, key_len / 2, &none));
		CHECK_REFUSED(doca_sync_event_remote_net_create_from_export(side.dev, text, len, &none));
		CHECK_REFUSED(doca_sync_event_remote_net_create_from_export(NULL, key, key_len, &none));
		MUST(doca_sync_event_remote_net_create_from_export(side.dev, key, key_len, &event));
		MUST(doca_rdma_connect(side.rdma, text, len, conn));
		two_await(line, 'c');
		if (i == 0)
			good_buffers(conn, event);
		from = side_data(&side, side.map, side.mem + 1024, 8);
		to = side_room(&side, side.map, side.mem + 1088, 8);
		side.good = side.bad = 0;
		if (i == 1)
			CHECK_OK(event_set(&side, conn, event, from, 1));
		if (i == 2)
			CHECK_OK(event_add(&side, conn, event, to, 3, 1));
		if (i == 3)
			CHECK_OK(event_get(&side, conn, event, to, 1));
		if (i != 0) {
			UNTIL(&side, side.good + side.bad == 1);
			CHECK_U64(side.bad, 1);
			CHECK_STATUS(side.last_status, DOCA_ERROR_IO_FAILED);
		}
		two_tell(line, 't');
		two_await(line, 's');
		/* Stopped by its owner: fails, whatever is granted. */
		side.good = side.bad = 0;
		if (event_set(&side, conn, event, from, 2) == DOCA_SUCCESS)
			UNTIL(&side, side.good + side.bad == 1);
		CHECK_U64(side.good, 0);
		two_tell(line, 'e');
		DROP(from);
		DROP(to);
		CHECK_OK(doca_sync_event_remote_net_destroy(event));
		CHECK_STATUS(doca_sync_event_remote_net_destroy(event), DOCA_ERROR_INVALID_VALUE);
		side_teardown(&side, 1);
	}
	return check_result();
}

int main(void)
{
	int line = -1;
	pid_t child = two_fork(&line);

	if (child == 0)
		exit(user_of(line));
	owner(line);
	two_reap(child);
	return check_result();
}
