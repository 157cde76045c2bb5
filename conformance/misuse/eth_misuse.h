/*
 * What the programs of the gallery about Ethernet share: a queue that takes all packets of a port in memory of its own,
 * and one that sends to it.
 */
#ifndef CONFORMANCE_ETH_MISUSE_H
#define CONFORMANCE_ETH_MISUSE_H

#include "misuse.h"

#include "../c/eth_rig.h"

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static struct doca_ctx *rx, *tx;
static struct eth_rules rules;
static struct doca_buf *held[64], **array;
static unsigned got, sent, batches;

static inline void eth_packet_cb(struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *packet,
				 union doca_data user)
{
	(void)event, (void)user;
	eth.calls++;
	MUST_BE(got < 64 && packet != NULL);
	held[got++] = packet;
}

static inline void eth_packets_cb(struct doca_eth_rxq_event_batch_managed_recv *event, uint16_t count,
				  union doca_data user, doca_error_t status, struct doca_buf **packets)
{
	(void)event, (void)user;
	eth.calls++;
	MUST(status);
	got += count;
	batches++;
	array = packets;
}

static inline void eth_sent_cb(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	eth.calls++;
	sent++;
	doca_task_free(doca_eth_txq_task_send_as_doca_task(task));
}

static inline void eth_run(struct doca_ctx *ctx)
{
	MUST(doca_pe_connect_ctx(eth.pe, ctx));
	MUST(doca_ctx_start(ctx));
}

/* Packets one by one, or in batches. */
static inline void eth_begin(int one_by_one)
{
	union doca_data user = {0};

	eth_setup(&eth);
	MUST(doca_eth_rxq_create(eth.dev[1], 64, 1600, &rxq));
	rx = doca_eth_rxq_as_doca_ctx(rxq);
	MUST(doca_eth_rxq_set_type(rxq, DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL));
	MUST(doca_eth_rxq_set_pkt_buf(rxq, eth.map, 1u << 20, 1u << 20));
	if (one_by_one)
		MUST(doca_eth_rxq_event_managed_recv_register(rxq, user, eth_packet_cb, eth_packet_cb));
	else
		MUST(doca_eth_rxq_event_batch_managed_recv_register(rxq, DOCA_EVENT_BATCH_EVENTS_NUMBER_4,
								    DOCA_EVENT_BATCH_EVENTS_NUMBER_1, user,
								    eth_packets_cb, eth_packets_cb));
	eth_run(rx);
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	MUST(doca_eth_txq_create(eth.dev[0], 64, &txq));
	tx = doca_eth_txq_as_doca_ctx(txq);
	MUST(doca_eth_txq_task_send_set_conf(txq, eth_sent_cb, eth_sent_cb, 16));
	eth_run(tx);
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 0, (uint16_t[]){0}, 1, 0);
}

/* One packet through the wire, to the program. */
static inline void eth_pass(void)
{
	struct doca_buf *buf = eth_buf(&eth, 0, 2048, 100);
	struct doca_eth_txq_task_send *task = NULL;
	union doca_data user = {0};
	unsigned before = sent, had = got;

	eth_frame(eth.mem, 100, got);
	MUST(doca_eth_txq_task_send_allocate_init(txq, buf, user, &task));
	MUST(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
	ETH_UNTIL(&eth, sent == before + 1 && got == had + 1);
	MUST(doca_buf_dec_refcount(buf, NULL));
}

static inline void eth_end(void)
{
	eth_stop(&eth, tx);
	MUST(doca_eth_txq_destroy(txq));
	if (eth_state(rx) != DOCA_CTX_STATE_IDLE)
		eth_stop(&eth, rx);
	eth_rules_end(&rules);
	doca_flow_destroy();
	MUST(doca_eth_rxq_destroy(rxq));
	eth_teardown(&eth);
}

#endif
