/*
 * What a queue tells of each frame, and what it does not when it was not asked: checksums that are right,
 * wrong and absent, in IPv4 with UDP and TCP; hashes that are the same for the same flow; times that do not run back.
 *
 * clauses: eth RXQ CPU datapath (per-packet results); set_flow_tag, set_rx_hash, set_timestamp
 * covers: @
 */
#include "eth_rig.h"

#define BAD DOCA_ERROR_INVALID_VALUE

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static unsigned received, sent, asked;
static uint8_t l3, l4;
static uint32_t hash;
static uint64_t last_time;
static const union doca_data nothing;

static void received_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	const uint32_t *words = NULL;
	struct doca_buf *pkt = NULL;
	uint64_t now = 0;
	uint32_t tag = 0;

	(void)user, (void)ctx;
	eth.calls++;
	received++;
	l3 = l4 = 9;
	CHECK_OK(doca_eth_rxq_task_recv_get_l3_ok(task, &l3));
	CHECK_OK(doca_eth_rxq_task_recv_get_l4_ok(task, &l4));
	CHECK_STATUS(doca_eth_rxq_task_recv_get_l4_ok(task, NULL), BAD);
	CHECK_STATUS(doca_eth_rxq_task_recv_get_l3_ok(NULL, &l3), BAD);
	CHECK_STATUS(doca_eth_rxq_task_recv_get_timestamp(NULL, &now), BAD);
	CHECK_STATUS(doca_eth_rxq_task_recv_get_metadata_array(task, NULL), BAD);
	if (asked) {
		CHECK_OK(doca_eth_rxq_task_recv_get_flow_tag(task, &tag));
		CHECK_OK(doca_eth_rxq_task_recv_get_rx_hash(task, &hash));
		CHECK_OK(doca_eth_rxq_task_recv_get_timestamp(task, &now));
		CHECK(now >= last_time && now > 0);
		last_time = now;
		CHECK_OK(doca_eth_rxq_task_recv_get_metadata_array(task, &words));
		CHECK(words != NULL && (words[0] == 5 || words[0] == DOCA_HTOBE32(5)));
	} else if (doca_eth_rxq_task_recv_get_timestamp(task, &now) == DOCA_SUCCESS) {
		/* It may fail or give nothing. */
		CHECK_U64(now, 0);
	}
	CHECK_OK(doca_eth_rxq_task_recv_get_pkt(task, &pkt));
	eth_post_again(task);
}

static void flushed_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	eth.calls++;
	eth_drop_recv(task);
}

ETH_SENT_CB(sent)

/* What lies at 0 goes out and comes in. */
static void round_trip(size_t len, uint16_t flags)
{
	struct doca_eth_txq_task_send *task = NULL;

	received = sent = 0;
	MUST(doca_eth_txq_task_send_allocate_init(txq, eth_buf(&eth, 0, 2048, len), nothing, &task));
	doca_eth_txq_task_send_set_ol_flags(task, flags);
	CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
	ETH_UNTIL(&eth, received == 1 && sent == 1);
}

static void rx_start(void)
{
	struct doca_eth_rxq_task_recv *task = NULL;

	MUST(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	MUST(doca_eth_rxq_task_recv_allocate_init(rxq, eth_buf(&eth, 1u << 20, 2048, 0), nothing, &task));
	CHECK_OK(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(task)));
}

static void frames(void)
{
	const uint16_t both = DOCA_ETH_TXQ_OL_FLAGS_L3_CSUM | DOCA_ETH_TXQ_OL_FLAGS_L4_CSUM;
	uint32_t first;
	size_t len;

	len = eth_udp(eth.mem, 101, 3);
	round_trip(len, both);
	CHECK_U64(l3, 1);
	CHECK_U64(l4, 1);
	eth_check_sums(eth.mem + (1u << 20));
	first = hash;
	/* The same flow, other bytes. */
	len = eth_udp(eth.mem, 300, 77);
	round_trip(len, both);
	CHECK_U64(hash, first);
	/* The header's alone. */
	round_trip(len, DOCA_ETH_TXQ_OL_FLAGS_L3_CSUM);
	CHECK_U64(l3, 1);
	/* Wrong ones, as they are. */
	memcpy(eth.mem, eth.mem + (1u << 20), len);
	eth.mem[40] = 0x12;
	eth.mem[41] = 0x34;
	round_trip(len, 0);
	CHECK_U64(l3, 1);
	CHECK_U64(l4, 0);
	eth.mem[24] ^= 0x55;
	round_trip(len, 0);
	CHECK_U64(l3, 0);
	/* TCP in the place of UDP. */
	len = eth_udp(eth.mem, 60, 0);
	eth.mem[23] = 6;
	eth.mem[46] = 0x50;
	round_trip(len, both);
	CHECK_U64(l3, 1);
	CHECK_U64(l4, 1);
	eth_check_sums(eth.mem + (1u << 20));
	/* A header that says more than there is; not of IP at all. */
	eth.mem[16] = 0xff;
	round_trip(len, 0);
	CHECK_U64(l4, 0);
	eth.mem[14] = 0x4f;
	round_trip(34, both);
	CHECK(l3 == 0 && l4 == 0);
	eth_frame(eth.mem, 64, 1);
	round_trip(64, both);
	CHECK(l3 == 0 && l4 == 0);
	CHECK_BYTES(eth.mem + (1u << 20), eth.mem, 64);
	memset(eth.mem + 12, 0, 2);
	eth.mem[12] = 8;
	round_trip(14, both);
	CHECK(l3 == 0 && l4 == 0);
}

int main(void)
{
	struct eth_rules rules;
	uint16_t queue = 0;

	eth_setup(&eth);
	MUST(doca_eth_rxq_create(eth.dev[1], 64, 2048, &rxq));
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, received_cb, flushed_cb, 1));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_eth_txq_create(eth.dev[0], 64, &txq));
	MUST(doca_eth_txq_task_send_set_conf(txq, sent_cb, sent_cb, 8));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_txq_as_doca_ctx(txq)));
	MUST(doca_ctx_start(doca_eth_txq_as_doca_ctx(txq)));
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 0, &queue, 1, 5);
	rx_start();
	frames();
	eth_stop(&eth, doca_eth_rxq_as_doca_ctx(rxq));
	asked = 1;
	MUST(doca_eth_rxq_set_metadata_num(rxq, 1));
	MUST(doca_eth_rxq_set_flow_tag(rxq, 1));
	MUST(doca_eth_rxq_set_rx_hash(rxq, 1));
	MUST(doca_eth_rxq_set_timestamp(rxq, 1));
	rx_start();
	frames();
	eth_stop(&eth, doca_eth_rxq_as_doca_ctx(rxq));
	CHECK_OK(doca_ctx_stop(doca_eth_txq_as_doca_ctx(txq)));
	eth_rules_end(&rules);
	doca_flow_destroy();
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	CHECK_OK(doca_eth_txq_destroy(txq));
	eth_teardown(&eth);
	return check_result();
}
