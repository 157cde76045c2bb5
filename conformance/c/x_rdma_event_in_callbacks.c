/*
 * Two processes that do all their work in callbacks: one exports and connects in its running-state callback and
 * then blocks in waits for the other's steps without any progress, the other submits from its running-state
 * callback, chains get, set and add from completions, looks at tasks after their free, and stops from a
 * completion while more is in flight. Then both start the same contexts again.
 *
 * clauses: rdma Behaviour 1, 2, 3, 5, 10; core-exec Behaviour 2, 3, 5
 * covers: @
 */
#define _GNU_SOURCE
#include <doca_rdma.h>
#include <doca_sync_event.h>

#include "rdma_event_rig.h"
#include "x_two.h"

#define BYTES 65536
#define ROUNDS 2
#define STEPS 200u

static struct side side;
static int line_of = -1;
static unsigned round_now;

/* The owner: everything happens in here. */
static void owner_running(struct side *me)
{
	struct doca_sync_event *event = event_make(me);
	struct doca_rdma_connection *conn = NULL;
	const uint8_t *data;
	const void *blob;
	uint8_t text[4096];
	uint64_t value = 0, i;
	size_t len;

	MUST(doca_rdma_export(me->rdma, &blob, &len, &conn));
	two_send_blob(line_of, blob, len);
	MUST(doca_sync_event_export_to_remote_net(event, &data, &len));
	two_send_blob(line_of, data, len);
	len = two_recv_blob(line_of, text, sizeof(text));
	MUST(doca_rdma_connect(me->rdma, text, len, conn));
	two_tell(line_of, 'c');
	/* Odd values are ours, even ones the other's. */
	for (i = 0; i < STEPS; i++) {
		CHECK_OK(doca_sync_event_update_set(event, 2 * i + 1));
		CHECK_OK(doca_sync_event_wait_eq(event, 2 * i + 2, UINT64_MAX));
	}
	CHECK_OK(doca_sync_event_get(event, &value));
	CHECK_U64(value, 2 * STEPS);
	CHECK_OK(doca_sync_event_update_set(event, 100000));
	two_await(line_of, 'e');
	CHECK_OK(doca_sync_event_stop(event));
	CHECK_OK(doca_sync_event_destroy(event));
	CHECK_STATUS(doca_ctx_stop(me->ctx), DOCA_ERROR_IN_PROGRESS);
}

static int owner(void)
{
	side_prepare(&side, NULL, NULL, BYTES, 8);
	event_conf(&side, 8);
	side.on_running = owner_running;
	for (round_now = 0; round_now < ROUNDS; round_now++) {
		MUST(doca_ctx_start(side.ctx));
		UNTIL(&side, side.state == DOCA_CTX_STATE_IDLE);
	}
	side_teardown(&side, 1);
	return check_result();
}

/* The other one. */
static struct doca_sync_event_remote_net *event;
static struct doca_rdma_connection *conn;
static struct doca_rdma_task_remote_net_sync_event_get *get;
static struct doca_rdma_task_remote_net_sync_event_notify_set *set;
static struct doca_rdma_task_remote_net_sync_event_notify_add *sum;
static struct doca_buf *seen, *from, *old;
static uint64_t step;
static unsigned ended, flushed;

static uint64_t number_at(size_t at)
{
	uint64_t value;

	memcpy(&value, side.mem + at, 8);
	return value;
}

static void look(void)
{
	CHECK_OK(doca_buf_reset_data_len(seen));
	CHECK_OK(doca_task_submit(doca_rdma_task_remote_net_sync_event_get_as_task(get)));
}

static void free_all(void)
{
	struct doca_task *plain = doca_rdma_task_remote_net_sync_event_get_as_task(get);

	doca_task_free(plain);
	CHECK_PTR(doca_task_get_ctx(plain), side.ctx);
	CHECK_PTR(doca_rdma_task_remote_net_sync_event_get_get_dst_buf(get), seen);
	CHECK_PTR(doca_rdma_task_remote_net_sync_event_get_get_sync_event(get), event);
	doca_task_free(doca_rdma_task_remote_net_sync_event_notify_set_as_task(set));
	CHECK_PTR(doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(set), from);
	doca_task_free(doca_rdma_task_remote_net_sync_event_notify_add_as_task(sum));
	CHECK_PTR(doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(sum), old);
	DROP(seen);
	DROP(from);
	DROP(old);
}

static void got(struct doca_rdma_task_remote_net_sync_event_get *task, union doca_data user, union doca_data ctx)
{
	struct doca_rdma_task_remote_net_sync_event_get *more = NULL;
	union doca_data nine = {.u64 = 9};
	uint64_t value = number_at(0);

	CHECK_PTR(ctx.ptr, &side);
	side.good++;
	if (user.u64 == 9) {
		/* An extra one that had finished before the stop. */
		ended++;
		doca_task_free(doca_rdma_task_remote_net_sync_event_get_as_task(task));
		return;
	}
	CHECK_U64(user.u64, 7);
	CHECK_U64(doca_rdma_task_remote_net_sync_event_get_get_result_len(task), 8);
	if (value == 100000) {
		/* The end: one more on the way, and a stop in here. */
		CHECK_OK(doca_buf_reset_data_len(old));
		MUST(doca_rdma_task_remote_net_sync_event_get_allocate_init(side.rdma, conn, event, old, nine, &more));
		CHECK_OK(doca_task_submit(doca_rdma_task_remote_net_sync_event_get_as_task(more)));
		CHECK_STATUS(doca_ctx_stop(side.ctx), DOCA_ERROR_IN_PROGRESS);
		CHECK_STATUS(doca_ctx_stop(side.ctx), DOCA_ERROR_IN_PROGRESS);
		CHECK_STATUS(doca_task_submit(doca_rdma_task_remote_net_sync_event_get_as_task(task)),
			     DOCA_ERROR_BAD_STATE);
		return;
	}
	if (value != 2 * step + 1) {
		CHECK(value == 0 || value == 2 * step);
		look();
		return;
	}
	value = 2 * step + 2;
	memcpy(side.mem + 64, &value, 8);
	step++;
	if (step % 2 == 0) {
		CHECK_OK(doca_task_submit(doca_rdma_task_remote_net_sync_event_notify_set_as_task(set)));
	} else {
		CHECK_OK(doca_buf_reset_data_len(old));
		doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(sum, 1);
		CHECK_OK(doca_task_submit(doca_rdma_task_remote_net_sync_event_notify_add_as_task(sum)));
	}
	CHECK_U64(doca_pe_progress(side.pe), 0);
}

static void was_set(struct doca_rdma_task_remote_net_sync_event_notify_set *task, union doca_data user,
		    union doca_data ctx)
{
	(void)user, (void)ctx;
	side.good++;
	CHECK_PTR(task, set);
	look();
}

static void was_added(struct doca_rdma_task_remote_net_sync_event_notify_add *task, union doca_data user,
		      union doca_data ctx)
{
	(void)user, (void)ctx;
	side.good++;
	CHECK_PTR(task, sum);
	CHECK_U64(number_at(128), 2 * step - 1);
	look();
}

static void get_failed(struct doca_rdma_task_remote_net_sync_event_get *task, union doca_data user,
		       union doca_data ctx)
{
	(void)ctx;
	side.bad++;
	CHECK_U64(user.u64, 9);
	CHECK_REFUSED(doca_task_get_status(doca_rdma_task_remote_net_sync_event_get_as_task(task)));
	flushed++;
	doca_task_free(doca_rdma_task_remote_net_sync_event_get_as_task(task));
}

static void other_running(struct side *me)
{
	union doca_data user = {.u64 = 7};
	uint8_t text[4096], key[4096];
	const void *blob;
	size_t len, key_len;

	step = 0;
	ended = flushed = 0;
	len = two_recv_blob(line_of, text, sizeof(text));
	key_len = two_recv_blob(line_of, key, sizeof(key));
	MUST(doca_sync_event_remote_net_create_from_export(me->dev, key, key_len, &event));
	{
		uint8_t own[4096];
		size_t own_len;

		MUST(doca_rdma_export(me->rdma, &blob, &own_len, &conn));
		MUST_BE(own_len <= sizeof(own));
		memcpy(own, blob, own_len);
		two_send_blob(line_of, own, own_len);
	}
	MUST(doca_rdma_connect(me->rdma, text, len, conn));
	two_await(line_of, 'c');
	memset(me->mem, 0, 256);
	seen = side_room(me, me->map, me->mem, 8);
	from = side_data(me, me->map, me->mem + 64, 8);
	old = side_room(me, me->map, me->mem + 128, 8);
	MUST(doca_rdma_task_remote_net_sync_event_get_allocate_init(me->rdma, conn, event, seen, user, &get));
	MUST(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(me->rdma, conn, event, from, user, &set));
	MUST(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(me->rdma, conn, event, old, 1, user, &sum));
	CHECK_OK(doca_task_submit(doca_rdma_task_remote_net_sync_event_get_as_task(get)));
}

static int other(void)
{
	unsigned i;

	side_prepare(&side, NULL, NULL, BYTES, 8);
	MUST(doca_rdma_task_remote_net_sync_event_get_set_conf(side.rdma, got, get_failed, 8));
	MUST(doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
		side.rdma, was_set, side_remote_net_sync_event_notify_set_bad, 8));
	MUST(doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
		side.rdma, was_added, side_remote_net_sync_event_notify_add_bad, 8));
	side.on_running = other_running;
	for (round_now = 0; round_now < ROUNDS; round_now++) {
		side_start(&side);
		UNTIL(&side, side.state == DOCA_CTX_STATE_STOPPING && ended + flushed == 1);
		/* Three tasks of ours are not freed. */
		for (i = 0; i < 100; i++)
			side_progress(&side);
		CHECK_U64(side.state, DOCA_CTX_STATE_STOPPING);
		free_all();
		CHECK_U64(side.state, DOCA_CTX_STATE_STOPPING);
		UNTIL(&side, side.state == DOCA_CTX_STATE_IDLE);
		CHECK_U64(step, STEPS);
		CHECK_OK(doca_sync_event_remote_net_destroy(event));
		two_tell(line_of, 'e');
	}
	side_teardown(&side, 1);
	return check_result();
}

int main(void)
{
	pid_t child = two_fork(&line_of);

	if (child == 0)
		exit(other());
	owner();
	two_reap(child);
	return check_result();
}
