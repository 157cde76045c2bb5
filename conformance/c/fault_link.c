/*
 * What a plan of faults makes of the link of a port: FAULT_EFFECT says which, the sender's or the receiver's. Frames are
 * lost from the task on that takes it down, for half a second; sends succeed all the same, and receives stay posted. Without
 * a plan, nothing happens to anything.
 *
 * clauses: none; for plans of faults
 * covers: @
 */
#define _GNU_SOURCE
#include "fault_rig.h"
#include "eth_rig.h"

#define WINDOW 2048

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static unsigned sent, received, flushed;
static uint32_t last;

ETH_FLUSHED_CB(flushed)
ETH_SENT_CB(sent)

static void received_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	eth.calls++;
	received++;
	memcpy(&last, eth_received(task, NULL) + 14, 4);
	eth_drop_recv(task);
}

static void transmit(uint32_t number)
{
	struct doca_buf *buf = eth_buf(&eth, (8 + (size_t)number) * WINDOW, WINDOW, 64);
	struct doca_eth_txq_task_send *task = NULL;
	union doca_data user = {.u64 = 0};

	eth_frame(eth.mem + (8 + (size_t)number) * WINDOW, 64, number);
	MUST(doca_eth_txq_task_send_allocate_init(txq, buf, user, &task));
	MUST(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
	ETH_UNTIL(&eth, sent == number);
}

int main(void)
{
	struct doca_ctx *rx, *tx;
	struct eth_rules rules;
	uint16_t queue = 0;
	double begun;
	unsigned i;

	eth_setup(&eth);
	eth_flow_begin();
	MUST(doca_eth_rxq_create(eth.dev[1], 16, 1600, &rxq));
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, received_cb, flushed_cb, 8));
	rx = doca_eth_rxq_as_doca_ctx(rxq);
	MUST(doca_pe_connect_ctx(eth.pe, rx));
	MUST(doca_ctx_start(rx));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	MUST(doca_eth_txq_create(eth.dev[0], 16, &txq));
	MUST(doca_eth_txq_task_send_set_conf(txq, sent_cb, sent_cb, 8));
	tx = doca_eth_txq_as_doca_ctx(txq);
	MUST(doca_pe_connect_ctx(eth.pe, tx));
	MUST(doca_ctx_start(tx));
	rules = eth_rules_begin(eth.dev[1], 1, &queue, 1, 0);

	begun = now();
	for (i = 0; i < 6; i++) {
		struct doca_eth_rxq_task_recv *task = NULL;
		union doca_data user = {.u64 = i};

		MUST(doca_eth_rxq_task_recv_allocate_init(rxq, eth_buf(&eth, (size_t)i * WINDOW, WINDOW, 0), user, &task));
		MUST(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(task)));
	}
	for (i = 1; i <= 3; i++)
		transmit(i);
	for (i = 0; i < 1000; i++)
		eth_progress(&eth);
	if (is("none"))
		ETH_UNTIL(&eth, received == 3);
	else if (now() - begun < 0.4) /* A machine that is slower than this has seen the link up again. */
		CHECK_U64(received, 0);
	while (now() - begun < 0.6)
		eth_progress(&eth);
	i = received;
	transmit(4);
	ETH_UNTIL(&eth, received == i + 1);
	CHECK_U64(last, 4);

	CHECK_STATUS2(doca_ctx_stop(rx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	ETH_UNTIL(&eth, eth_state(rx) == DOCA_CTX_STATE_IDLE);
	CHECK_U64(received + flushed, 6);
	eth_stop(&eth, tx);
	eth_rules_end(&rules);
	doca_flow_destroy();
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	CHECK_OK(doca_eth_txq_destroy(txq));
	eth_teardown(&eth);
	return check_result();
}
