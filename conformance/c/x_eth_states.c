/*
 * A receive queue stopped from its own callback with buffers still posted: every state is reported once,
 * what is posted comes back through the error callback, and idle is reached in the progress that brings
 * the last of it. What is refused meanwhile; a second run of the same queue; one that is destroyed by its
 * own state callback.
 *
 * clauses: core-exec Behaviour 1, 2, 3 (a, c, d, e, g); eth Behaviour (start and stop)
 * covers: @
 */
#include "eth_rig.h"

#define POSTED 16

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static struct doca_ctx *rx, *tx;
static struct eth_rules rules;
static unsigned good, flushed, sent, changes, stop_at, destroy_at_idle, destroyed;
static enum doca_ctx_states states[16];
static const union doca_data nothing;

ETH_SENT_CB(sent)

static void received_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	struct doca_task *plain = doca_eth_rxq_task_recv_as_doca_task(task);
	struct doca_eth_rxq_task_recv *more = NULL;
	struct doca_buf *pkt = NULL;
	size_t inflight = 0;

	eth.calls++;
	good++;
	CHECK_U64(ctx.u64, 99);
	CHECK_U64(user.u64, good - 1);
	CHECK_PTR(doca_task_get_ctx(plain), rx);
	CHECK_OK(doca_task_get_status(plain));
	CHECK_OK(doca_eth_rxq_task_recv_get_pkt(task, &pkt));
	/* It is no more in flight, and there is no progress in here. */
	CHECK_OK(doca_ctx_get_num_inflight_tasks(rx, &inflight));
	CHECK_U64(inflight, POSTED - good);
	CHECK_U64(doca_pe_progress(eth.pe), 0);
	if (good == stop_at) {
		CHECK_STATUS(doca_ctx_stop(rx), DOCA_ERROR_IN_PROGRESS);
		CHECK_U64(eth_state(rx), DOCA_CTX_STATE_STOPPING);
		CHECK_STATUS(doca_ctx_stop(rx), DOCA_ERROR_IN_PROGRESS);
		CHECK_STATUS(doca_ctx_start(rx), DOCA_ERROR_BAD_STATE);
		CHECK_STATUS(doca_eth_rxq_destroy(rxq), DOCA_ERROR_BAD_STATE);
		CHECK_STATUS(doca_eth_rxq_apply_queue_id(rxq, 3), DOCA_ERROR_BAD_STATE);
		CHECK_STATUS(doca_eth_rxq_set_max_burst_size(rxq, 32), DOCA_ERROR_BAD_STATE);
		CHECK_STATUS(doca_eth_rxq_task_recv_allocate_init(rxq, pkt, nothing, &more), DOCA_ERROR_BAD_STATE);
		CHECK_STATUS(doca_task_submit(plain), DOCA_ERROR_BAD_STATE);
		CHECK_STATUS(doca_task_try_submit(plain), DOCA_ERROR_BAD_STATE);
	}
	CHECK_OK(doca_buf_dec_refcount(pkt, NULL));
	doca_task_free(plain);
}

static void flushed_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	struct doca_task *plain = doca_eth_rxq_task_recv_as_doca_task(task);
	struct doca_buf *pkt = NULL;

	(void)ctx;
	eth.calls++;
	CHECK_U64(user.u64, good + flushed);
	flushed++;
	CHECK_REFUSED(doca_task_get_status(plain));
	CHECK_STATUS(doca_ctx_stop(rx), DOCA_ERROR_IN_PROGRESS);
	CHECK_OK(doca_eth_rxq_task_recv_get_pkt(task, &pkt));
	CHECK_OK(doca_buf_dec_refcount(pkt, NULL));
	doca_task_free(plain);
}

static void state_cb(const union doca_data user, struct doca_ctx *ctx, enum doca_ctx_states prev,
		     enum doca_ctx_states next)
{
	CHECK_U64(user.u64, 99);
	CHECK_PTR(ctx, rx);
	CHECK_U64(eth_state(ctx), next);
	if (changes > 0)
		CHECK_U64(prev, states[changes - 1]);
	if (changes < 16)
		states[changes++] = next;
	if (next == DOCA_CTX_STATE_IDLE && destroy_at_idle) {
		CHECK_OK(doca_eth_rxq_destroy(rxq));
		destroyed = 1;
	}
}

static void post(unsigned i)
{
	struct doca_eth_rxq_task_recv *task = NULL;
	union doca_data user = {.u64 = i};

	MUST(doca_eth_rxq_task_recv_allocate_init(rxq, eth_buf(&eth, 65536 + i * 2048, 2048, 0), user, &task));
	CHECK_OK(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(task)));
}

static void send_one(unsigned i)
{
	struct doca_eth_txq_task_send *task = NULL;

	eth_frame(eth.mem + i * 128, 64, i);
	MUST(doca_eth_txq_task_send_allocate_init(txq, eth_buf(&eth, i * 128, 128, 64), nothing, &task));
	CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
}

static void run(void)
{
	uint16_t queue = 0;
	unsigned i;

	good = flushed = sent = changes = 0;
	CHECK_OK(doca_ctx_start(rx));
	CHECK_U64(changes, 1);
	CHECK_OK(doca_eth_rxq_apply_queue_id(rxq, 0));
	rules = eth_rules_begin(eth.dev[1], 0, &queue, 1, 0);
	for (i = 0; i < POSTED; i++)
		post(i);
	for (i = 0; i < stop_at; i++)
		send_one(i);
	while (good + flushed < POSTED)
		eth_progress(&eth);
	/* In that very call. */
	CHECK(destroyed || eth_state(rx) == DOCA_CTX_STATE_IDLE);
	CHECK_U64(good, stop_at);
	CHECK_U64(flushed, POSTED - stop_at);
	CHECK_U64(changes, 3);
	CHECK_U64(states[0], DOCA_CTX_STATE_RUNNING);
	CHECK_U64(states[1], DOCA_CTX_STATE_STOPPING);
	CHECK_U64(states[2], DOCA_CTX_STATE_IDLE);
	if (!destroyed) {
		CHECK_OK(doca_ctx_stop(rx));
		CHECK_U64(changes, 3);
	}
	ETH_UNTIL(&eth, sent == stop_at);
	eth_rules_end(&rules);
}

int main(void)
{
	union doca_data user = {.u64 = 99};

	eth_setup(&eth);
	eth_flow_begin();
	MUST(doca_eth_rxq_create(eth.dev[1], 64, 2048, &rxq));
	rx = doca_eth_rxq_as_doca_ctx(rxq);
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, received_cb, flushed_cb, POSTED));
	MUST(doca_pe_connect_ctx(eth.pe, rx));
	CHECK_STATUS(doca_pe_connect_ctx(eth.pe, rx), DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_ctx_set_user_data(rx, user));
	MUST(doca_ctx_set_state_changed_cb(rx, state_cb));
	MUST(doca_eth_txq_create(eth.dev[0], 64, &txq));
	tx = doca_eth_txq_as_doca_ctx(txq);
	MUST(doca_eth_txq_task_send_set_conf(txq, sent_cb, sent_cb, POSTED));
	MUST(doca_pe_connect_ctx(eth.pe, tx));
	MUST(doca_ctx_start(tx));
	CHECK_OK(doca_ctx_stop(rx)); /* idle: nothing to do, nothing to report */
	CHECK_U64(changes, 0);
	stop_at = 5;
	run();
	stop_at = POSTED; /* the last one stops */
	run();
	stop_at = 1;
	destroy_at_idle = 1;
	run();
	CHECK_U64(destroyed, 1);
	CHECK_STATUS(doca_eth_rxq_destroy(rxq), DOCA_ERROR_INVALID_VALUE);
	eth_stop(&eth, tx);
	CHECK_OK(doca_eth_txq_destroy(txq));
	doca_flow_destroy();
	eth_teardown(&eth);
	return check_result();
}
