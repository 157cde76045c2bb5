/*
 * Steering: without a pipe packets are dropped; two queues share the flows by hash, each flow always at one
 * of them, what is not IP at the first; what the rule was made from may change afterwards; a pipe that is
 * gone steers no more; a queue that is stopped while the rule points at it, and started again.
 *
 * clauses: eth DOCA Flow calls (meaning for a software queue); apply_queue_id; metadata
 * covers: @
 */
#include "eth_rig.h"

#define FLOWS 64

static struct eth eth;
static struct doca_eth_rxq *rxq[2];
static struct doca_eth_txq *txq;
static unsigned got[2], gone[2], sent;
static uint8_t where[2][FLOWS + 1]; /* how often a flow was seen at a queue */
static uint32_t want_meta = 1234;
static const union doca_data nothing;

static void post(unsigned at, size_t offset)
{
	struct doca_eth_rxq_task_recv *task = NULL;
	union doca_data user = {.u64 = at};

	MUST(doca_eth_rxq_task_recv_allocate_init(rxq[at], eth_buf(&eth, offset, 2048, 0), user, &task));
	CHECK_OK(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(task)));
}

static void received_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	struct doca_task *plain = doca_eth_rxq_task_recv_as_doca_task(task);
	const uint32_t *meta = NULL;
	struct doca_buf *pkt = NULL;
	uint8_t *data = NULL;
	void *at = NULL;

	(void)ctx;
	eth.calls++;
	got[user.u64]++;
	CHECK_OK(doca_eth_rxq_task_recv_get_pkt(task, &pkt));
	CHECK_OK(doca_buf_get_data(pkt, &at));
	data = at;
	where[user.u64][data[12] == 8 ? data[42] : FLOWS]++;
	CHECK_OK(doca_eth_rxq_task_recv_get_metadata_array(task, &meta));
	MUST_BE(meta != NULL);
	CHECK(meta[0] == want_meta || meta[0] == DOCA_HTOBE32(want_meta));
	CHECK_OK(doca_buf_reset_data_len(pkt));
	CHECK_OK(doca_task_submit(plain)); /* the same again */
}

static void flushed_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	(void)ctx;
	eth.calls++;
	gone[user.u64]++;
	eth_drop_recv(task);
}

ETH_SENT_CB(sent)

/* One frame of each flow, and one that is not IP; all are on their way afterwards. */
static void burst(void)
{
	struct doca_eth_txq_task_send *task = NULL;
	unsigned i, want = sent + FLOWS + 1;

	for (i = 0; i <= FLOWS; i++) {
		uint8_t *at = eth.mem + i * 128;
		size_t len;

		if (i < FLOWS) {
			len = eth_udp(at, 40, (uint8_t)i);
			at[34] = (uint8_t)(0x40 + i); /* source port */
			at[29] = (uint8_t)(i * 3);    /* source address */
		} else {
			len = 64;
			eth_frame(at, len, 5);
		}
		MUST(doca_eth_txq_task_send_allocate_init(txq, eth_buf(&eth, i * 128, 128, len), nothing, &task));
		CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
	}
	ETH_UNTIL(&eth, sent == want);
}

static void settle(void)
{
	unsigned i;

	for (i = 0; i < 3000; i++)
		eth_progress(&eth);
}

static void start(unsigned at)
{
	unsigned k;

	MUST(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq[at])));
	CHECK_OK(doca_eth_rxq_apply_queue_id(rxq[at], (uint16_t)at));
	for (k = 0; k < 8; k++)
		post(at, (1u << 20) + (at * 8 + k) * 2048);
}

int main(void)
{
	struct eth_rules rules;
	uint16_t queues[2] = {0, 1};
	unsigned i, both;

	eth_setup(&eth);
	for (i = 0; i < 2; i++) {
		MUST(doca_eth_rxq_create(eth.dev[1], 256, 2048, &rxq[i]));
		MUST(doca_eth_rxq_set_metadata_num(rxq[i], 1));
		MUST(doca_eth_rxq_task_recv_set_conf(rxq[i], received_cb, flushed_cb, 8));
		MUST(doca_pe_connect_ctx(eth.pe, doca_eth_rxq_as_doca_ctx(rxq[i])));
		start(i);
	}
	MUST(doca_eth_txq_create(eth.dev[0], 256, &txq));
	MUST(doca_eth_txq_task_send_set_conf(txq, sent_cb, sent_cb, 128));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_txq_as_doca_ctx(txq)));
	MUST(doca_ctx_start(doca_eth_txq_as_doca_ctx(txq)));
	/* No flow library, no port, no pipe: nothing arrives, then or later. */
	burst();
	settle();
	CHECK_U64(got[0] + got[1], 0);
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 0, queues, 2, 1234);
	settle();
	CHECK_U64(got[0] + got[1], 0);
	memset(queues, 0xFF, sizeof(queues)); /* was copied */
	for (i = 0; i < 4; i++) {
		burst();
		ETH_UNTIL(&eth, got[0] + got[1] == (i + 1) * (FLOWS + 1));
	}
	for (i = both = 0; i < FLOWS; i++) {
		/* All four at one of them. */
		CHECK(where[0][i] + where[1][i] == 4 && (where[0][i] == 0 || where[1][i] == 0));
		both += where[0][i] != 0;
	}
	CHECK(both > FLOWS / 8 && both < FLOWS * 7 / 8);
	CHECK_U64(where[0][FLOWS], 4);
	/* One queue stops: its flows go nowhere, the other's come in. */
	CHECK_STATUS(doca_ctx_stop(doca_eth_rxq_as_doca_ctx(rxq[1])), DOCA_ERROR_IN_PROGRESS);
	ETH_UNTIL(&eth, eth_state(doca_eth_rxq_as_doca_ctx(rxq[1])) == DOCA_CTX_STATE_IDLE);
	CHECK_U64(gone[1], 8);
	got[0] = got[1] = 0;
	burst();
	settle();
	CHECK(got[0] >= both + 1);
	CHECK_U64(got[1], 0);
	/* It comes back under its number, without a new rule. */
	start(1);
	got[0] = got[1] = 0;
	burst();
	ETH_UNTIL(&eth, got[0] + got[1] == FLOWS + 1);
	CHECK_U64(got[0], both + 1);
	/* The rule is gone. */
	eth_rules_end(&rules);
	got[0] = got[1] = 0;
	burst();
	settle();
	CHECK_U64(got[0] + got[1], 0);
	/* Another one, the other way round, with another word. */
	queues[0] = 1;
	want_meta = 77;
	rules = eth_rules_begin(eth.dev[1], 0, queues, 1, 77);
	burst();
	ETH_UNTIL(&eth, got[1] == FLOWS + 1);
	CHECK_U64(got[0], 0);
	eth_rules_end(&rules);
	doca_flow_destroy();
	for (i = 0; i < 2; i++) {
		eth_stop(&eth, doca_eth_rxq_as_doca_ctx(rxq[i]));
		CHECK_OK(doca_eth_rxq_destroy(rxq[i]));
	}
	CHECK_OK(doca_ctx_stop(doca_eth_txq_as_doca_ctx(txq)));
	CHECK_OK(doca_eth_txq_destroy(txq));
	eth_teardown(&eth);
	return check_result();
}
