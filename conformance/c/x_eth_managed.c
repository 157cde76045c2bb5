/*
 * Packets of a managed queue, kept by the program: where the room around the frame is, references, what
 * happens when the program holds all memory, packets sent on through the other port from within the event,
 * and a stop while packets are out.
 *
 * clauses: eth Behaviour (packet buffers of events); set_packet_headroom, set_packet_tailroom; core-exec 3
 * covers: @
 */
#include "eth_rig.h"

#define HEAD 64
#define TAIL 32
#define PACKET 512
#define ROOM (64u << 10)

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static struct doca_ctx *rx, *tx;
static struct doca_buf *kept[1024];
static unsigned events, errors, sent, keep, reflect;
static uint32_t next;

static void sent_cb(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	struct doca_task *plain = doca_eth_txq_task_send_as_doca_task(task);
	struct doca_buf *pkt = NULL;
	uint16_t refs = 0;

	(void)ctx;
	eth.calls++;
	sent++;
	CHECK_OK(doca_task_get_status(plain));
	/* Freed first, looked at afterwards, as programs do. */
	doca_task_free(plain);
	CHECK_PTR(doca_task_get_ctx(plain), tx);
	CHECK_OK(doca_eth_txq_task_send_get_pkt(task, &pkt));
	CHECK_OK(doca_buf_get_refcount(pkt, &refs));
	CHECK_U64(refs, 1);
	CHECK_OK(doca_buf_dec_refcount(pkt, NULL));
	CHECK(user.u64 == 1 || user.u64 == 2);
}

static void send_on(struct doca_buf *pkt, uint64_t why)
{
	struct doca_eth_txq_task_send *task = NULL;
	union doca_data user = {.u64 = why};

	MUST(doca_eth_txq_task_send_allocate_init(txq, pkt, user, &task));
	CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
}

static void packet_cb(struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *pkt, union doca_data user)
{
	void *head = NULL, *data = NULL;
	size_t len = 0, data_len = 0;
	struct doca_buf *copy = NULL;
	uint16_t refs = 0;
	uint32_t number = 0;

	eth.calls++;
	CHECK_U64(user.u64, 42);
	CHECK_PTR(doca_eth_rxq_event_managed_recv_get_ctx(event), rx);
	CHECK_OK(doca_eth_rxq_event_managed_recv_get_status(event));
	CHECK_OK(doca_buf_get_refcount(pkt, &refs));
	CHECK_U64(refs, 1);
	CHECK_OK(doca_buf_get_head(pkt, &head));
	CHECK_OK(doca_buf_get_len(pkt, &len));
	CHECK_OK(doca_buf_get_data(pkt, &data));
	CHECK_OK(doca_buf_get_data_len(pkt, &data_len));
	CHECK((uint8_t *)data - (uint8_t *)head >= HEAD);
	CHECK(len - data_len - (size_t)((uint8_t *)data - (uint8_t *)head) >= TAIL);
	CHECK((uint8_t *)head >= eth.mem + (1 << 20) && (uint8_t *)head + len <= eth.mem + (1 << 20) + ROOM);
	CHECK_U64(data_len, 100);
	memcpy(&number, (uint8_t *)data + 14, 4);
	CHECK_U64(number, next);
	next++;
	CHECK_REFUSED(doca_buf_inventory_buf_dup(eth.inv, pkt, &copy));
	CHECK_U64(doca_pe_progress(eth.pe), 0);
	events++;
	if (reflect) {
		send_on(pkt, 2);
	} else if (keep) {
		MUST_BE(events <= 1024);
		kept[events - 1] = pkt;
	} else {
		CHECK_OK(doca_buf_inc_refcount(pkt, &refs));
		CHECK_U64(refs, 1);
		CHECK_OK(doca_buf_dec_refcount(pkt, &refs));
		CHECK_U64(refs, 2);
		CHECK_OK(doca_buf_dec_refcount(pkt, &refs));
		CHECK_U64(refs, 1);
	}
}

static void error_cb(struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *pkt, union doca_data user)
{
	(void)user;
	eth.calls++;
	errors++;
	CHECK_PTR(pkt, NULL);
	CHECK_REFUSED(doca_eth_rxq_event_managed_recv_get_status(event));
}

static void frame(uint32_t number)
{
	eth_frame(eth.mem + (number % 64) * 128, 100, number);
	send_on(eth_buf(&eth, (number % 64) * 128, 128, 100), 1);
}

int main(void)
{
	union doca_data user = {.u64 = 42};
	struct eth_rules rules;
	uint16_t queue = 0;
	unsigned i, before;

	eth_setup(&eth);
	MUST(doca_eth_rxq_create(eth.dev[1], 32, PACKET, &rxq));
	rx = doca_eth_rxq_as_doca_ctx(rxq);
	MUST(doca_eth_rxq_set_type(rxq, DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL));
	MUST(doca_eth_rxq_set_packet_headroom(rxq, HEAD));
	MUST(doca_eth_rxq_set_packet_tailroom(rxq, TAIL));
	MUST(doca_eth_rxq_set_pkt_buf(rxq, eth.map, 1 << 20, ROOM));
	MUST(doca_eth_rxq_event_managed_recv_register(rxq, user, packet_cb, error_cb));
	MUST(doca_pe_connect_ctx(eth.pe, rx));
	MUST(doca_ctx_start(rx));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	CHECK_STATUS(doca_eth_rxq_event_managed_recv_register(rxq, user, packet_cb, error_cb), DOCA_ERROR_BAD_STATE);
	MUST(doca_eth_txq_create(eth.dev[0], 64, &txq));
	tx = doca_eth_txq_as_doca_ctx(txq);
	MUST(doca_eth_txq_task_send_set_conf(txq, sent_cb, sent_cb, 64));
	MUST(doca_pe_connect_ctx(eth.pe, tx));
	MUST(doca_ctx_start(tx));
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 0, &queue, 1, 0);

	/* Each given back at once. */
	for (i = 0; i < 500; i++) {
		frame(i);
		ETH_UNTIL(&eth, sent == i + 1 && events == i + 1);
	}
	/* All are kept until there is no more memory: sends still succeed. */
	keep = 1;
	events = sent = 0;
	for (i = 0; i < 400; i++) {
		frame(next);
		ETH_UNTIL(&eth, sent == i + 1);
		before = events;
		for (unsigned k = 0; k < 2000 && events == before; k++)
			eth_progress(&eth);
		if (events == before)
			break;
	}
	CHECK(events >= 32 && events < ROOM / (PACKET + HEAD + TAIL) + 2);
	CHECK_U64(errors, 0);
	/* Those kept are whole. */
	for (i = 0; i < events; i++) {
		void *data = NULL;
		uint8_t want[100];

		CHECK_OK(doca_buf_get_data(kept[i], &data));
		eth_frame(want, 100, 500 + i);
		CHECK_BYTES(data, want, 100);
	}
	/* One back, and at once there is room for one more (the frame that found none may be it, or lost). */
	CHECK_OK(doca_buf_dec_refcount(kept[0], NULL));
	before = events;
	for (i = 0; i < 2000 && events == before; i++)
		eth_progress(&eth);
	if (events == before) {
		sent = 0;
		frame(next);
		ETH_UNTIL(&eth, sent == 1 && events == before + 1);
	}
	/* A stop waits for those that are out. */
	CHECK_STATUS(doca_ctx_stop(rx), DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(eth_state(rx), DOCA_CTX_STATE_STOPPING);
	CHECK_STATUS(doca_eth_rxq_destroy(rxq), DOCA_ERROR_BAD_STATE);
	for (i = 0; i < 100; i++)
		eth_progress(&eth);
	CHECK_U64(eth_state(rx), DOCA_CTX_STATE_STOPPING);
	for (i = 1; i < events; i++)
		CHECK_OK(doca_buf_dec_refcount(kept[i], NULL));
	ETH_UNTIL(&eth, eth_state(rx) == DOCA_CTX_STATE_IDLE);

	/* Again, and packets go on from within the event: same port back out, and dropped at the other end. */
	keep = 0;
	reflect = 1;
	next = 7000;
	events = sent = 0;
	MUST(doca_ctx_start(rx));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	frame(7000);
	/* What is sent on comes in again, until it has been round often enough. */
	while (events < 50) {
		eth_progress(&eth);
		next = 7000;
	}
	reflect = 0;
	while (events < 51) {
		eth_progress(&eth);
		next = 7000;
	}
	ETH_UNTIL(&eth, sent == 51);
	CHECK_OK(doca_ctx_stop(rx));
	CHECK_U64(eth_state(rx), DOCA_CTX_STATE_IDLE);
	CHECK_OK(doca_ctx_stop(tx));
	eth_rules_end(&rules);
	doca_flow_destroy();
	CHECK_OK(doca_eth_txq_destroy(txq));
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	eth_teardown(&eth);
	return check_result();
}
