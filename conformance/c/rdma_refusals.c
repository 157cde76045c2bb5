/*
 * What every kind of task refuses alike: NULL, callbacks that are missing, settings of a context that
 * runs, kinds that were not configured, an empty pool. Short messages that do not go the usual way: on
 * another connection than they were made for, into room that is too short, in pieces, of nothing,
 * behind a long one.
 *
 * clauses: rdma Properties, Tasks: shared rules, Send, Receive; Behaviour Ordering
 * covers: doca_rdma_cap_task_send_is_supported doca_rdma_cap_task_send_imm_is_supported
 *   doca_rdma_cap_task_read_is_supported doca_rdma_cap_task_write_is_supported
 *   doca_rdma_cap_task_write_imm_is_supported doca_rdma_cap_task_atomic_cmp_swp_is_supported
 *   doca_rdma_cap_task_atomic_fetch_add_is_supported doca_rdma_task_send_set_conf doca_rdma_task_send_imm_set_conf
 *   doca_rdma_task_read_set_conf doca_rdma_task_write_set_conf doca_rdma_task_write_imm_set_conf
 *   doca_rdma_task_atomic_cmp_swp_set_conf doca_rdma_task_atomic_fetch_add_set_conf doca_rdma_task_receive_set_conf
 *   doca_rdma_task_send_set_rdma_connection doca_rdma_task_send_allocate_init doca_rdma_task_receive_allocate_init
 */
#define _GNU_SOURCE
#include "rdma_rig.h"

#define TASKS 4

static struct side a, b;

/* The tasks of a kind up to an empty pool; `...` is what allocates one, into `task`. */
#define DRAIN(kind_, ...) \
	do { \
		struct doca_rdma_task_##kind_ *all_[TASKS], *task = NULL; \
		unsigned i_; \
\
		for (i_ = 0; i_ < TASKS; i_++) { \
			MUST(__VA_ARGS__); \
			all_[i_] = task; \
		} \
		CHECK_STATUS(__VA_ARGS__, DOCA_ERROR_NO_MEMORY); \
		for (i_ = 0; i_ < TASKS; i_++) \
			doca_task_free(doca_rdma_task_##kind_##_as_task(all_[i_])); \
		MUST(__VA_ARGS__); \
		CHECK(doca_rdma_task_##kind_##_as_task(task) != NULL); \
		doca_task_free(doca_rdma_task_##kind_##_as_task(task)); \
	} while (0)

/* What holds before the start. */
#define IDLE(kind_) \
	do { \
		CHECK_OK(doca_rdma_cap_task_##kind_##_is_supported(doca_dev_as_devinfo(a.dev))); \
		CHECK_STATUS(doca_rdma_cap_task_##kind_##_is_supported(NULL), DOCA_ERROR_INVALID_VALUE); \
		CHECK_STATUS(doca_rdma_task_##kind_##_set_conf(NULL, side_##kind_##_good, side_##kind_##_bad, 1), \
			     DOCA_ERROR_INVALID_VALUE); \
		CHECK_STATUS(doca_rdma_task_##kind_##_set_conf(a.rdma, NULL, side_##kind_##_bad, 1), \
			     DOCA_ERROR_INVALID_VALUE); \
		CHECK_STATUS(doca_rdma_task_##kind_##_set_conf(a.rdma, side_##kind_##_good, NULL, 1), \
			     DOCA_ERROR_INVALID_VALUE); \
		CHECK_STATUS(doca_rdma_task_##kind_##_set_conf(a.rdma, side_##kind_##_good, side_##kind_##_bad, 0), \
			     DOCA_ERROR_INVALID_VALUE); \
	} while (0)

#define RUNNING(kind_) \
	CHECK_STATUS(doca_rdma_task_##kind_##_set_conf(a.rdma, side_##kind_##_good, side_##kind_##_bad, TASKS), \
		     DOCA_ERROR_BAD_STATE)

#define EVERY(what_) \
	do { \
		what_(receive); \
		what_(send); \
		what_(send_imm); \
		what_(read); \
		what_(write); \
		what_(write_imm); \
		what_(atomic_cmp_swp); \
		what_(atomic_fetch_add); \
	} while (0)

static void settings_stay(void)
{
	CHECK_STATUS(doca_rdma_set_send_queue_size(a.rdma, 64), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_set_max_send_buf_list_len(a.rdma, 2), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_task_receive_set_dst_buf_list_len(a.rdma, 2), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_set_transport_type(a.rdma, DOCA_RDMA_TRANSPORT_TYPE_RC), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_set_mtu(a.rdma, DOCA_MTU_SIZE_1K_BYTES), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_set_permissions(a.rdma, 0), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_set_grh_enabled(a.rdma, 1), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_set_gid_index(a.rdma, 0), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_set_sl(a.rdma, 0), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_set_connection_request_timeout(a.rdma, 100), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_set_max_num_connections(a.rdma, 4), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_set_rnr_retry_count(a.rdma, 7), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_set_connection_state_callbacks(a.rdma, side_request_cb, side_established_cb,
							      side_failed_cb, side_ended_cb),
		     DOCA_ERROR_BAD_STATE);
}

static void pools_end(struct doca_rdma_connection *to)
{
	struct doca_buf *buf = side_data(&a, a.map, a.mem, 8);
	union doca_data user = {0};

	DRAIN(receive, doca_rdma_task_receive_allocate_init(a.rdma, buf, user, &task));
	DRAIN(send, doca_rdma_task_send_allocate_init(a.rdma, to, buf, user, &task));
	DRAIN(send_imm, doca_rdma_task_send_imm_allocate_init(a.rdma, to, buf, 1, user, &task));
	DRAIN(read, doca_rdma_task_read_allocate_init(a.rdma, to, buf, buf, user, &task));
	DRAIN(write, doca_rdma_task_write_allocate_init(a.rdma, to, buf, buf, user, &task));
	DRAIN(write_imm, doca_rdma_task_write_imm_allocate_init(a.rdma, to, buf, buf, 1, user, &task));
	DRAIN(atomic_cmp_swp, doca_rdma_task_atomic_cmp_swp_allocate_init(a.rdma, to, buf, buf, 1, 2, user, &task));
	DRAIN(atomic_fetch_add, doca_rdma_task_atomic_fetch_add_allocate_init(a.rdma, to, buf, buf, 1, user, &task));
	DROP(buf);
}

/* A kind that was not configured has no tasks. */
static void kinds_are_asked_for(void)
{
	struct doca_rdma_task_write *write = NULL;
	struct doca_rdma_task_send *send = NULL;
	union doca_data user = {0};
	struct doca_rdma_connection *conn;
	struct doca_rdma *rdma;
	const void *blob;
	size_t len;

	MUST(doca_rdma_create(a.dev, &rdma));
	MUST(doca_pe_connect_ctx(a.pe, doca_rdma_as_ctx(rdma)));
	MUST(doca_rdma_task_send_set_conf(rdma, side_send_good, side_send_bad, 1));
	MUST(doca_ctx_start(doca_rdma_as_ctx(rdma)));
	MUST(doca_rdma_export(rdma, &blob, &len, &conn));
	CHECK(doca_rdma_task_write_allocate_init(rdma, conn, NULL, NULL, user, &write) != DOCA_SUCCESS);
	MUST(doca_rdma_task_send_allocate_init(rdma, conn, NULL, user, &send));
	doca_task_free(doca_rdma_task_send_as_task(send));
	CHECK_STATUS2(doca_ctx_stop(doca_rdma_as_ctx(rdma)), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	while (doca_rdma_destroy(rdma) != DOCA_SUCCESS)
		doca_pe_progress(a.pe);
}

/* Sends what `from` holds and checks what arrives behind `before` bytes of data. */
static void arrives(struct doca_rdma_connection *to, struct doca_buf *from, size_t len, size_t before)
{
	struct doca_buf *room = side_room(&b, b.map, b.mem + 32768, before + len + 16);
	unsigned got = b.receives, sent = a.good;
	void *head;
	size_t have;

	MUST(doca_buf_set_data(room, b.mem + 32768, before));
	memset(b.mem + 32768, 0xee, before + len + 16);
	CHECK_OK(side_receive(&b, room, 1));
	CHECK_OK(side_send(&a, to, from, 2));
	UNTIL2(&a, &b, b.receives == got + 1 && a.good == sent + 1);
	CHECK_U64(b.got_len, len);
	CHECK_U64(b.got_op, DOCA_RDMA_OPCODE_RECV_SEND);
	CHECK_OK(doca_buf_get_data(room, &head));
	CHECK_OK(doca_buf_get_data_len(room, &have));
	CHECK_PTR(head, b.mem + 32768);
	CHECK_U64(have, before + len);
	CHECK_BYTES(b.mem + 32768 + before, a.mem, len);
	CHECK_U64(b.mem[32768 + before + len], 0xee);
	if (before > 0)
		CHECK_U64(b.mem[32768 + before - 1], 0xee);
	DROP(room);
}

static void short_messages(struct doca_rdma_connection *first, struct doca_rdma_connection *second)
{
	static const size_t sizes[] = {1, 7, 64, 65, 1000, 16384, 16385};
	struct doca_rdma_task_send *send = NULL;
	struct doca_buf *one, *two, *room, *little;
	union doca_data user = {0};
	unsigned got, sent, i;
	uint32_t id = 0;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		one = side_data(&a, a.map, a.mem, sizes[i]);
		arrives(first, one, sizes[i], 0);
		arrives(first, one, sizes[i], 5);
		DROP(one);
	}
	/* Two pieces are one message; none is an empty one, also into no buffer at all. */
	one = side_data(&a, a.map, a.mem, 40);
	two = side_data(&a, a.map, a.mem + 40, 24);
	MUST(doca_buf_chain_list(one, two));
	arrives(first, one, 64, 3);
	DROP(one);
	arrives(first, NULL, 0, 9);
	got = b.receives;
	CHECK_OK(side_receive(&b, NULL, 1));
	CHECK_OK(side_send(&a, first, NULL, 2));
	UNTIL2(&a, &b, b.receives == got + 1);
	/* A long one, and a short one that must not overtake it. */
	one = side_data(&a, a.map, a.mem, 30000);
	two = side_data(&a, a.map, a.mem + 100, 64);
	room = side_room(&b, b.map, b.mem, 30000);
	little = side_room(&b, b.map, b.mem + 30000, 64);
	got = b.receives;
	CHECK_OK(side_receive(&b, room, 71));
	CHECK_OK(side_receive(&b, little, 72));
	CHECK_OK(side_send(&a, first, one, 3));
	CHECK_OK(side_send(&a, first, two, 4));
	UNTIL2(&a, &b, b.receives == got + 2);
	CHECK_U64(b.order[b.good + b.bad - 2], 71);
	CHECK_U64(b.order[b.good + b.bad - 1], 72);
	CHECK_BYTES(b.mem, a.mem, 30000);
	CHECK_BYTES(b.mem + 30000, a.mem + 100, 64);
	DROP(one);
	DROP(room);
	DROP(little);
	/* Made for one connection, sent on another. */
	little = side_room(&b, b.map, b.mem, 64);
	MUST(doca_rdma_task_send_allocate_init(a.rdma, first, two, user, &send));
	doca_rdma_task_send_set_rdma_connection(send, second);
	CHECK_OK(doca_rdma_connection_get_id(second, &id));
	got = b.receives;
	sent = a.good;
	CHECK_OK(side_receive(&b, little, 5));
	CHECK_OK(doca_task_submit(doca_rdma_task_send_as_task(send)));
	UNTIL2(&a, &b, b.receives == got + 1 && a.good == sent + 1);
	CHECK_U64(b.got_id, b.last_user);
	DROP(little);
	/* Too long for the receive: both ends fail, and the connection with them. */
	little = side_room(&b, b.map, b.mem, 63);
	CHECK_OK(side_receive(&b, little, 6));
	CHECK_OK(side_send(&a, first, two, 7));
	UNTIL2(&a, &b, a.bad == 1 && b.bad == 1);
	CHECK_STATUS(a.last_status, DOCA_ERROR_IO_FAILED);
	CHECK_STATUS(b.last_status, DOCA_ERROR_IO_FAILED);
	CHECK_OK(side_send(&a, first, two, 8));
	UNTIL2(&a, &b, a.bad == 2);
	DROP(little);
	DROP(two);
}

int main(void)
{
	struct doca_rdma_connection *ab, *ba, *ab2, *ba2;
	uint32_t id = 0;

	side_make_folder();
	side_prepare(&a, NULL, NULL, 1 << 16, TASKS);
	side_prepare(&b, "b1:00.0", NULL, 1 << 16, TASKS);
	EVERY(IDLE);
	/* What was refused has changed nothing. */
	side_start(&a);
	side_start(&b);
	EVERY(RUNNING);
	settings_stay();
	side_join(&a, &b, &ab, &ba);
	side_join(&a, &b, &ab2, &ba2);
	CHECK_OK(doca_rdma_connection_get_id(ba2, &id));
	b.last_user = id;
	pools_end(ab);
	kinds_are_asked_for();
	short_messages(ab, ab2);
	side_teardown(&a, 1);
	side_teardown(&b, 1);
	return check_result();
}
