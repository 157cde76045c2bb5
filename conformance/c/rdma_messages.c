/*
 * Messages between two contexts of one process: with and without immediate data, empty, lists, large
 * ones, receives shared by several connections, sends before the receive and before the peer has
 * connected, order, a message that is too long, a receiver that is never ready, a full send queue.
 *
 * clauses: rdma Receive, Send, Send with immediate, Write with immediate; Behaviour 2, 3, 8, 9, 14
 * covers: doca_rdma_task_receive_set_conf doca_rdma_task_receive_allocate_init doca_rdma_task_receive_as_task
 *   doca_rdma_task_receive_get_result_opcode doca_rdma_task_receive_get_result_len
 *   doca_rdma_task_receive_get_result_immediate_data doca_rdma_task_receive_get_result_rdma_connection
 *   doca_rdma_task_send_set_conf doca_rdma_task_send_allocate_init doca_rdma_task_send_as_task
 *   doca_rdma_task_send_imm_set_conf doca_rdma_task_send_imm_allocate_init doca_rdma_task_send_imm_as_task
 *   doca_rdma_task_write_imm_set_conf doca_rdma_task_write_imm_allocate_init doca_rdma_task_write_imm_as_task
 *   doca_rdma_set_max_send_buf_list_len doca_rdma_task_receive_set_dst_buf_list_len doca_rdma_set_send_queue_size
 *   doca_rdma_set_rnr_retry_count doca_rdma_connection_get_id doca_rdma_connection_disconnect
 */
#define _GNU_SOURCE
#include "rdma_rig.h"

#define BYTES (4u << 20)

static struct side a, b;
static struct doca_rdma_connection *ab, *ba;

static void message(size_t len, int imm)
{
	struct doca_buf *from = len == 0 ? NULL : side_data(&a, a.map, a.mem, len);
	struct doca_buf *to = side_room(&b, b.map, b.mem, len + 10);
	unsigned sent = a.good, got = b.receives;
	size_t filled = 0;
	void *data = NULL;

	memset(b.mem, 0, len + 10);
	CHECK_OK(side_receive(&b, to, 7));
	side_progress(&b);
	if (imm)
		CHECK_OK(side_send_imm(&a, ab, from, 0x01020304, 8));
	else
		CHECK_OK(side_send(&a, ab, from, 8));
	UNTIL2(&a, &b, a.good == sent + 1 && b.receives == got + 1);
	CHECK_BYTES(b.mem, a.mem, len);
	CHECK_U64(b.mem[len], 0);
	CHECK_U64(b.got_len, len);
	CHECK_U64(b.got_op, imm ? DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM : DOCA_RDMA_OPCODE_RECV_SEND);
	if (imm)
		CHECK_U64(b.got_imm, 0x01020304);
	CHECK_OK(doca_buf_get_data_len(to, &filled));
	CHECK_U64(filled, len);
	CHECK_OK(doca_buf_get_data(to, &data));
	CHECK_PTR(data, b.mem);
	if (from != NULL)
		DROP(from);
	DROP(to);
}

static void lists(void)
{
	struct doca_buf *one = side_data(&a, a.map, a.mem, 50001), *two = side_data(&a, a.map, a.mem + 100000, 30000);
	struct doca_buf *x = side_room(&b, b.map, b.mem, 17), *y = side_room(&b, b.map, b.mem + 1000, 40000);
	struct doca_buf *z = side_room(&b, b.map, b.mem + 500000, 60000);
	unsigned got = b.receives;
	size_t filled = 0;

	CHECK_OK(doca_buf_chain_list(one, two));
	CHECK_OK(doca_buf_chain_list(x, y));
	CHECK_OK(doca_buf_chain_list(x, z));
	CHECK_OK(side_receive(&b, x, 1));
	CHECK_OK(side_send(&a, ab, one, 2));
	UNTIL2(&a, &b, b.receives == got + 1);
	CHECK_BYTES(b.mem, a.mem, 17);
	CHECK_BYTES(b.mem + 1000, a.mem + 17, 40000);
	CHECK_BYTES(b.mem + 500000, a.mem + 40017, 50001 - 40017);
	CHECK_BYTES(b.mem + 500000 + 50001 - 40017, a.mem + 100000, 30000);
	CHECK_OK(doca_buf_get_data_len(z, &filled));
	CHECK_U64(filled, 80001 - 40017);
	UNTIL(&a, a.order[a.good - 1] == 2);
	DROP(one);
	DROP(x);
}

static void write_with_immediate(void)
{
	struct doca_mmap *remote = side_import(&b, &a);
	struct doca_buf *from = side_data(&a, a.map, a.mem, 300000), *to = side_room(&a, remote, b.mem + 77, 300000);
	unsigned got = b.receives, sent = a.good;

	memset(b.mem, 0, 400000);
	CHECK_OK(side_receive(&b, NULL, 1));
	CHECK_OK(side_write_imm(&a, ab, from, to, 0xdeadbeef, 2));
	UNTIL2(&a, &b, b.receives == got + 1 && a.good == sent + 1);
	CHECK_BYTES(b.mem + 77, a.mem, 300000);
	CHECK_U64(b.got_op, DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
	CHECK_U64(b.got_imm, 0xdeadbeef);
	/* A plain write and the send behind it: who has the message sees the bytes. */
	memset(b.mem, 0, 400000);
	CHECK_OK(side_receive(&b, NULL, 1));
	CHECK_OK(side_write(&a, ab, from, to, 3));
	CHECK_OK(side_send(&a, ab, NULL, 4));
	while (b.receives != got + 2) {
		doca_pe_progress(a.pe);
		doca_pe_progress(b.pe);
	}
	CHECK_BYTES(b.mem + 77, a.mem, 300000);
	UNTIL(&a, a.good == sent + 3);
	DROP(from);
	DROP(to);
	CHECK_OK(doca_mmap_destroy(remote));
}

/* The message waits for its receive; it waits for the peer to connect, too. */
static void early(void)
{
	struct doca_rdma_connection *there, *here;
	struct doca_buf *from = side_data(&a, a.map, a.mem, 64), *to = side_room(&b, b.map, b.mem, 64);
	const void *blob_a, *blob_b;
	size_t len_a, len_b;
	unsigned sent = a.good, got = b.receives;
	uint32_t id = 0;
	int i;

	CHECK_OK(side_send(&a, ab, from, 5));
	for (i = 0; i < 50; i++) {
		side_progress(&a);
		side_progress(&b);
	}
	CHECK_U64(a.good, sent);
	CHECK_OK(side_receive(&b, to, 6));
	UNTIL2(&a, &b, a.good == sent + 1 && b.receives == got + 1);

	MUST(doca_rdma_export(a.rdma, &blob_a, &len_a, &there));
	MUST(doca_rdma_export(b.rdma, &blob_b, &len_b, &here));
	MUST(doca_rdma_connect(a.rdma, blob_b, len_b, there));
	CHECK_OK(doca_buf_reset_data_len(to));
	CHECK_OK(side_receive(&b, to, 6));
	CHECK_OK(side_send(&a, there, from, 5));
	for (i = 0; i < 50; i++) {
		side_progress(&a);
		side_progress(&b);
	}
	CHECK_U64(a.good, sent + 1);
	MUST(doca_rdma_connect(b.rdma, blob_a, len_a, here));
	UNTIL2(&a, &b, a.good == sent + 2 && b.receives == got + 2);
	CHECK_OK(doca_rdma_connection_get_id(here, &id));
	CHECK_U64(b.got_id, id);
	CHECK_U64(a.bad + b.bad, 0);
	/* And the other way. */
	CHECK_OK(doca_buf_reset_data_len(to));
	DROP(from);
	DROP(to);
	from = side_data(&b, b.map, b.mem, 64);
	to = side_room(&a, a.map, a.mem + 4096, 64);
	got = a.receives;
	CHECK_OK(side_receive(&a, to, 1));
	CHECK_OK(side_send(&b, here, from, 2));
	UNTIL2(&a, &b, a.receives == got + 1);
	CHECK_OK(doca_rdma_connection_get_id(there, &id));
	CHECK_U64(a.got_id, id);
	UNTIL(&b, b.order[b.good - 1] == 2);
	DROP(from);
	DROP(to);
	CHECK_OK(doca_rdma_connection_disconnect(there));
	CHECK_OK(doca_rdma_connection_disconnect(here));
}

/* Many messages over one connection: every one once, in order; tasks report in order of submission. */
static void order(void)
{
	struct doca_buf *from[16], *to[16];
	unsigned sent = a.good, got = b.good, i, round;

	for (i = 0; i < 16; i++) {
		from[i] = side_data(&a, a.map, a.mem + i * 64, 8);
		to[i] = side_room(&b, b.map, b.mem + i * 64, 8);
	}
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 16; i++) {
			uint64_t number = round * 16 + i;

			memcpy(a.mem + i * 64, &number, 8);
			CHECK_OK(doca_buf_reset_data_len(to[i]));
			CHECK_OK(side_receive(&b, to[i], number));
			CHECK_OK(side_send(&a, ab, from[i], number));
		}
		UNTIL2(&a, &b, a.good == sent + 16 * (round + 1) && b.good == got + 16 * (round + 1));
		for (i = 0; i < 16; i++) {
			uint64_t number = round * 16 + i, there;

			memcpy(&there, b.mem + i * 64, 8);
			CHECK_U64(there, number);
			CHECK_U64(a.order[sent + number], number);
			CHECK_U64(b.order[got + number], number);
		}
	}
	for (i = 0; i < 16; i++) {
		DROP(from[i]);
		DROP(to[i]);
	}
}

static void again(void)
{
	CHECK_OK(doca_rdma_connection_disconnect(ab));
	CHECK_OK(doca_rdma_connection_disconnect(ba));
	side_progress(&a);
	side_progress(&b);
	side_join(&a, &b, &ab, &ba);
}

static void too_long(void)
{
	struct doca_buf *from = side_data(&a, a.map, a.mem, 65), *to = side_room(&b, b.map, b.mem, 64);
	unsigned sent = a.bad, got = b.bad;

	CHECK_OK(side_receive(&b, to, 1));
	CHECK_OK(side_send(&a, ab, from, 2));
	UNTIL2(&a, &b, a.bad == sent + 1 && b.bad == got + 1);
	CHECK_U64(a.status[a.good + a.bad - 1], DOCA_ERROR_IO_FAILED);
	CHECK_U64(b.status[b.good + b.bad - 1], DOCA_ERROR_IO_FAILED);
	DROP(from);
	DROP(to);
	again();
	message(64, 0);
}

int main(void)
{
	struct side c;
	struct doca_rdma_connection *cb, *bc;
	struct doca_rdma_task_send *task[5];
	union doca_data user;
	unsigned i, full = 0;
	uint32_t size = 0;

	side_make_folder();
	side_prepare(&a, NULL, NULL, BYTES, 16);
	side_prepare(&b, NULL, NULL, BYTES, 16);
	side_start(&a);
	side_start(&b);
	side_join(&a, &b, &ab, &ba);
	message(0, 0);
	message(0, 1);
	message(1, 0);
	message(64, 1);
	message(4096, 0);
	message(16384, 1);
	message(16385, 0);
	message(1u << 20, 0);
	lists();
	write_with_immediate();
	early();
	order();
	too_long();

	/* A peer that never posts a receive; a queue of four. */
	side_prepare(&c, NULL, NULL, BYTES, 16);
	CHECK_OK(doca_rdma_set_rnr_retry_count(c.rdma, 1));
	CHECK_OK(doca_rdma_set_send_queue_size(c.rdma, 3));
	side_start(&c);
	CHECK_OK(doca_rdma_get_send_queue_size(c.rdma, &size));
	CHECK_U64(size, 4);
	side_join(&c, &b, &cb, &bc);
	user.u64 = 1;
	for (i = 0; i < 5; i++) {
		MUST(doca_rdma_task_send_allocate_init(c.rdma, cb, NULL, user, &task[i]));
		switch (doca_task_submit(doca_rdma_task_send_as_task(task[i]))) {
		case DOCA_SUCCESS:
			break;
		case DOCA_ERROR_FULL:
			full++;
			doca_task_free(doca_rdma_task_send_as_task(task[i]));
			break;
		default:
			CHECK(0);
		}
	}
	CHECK_U64(full, 1);
	UNTIL2(&c, &b, c.bad == 4);
	CHECK_U64(c.good, 0);

	/* Receives that nobody uses, and sends that wait, are flushed by a stop. */
	CHECK_OK(side_receive(&b, NULL, 1));
	CHECK_OK(side_send(&a, ab, NULL, 1));
	UNTIL2(&a, &b, b.receives > 0 && a.order[a.good + a.bad - 1] == 1);
	CHECK_OK(side_send(&a, ab, NULL, 77));
	side_progress(&a);
	i = a.bad;
	side_stop(&a);
	CHECK_U64(a.bad, i + 1);
	CHECK_U64(a.order[a.good + a.bad - 1], 77);
	side_teardown(&a, 1);
	side_teardown(&b, 1);
	side_teardown(&c, 1);
	return check_result();
}
