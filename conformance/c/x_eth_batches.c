/*
 * Batches of sends: how many tasks they take, their arrays and user data, one bad packet among good ones, a
 * batch sent again from its own callback, try_submit, a stop with batches out and with batches kept, growing
 * pools, and checksum flags for each of them.
 *
 * clauses: eth TXQ CPU datapath (task batches); core-exec task batches; 3 (c, e, f)
 * covers: @
 */
#include "eth_rig.h"

#define BAD DOCA_ERROR_INVALID_VALUE

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static struct doca_ctx *tx;
static unsigned good, bad, received, again, stop_it, keep, sums;
static doca_error_t status_of[128], last;
static struct doca_task_batch *last_batch;
static uint32_t numbers[4096];
static const union doca_data nothing;

static void good_cb(struct doca_task_batch *batch, uint16_t count, union doca_data ctx, union doca_data user,
		    union doca_data *users, struct doca_buf **packets, doca_error_t *status)
{
	uint16_t i;

	eth.calls++;
	good++;
	last_batch = batch;
	CHECK_U64(ctx.u64, 55);
	CHECK_U64(doca_task_batch_get_ctx_user_data(batch).u64, 55);
	CHECK_U64(doca_task_batch_get_user_data(batch).u64, user.u64);
	CHECK_PTR(doca_task_batch_get_ctx(batch), tx);
	CHECK_U64(doca_task_batch_get_tasks_num(batch), count);
	last = doca_task_batch_get_status(batch);
	CHECK_OK(last);
	for (i = 0; i < count; i++) {
		CHECK_U64(users[i].u64, user.u64 + i);
		CHECK_OK(status[i]);
		CHECK(packets[i] != NULL);
	}
	if (again > 0) {
		again--;
		CHECK_OK(doca_task_batch_submit(batch));
		CHECK_STATUS(doca_task_batch_get_status(batch), DOCA_ERROR_IN_PROGRESS);
		return;
	}
	if (stop_it)
		CHECK_STATUS(doca_ctx_stop(tx), DOCA_ERROR_IN_PROGRESS);
	for (i = 0; i < count; i++)
		CHECK_OK(doca_buf_dec_refcount(packets[i], NULL));
	if (!keep)
		doca_task_batch_free(batch);
}

static void bad_cb(struct doca_task_batch *batch, uint16_t count, union doca_data ctx, union doca_data user,
		   union doca_data *users, struct doca_buf **packets, doca_error_t *status)
{
	uint16_t i;

	(void)ctx;
	eth.calls++;
	bad++;
	last_batch = batch;
	last = doca_task_batch_get_status(batch);
	CHECK_REFUSED(last);
	for (i = 0; i < count; i++) {
		CHECK_U64(users[i].u64, user.u64 + i);
		status_of[i] = status[i];
		if (packets[i] != NULL)
			CHECK_OK(doca_buf_dec_refcount(packets[i], NULL));
	}
	if (!keep)
		doca_task_batch_free(batch);
}

static void received_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	void *data = NULL;

	(void)user, (void)ctx;
	eth.calls++;
	data = eth_received(task, NULL);
	if (sums)
		eth_check_sums(data);
	else
		memcpy(&numbers[received], (uint8_t *)data + 14, 4);
	received++;
	eth_post_again(task);
}

static void flushed_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	eth.calls++;
	eth_drop_recv(task);
}

static struct doca_task_batch *batch_of(uint16_t count, uint32_t first)
{
	struct doca_task_batch *batch = NULL;
	union doca_data *users = NULL, user = {.u64 = first};
	struct doca_buf **packets = NULL;
	uint16_t i;

	MUST(doca_eth_txq_task_batch_send_allocate(txq, count, user, &packets, &users, &batch));
	for (i = 0; i < count; i++) {
		size_t at = (first + i) % 256 * 128;

		eth_frame(eth.mem + at, 64, first + i);
		packets[i] = eth_buf(&eth, at, 128, 64);
		users[i].u64 = first + i;
	}
	CHECK_U64(doca_task_batch_get_tasks_num(batch), count);
	return batch;
}

static void arguments(void)
{
	struct doca_task_batch *batch[3], *more = NULL;
	union doca_data *users = NULL;
	struct doca_buf **packets = NULL;
	uint16_t *flags = NULL;
	uint32_t *words = NULL;
	unsigned i;

	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(txq, 0, nothing, &packets, &users, &more), BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(txq, 33, nothing, &packets, &users, &more), BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(txq, 4, nothing, NULL, &users, &more), BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(txq, 4, nothing, &packets, NULL, &more), BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(txq, 4, nothing, &packets, &users, NULL), BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(NULL, 4, nothing, &packets, &users, &more), BAD);
	for (i = 0; i < 2; i++)
		MUST(doca_eth_txq_task_batch_send_allocate(txq, 4, nothing, &packets, &users, &batch[i]));
	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(txq, 4, nothing, &packets, &users, &more),
		     DOCA_ERROR_NO_MEMORY);
	CHECK_OK(doca_eth_txq_task_batch_send_num_expand(txq, 1));
	MUST(doca_eth_txq_task_batch_send_allocate(txq, 32, nothing, &packets, &users, &batch[2]));
	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(txq, 4, nothing, &packets, &users, &more),
		     DOCA_ERROR_NO_MEMORY);
	CHECK_OK(doca_eth_txq_task_batch_send_get_ol_flags_array(batch[2], &flags));
	CHECK_OK(doca_eth_txq_task_batch_send_get_metadata_array(batch[2], &words));
	for (i = 0; i < 32; i++) {
		flags[i] = 0;
		words[i * 2] = words[i * 2 + 1] = i;
	}
	CHECK_STATUS(doca_eth_txq_task_batch_send_get_ol_flags_array(NULL, &flags), BAD);
	/* Nothing filled in: try finds it, and the batch stays the program's. */
	CHECK_STATUS(doca_task_batch_try_submit(NULL), BAD);
	CHECK_STATUS(doca_task_batch_submit(NULL), BAD);
	for (i = 0; i < 3; i++)
		doca_task_batch_free(batch[i]);
	CHECK_STATUS(doca_task_batch_submit(batch[0]), BAD);
}

static void one_bad(void)
{
	struct doca_task_batch *batch = NULL;
	union doca_data *users = NULL, user = {.u64 = 100};
	struct doca_buf **packets = NULL;
	unsigned i;

	MUST(doca_eth_txq_task_batch_send_allocate(txq, 5, user, &packets, &users, &batch));
	for (i = 0; i < 5; i++) {
		eth_frame(eth.mem + i * 128, 64, 100 + i);
		users[i].u64 = 100 + i;
		packets[i] = i == 2 ? eth_buf(&eth, i * 128, 128, 0) : eth_buf(&eth, i * 128, 128, 64);
	}
	received = 0;
	CHECK_STATUS(doca_task_batch_try_submit(batch), BAD);
	CHECK_OK(doca_task_batch_submit(batch));
	CHECK_STATUS(doca_task_batch_get_status(batch), DOCA_ERROR_IN_PROGRESS);
	ETH_UNTIL(&eth, bad == 1);
	CHECK_STATUS(status_of[2], BAD);
	for (i = 0; i < 5; i++) {
		if (i != 2)
			CHECK_OK(status_of[i]);
	}
	ETH_UNTIL(&eth, received == 4);
	for (i = 0; i < 4; i++)
		CHECK_U64(numbers[i], 100 + i + (i >= 2));
	CHECK_U64(eth_state(tx), DOCA_CTX_STATE_RUNNING);
}

static void checksums(void)
{
	struct doca_task_batch *batch = NULL;
	union doca_data *users = NULL, user = {.u64 = 0};
	struct doca_buf **packets = NULL;
	uint16_t *flags = NULL;
	unsigned i;

	MUST(doca_eth_txq_task_batch_send_allocate(txq, 32, user, &packets, &users, &batch));
	MUST(doca_eth_txq_task_batch_send_get_ol_flags_array(batch, &flags));
	for (i = 0; i < 32; i++) {
		size_t len = eth_udp(eth.mem + i * 128, i + 1, (uint8_t)i); /* odd lengths, too */

		users[i].u64 = i;
		packets[i] = eth_buf(&eth, i * 128, 128, len);
		flags[i] = DOCA_ETH_TXQ_OL_FLAGS_L3_CSUM | DOCA_ETH_TXQ_OL_FLAGS_L4_CSUM;
	}
	good = received = 0;
	sums = 1;
	CHECK_OK(doca_task_batch_try_submit(batch));
	ETH_UNTIL(&eth, good == 1 && received == 32);
	sums = 0;
	/* The frame in memory is the program's, and is as it was. */
	CHECK_U64(eth.mem[24] | eth.mem[25] | eth.mem[40] | eth.mem[41], 0);
}

static void tx_start(void)
{
	MUST(doca_ctx_start(tx));
}

int main(void)
{
	union doca_data user = {.u64 = 55};
	struct doca_eth_rxq_task_recv *task = NULL;
	struct doca_task_batch *batch;
	struct eth_rules rules;
	uint16_t queue = 0;
	size_t inflight = 0;
	unsigned i;

	eth_setup(&eth);
	MUST(doca_eth_txq_create(eth.dev[0], 256, &txq));
	tx = doca_eth_txq_as_doca_ctx(txq);
	MUST(doca_eth_txq_set_metadata_num(txq, 2));
	MUST(doca_eth_txq_task_batch_send_set_conf(txq, DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32, 2, good_cb, bad_cb));
	MUST(doca_ctx_set_user_data(tx, user));
	MUST(doca_pe_connect_ctx(eth.pe, tx));
	tx_start();
	arguments();
	MUST(doca_eth_rxq_create(eth.dev[1], 256, 2048, &rxq));
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, received_cb, flushed_cb, 64));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 0, &queue, 1, 0);
	for (i = 0; i < 64; i++) {
		MUST(doca_eth_rxq_task_recv_allocate_init(rxq, eth_buf(&eth, (1u << 20) + i * 2048, 2048, 0), nothing,
							  &task));
		CHECK_OK(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(task)));
	}
	one_bad();
	checksums();
	/* Sent over and over from its callback. */
	good = received = 0;
	again = 9;
	batch = batch_of(20, 1000);
	user.u64 = 1000;
	doca_task_batch_set_user_data(batch, user);
	CHECK_OK(doca_task_batch_submit(batch));
	ETH_UNTIL(&eth, good == 10 && received == 200);
	for (i = 0; i < 200; i++)
		CHECK_U64(numbers[i], 1000 + i % 20);
	/* Stopped from a callback while another is out; in that progress it is idle. */
	good = bad = 0;
	stop_it = 1;
	batch = batch_of(32, 2000);
	CHECK_OK(doca_task_batch_submit(batch));
	CHECK_OK(doca_task_batch_submit(batch_of(32, 3000)));
	CHECK_OK(doca_ctx_get_num_inflight_tasks(tx, &inflight));
	CHECK(inflight == 2 || inflight == 64);
	while (good + bad < 2)
		eth_progress(&eth);
	CHECK_U64(eth_state(tx), DOCA_CTX_STATE_IDLE);
	stop_it = 0;
	/* Kept: no end before it is freed. */
	tx_start();
	good = bad = 0;
	keep = 1;
	CHECK_OK(doca_task_batch_submit(batch_of(3, 100)));
	ETH_UNTIL(&eth, good == 1);
	CHECK_STATUS(doca_ctx_stop(tx), DOCA_ERROR_IN_PROGRESS);
	for (i = 0; i < 100; i++)
		eth_progress(&eth);
	CHECK_U64(eth_state(tx), DOCA_CTX_STATE_STOPPING);
	CHECK_STATUS(doca_task_batch_submit(last_batch), DOCA_ERROR_BAD_STATE);
	doca_task_batch_free(last_batch);
	CHECK_U64(eth_state(tx), DOCA_CTX_STATE_STOPPING); /* in a later progress */
	ETH_UNTIL(&eth, eth_state(tx) == DOCA_CTX_STATE_IDLE);
	keep = 0;
	CHECK_OK(doca_eth_txq_destroy(txq));
	eth_rules_end(&rules);
	doca_flow_destroy();
	eth_stop(&eth, doca_eth_rxq_as_doca_ctx(rxq));
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	eth_teardown(&eth);
	return check_result();
}
