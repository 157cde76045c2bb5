/*
 * What settings of queues come to: the longest packet that was set counts, not the one given at create; a rule
 * may name the number that the library chose; the checksums of a queue are filled in unless a task says
 * otherwise; packet memory may be destroyed without a stop, once no packet is out.
 *
 * clauses: eth set_max_packet_size, get_flow_queue_id, set_l3/l4_chksum_offload, set_ol_flags, set_pkt_buf
 * covers: @
 */
#include "eth_rig.h"

#define WINDOW 2048u
#define POSTED 8u

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static unsigned received, flushed, sent;
static size_t last_len;
static uint8_t last[WINDOW];
static struct doca_buf *kept;
static const union doca_data nothing;

static void received_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	const uint8_t *data;

	(void)user, (void)ctx;
	eth.calls++;
	received++;
	data = eth_received(task, &last_len);
	MUST_BE(last_len <= WINDOW);
	memcpy(last, data, last_len);
	eth_post_again(task);
}

ETH_FLUSHED_CB(flushed)

ETH_SENT_CB(sent)

static void packet_cb(struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *pkt, union doca_data user)
{
	(void)event, (void)user;
	eth.calls++;
	received++;
	MUST_BE(kept == NULL);
	kept = pkt;
}

static void no_packet_cb(struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *pkt, union doca_data user)
{
	(void)event, (void)user;
	eth.calls++;
	CHECK_PTR(pkt, NULL);
	check_fail(__FILE__, __LINE__, "a packet was lost");
}

/* A frame of `len` bytes that lie at the start of the memory leaves; `flags` below 0: what the queue says. */
static void send_frame(size_t len, int flags)
{
	struct doca_eth_txq_task_send *task = NULL;
	unsigned before = sent;

	MUST(doca_eth_txq_task_send_allocate_init(txq, eth_buf(&eth, 0, WINDOW, len), nothing, &task));
	if (flags >= 0)
		doca_eth_txq_task_send_set_ol_flags(task, (uint16_t)flags);
	CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
	ETH_UNTIL(&eth, sent == before + 1);
}

static void send_number(size_t len, uint32_t number)
{
	eth_frame(eth.mem, len, number);
	send_frame(len, -1);
}

static uint32_t last_number(void)
{
	uint32_t number;

	memcpy(&number, last + 14, 4);
	return number;
}

/* A queue made for `made` bytes and then set to `longest`; the number is the library's. */
static uint16_t begin(uint32_t made, uint32_t longest)
{
	struct doca_ctx *ctx;
	uint16_t number = 0;
	unsigned i;

	MUST(doca_eth_rxq_create(eth.dev[1], POSTED, made, &rxq));
	CHECK_OK(doca_eth_rxq_set_max_packet_size(rxq, longest));
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, received_cb, flushed_cb, POSTED));
	ctx = doca_eth_rxq_as_doca_ctx(rxq);
	MUST(doca_pe_connect_ctx(eth.pe, ctx));
	MUST(doca_ctx_start(ctx));
	MUST(doca_eth_rxq_get_flow_queue_id(rxq, &number));
	for (i = 0; i < POSTED; i++) {
		struct doca_eth_rxq_task_recv *task = NULL;
		struct doca_buf *buf = eth_buf(&eth, (1u << 20) + i * WINDOW, WINDOW, 0);

		MUST(doca_eth_rxq_task_recv_allocate_init(rxq, buf, nothing, &task));
		CHECK_OK(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(task)));
	}
	return number;
}

static void end(void)
{
	flushed = 0;
	eth_stop(&eth, doca_eth_rxq_as_doca_ctx(rxq));
	CHECK_U64(flushed, POSTED);
	MUST(doca_eth_rxq_destroy(rxq));
}

static void longest_packet(uint32_t made, uint32_t longest)
{
	uint16_t number = begin(made, longest);
	struct eth_rules rules = eth_rules_begin(eth.dev[1], 0, &number, 1, 7);
	unsigned before = received;

	send_number(longest, 1);
	ETH_UNTIL(&eth, received == before + 1);
	CHECK_U64(last_len, longest);
	/* The longer one is dropped; what comes behind it is there. */
	send_number(longest + 1, 2);
	send_number(60, 3);
	ETH_UNTIL(&eth, received == before + 2);
	CHECK_U64(last_len, 60);
	CHECK_U64(last_number(), 3);
	eth_rules_end(&rules);
	end();
}

static void checksums(void)
{
	uint16_t number = begin(1600, 1600);
	struct eth_rules rules = eth_rules_begin(eth.dev[1], 0, &number, 1, 7);
	static const int flags[] = {-1, 0, DOCA_ETH_TXQ_OL_FLAGS_L3_CSUM, DOCA_ETH_TXQ_OL_FLAGS_L4_CSUM};
	unsigned i;

	for (i = 0; i < 4; i++) {
		/* By default what the queue does: both. */
		int l3 = flags[i] < 0 || (flags[i] & DOCA_ETH_TXQ_OL_FLAGS_L3_CSUM);
		int l4 = flags[i] < 0 || (flags[i] & DOCA_ETH_TXQ_OL_FLAGS_L4_CSUM);
		unsigned before = received;
		size_t len = eth_udp(eth.mem, 100, (uint8_t)(i + 1));

		send_frame(len, flags[i]);
		ETH_UNTIL(&eth, received == before + 1);
		CHECK_U64(last_len, len);
		CHECK_U64(last[42], i + 1);
		CHECK((last[24] | last[25]) != 0 ? l3 : !l3);
		CHECK((last[40] | last[41]) != 0 ? l4 : !l4);
		if (l3 && l4)
			eth_check_sums(last);
	}
	eth_rules_end(&rules);
	end();
}

/* Packet memory of a managed queue in a map of its own, whose rights nobody has set. */
static void packet_memory(void)
{
	struct doca_mmap *map = NULL;
	struct eth_rules rules;
	struct doca_ctx *ctx;
	unsigned before = received;
	uint16_t number = 0;
	uint32_t size = 0;
	void *memory;

	CHECK_OK(doca_eth_rxq_estimate_packet_buf_size(DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL, 10000, 10, 1600, 256, 0, 0,
						       0, &size));
	MUST_BE(size > 0);
	size = (size + 63) / 64 * 64;
	memory = aligned_alloc(64, size);
	MUST_BE(memory != NULL);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, eth.dev[1]));
	MUST(doca_mmap_set_memrange(map, memory, size));
	MUST(doca_mmap_start(map));
	MUST(doca_eth_rxq_create(eth.dev[1], 256, 1600, &rxq));
	MUST(doca_eth_rxq_set_type(rxq, DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL));
	MUST(doca_eth_rxq_set_pkt_buf(rxq, map, 0, size));
	MUST(doca_eth_rxq_event_managed_recv_register(rxq, nothing, packet_cb, no_packet_cb));
	ctx = doca_eth_rxq_as_doca_ctx(rxq);
	MUST(doca_pe_connect_ctx(eth.pe, ctx));
	MUST(doca_ctx_start(ctx));
	MUST(doca_eth_rxq_get_flow_queue_id(rxq, &number));
	rules = eth_rules_begin(eth.dev[1], 0, &number, 1, 7);
	send_number(60, 9);
	ETH_UNTIL(&eth, received == before + 1);
	eth_rules_end(&rules);

	/* The program has a packet: the queue ends when it is back, and the map goes after the queue. */
	CHECK_STATUS(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	eth_quiet(&eth);
	CHECK_U64(eth_state(ctx), DOCA_CTX_STATE_STOPPING);
	CHECK_REFUSED(doca_mmap_destroy(map));
	CHECK_OK(doca_buf_dec_refcount(kept, NULL));
	ETH_UNTIL(&eth, eth_state(ctx) == DOCA_CTX_STATE_IDLE);
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	CHECK_OK(doca_mmap_destroy(map));
	free(memory);
}

int main(void)
{
	struct doca_ctx *ctx;

	eth_setup(&eth);
	eth_flow_begin();
	MUST(doca_eth_txq_create(eth.dev[0], 256, &txq));
	MUST(doca_eth_txq_set_l3_chksum_offload(txq, 1));
	MUST(doca_eth_txq_set_l4_chksum_offload(txq, 1));
	MUST(doca_eth_txq_task_send_set_conf(txq, sent_cb, sent_cb, 16));
	ctx = doca_eth_txq_as_doca_ctx(txq);
	MUST(doca_pe_connect_ctx(eth.pe, ctx));
	MUST(doca_ctx_start(ctx));

	longest_packet(64, 1514);
	longest_packet(1600, 100);
	checksums();
	packet_memory();

	eth_stop(&eth, ctx);
	CHECK_OK(doca_eth_txq_destroy(txq));
	doca_flow_destroy();
	eth_teardown(&eth);
	return check_result();
}
