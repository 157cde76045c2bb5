/*
 * What programs do that should not: receive tasks freed while they are posted, with their buffers dropped; a
 * queue, a progress engine, memory and a device taken away while in use; a packet array freed after its queue
 * was stopped and destroyed; rules taken away and the flow library ended within a callback.
 *
 * clauses: core-exec Behaviour 3, 5 (in-flight task freed), 9; eth pkt_array_free; flow teardown
 * covers: @
 */
#include "eth_rig.h"

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static struct eth_rules rules;
static unsigned received, flushed, sent, events, packets_in, end_in_callback;
static struct doca_buf **array;
static const union doca_data nothing;

static void received_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	eth.calls++;
	received++;
	eth_drop_recv(task);
	if (end_in_callback) {
		doca_flow_pipe_destroy(rules.pipe);
		CHECK_OK(doca_flow_port_stop(rules.port));
		doca_flow_destroy();
	}
}

static void flushed_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	(void)ctx;
	eth.calls++;
	flushed++;
	if (user.u64 == 1) /* not one of those that were freed in flight */
		return;
	eth_drop_recv(task);
}

static void sent_cb(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	eth.calls++;
	sent++;
	eth_drop_send(task);
}

static void packets_cb(struct doca_eth_rxq_event_batch_managed_recv *event, uint16_t count, union doca_data user,
		       doca_error_t status, struct doca_buf **packets)
{
	(void)event, (void)user;
	eth.calls++;
	CHECK_OK(status);
	CHECK(count >= 4 && count <= 8);
	events++;
	packets_in += count;
	if (array == NULL)
		array = packets;
	else
		doca_eth_rxq_event_batch_managed_recv_pkt_array_free(packets);
}

static void no_packets_cb(struct doca_eth_rxq_event_batch_managed_recv *event, uint16_t count, union doca_data user,
			  doca_error_t status, struct doca_buf **packets)
{
	(void)event, (void)user;
	eth.calls++;
	CHECK_REFUSED(status);
	CHECK_U64(count, 0);
	CHECK_PTR(packets, NULL);
}

static struct doca_eth_rxq_task_recv *post(uint64_t what, unsigned at)
{
	struct doca_eth_rxq_task_recv *task = NULL;
	union doca_data user = {.u64 = what};

	MUST(doca_eth_rxq_task_recv_allocate_init(rxq, eth_buf(&eth, (1u << 20) + at * 2048, 2048, 0), user, &task));
	CHECK_OK(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(task)));
	return task;
}

static void send_frames(unsigned count)
{
	struct doca_eth_txq_task_send *task = NULL;
	unsigned i, want = sent + count;

	for (i = 0; i < count; i++) {
		eth_frame(eth.mem + i * 128, 64, i);
		MUST(doca_eth_txq_task_send_allocate_init(txq, eth_buf(&eth, i * 128, 128, 64), nothing, &task));
		CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
	}
	ETH_UNTIL(&eth, sent == want);
}

static void regular(void)
{
	struct doca_eth_rxq_task_recv *tasks[4];
	struct doca_ctx *rx;
	uint16_t queue = 0;
	unsigned i;

	MUST(doca_eth_rxq_create(eth.dev[1], 64, 2048, &rxq));
	rx = doca_eth_rxq_as_doca_ctx(rxq);
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, received_cb, flushed_cb, 8));
	MUST(doca_pe_connect_ctx(eth.pe, rx));
	MUST(doca_ctx_start(rx));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 0, &queue, 1, 0);
	/* In use. */
	CHECK_STATUS(doca_pe_destroy(eth.pe), DOCA_ERROR_IN_USE);
	CHECK_REFUSED(doca_dev_close(eth.dev[1]));
	post(0, 0);
	CHECK_REFUSED(doca_mmap_destroy(eth.map));
	CHECK_REFUSED(doca_buf_inventory_destroy(eth.inv));
	for (i = 0; i < 4; i++)
		tasks[i] = post(1, 1 + i);
	/* Freed in flight, and their buffers go, too. */
	for (i = 0; i < 4; i++) {
		struct doca_buf *pkt = NULL;

		CHECK_OK(doca_eth_rxq_task_recv_get_pkt(tasks[i], &pkt));
		doca_task_free(doca_eth_rxq_task_recv_as_doca_task(tasks[i]));
		CHECK_OK(doca_buf_dec_refcount(pkt, NULL));
	}
	send_frames(1);
	ETH_UNTIL(&eth, received == 1);
	CHECK_STATUS2(doca_ctx_stop(rx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	ETH_UNTIL(&eth, eth_state(rx) == DOCA_CTX_STATE_IDLE);
	/* Again: all tasks are there. Rules and library end in the callback. */
	MUST(doca_ctx_start(rx));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	for (i = 0; i < 8; i++)
		post(0, i);
	received = flushed = 0;
	end_in_callback = 1;
	send_frames(1);
	ETH_UNTIL(&eth, received == 1);
	end_in_callback = 0;
	send_frames(4);
	eth_quiet(&eth);
	CHECK_U64(received, 1);
	eth_stop(&eth, rx);
	CHECK_U64(flushed, 7);
	CHECK_OK(doca_eth_rxq_destroy(rxq));
}

static void arrays(void)
{
	struct doca_eth_rxq *second = NULL;
	struct doca_ctx *rx;
	uint16_t queue = 0;
	unsigned i;

	MUST(doca_eth_rxq_create(eth.dev[1], 64, 512, &rxq));
	rx = doca_eth_rxq_as_doca_ctx(rxq);
	MUST(doca_eth_rxq_set_type(rxq, DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL));
	MUST(doca_eth_rxq_set_pkt_buf(rxq, eth.map, 2u << 20, 256u << 10));
	MUST(doca_eth_rxq_event_batch_managed_recv_register(rxq, DOCA_EVENT_BATCH_EVENTS_NUMBER_8,
							    DOCA_EVENT_BATCH_EVENTS_NUMBER_4, nothing, packets_cb,
							    no_packets_cb));
	MUST(doca_pe_connect_ctx(eth.pe, rx));
	MUST(doca_ctx_start(rx));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 0, &queue, 1, 0);
	/* Fewer than the fewest: no event. */
	send_frames(3);
	for (i = 0; i < 3000; i++)
		eth_progress(&eth);
	CHECK_U64(events, 0);
	send_frames(1);
	ETH_UNTIL(&eth, packets_in == 4);
	CHECK_U64(events, 1);
	send_frames(60);
	ETH_UNTIL(&eth, packets_in == 64);
	/* One array is out, and freed while its queue stops or has stopped. */
	CHECK_STATUS2(doca_ctx_stop(rx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	for (i = 0; i < 100; i++)
		eth_progress(&eth);
	if (eth_state(rx) == DOCA_CTX_STATE_STOPPING)
		CHECK_STATUS(doca_eth_rxq_destroy(rxq), DOCA_ERROR_BAD_STATE);
	doca_eth_rxq_event_batch_managed_recv_pkt_array_free(array);
	ETH_UNTIL(&eth, eth_state(rx) == DOCA_CTX_STATE_IDLE);
	doca_eth_rxq_event_batch_managed_recv_pkt_array_free(NULL);
	/* The memory may be another queue's now. */
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	MUST(doca_eth_rxq_create(eth.dev[1], 64, 512, &second));
	rx = doca_eth_rxq_as_doca_ctx(second);
	MUST(doca_eth_rxq_set_type(second, DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL));
	MUST(doca_eth_rxq_set_pkt_buf(second, eth.map, 2u << 20, 256u << 10));
	MUST(doca_eth_rxq_event_batch_managed_recv_register(second, DOCA_EVENT_BATCH_EVENTS_NUMBER_8,
							    DOCA_EVENT_BATCH_EVENTS_NUMBER_4, nothing, packets_cb,
							    no_packets_cb));
	MUST(doca_pe_connect_ctx(eth.pe, rx));
	MUST(doca_ctx_start(rx));
	MUST(doca_eth_rxq_apply_queue_id(second, 0));
	packets_in = 0;
	send_frames(16);
	ETH_UNTIL(&eth, packets_in == 16);
	CHECK_OK(doca_ctx_stop(rx));
	CHECK_OK(doca_eth_rxq_destroy(second));
	eth_rules_end(&rules);
	doca_flow_destroy();
}

int main(void)
{
	eth_setup(&eth);
	MUST(doca_eth_txq_create(eth.dev[0], 64, &txq));
	MUST(doca_eth_txq_task_send_set_conf(txq, sent_cb, sent_cb, 64));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_txq_as_doca_ctx(txq)));
	MUST(doca_ctx_start(doca_eth_txq_as_doca_ctx(txq)));
	regular();
	arrays();
	CHECK_OK(doca_ctx_stop(doca_eth_txq_as_doca_ctx(txq)));
	CHECK_OK(doca_eth_txq_destroy(txq));
	eth_teardown(&eth);
	return check_result();
}
