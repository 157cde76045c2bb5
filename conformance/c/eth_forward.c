/*
 * Packets come in batches on one port and go on through the send queue of another: the array of an
 * event travels as the batch's user data and is freed when the batch was sent. Fewest and most packets
 * of an event; arrays whose packets are dropped one by one; arrays that outlive the queue's running.
 *
 * clauses: eth RXQ CPU datapath (managed receive event batch); Behaviour (eth_l2_fwd)
 * covers: doca_eth_rxq_event_batch_managed_recv_register
 *   doca_eth_rxq_event_batch_managed_recv_get_l3_ok_array doca_eth_rxq_event_batch_managed_recv_get_l4_ok_array
 *   doca_eth_rxq_event_batch_managed_recv_get_metadata_array
 *   doca_eth_rxq_event_batch_managed_recv_get_flow_tag_array doca_eth_rxq_event_batch_managed_recv_get_rx_hash_array
 *   doca_eth_rxq_event_batch_managed_recv_get_timestamp_array doca_eth_rxq_event_batch_managed_recv_get_ctx
 *   doca_eth_rxq_event_batch_managed_recv_pkt_array_free doca_eth_rxq_estimate_packet_buf_size
 *   doca_eth_txq_task_batch_send_allocate doca_eth_txq_task_batch_send_set_conf doca_task_batch_submit
 *   doca_task_batch_free doca_task_batch_get_ctx
 */
#include "eth_rig.h"

#define MOST 64
#define LEAST 32

static struct eth eth;
static struct doca_eth_rxq *rxq, *sink;
static struct doca_eth_txq *txq, *back;
static struct doca_ctx *rx, *tx, *btx, *last_rx;
static unsigned events, packets_in, packets_out, sent, batches_done, arrived;
static int mode; /* 0: forward, 1: keep the array, 2: drop packets one by one */
static struct doca_buf **kept[64];
static unsigned kept_count;
static uint32_t next_number, left;

static void free_array(struct doca_buf **packets)
{
	doca_eth_rxq_event_batch_managed_recv_pkt_array_free(packets);
}

static void forward(struct doca_buf **packets, uint16_t count)
{
	struct doca_buf **array = NULL;
	union doca_data *users = NULL, user = {.ptr = packets};
	struct doca_task_batch *batch = NULL;
	unsigned i;

	MUST(doca_eth_txq_task_batch_send_allocate(back, count, user, &array, &users, &batch));
	for (i = 0; i < count; i++)
		array[i] = packets[i];
	CHECK_OK(doca_task_batch_submit(batch));
	packets_out += count;
}

static void packets_cb(struct doca_eth_rxq_event_batch_managed_recv *event, uint16_t count, union doca_data user,
		       doca_error_t status, struct doca_buf **packets)
{
	const uint8_t *l3 = NULL, *l4 = NULL;
	const uint32_t *words = NULL, *tags = NULL, *hashes = NULL;
	const uint64_t *times = NULL;
	uint16_t i;

	eth.calls++;
	events++;
	packets_in += count;
	CHECK_OK(status);
	CHECK_U64(user.u64, 7);
	CHECK(count >= LEAST && count <= MOST);
	CHECK_PTR(doca_eth_rxq_event_batch_managed_recv_get_ctx(event), rx);
	CHECK_OK(doca_eth_rxq_event_batch_managed_recv_get_l3_ok_array(event, &l3));
	CHECK_OK(doca_eth_rxq_event_batch_managed_recv_get_l4_ok_array(event, &l4));
	CHECK_OK(doca_eth_rxq_event_batch_managed_recv_get_metadata_array(event, &words));
	CHECK_OK(doca_eth_rxq_event_batch_managed_recv_get_flow_tag_array(event, &tags));
	CHECK_OK(doca_eth_rxq_event_batch_managed_recv_get_rx_hash_array(event, &hashes));
	CHECK_OK(doca_eth_rxq_event_batch_managed_recv_get_timestamp_array(event, &times));
	CHECK_STATUS(doca_eth_rxq_event_batch_managed_recv_get_timestamp_array(event, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_event_batch_managed_recv_get_l3_ok_array(NULL, &l3), DOCA_ERROR_INVALID_VALUE);
	for (i = 0; i < count; i++) {
		void *data = NULL;
		size_t len = 0;
		uint32_t number = 0;

		CHECK_OK(doca_buf_get_data(packets[i], &data));
		CHECK_OK(doca_buf_get_data_len(packets[i], &len));
		CHECK_U64(len, 64);
		memcpy(&number, (uint8_t *)data + 14, 4);
		CHECK_U64(number, next_number);
		next_number++;
		CHECK_U64(doca_eth_rxq_event_batch_managed_recv_metadata_array_get_metadata(words, 2, i, 0), 5);
		CHECK_U64(doca_eth_rxq_event_batch_managed_recv_metadata_array_get_metadata(words, 2, i, 1), 0);
		CHECK(i == 0 || times[i] >= times[i - 1]);
		CHECK(l3[i] == 0 && l4[i] == 0);
	}
	if (mode == 0)
		forward(packets, count);
	else if (mode == 1)
		kept[kept_count++] = packets;
	else
		for (i = 0; i < count; i++)
			CHECK_OK(doca_buf_dec_refcount(packets[i], NULL));
}

static void trouble(struct doca_eth_rxq_event_batch_managed_recv *event, uint16_t count, union doca_data user,
		    doca_error_t status, struct doca_buf **packets)
{
	(void)event;
	(void)user;
	eth.calls++;
	CHECK(status != DOCA_SUCCESS && count == 0 && packets == NULL);
	check_fail(__FILE__, __LINE__, "a packet was lost: %s", doca_error_get_name(status));
}

static void batch_done(struct doca_task_batch *batch, uint16_t count, union doca_data ctx, union doca_data user,
		       union doca_data *users, struct doca_buf **packets, doca_error_t *status)
{
	uint16_t i;

	(void)ctx;
	(void)users;
	(void)packets;
	eth.calls++;
	batches_done++;
	last_rx = doca_task_batch_get_ctx(batch);
	for (i = 0; i < count; i++)
		sent += status[i] == DOCA_SUCCESS;
	free_array((struct doca_buf **)user.ptr);
	doca_task_batch_free(batch);
}

static void send_done(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	struct doca_buf *buf = NULL;

	(void)user;
	(void)ctx;
	eth.calls++;
	left++;
	CHECK_OK(doca_eth_txq_task_send_get_pkt(task, &buf));
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	doca_task_free(doca_eth_txq_task_send_as_doca_task(task));
}

/* What came back to the port it left. */
static void arrived_cb(struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *pkt, union doca_data user)
{
	void *data = NULL;
	uint32_t number = 0;

	(void)event;
	(void)user;
	eth.calls++;
	CHECK_OK(doca_buf_get_data(pkt, &data));
	memcpy(&number, (uint8_t *)data + 14, 4);
	CHECK_U64(number, arrived);
	arrived++;
	CHECK_OK(doca_buf_dec_refcount(pkt, NULL));
}

static void arrived_bad(struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *pkt, union doca_data user)
{
	(void)pkt;
	(void)user;
	check_fail(__FILE__, __LINE__, "%s", doca_error_get_name(doca_eth_rxq_event_managed_recv_get_status(event)));
}

static void start(void)
{
	union doca_data user = {.u64 = 7};
	uint32_t bytes = 0;

	MUST(doca_eth_rxq_estimate_packet_buf_size(DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL, 12500, 1, 1600, 256, 15, 0, 0,
						   &bytes));
	MUST_BE(bytes <= (3u << 20));
	MUST(doca_eth_rxq_create(eth.dev[1], 256, 1600, &rxq));
	rx = doca_eth_rxq_as_doca_ctx(rxq);
	MUST(doca_eth_rxq_set_type(rxq, DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL));
	MUST(doca_eth_rxq_set_metadata_num(rxq, 2));
	MUST(doca_eth_rxq_set_flow_tag(rxq, 1));
	MUST(doca_eth_rxq_set_rx_hash(rxq, 1));
	MUST(doca_eth_rxq_set_timestamp(rxq, 1));
	MUST(doca_eth_rxq_set_pkt_buf(rxq, eth.map, 1u << 20, bytes));
	MUST(doca_eth_rxq_event_batch_managed_recv_register(rxq, DOCA_EVENT_BATCH_EVENTS_NUMBER_64,
							    DOCA_EVENT_BATCH_EVENTS_NUMBER_32, user, packets_cb,
							    trouble));
	MUST(doca_pe_connect_ctx(eth.pe, rx));
	MUST(doca_ctx_start(rx));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	MUST(doca_eth_rxq_create(eth.dev[0], 256, 1600, &sink));
	MUST(doca_eth_rxq_set_type(sink, DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL));
	MUST(doca_eth_rxq_set_pkt_buf(sink, eth.map, 4u << 20, 2u << 20));
	MUST(doca_eth_rxq_event_managed_recv_register(sink, user, arrived_cb, arrived_bad));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_rxq_as_doca_ctx(sink)));
	MUST(doca_ctx_start(doca_eth_rxq_as_doca_ctx(sink)));
	MUST(doca_eth_rxq_apply_queue_id(sink, 1));
	MUST(doca_eth_txq_create(eth.dev[0], 256, &txq));
	tx = doca_eth_txq_as_doca_ctx(txq);
	MUST(doca_eth_txq_task_send_set_conf(txq, send_done, send_done, 128));
	MUST(doca_pe_connect_ctx(eth.pe, tx));
	MUST(doca_ctx_start(tx));
	MUST(doca_eth_txq_create(eth.dev[1], 256, &back));
	btx = doca_eth_txq_as_doca_ctx(back);
	MUST(doca_eth_txq_task_batch_send_set_conf(back, DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128, 32, batch_done, batch_done));
	MUST(doca_pe_connect_ctx(eth.pe, btx));
	MUST(doca_ctx_start(btx));
}

static uint32_t transmitted;

static void transmit(unsigned count)
{
	union doca_data user = {.u64 = 0};
	unsigned i;

	for (i = 0; i < count; i++, transmitted++) {
		struct doca_buf *buf = eth_buf(&eth, (transmitted % 4096) * 64, 64, 64);
		struct doca_eth_txq_task_send *task = NULL;

		eth_frame(eth.mem + (transmitted % 4096) * 64, 64, transmitted);
		while (doca_eth_txq_task_send_allocate_init(txq, buf, user, &task) != DOCA_SUCCESS)
			eth_progress(&eth);
		CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
	}
	ETH_UNTIL(&eth, left == transmitted);
}

int main(void)
{
	struct eth_rules rules, sink_rules;
	unsigned round;

	eth_setup(&eth);
	eth_flow_begin();
	start();
	rules = eth_rules_begin(eth.dev[1], 1, (uint16_t[]){0}, 1, 5);
	sink_rules = eth_rules_begin(eth.dev[0], 0, (uint16_t[]){1}, 1, 6);
	/* Fewer than the fewest are held back. */
	transmit(LEAST - 1);
	eth_quiet(&eth);
	CHECK_U64(events, 0);
	transmit(1);
	ETH_UNTIL(&eth, events == 1 && batches_done == 1);
	CHECK_U64(packets_in, LEAST);
	/* Thousands, round and round. */
	for (round = 0; round < 200; round++) {
		transmit(LEAST);
		ETH_UNTIL(&eth, arrived >= transmitted - LEAST);
	}
	ETH_UNTIL(&eth, arrived == transmitted);
	CHECK_U64(sent, transmitted);
	CHECK_PTR(last_rx, btx);
	/* Packets dropped one by one: their arrays come back by themselves. */
	mode = 2;
	for (round = 0; round < 500; round++) {
		transmit(LEAST);
		ETH_UNTIL(&eth, next_number == transmitted);
	}
	/* Arrays that the program has when the queue stops. */
	mode = 1;
	transmit(2 * MOST);
	ETH_UNTIL(&eth, next_number == transmitted);
	ETH_UNTIL(&eth, arrived == transmitted - 500 * LEAST - 2 * MOST);
	CHECK_STATUS(doca_ctx_stop(rx), DOCA_ERROR_IN_PROGRESS);
	eth_quiet(&eth);
	while (kept_count > 0) {
		CHECK_U64(eth_state(rx), DOCA_CTX_STATE_STOPPING);
		free_array(kept[--kept_count]);
	}
	ETH_UNTIL(&eth, eth_state(rx) == DOCA_CTX_STATE_IDLE);
	eth_rules_end(&rules);
	eth_rules_end(&sink_rules);
	doca_flow_destroy();
	CHECK_OK(doca_ctx_stop(doca_eth_rxq_as_doca_ctx(sink)));
	eth_stop(&eth, tx);
	eth_stop(&eth, btx);
	CHECK_OK(doca_eth_txq_destroy(txq));
	CHECK_OK(doca_eth_txq_destroy(back));
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	CHECK_OK(doca_eth_rxq_destroy(sink));
	eth_teardown(&eth);
	return check_result();
}
