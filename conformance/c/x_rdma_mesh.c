/*
 * clauses: engine-rdma
 * covers: @
 *
 * A star of one hub and six leaves, all on one progress engine and one thread. Whatever lands at the hub is answered on
 * the connection it came from, by one send task that is aimed at another connection each time; receives are a pool for
 * all connections. At the end the hub is stopped from a callback while its receives are posted.
 */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "check.h"

#define LEAVES 6
#define ROUNDS 200
#define ROOM 64

static struct doca_pe *pe;
static struct doca_dev *dev;
static struct doca_mmap *map;
static struct doca_buf_inventory *inventory;
static char memory[64 * ROOM] __attribute__((aligned(64)));

struct leaf {
	struct doca_rdma *rdma;
	struct doca_rdma_connection *conn, *hub_conn;
	struct doca_buf *out, *in;
	struct doca_rdma_task_send *send;
	int answers, wrong, flushed;
	uint32_t number;
};
static struct leaf leaves[LEAVES];
static struct doca_rdma *hub;
static struct doca_rdma_task_send *answer;
static struct doca_buf *answer_buf;
static int hub_got, hub_flushed, hub_busy, hub_states[4];
static struct doca_rdma_task_receive *waiting[LEAVES];
static int num_waiting;

static struct doca_buf *window(int at, int filled)
{
	struct doca_buf *buf = NULL;

	CHECK_U64(filled ? doca_buf_inventory_buf_get_by_data(inventory, map, memory + at * ROOM, ROOM, &buf) :
			   doca_buf_inventory_buf_get_by_addr(inventory, map, memory + at * ROOM, ROOM, &buf),
		  DOCA_SUCCESS);
	return buf;
}

static int leaf_of(const struct doca_rdma_connection *conn)
{
	for (int i = 0; i < LEAVES; i++)
		if (leaves[i].hub_conn == conn)
			return i;
	return -1;
}

/* Answers what a receive holds, with the one send task there is. */
static void answer_to(struct doca_rdma_task_receive *task)
{
	struct doca_buf *in = doca_rdma_task_receive_get_dst_buf(task);
	const struct doca_rdma_connection *conn = doca_rdma_task_receive_get_result_rdma_connection(task);
	void *data, *to;

	CHECK_U64(doca_buf_get_data(in, &data), DOCA_SUCCESS);
	CHECK_U64(doca_buf_get_data(answer_buf, &to), DOCA_SUCCESS);
	memcpy(to, data, doca_rdma_task_receive_get_result_len(task));
	((char *)to)[0] ^= 0x55;
	doca_rdma_task_send_set_rdma_connection(answer, (struct doca_rdma_connection *)conn);
	CHECK(doca_rdma_task_send_get_rdma_connection(answer) == conn);
	hub_busy = 1;
	CHECK_U64(doca_task_submit(doca_rdma_task_send_as_task(answer)), DOCA_SUCCESS);
}

static void post_again(struct doca_rdma_task_receive *task)
{
	CHECK_U64(doca_buf_reset_data_len(doca_rdma_task_receive_get_dst_buf(task)), DOCA_SUCCESS);
	CHECK_U64(doca_task_submit(doca_rdma_task_receive_as_task(task)), DOCA_SUCCESS);
}

/* Messages that came while the answer was on its way are kept with their tasks. Which connection they came on is only
 * promised inside the callback, so it is noted in the task's user data. */
static void hub_received(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
	const struct doca_rdma_connection *conn = doca_rdma_task_receive_get_result_rdma_connection(task);
	struct doca_buf *in = doca_rdma_task_receive_get_dst_buf(task);
	int from = leaf_of(conn);
	void *data;

	(void)task_data;
	CHECK(ctx_data.ptr == &hub);
	hub_got++;
	CHECK(from >= 0);
	CHECK_U64(doca_rdma_task_receive_get_result_opcode(task), DOCA_RDMA_OPCODE_RECV_SEND);
	CHECK_U64(doca_rdma_task_receive_get_result_len(task), (size_t)(8 + from));
	CHECK_U64(doca_buf_get_data(in, &data), DOCA_SUCCESS);
	CHECK_U64(((unsigned char *)data)[1], (unsigned)from);
	CHECK(num_waiting < LEAVES);
	if (hub_busy) {
		waiting[num_waiting++] = task;
		return;
	}
	answer_to(task);
	post_again(task);
}

static void hub_failed(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
	struct doca_buf *in = doca_rdma_task_receive_get_dst_buf(task);

	(void)task_data, (void)ctx_data;
	hub_flushed++;
	CHECK(doca_task_get_status(doca_rdma_task_receive_as_task(task)) != DOCA_SUCCESS);
	doca_task_free(doca_rdma_task_receive_as_task(task));
	CHECK(doca_rdma_task_receive_get_dst_buf(task) == in);
	CHECK_U64(doca_buf_dec_refcount(in, NULL), DOCA_SUCCESS);
}

static void hub_answered(struct doca_rdma_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data, (void)ctx_data;
	CHECK(task == answer);
	hub_busy = 0;
	if (num_waiting > 0) {
		struct doca_rdma_task_receive *next = waiting[0];

		memmove(waiting, waiting + 1, --num_waiting * sizeof(waiting[0]));
		answer_to(next);
		post_again(next);
	}
}

static void hub_not_answered(struct doca_rdma_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task, (void)task_data, (void)ctx_data;
	CHECK(!"an answer failed");
}

static void leaf_sent(struct doca_rdma_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct leaf *leaf = ctx_data.ptr;

	(void)task_data;
	CHECK(task == leaf->send);
}

static void leaf_not_sent(struct doca_rdma_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task, (void)task_data, (void)ctx_data;
	CHECK(!"a question failed");
}

static void ask(struct leaf *leaf)
{
	void *data;
	int me = (int)(leaf - leaves);

	CHECK_U64(doca_buf_get_data(leaf->out, &data), DOCA_SUCCESS);
	memset(data, leaf->answers, 8 + me);
	((unsigned char *)data)[1] = (unsigned char)me;
	CHECK_U64(doca_buf_set_data(leaf->out, data, 8 + me), DOCA_SUCCESS);
	CHECK_U64(doca_task_submit(doca_rdma_task_send_as_task(leaf->send)), DOCA_SUCCESS);
}

static void leaf_received(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
	struct leaf *leaf = ctx_data.ptr;
	int me = (int)(leaf - leaves);
	unsigned char *data;

	(void)task_data;
	CHECK_U64(doca_buf_get_data(doca_rdma_task_receive_get_dst_buf(task), (void **)&data), DOCA_SUCCESS);
	/* The first byte is what was asked last, turned by the hub. */
	if (data[0] != ((unsigned char)leaf->answers ^ 0x55) || data[1] != me)
		leaf->wrong++;
	CHECK(doca_rdma_task_receive_get_result_rdma_connection(task) == leaf->conn);
	leaf->answers++;
	post_again(task);
	/* The question's task may still be with the library: its completion was raised before, or is raised later. */
}

static void leaf_flushed(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
	struct leaf *leaf = ctx_data.ptr;

	(void)task_data;
	leaf->flushed++;
	CHECK_U64(doca_buf_dec_refcount(doca_rdma_task_receive_get_dst_buf(task), NULL), DOCA_SUCCESS);
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void hub_state(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		      enum doca_ctx_states next)
{
	(void)user_data, (void)prev;
	CHECK(ctx == doca_rdma_as_ctx(hub));
	hub_states[next]++;
}

static struct doca_rdma *begin(void *user, int receives, doca_rdma_task_receive_completion_cb_t got,
			       doca_rdma_task_receive_completion_cb_t lost, doca_rdma_task_send_completion_cb_t sent,
			       doca_rdma_task_send_completion_cb_t unsent, int connections)
{
	struct doca_rdma *rdma;
	union doca_data data = {.ptr = user};
	uint16_t max = 0;

	CHECK_U64(doca_rdma_create(dev, &rdma), DOCA_SUCCESS);
	CHECK_U64(doca_rdma_task_receive_set_conf(rdma, got, lost, receives), DOCA_SUCCESS);
	CHECK_U64(doca_rdma_task_send_set_conf(rdma, sent, unsent, 1), DOCA_SUCCESS);
	CHECK_U64(doca_rdma_set_max_num_connections(rdma, connections), DOCA_SUCCESS);
	CHECK_U64(doca_rdma_get_max_num_connections(rdma, &max), DOCA_SUCCESS);
	CHECK(max >= connections);
	CHECK_U64(doca_ctx_set_user_data(doca_rdma_as_ctx(rdma), data), DOCA_SUCCESS);
	if (user == &hub)
		CHECK_U64(doca_ctx_set_state_changed_cb(doca_rdma_as_ctx(rdma), hub_state), DOCA_SUCCESS);
	CHECK_U64(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma)), DOCA_SUCCESS);
	hub = user == &hub ? rdma : hub;
	CHECK_U64(doca_ctx_start(doca_rdma_as_ctx(rdma)), DOCA_SUCCESS);
	return rdma;
}

int main(void)
{
	struct doca_devinfo **list;
	uint32_t count, ids[LEAVES];
	union doca_data none = {0};
	enum doca_ctx_states state;
	int asked[LEAVES] = {0};
	long turns = 0;

	CHECK_U64(doca_devinfo_create_list(&list, &count), DOCA_SUCCESS);
	for (uint32_t i = 0; i < count && !dev; i++)
		if (doca_rdma_cap_task_send_is_supported(list[i]) == DOCA_SUCCESS &&
		    doca_rdma_cap_task_receive_is_supported(list[i]) == DOCA_SUCCESS)
			CHECK_U64(doca_dev_open(list[i], &dev), DOCA_SUCCESS);
	doca_devinfo_destroy_list(list);
	CHECK_U64(doca_mmap_create(&map), DOCA_SUCCESS);
	CHECK_U64(doca_mmap_add_dev(map, dev), DOCA_SUCCESS);
	CHECK_U64(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE), DOCA_SUCCESS);
	CHECK_U64(doca_mmap_set_memrange(map, memory, sizeof(memory)), DOCA_SUCCESS);
	CHECK_U64(doca_mmap_start(map), DOCA_SUCCESS);
	CHECK_U64(doca_buf_inventory_create(64, &inventory), DOCA_SUCCESS);
	CHECK_U64(doca_buf_inventory_start(inventory), DOCA_SUCCESS);
	CHECK_U64(doca_pe_create(&pe), DOCA_SUCCESS);

	hub = begin(&hub, LEAVES, hub_received, hub_failed, hub_answered, hub_not_answered, LEAVES);
	for (int i = 0; i < LEAVES; i++) {
		struct leaf *leaf = &leaves[i];
		const void *theirs, *ours;
		size_t their_size, our_size;
		struct doca_rdma_task_receive *receive;

		leaf->rdma = begin(leaf, 1, leaf_received, leaf_flushed, leaf_sent, leaf_not_sent, 1);
		CHECK_U64(doca_rdma_export(hub, &ours, &our_size, &leaf->hub_conn), DOCA_SUCCESS);
		CHECK_U64(doca_rdma_export(leaf->rdma, &theirs, &their_size, &leaf->conn), DOCA_SUCCESS);
		CHECK_U64(doca_rdma_connect(leaf->rdma, ours, our_size, leaf->conn), DOCA_SUCCESS);
		CHECK_U64(doca_rdma_connect(hub, theirs, their_size, leaf->hub_conn), DOCA_SUCCESS);
		CHECK_U64(doca_rdma_connection_get_id(leaf->hub_conn, &ids[i]), DOCA_SUCCESS);
		for (int j = 0; j < i; j++)
			CHECK(ids[j] != ids[i]);
		leaf->out = window(2 * i, 1);
		leaf->in = window(2 * i + 1, 0);
		CHECK_U64(doca_rdma_task_send_allocate_init(leaf->rdma, leaf->conn, leaf->out, none, &leaf->send), DOCA_SUCCESS);
		CHECK_U64(doca_rdma_task_receive_allocate_init(leaf->rdma, leaf->in, none, &receive), DOCA_SUCCESS);
		CHECK_U64(doca_task_submit(doca_rdma_task_receive_as_task(receive)), DOCA_SUCCESS);
		CHECK_U64(doca_rdma_task_receive_allocate_init(leaf->rdma, leaf->in, none, &receive), DOCA_ERROR_NO_MEMORY);
	}
	{
		const void *ours;
		size_t size;
		struct doca_rdma_connection *more;

		CHECK_U64(doca_rdma_export(hub, &ours, &size, &more), DOCA_ERROR_FULL);
		CHECK_U64(doca_rdma_connect(hub, "x", 1, leaves[0].hub_conn), DOCA_ERROR_BAD_STATE);
	}
	answer_buf = window(40, 1);
	CHECK_U64(doca_rdma_task_send_allocate_init(hub, leaves[0].hub_conn, answer_buf, none, &answer), DOCA_SUCCESS);
	for (int i = 0; i < LEAVES; i++) {
		struct doca_rdma_task_receive *receive;

		CHECK_U64(doca_rdma_task_receive_allocate_init(hub, window(20 + i, 0), none, &receive), DOCA_SUCCESS);
		CHECK_U64(doca_task_submit(doca_rdma_task_receive_as_task(receive)), DOCA_SUCCESS);
	}

	for (int done = 0; !done;) {
		done = 1;
		for (int i = 0; i < LEAVES; i++) {
			if (leaves[i].answers == asked[i] && asked[i] < ROUNDS) {
				asked[i]++;
				ask(&leaves[i]);
			}
			done = done && leaves[i].answers == ROUNDS;
		}
		doca_pe_progress(pe);
		turns++;
	}
	for (int i = 0; i < LEAVES; i++)
		CHECK_U64(leaves[i].wrong, 0);
	CHECK_U64(hub_got, LEAVES * ROUNDS);

	while (hub_busy || doca_pe_progress(pe))
		doca_pe_progress(pe);
	doca_task_free(doca_rdma_task_send_as_task(answer));
	/* Its receives are posted: the stop takes progress. */
	CHECK_U64(doca_ctx_stop(doca_rdma_as_ctx(hub)), DOCA_ERROR_IN_PROGRESS);
	do {
		doca_pe_progress(pe);
		CHECK_U64(doca_ctx_get_state(doca_rdma_as_ctx(hub), &state), DOCA_SUCCESS);
	} while (state != DOCA_CTX_STATE_IDLE);
	CHECK_U64(hub_flushed, LEAVES);
	CHECK_U64(hub_states[DOCA_CTX_STATE_STOPPING], 1);
	CHECK_U64(hub_states[DOCA_CTX_STATE_IDLE], 1);
	CHECK_U64(doca_rdma_destroy(hub), DOCA_SUCCESS);

	for (int i = 0; i < LEAVES; i++) {
		struct leaf *leaf = &leaves[i];
		doca_error_t result;

		doca_task_free(doca_rdma_task_send_as_task(leaf->send));
		result = doca_ctx_stop(doca_rdma_as_ctx(leaf->rdma));
		/* The hub's end has ended the connection and flushed the receive already, or this does. */
		CHECK(result == DOCA_ERROR_IN_PROGRESS || result == DOCA_SUCCESS);
		do {
			doca_pe_progress(pe);
			CHECK_U64(doca_ctx_get_state(doca_rdma_as_ctx(leaf->rdma), &state), DOCA_SUCCESS);
		} while (state != DOCA_CTX_STATE_IDLE);
		CHECK_U64(leaf->flushed, 1);
		CHECK_U64(doca_rdma_destroy(leaf->rdma), DOCA_SUCCESS);
		CHECK_U64(doca_buf_dec_refcount(leaf->out, NULL), DOCA_SUCCESS);
	}
	CHECK_U64(doca_buf_dec_refcount(answer_buf, NULL), DOCA_SUCCESS);
	CHECK_U64(doca_pe_destroy(pe), DOCA_SUCCESS);
	CHECK_U64(doca_buf_inventory_destroy(inventory), DOCA_SUCCESS);
	CHECK_U64(doca_mmap_destroy(map), DOCA_SUCCESS);
	CHECK_U64(doca_dev_close(dev), DOCA_SUCCESS);
	return check_result();
}
