/*
 * Sync events of a peer, in one process: get, set and add in order, the arguments of the tasks, lists
 * as destination, what is refused: events that were stopped or destroyed, buffers too small, a
 * peer's context without the right, events of nobody, NULL.
 *
 * clauses: rdma Remote sync event, Behaviour 10; core-sync-graph remote_net
 * covers: @
 */
#define _GNU_SOURCE
#include "rdma_event_rig.h"

#define BYTES 65536

static struct side a, b;
static struct doca_rdma_connection *to_b, *to_a;

static uint64_t value_at(const void *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint64_t now(struct doca_sync_event *event)
{
	uint64_t value = 0;

	CHECK_OK(doca_sync_event_get(event, &value));
	return value;
}

static struct doca_sync_event_remote_net *of(struct doca_sync_event *event)
{
	struct doca_sync_event_remote_net *remote = NULL;
	const uint8_t *data;
	size_t len;

	MUST(doca_sync_event_export_to_remote_net(event, &data, &len));
	MUST(doca_sync_event_remote_net_create_from_export(a.dev, data, len, &remote));
	return remote;
}

/* One task that has to fail; the connection is in error afterwards and made anew. */
static void fails(doca_error_t submitted)
{
	unsigned good = a.good, bad = a.bad;

	CHECK_U64(submitted, DOCA_SUCCESS);
	UNTIL2(&a, &b, a.bad == bad + 1);
	CHECK_U64(a.good, good);
	CHECK_U64(a.last_status, DOCA_ERROR_IO_FAILED);
	CHECK_OK(doca_rdma_connection_disconnect(to_b));
	CHECK_OK(doca_rdma_connection_disconnect(to_a));
	side_join(&a, &b, &to_b, &to_a);
}

static void in_order(struct doca_sync_event *event, struct doca_sync_event_remote_net *remote)
{
	struct doca_buf *from = side_data(&a, a.map, a.mem, 8), *to = side_room(&a, a.map, a.mem + 64, 8);
	struct doca_buf *before = side_room(&a, a.map, a.mem + 128, 8), *second = side_room(&a, a.map, a.mem + 192, 8);
	struct doca_buf *head = side_room(&a, a.map, a.mem + 256, 3), *tail = side_room(&a, a.map, a.mem + 320, 16);
	uint64_t number = 0x1122334455667788u;
	size_t len;
	unsigned i;

	memcpy(a.mem, &number, 8);
	CHECK_OK(event_set(&a, to_b, remote, from, 1));
	CHECK_OK(event_get(&a, to_b, remote, to, 2));
	CHECK_OK(event_add(&a, to_b, remote, before, 3, 3));
	CHECK_OK(event_get(&a, to_b, remote, second, 4));
	UNTIL(&a, a.good + a.bad == 4);
	CHECK_U64(a.bad, 0);
	for (i = 0; i < 4; i++)
		CHECK_U64(a.order[i], i + 1);
	CHECK_U64(event_len, 8);
	CHECK_U64(value_at(a.mem + 64), number);
	CHECK_U64(value_at(a.mem + 128), number);
	CHECK_U64(value_at(a.mem + 192), number + 3);
	CHECK_U64(now(event), number + 3);
	CHECK_OK(doca_buf_get_data_len(to, &len));
	CHECK_U64(len, 8);
	/* Appended: without a reset there is no room. */
	fails(event_get(&a, to_b, remote, to, 5));
	CHECK_OK(doca_buf_reset_data_len(to));
	CHECK_OK(event_get(&a, to_b, remote, to, 6));
	/* A list. */
	MUST(doca_buf_chain_list(head, tail));
	CHECK_OK(event_get(&a, to_b, remote, head, 7));
	UNTIL(&a, a.good == 6);
	number += 3;
	CHECK_BYTES(a.mem + 256, (uint8_t *)&number, 3);
	CHECK_BYTES(a.mem + 320, (uint8_t *)&number + 3, 5);
	/* The value wraps. */
	memset(a.mem, 0xff, 8);
	CHECK_OK(event_set(&a, to_b, remote, from, 8));
	CHECK_OK(event_add(&a, to_b, remote, before, 2, 9));
	UNTIL(&a, a.good == 8);
	CHECK_U64(now(event), 1);
	/* A value has 8 bytes, a result needs as many. */
	CHECK_OK(doca_buf_set_data_len(from, 7));
	fails(event_set(&a, to_b, remote, from, 10));
	DROP(from);
	from = side_room(&a, a.map, a.mem + 512, 7);
	fails(event_add(&a, to_b, remote, from, 1, 11));
	CHECK_U64(now(event), 1);
	DROP(from);
	DROP(to);
	DROP(before);
	DROP(second);
	DROP(head);
}

static void arguments(struct doca_sync_event_remote_net *remote, struct doca_sync_event_remote_net *other)
{
	struct doca_buf *one = side_room(&a, a.map, a.mem, 8), *two = side_room(&a, a.map, a.mem + 8, 8);
	struct doca_rdma_task_remote_net_sync_event_get *get = NULL;
	struct doca_rdma_task_remote_net_sync_event_notify_set *set = NULL;
	struct doca_rdma_task_remote_net_sync_event_notify_add *add = NULL;
	union doca_data user = {.u64 = 77}, seen;

#define GET(what_) doca_rdma_task_remote_net_sync_event_get_##what_
#define SET(what_) doca_rdma_task_remote_net_sync_event_notify_set_##what_
#define ADD(what_) doca_rdma_task_remote_net_sync_event_notify_add_##what_
	MUST(GET(allocate_init)(a.rdma, to_b, remote, one, user, &get));
	MUST(SET(allocate_init)(a.rdma, to_b, remote, one, user, &set));
	MUST(ADD(allocate_init)(a.rdma, to_b, remote, one, 9, user, &add));
	seen = doca_task_get_user_data(GET(as_task)(get));
	CHECK_U64(seen.u64, 77);
	CHECK_PTR(GET(get_sync_event)(get), remote);
	CHECK_PTR(SET(get_sync_event)(set), remote);
	CHECK_PTR(ADD(get_sync_event)(add), remote);
	CHECK_PTR(GET(get_dst_buf)(get), one);
	CHECK_PTR(SET(get_src_buf)(set), one);
	CHECK_PTR(ADD(get_result_buf)(add), one);
	CHECK_U64(ADD(get_add_data)(add), 9);
	CHECK_PTR(GET(get_rdma_connection)(get), to_b);
	CHECK_PTR(SET(get_rdma_connection)(set), to_b);
	CHECK_PTR(ADD(get_rdma_connection)(add), to_b);
	GET(set_sync_event)(get, other);
	SET(set_sync_event)(set, other);
	ADD(set_sync_event)(add, other);
	GET(set_dst_buf)(get, two);
	SET(set_src_buf)(set, two);
	ADD(set_result_buf)(add, two);
	ADD(set_add_data)(add, 10);
	GET(set_rdma_connection)(get, to_b);
	SET(set_rdma_connection)(set, to_b);
	ADD(set_rdma_connection)(add, to_b);
	CHECK_PTR(GET(get_sync_event)(get), other);
	CHECK_PTR(SET(get_sync_event)(set), other);
	CHECK_PTR(ADD(get_sync_event)(add), other);
	CHECK_PTR(GET(get_dst_buf)(get), two);
	CHECK_PTR(SET(get_src_buf)(set), two);
	CHECK_PTR(ADD(get_result_buf)(add), two);
	CHECK_U64(ADD(get_add_data)(add), 10);
	/* The other kinds' calls leave a task alone. */
	CHECK_PTR(SET(get_src_buf)((void *)get), NULL);
	ADD(set_result_buf)((void *)get, one);
	CHECK_PTR(GET(get_dst_buf)(get), two);
	doca_task_free(GET(as_task)(get));
	doca_task_free(SET(as_task)(set));
	doca_task_free(ADD(as_task)(add));
	/* Fields stay readable. */
	CHECK_PTR(GET(get_dst_buf)(get), two);
	CHECK_STATUS(GET(allocate_init)(NULL, to_b, remote, one, user, &get), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(GET(allocate_init)(a.rdma, NULL, remote, one, user, &get), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(GET(allocate_init)(a.rdma, to_b, NULL, one, user, &get), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(GET(allocate_init)(a.rdma, to_b, remote, one, user, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(SET(allocate_init)(a.rdma, to_b, (void *)one, one, user, &set), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(ADD(allocate_init)(a.rdma, to_b, (void *)to_b, one, 1, user, &add), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(GET(set_conf)(a.rdma, side_remote_net_sync_event_get_good, side_remote_net_sync_event_get_bad, 4),
		     DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(GET(set_conf)(NULL, side_remote_net_sync_event_get_good, side_remote_net_sync_event_get_bad, 4),
		     DOCA_ERROR_INVALID_VALUE);
	DROP(one);
	DROP(two);
}

/* A checked submit refuses what a plain one fails. */
static void checked(struct doca_sync_event_remote_net *remote)
{
	struct doca_rdma_task_remote_net_sync_event_get *get = NULL;
	struct doca_buf *room = side_room(&a, a.map, a.mem, 7);
	union doca_data user = {.u64 = 1};

	MUST(GET(allocate_init)(a.rdma, to_b, remote, room, user, &get));
	CHECK_STATUS(doca_task_try_submit(GET(as_task)(get)), DOCA_ERROR_INVALID_VALUE);
	GET(set_dst_buf)(get, NULL);
	CHECK_STATUS(doca_task_try_submit(GET(as_task)(get)), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(GET(as_task)(get));
	DROP(room);
}

static void gone(void)
{
	struct doca_sync_event *event = event_make(&b);
	struct doca_sync_event_remote_net *remote = of(event), *late = of(event);
	struct doca_buf *to = side_room(&a, a.map, a.mem, 8);
	struct doca_rdma_task_remote_net_sync_event_get *get = NULL;
	union doca_data user = {.u64 = 1};
	unsigned good = a.good;

	CHECK_OK(event_get(&a, to_b, remote, to, 1));
	UNTIL(&a, a.good == good + 1);
	CHECK_OK(doca_buf_reset_data_len(to));
	/* Destroyed at this side between the making of the task and its submit. */
	MUST(GET(allocate_init)(a.rdma, to_b, late, to, user, &get));
	CHECK_OK(doca_sync_event_remote_net_destroy(late));
	fails(doca_task_submit(GET(as_task)(get)));
	/* Stopped at the other side: before and after it was found. */
	late = of(event);
	CHECK_OK(doca_sync_event_stop(event));
	fails(event_get(&a, to_b, remote, to, 2));
	fails(event_get(&a, to_b, late, to, 3));
	CHECK_OK(doca_sync_event_remote_net_destroy(late));
	CHECK_OK(doca_sync_event_remote_net_destroy(remote));
	CHECK_OK(doca_sync_event_destroy(event));
	DROP(to);
}

/* The context of the peer permits it, too, or not at all. */
static void rights(void)
{
	struct doca_sync_event *event;
	struct doca_sync_event_remote_net *remote;
	struct doca_buf *at = side_data(&a, a.map, a.mem, 8);
	uint32_t only[3] = {DOCA_ACCESS_FLAG_RDMA_READ, DOCA_ACCESS_FLAG_RDMA_WRITE, DOCA_ACCESS_FLAG_RDMA_ATOMIC};
	unsigned i, kind;

	for (i = 0; i < 3; i++) {
		side_stop(&b);
		MUST(doca_rdma_set_permissions(b.rdma, only[i]));
		side_start(&b);
		CHECK_OK(doca_rdma_connection_disconnect(to_b));
		event = event_make(&b);
		remote = of(event);
		side_join(&a, &b, &to_b, &to_a);
		for (kind = 0; kind < 3; kind++) {
			unsigned good = a.good, bad = a.bad;

			if (kind == 0)
				CHECK_OK(doca_buf_reset_data_len(at));
			else
				CHECK_OK(doca_buf_set_data(at, a.mem, 8));
			CHECK_OK(kind == 0 ? event_get(&a, to_b, remote, at, 1) :
				 kind == 1 ? event_set(&a, to_b, remote, at, 1) :
					     event_add(&a, to_b, remote, at, 1, 1));
			UNTIL2(&a, &b, a.good + a.bad == good + bad + 1);
			CHECK_U64(a.good - good, i == kind);
			if (i != kind) {
				CHECK_OK(doca_rdma_connection_disconnect(to_b));
				CHECK_OK(doca_rdma_connection_disconnect(to_a));
				side_join(&a, &b, &to_b, &to_a);
			}
		}
		CHECK_OK(doca_sync_event_remote_net_destroy(remote));
		CHECK_OK(doca_sync_event_stop(event));
		CHECK_OK(doca_sync_event_destroy(event));
	}
	DROP(at);
}

int main(void)
{
	struct doca_sync_event *event, *second;
	struct doca_sync_event_remote_net *remote, *other;

	side_make_folder();
	side_prepare(&a, NULL, NULL, BYTES, 8);
	side_prepare(&b, NULL, NULL, BYTES, 8);
	event_conf(&a, 8);
	event_conf(&b, 8);
	CHECK_OK(doca_rdma_cap_task_remote_net_sync_event_get_is_supported(doca_dev_as_devinfo(a.dev)));
	CHECK_OK(doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(doca_dev_as_devinfo(a.dev)));
	CHECK_OK(doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(doca_dev_as_devinfo(a.dev)));
	CHECK_STATUS(doca_rdma_cap_task_remote_net_sync_event_get_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	side_start(&a);
	side_start(&b);
	side_join(&a, &b, &to_b, &to_a);
	event = event_make(&b);
	second = event_make(&b);
	remote = of(event);
	other = of(second);
	in_order(event, remote);
	arguments(remote, other);
	checked(remote);
	CHECK_U64(now(second), 0);
	gone();
	CHECK_OK(doca_sync_event_remote_net_destroy(remote));
	CHECK_OK(doca_sync_event_remote_net_destroy(other));
	CHECK_OK(doca_sync_event_stop(event));
	CHECK_OK(doca_sync_event_destroy(event));
	CHECK_OK(doca_sync_event_stop(second));
	CHECK_OK(doca_sync_event_destroy(second));
	rights();
	side_teardown(&a, 1);
	side_teardown(&b, 1);
	return check_result();
}
