/*
 * At and over the limits: more tasks than a burst submitted before any progress, as many as the pool has; the
 * longest and the shortest frame, and those beyond; frames longer than the receive queue takes, regular and
 * managed; pools that are used up and filled again from callbacks.
 *
 * clauses: core-exec Behaviour 6 (submission limits); eth RXQ and TXQ object and properties; allocate_init
 * covers: @
 */
#include "eth_rig.h"

#define TASKS 512
#define BURST 32

static struct eth eth;
static struct doca_eth_rxq *rxq, *managed;
static struct doca_eth_txq *txq;
static unsigned received, flushed, sent, unsent, events, errors, order_ok = 1;
static doca_error_t last;
static size_t last_len;
static uint64_t next_sent, next_received;
static const union doca_data nothing;

static void received_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	struct doca_buf *pkt = NULL;

	(void)ctx;
	eth.calls++;
	order_ok &= user.u64 == next_received++;
	received++;
	CHECK_OK(doca_eth_rxq_task_recv_get_pkt(task, &pkt));
	CHECK_OK(doca_buf_get_data_len(pkt, &last_len));
	eth_drop_recv(task);
}

ETH_FLUSHED_CB(flushed)

static void done(struct doca_eth_txq_task_send *task)
{
	eth.calls++;
	last = doca_task_get_status(doca_eth_txq_task_send_as_doca_task(task));
	eth_drop_send(task);
}

static void sent_cb(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)ctx;
	sent++;
	order_ok &= user.u64 == next_sent++;
	done(task);
}

static void unsent_cb(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	unsent++;
	next_sent++;
	done(task);
}

static void packet_cb(struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *pkt, union doca_data user)
{
	(void)event, (void)user;
	eth.calls++;
	events++;
	CHECK_OK(doca_buf_get_data_len(pkt, &last_len));
	CHECK_OK(doca_buf_dec_refcount(pkt, NULL));
}

static void error_cb(struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *pkt, union doca_data user)
{
	(void)event, (void)user;
	eth.calls++;
	errors++;
	CHECK_PTR(pkt, NULL);
}

static struct doca_eth_txq_task_send *task_of(size_t at, size_t len, uint64_t number)
{
	struct doca_eth_txq_task_send *task = NULL;
	union doca_data user = {.u64 = number};

	MUST(doca_eth_txq_task_send_allocate_init(txq, eth_buf(&eth, at, len, len), user, &task));
	return task;
}

static void all_at_once(void)
{
	struct doca_eth_rxq_task_recv *recv = NULL;
	struct doca_eth_txq_task_send *more = NULL;
	struct doca_buf *buf;
	size_t inflight = 0;
	unsigned i;

	for (i = 0; i < TASKS; i++) {
		union doca_data user = {.u64 = i};

		MUST(doca_eth_rxq_task_recv_allocate_init(rxq, eth_buf(&eth, (1u << 20) + i * 256, 256, 0), user,
							  &recv));
		CHECK_OK(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(recv)));
	}
	for (i = 0; i < TASKS; i++) {
		eth_frame(eth.mem + i * 64, 60, i);
		CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task_of(i * 64, 60, i))));
	}
	buf = eth_buf(&eth, 0, 60, 60);
	CHECK_STATUS(doca_eth_txq_task_send_allocate_init(txq, buf, nothing, &more), DOCA_ERROR_NO_MEMORY);
	CHECK_STATUS(doca_eth_rxq_task_recv_allocate_init(rxq, buf, nothing, &recv), DOCA_ERROR_NO_MEMORY);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_OK(doca_ctx_get_num_inflight_tasks(doca_eth_txq_as_doca_ctx(txq), &inflight));
	CHECK_U64(inflight, TASKS);
	CHECK_OK(doca_pe_get_num_inflight_tasks(eth.pe, &inflight));
	CHECK_U64(inflight, 2 * TASKS);
	ETH_UNTIL(&eth, sent == TASKS);
	ETH_UNTIL(&eth, received == TASKS);
	CHECK(order_ok);
	CHECK_OK(doca_pe_get_num_inflight_tasks(eth.pe, &inflight));
	CHECK_U64(inflight, 0);
}

static void one(size_t len, int good)
{
	struct doca_task *task;

	eth_frame(eth.mem, len < 14 ? 14 : len, 1);
	task = doca_eth_txq_task_send_as_doca_task(task_of(0, len, next_sent));
	sent = unsent = 0;
	if (good) {
		CHECK_OK(doca_task_try_submit(task));
	} else {
		CHECK_STATUS(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
		CHECK_OK(doca_task_submit(task));
	}
	ETH_UNTIL(&eth, sent + unsent == 1);
	CHECK_U64(sent, good);
	CHECK_STATUS(last, good ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
	CHECK_U64(eth_state(doca_eth_txq_as_doca_ctx(txq)), DOCA_CTX_STATE_RUNNING);
}

int main(void)
{
	struct eth_rules rules;
	uint16_t regular_queue = 0, managed_queue = 1;
	uint32_t most = 0;

	eth_setup(&eth);
	CHECK_OK(doca_eth_rxq_cap_get_max_packet_size(doca_dev_as_devinfo(eth.dev[1]), &most));
	MUST(doca_eth_rxq_create(eth.dev[1], BURST, 256, &rxq));
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, received_cb, flushed_cb, TASKS));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	MUST(doca_eth_rxq_create(eth.dev[1], BURST, 256, &managed));
	MUST(doca_eth_rxq_set_type(managed, DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL));
	MUST(doca_eth_rxq_set_pkt_buf(managed, eth.map, 2u << 20, 1u << 20));
	MUST(doca_eth_rxq_event_managed_recv_register(managed, nothing, packet_cb, error_cb));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_rxq_as_doca_ctx(managed)));
	MUST(doca_ctx_start(doca_eth_rxq_as_doca_ctx(managed)));
	MUST(doca_eth_rxq_apply_queue_id(managed, 1));
	MUST(doca_eth_txq_create(eth.dev[0], BURST, &txq));
	MUST(doca_eth_txq_task_send_set_conf(txq, sent_cb, unsent_cb, TASKS));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_txq_as_doca_ctx(txq)));
	MUST(doca_ctx_start(doca_eth_txq_as_doca_ctx(txq)));
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 0, &regular_queue, 1, 0);
	all_at_once();
	eth_rules_end(&rules);
	rules = eth_rules_begin(eth.dev[1], 0, &managed_queue, 1, 0);
	/* A header alone is a frame; less is none. */
	one(14, 1);
	one(13, 0);
	one(1, 0);
	ETH_UNTIL(&eth, events == 1);
	CHECK(last_len >= 14 && last_len <= 60);
	one(256, 1);
	ETH_UNTIL(&eth, events == 2);
	CHECK_U64(last_len, 256);
	/* Longer than the queue takes: nothing comes but, perhaps, an error; and the next one does. */
	one(257, 1);
	eth_frame(eth.mem, 100, 1);
	one(100, 1);
	ETH_UNTIL(&eth, events == 3);
	CHECK_U64(last_len, 100);
	CHECK(errors <= 1);
	one(most, 1);
	one(200000, 0);
	one(200, 1);
	ETH_UNTIL(&eth, events == 4);
	CHECK_U64(last_len, 200);
	eth_rules_end(&rules);
	doca_flow_destroy();
	CHECK_OK(doca_ctx_stop(doca_eth_rxq_as_doca_ctx(rxq)));
	CHECK_OK(doca_ctx_stop(doca_eth_rxq_as_doca_ctx(managed)));
	CHECK_OK(doca_ctx_stop(doca_eth_txq_as_doca_ctx(txq)));
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	CHECK_OK(doca_eth_rxq_destroy(managed));
	CHECK_OK(doca_eth_txq_destroy(txq));
	eth_teardown(&eth);
	return check_result();
}
