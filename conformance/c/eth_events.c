/*
 * A managed queue that tells of packets one by one: buffers of its own memory with room around the
 * frame, one reference each; memory that runs short holds packets back; a stop waits for packets that
 * the program has, and is immediate without.
 *
 * clauses: eth RXQ CPU datapath (managed receive event); Behaviour (packet buffers of events, start and stop)
 * covers: doca_eth_rxq_event_managed_recv_register doca_eth_rxq_event_managed_recv_get_status
 *   doca_eth_rxq_event_managed_recv_get_l3_ok doca_eth_rxq_event_managed_recv_get_l4_ok
 *   doca_eth_rxq_event_managed_recv_get_metadata_array doca_eth_rxq_event_managed_recv_get_flow_tag
 *   doca_eth_rxq_event_managed_recv_get_rx_hash doca_eth_rxq_event_managed_recv_get_timestamp
 *   doca_eth_rxq_event_managed_recv_get_ctx doca_eth_rxq_set_pkt_buf doca_eth_rxq_set_packet_headroom
 *   doca_eth_rxq_set_packet_tailroom doca_eth_rxq_set_type
 */
#include "eth_rig.h"

#define HEAD 64
#define TAIL 32
#define PACKET 1600
#define COUNT 8

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static struct doca_ctx *rx, *tx;
static struct doca_buf *held[64];
static unsigned got, sent, lost;
static int keep;
static uint8_t want[PACKET];
static size_t want_len;

static void packet(struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *pkt, union doca_data user)
{
	void *head = NULL, *data = NULL;
	const uint32_t *words = NULL;
	uint32_t tag = 1, hash = 1;
	uint64_t time = 0;
	uint8_t l3 = 7, l4 = 7;
	size_t len = 0, data_len = 0;
	uint16_t refs = 0;

	eth.calls++;
	CHECK_U64(user.u64, 42);
	CHECK_OK(doca_eth_rxq_event_managed_recv_get_status(event));
	CHECK_PTR(doca_eth_rxq_event_managed_recv_get_ctx(event), rx);
	CHECK_OK(doca_eth_rxq_event_managed_recv_get_l3_ok(event, &l3));
	CHECK_OK(doca_eth_rxq_event_managed_recv_get_l4_ok(event, &l4));
	CHECK(l3 == l4 && l3 <= 1);
	CHECK_OK(doca_eth_rxq_event_managed_recv_get_metadata_array(event, &words));
	CHECK_U64(words[0], 99);
	CHECK_OK(doca_eth_rxq_event_managed_recv_get_flow_tag(event, &tag));
	CHECK_OK(doca_eth_rxq_event_managed_recv_get_rx_hash(event, &hash));
	CHECK_STATUS(doca_eth_rxq_event_managed_recv_get_timestamp(event, &time), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_event_managed_recv_get_flow_tag(event, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_event_managed_recv_get_flow_tag(NULL, &tag), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_get_refcount(pkt, &refs));
	CHECK_U64(refs, 1);
	CHECK_OK(doca_buf_get_head(pkt, &head));
	CHECK_OK(doca_buf_get_data(pkt, &data));
	CHECK_OK(doca_buf_get_len(pkt, &len));
	CHECK_OK(doca_buf_get_data_len(pkt, &data_len));
	CHECK_U64((uintptr_t)data - (uintptr_t)head, HEAD);
	CHECK(len >= HEAD + data_len + TAIL);
	CHECK((uint8_t *)head >= eth.mem && (uint8_t *)head + len <= eth.mem + ETH_BYTES);
	if (want_len != 0) {
		CHECK_U64(data_len, want_len);
		CHECK_BYTES(data, want, want_len);
	}
	if (keep)
		held[got] = pkt;
	else
		CHECK_OK(doca_buf_dec_refcount(pkt, NULL));
	got++;
}

static void trouble(struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *pkt, union doca_data user)
{
	(void)user;
	eth.calls++;
	lost++;
	CHECK_PTR(pkt, NULL);
	CHECK(doca_eth_rxq_event_managed_recv_get_status(event) != DOCA_SUCCESS);
}

static void send_done(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	(void)ctx;
	eth.calls++;
	sent++;
	doca_task_free(doca_eth_txq_task_send_as_doca_task(task));
}

static void start(void)
{
	union doca_data user = {.u64 = 42};

	MUST(doca_eth_rxq_create(eth.dev[1], 256, PACKET, &rxq));
	rx = doca_eth_rxq_as_doca_ctx(rxq);
	MUST(doca_eth_rxq_set_type(rxq, DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL));
	MUST(doca_eth_rxq_set_metadata_num(rxq, 1));
	MUST(doca_eth_rxq_set_flow_tag(rxq, 1));
	MUST(doca_eth_rxq_set_rx_hash(rxq, 1));
	MUST(doca_eth_rxq_set_packet_headroom(rxq, HEAD));
	MUST(doca_eth_rxq_set_packet_tailroom(rxq, TAIL));
	/* As many packets as that is, to the byte. */
	MUST(doca_eth_rxq_set_pkt_buf(rxq, eth.map, 1u << 20, (COUNT - 1) * 1728 + HEAD + PACKET + TAIL));
	MUST(doca_eth_rxq_event_managed_recv_register(rxq, user, packet, trouble));
	MUST(doca_pe_connect_ctx(eth.pe, rx));
	MUST(doca_ctx_start(rx));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	MUST(doca_eth_txq_create(eth.dev[0], 256, &txq));
	tx = doca_eth_txq_as_doca_ctx(txq);
	MUST(doca_eth_txq_task_send_set_conf(txq, send_done, send_done, 16));
	MUST(doca_pe_connect_ctx(eth.pe, tx));
	MUST(doca_ctx_start(tx));
}

static void transmit(size_t len, uint32_t number)
{
	struct doca_buf *buf = eth_buf(&eth, 0, 2048, len);
	struct doca_eth_txq_task_send *task = NULL;
	union doca_data user = {.u64 = 0};
	unsigned before = sent;

	eth_frame(eth.mem, len, number);
	MUST(doca_eth_txq_task_send_allocate_init(txq, buf, user, &task));
	CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
	ETH_UNTIL(&eth, sent == before + 1);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
}

int main(void)
{
	struct doca_buf *copy = NULL;
	struct eth_rules rules;
	unsigned i;

	eth_setup(&eth);
	start();
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 0, (uint16_t[]){0}, 1, 99);
	for (i = 0; i < 300; i++) {
		want_len = 14 + (i * 37) % (PACKET - 13);
		eth_frame(want, want_len, i);
		transmit(want_len, i);
		ETH_UNTIL(&eth, got == i + 1);
	}
	want_len = 0;
	got = 0;
	/* All packets held: the ninth waits. */
	keep = 1;
	for (i = 0; i < COUNT + 1; i++)
		transmit(100, i);
	ETH_UNTIL(&eth, got == COUNT);
	eth_quiet(&eth);
	CHECK_STATUS(doca_buf_inventory_buf_dup(eth.inv, held[0], &copy), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_buf_inc_refcount(held[3], NULL));
	CHECK_OK(doca_buf_dec_refcount(held[3], NULL));
	eth_quiet(&eth);
	CHECK_OK(doca_buf_dec_refcount(held[3], NULL));
	ETH_UNTIL(&eth, got == COUNT + 1);
	held[3] = held[COUNT];
	/* A stop waits for what the program has. */
	CHECK_STATUS(doca_ctx_stop(rx), DOCA_ERROR_IN_PROGRESS);
	for (i = 0; i < COUNT; i++) {
		eth_quiet(&eth);
		CHECK_U64(eth_state(rx), DOCA_CTX_STATE_STOPPING);
		CHECK_OK(doca_buf_dec_refcount(held[i], NULL));
	}
	ETH_UNTIL(&eth, eth_state(rx) == DOCA_CTX_STATE_IDLE);
	/* Once more; without packets out it is immediate. */
	keep = 0;
	got = 0;
	MUST(doca_ctx_start(rx));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	transmit(200, 1);
	ETH_UNTIL(&eth, got == 1);
	CHECK_OK(doca_ctx_stop(rx));
	CHECK_U64(lost, 0);
	eth_rules_end(&rules);
	doca_flow_destroy();
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	eth_stop(&eth, tx);
	CHECK_OK(doca_eth_txq_destroy(txq));
	eth_teardown(&eth);
	return check_result();
}
