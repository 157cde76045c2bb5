/*
 * Capabilities, settings, what is refused and when; handles that are dead or of another kind; damaged
 * descriptions; a dynamic receiver that takes from peers it never connected to; fields of a task after
 * it was freed; what needs verbs.
 *
 * clauses: rdma Context, Capabilities, Properties, Tasks: shared rules, Verbs bridge; Behaviour 3, 7, 13
 * covers: doca_rdma_cap_get_max_recv_queue_size doca_rdma_cap_get_max_send_queue_size
 *   doca_rdma_cap_get_max_send_buf_list_len doca_rdma_cap_get_max_message_size doca_rdma_cap_get_gid_table_size
 *   doca_rdma_cap_get_gid doca_rdma_cap_transport_type_is_supported doca_rdma_set_recv_queue_size
 *   doca_rdma_get_recv_queue_size doca_rdma_get_send_queue_size doca_rdma_set_transport_type
 *   doca_rdma_get_transport_type doca_rdma_set_mtu doca_rdma_get_mtu doca_rdma_get_permissions
 *   doca_rdma_set_grh_enabled doca_rdma_get_grh_enabled doca_rdma_set_gid_index doca_rdma_get_gid_index
 *   doca_rdma_set_sl doca_rdma_get_sl doca_rdma_get_connection_request_timeout doca_rdma_get_max_num_connections
 *   doca_rdma_get_rnr_retry_count doca_rdma_get_max_send_buf_list_len doca_rdma_task_receive_get_dst_buf_list_len
 *   doca_rdma_cap_task_receive_is_supported doca_rdma_cap_task_receive_get_max_dst_buf_list_len
 *   doca_rdma_task_receive_get_dst_buf doca_rdma_task_receive_set_dst_buf doca_rdma_task_send_get_src_buf
 *   doca_rdma_task_send_set_src_buf doca_rdma_task_send_get_rdma_connection doca_rdma_task_send_set_rdma_connection
 *   doca_rdma_bridge_get_dev_pd doca_rdma_bridge_prepare_connection
 */
#define _GNU_SOURCE
#include <doca_rdma_bridge.h>

#include "rdma_rig.h"

static struct side a, b;

static void capabilities(void)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(a.dev);
	struct doca_rdma_gid gids[2];
	struct ibv_pd *pd = NULL;
	uint32_t rows = 0, n = 0;

	CHECK_OK(doca_rdma_cap_get_max_recv_queue_size(info, &n));
	CHECK(n > 0);
	CHECK_OK(doca_rdma_cap_get_max_message_size(info, &n));
	CHECK_U64(n, 1u << 30);
	CHECK_OK(doca_rdma_cap_get_max_send_buf_list_len(info, &n));
	CHECK(n >= 4);
	CHECK_STATUS(doca_rdma_cap_get_max_send_queue_size(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_cap_get_max_send_queue_size(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_cap_get_gid_table_size(info, &rows));
	CHECK_OK(doca_rdma_cap_get_gid(info, 0, 2, gids));
	CHECK(memcmp(gids[0].raw, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16) != 0);
	CHECK_OK(doca_rdma_cap_get_gid(info, rows - 1, 1, gids));
	CHECK_STATUS(doca_rdma_cap_get_gid(info, rows - 1, 2, gids), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_cap_get_gid(info, UINT32_MAX, 2, gids), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_cap_transport_type_is_supported(info, DOCA_RDMA_TRANSPORT_TYPE_RC));
	CHECK_OK(doca_rdma_cap_transport_type_is_supported(info, DOCA_RDMA_TRANSPORT_TYPE_DC));
	CHECK_STATUS(doca_rdma_cap_transport_type_is_supported(info, (enum doca_rdma_transport_type)2),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_cap_task_receive_is_supported(info));
	CHECK_STATUS(doca_rdma_cap_task_receive_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(info, DOCA_RDMA_TRANSPORT_TYPE_RC, &n));
	CHECK(n >= 4);
	CHECK_STATUS(doca_rdma_bridge_get_dev_pd(a.dev, &pd), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_rdma_bridge_get_dev_pd(NULL, &pd), DOCA_ERROR_INVALID_VALUE);
}

#define SETTING(set_, get_, type_, good_, bad_, code_) \
	do { \
		type_ got_ = 0; \
		CHECK_OK(set_(a.rdma, good_)); \
		CHECK_OK(get_(a.rdma, &got_)); \
		CHECK_U64(got_, good_); \
		CHECK_STATUS(set_(a.rdma, bad_), code_); \
		CHECK_OK(get_(a.rdma, &got_)); \
		CHECK_U64(got_, good_); \
		CHECK_STATUS(get_(a.rdma, NULL), DOCA_ERROR_INVALID_VALUE); \
		CHECK_STATUS(set_(NULL, good_), DOCA_ERROR_INVALID_VALUE); \
	} while (0)

static void settings(void)
{
	enum doca_rdma_transport_type transport;
	enum doca_mtu_size mtu;
	uint32_t n = 0;
	uint16_t connections = 0;

	CHECK_OK(doca_rdma_get_max_num_connections(a.rdma, &connections));
	CHECK(connections >= 1);
	SETTING(doca_rdma_set_send_queue_size, doca_rdma_get_send_queue_size, uint32_t, 64, 0, DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_set_send_queue_size(a.rdma, 1u << 30), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_OK(doca_rdma_set_send_queue_size(a.rdma, 33));
	CHECK_OK(doca_rdma_get_send_queue_size(a.rdma, &n));
	CHECK_U64(n, 64);
	SETTING(doca_rdma_set_permissions, doca_rdma_get_permissions, uint32_t, RDMA_ALL, 1u << 4, DOCA_ERROR_INVALID_VALUE);
	SETTING(doca_rdma_set_grh_enabled, doca_rdma_get_grh_enabled, uint8_t, 1, 0, DOCA_ERROR_NOT_SUPPORTED);
	SETTING(doca_rdma_set_gid_index, doca_rdma_get_gid_index, uint32_t, 1, 100000, DOCA_ERROR_INVALID_VALUE);
	SETTING(doca_rdma_set_sl, doca_rdma_get_sl, uint32_t, 3, 16, DOCA_ERROR_INVALID_VALUE);
	SETTING(doca_rdma_set_connection_request_timeout, doca_rdma_get_connection_request_timeout, uint16_t, 100, 0,
		DOCA_ERROR_INVALID_VALUE);
	SETTING(doca_rdma_set_max_num_connections, doca_rdma_get_max_num_connections, uint16_t, 4, 0,
		DOCA_ERROR_INVALID_VALUE);
	SETTING(doca_rdma_set_rnr_retry_count, doca_rdma_get_rnr_retry_count, uint8_t, 7, 8, DOCA_ERROR_INVALID_VALUE);
	SETTING(doca_rdma_set_max_send_buf_list_len, doca_rdma_get_max_send_buf_list_len, uint32_t, 4, 0,
		DOCA_ERROR_INVALID_VALUE);
	SETTING(doca_rdma_task_receive_set_dst_buf_list_len, doca_rdma_task_receive_get_dst_buf_list_len, uint32_t, 4, 0,
		DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_set_recv_queue_size(a.rdma, 16), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_rdma_get_recv_queue_size(a.rdma, &n), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_rdma_set_mtu(a.rdma, DOCA_MTU_SIZE_RAW_ETHERNET), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_set_mtu(a.rdma, DOCA_MTU_SIZE_1K_BYTES));
	CHECK_OK(doca_rdma_get_mtu(a.rdma, &mtu));
	CHECK_U64(mtu, DOCA_MTU_SIZE_1K_BYTES);
	CHECK_STATUS(doca_rdma_set_transport_type(a.rdma, (enum doca_rdma_transport_type)5), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_set_transport_type(a.rdma, DOCA_RDMA_TRANSPORT_TYPE_RC));
	CHECK_OK(doca_rdma_get_transport_type(a.rdma, &transport));
	CHECK_U64(transport, DOCA_RDMA_TRANSPORT_TYPE_RC);
	CHECK_STATUS(doca_rdma_task_send_set_conf(a.rdma, NULL, side_send_bad, 4), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_task_send_set_conf(a.rdma, side_send_good, side_send_bad, 0), DOCA_ERROR_INVALID_VALUE);
}

static void running(void)
{
	const void *blob_a, *blob_b;
	size_t len_a, len_b, i;
	struct doca_rdma_connection *ab, *ba, *more = NULL;
	struct doca_rdma_task_send *send = NULL;
	struct doca_buf *buf = side_data(&a, a.map, a.mem, 64);
	union doca_data user = {0};
	uint8_t copy[1024];
	uint32_t n = 0;

	CHECK_STATUS(doca_rdma_export(a.rdma, &blob_a, &len_a, &ab), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_task_send_allocate_init(a.rdma, NULL, buf, user, &send), DOCA_ERROR_INVALID_VALUE);
	side_start(&a);
	side_start(&b);
	CHECK_STATUS(doca_rdma_set_sl(a.rdma, 1), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_set_permissions(a.rdma, 0), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_destroy(a.rdma), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_rdma_export(a.rdma, NULL, &len_a, &ab), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_rdma_export(a.rdma, &blob_a, &len_a, &ab));
	MUST(doca_rdma_export(b.rdma, &blob_b, &len_b, &ba));
	MUST_BE(len_b <= sizeof(copy));
	/* Damaged in any byte, cut, of nobody. */
	for (i = 0; i < len_b; i++) {
		memcpy(copy, blob_b, len_b);
		copy[i] ^= 0x10;
		CHECK_STATUS(doca_rdma_connect(a.rdma, copy, len_b, ab), DOCA_ERROR_CONNECTION_ABORTED);
		CHECK_STATUS2(doca_rdma_connect(a.rdma, blob_b, i, ab), DOCA_ERROR_CONNECTION_ABORTED,
			      DOCA_ERROR_INVALID_VALUE);
	}
	CHECK_STATUS(doca_rdma_connect(a.rdma, NULL, len_b, ab), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_connect(a.rdma, blob_b, 0, ab), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_connect(a.rdma, blob_b, len_b, ba), DOCA_ERROR_INVALID_VALUE);
	/* Not connected yet: the task fails. */
	CHECK_OK(side_write(&a, ab, NULL, NULL, 1));
	UNTIL(&a, a.bad == 1);
	MUST(doca_rdma_connect(a.rdma, blob_b, len_b, ab));
	CHECK_STATUS(doca_rdma_connect(a.rdma, blob_b, len_b, ab), DOCA_ERROR_BAD_STATE);
	/* One peer each. */
	MUST(doca_rdma_export(a.rdma, &blob_a, &len_a, &more));
	CHECK_STATUS(doca_rdma_connect(a.rdma, blob_b, len_b, more), DOCA_ERROR_CONNECTION_ABORTED);
	for (i = 2; i < 4; i++)
		MUST(doca_rdma_export(a.rdma, &blob_a, &len_a, &more));
	CHECK_STATUS(doca_rdma_export(a.rdma, &blob_a, &len_a, &more), DOCA_ERROR_FULL);
	/* Fields, also after the task was freed. */
	MUST(doca_rdma_task_send_allocate_init(a.rdma, ab, buf, user, &send));
	CHECK_PTR(doca_rdma_task_send_get_src_buf(send), buf);
	CHECK_PTR(doca_rdma_task_send_get_rdma_connection(send), ab);
	doca_rdma_task_send_set_rdma_connection(send, more);
	CHECK_PTR(doca_rdma_task_send_get_rdma_connection(send), more);
	doca_rdma_task_send_set_src_buf(send, NULL);
	CHECK_PTR(doca_rdma_task_send_get_src_buf(send), NULL);
	doca_rdma_task_send_set_src_buf(send, buf);
	doca_task_free(doca_rdma_task_send_as_task(send));
	CHECK_PTR(doca_rdma_task_send_get_src_buf(send), buf);
	/* Wrong kinds. */
	CHECK_STATUS(doca_rdma_connection_get_id((struct doca_rdma_connection *)a.rdma, &n), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_connection_disconnect(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_rdma_as_ctx(NULL), NULL);
	DROP(buf);
	side_stop(&a);
	side_stop(&b);
	CHECK_STATUS(doca_rdma_connection_get_id(ab, &n), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_ctx_stop(a.ctx));
}

/* The receiver only exports; two senders connect with the same description. */
static void dynamic(void)
{
	struct doca_rdma_connection *from_a, *from_b, *to;
	const void *blob, *unused;
	size_t len, ignore;
	struct side c;
	struct doca_buf *one, *two;
	unsigned i;

	side_prepare(&c, NULL, NULL, 1 << 16, 16);
	CHECK_OK(doca_rdma_set_transport_type(a.rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	CHECK_OK(doca_rdma_set_transport_type(b.rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	side_start(&a);
	side_start(&b);
	side_start(&c);
	MUST(doca_rdma_export(c.rdma, &blob, &len, &to));
	MUST(doca_rdma_export(a.rdma, &unused, &ignore, &from_a));
	/* A reliable connection is no dynamic one. */
	CHECK_STATUS(doca_rdma_connect(a.rdma, blob, len, from_a), DOCA_ERROR_CONNECTION_ABORTED);
	side_stop(&c);
	CHECK_OK(doca_rdma_set_transport_type(c.rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	side_start(&c);
	MUST(doca_rdma_export(c.rdma, &blob, &len, &to));
	MUST(doca_rdma_export(b.rdma, &unused, &ignore, &from_b));
	MUST(doca_rdma_connect(a.rdma, blob, len, from_a));
	MUST(doca_rdma_connect(b.rdma, blob, len, from_b));
	one = side_data(&a, a.map, a.mem, 100);
	two = side_data(&b, b.map, b.mem, 100);
	for (i = 0; i < 10; i++) {
		struct doca_buf *room = side_room(&c, c.map, c.mem, 100);
		struct side *from = i % 2 == 0 ? &a : &b;
		unsigned got = c.receives, good = from->good;

		CHECK_OK(side_receive(&c, room, i));
		CHECK_OK(side_send(from, i % 2 == 0 ? from_a : from_b, i % 2 == 0 ? one : two, i));
		UNTIL2(&c, from, c.receives == got + 1 && from->good == good + 1);
		CHECK_BYTES(c.mem, from->mem, 100);
		DROP(room);
	}
	DROP(one);
	DROP(two);
	side_teardown(&c, 1);
}

int main(void)
{
	struct doca_rdma *rdma = NULL;

	side_make_folder();
	side_prepare(&a, NULL, NULL, 1 << 16, 8);
	side_prepare(&b, "b1:00.0", NULL, 1 << 16, 8);
	CHECK_STATUS(doca_rdma_create(NULL, &rdma), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_create(a.dev, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_bridge_prepare_connection(a.rdma, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	capabilities();
	settings();
	running();
	dynamic();
	side_teardown(&a, 1);
	side_teardown(&b, 1);
	return check_result();
}
