/*
 * Frames keep coming from one thread while another makes and takes away rules, stops and starts the port and
 * the queue the rules point at, and progresses it: what arrives is whole, is of this time, and nothing is left
 * behind.
 *
 * clauses: eth Behaviour (start and stop; flow order); core-exec Behaviour 8
 * covers: @
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "eth_rig.h"

#define ROUNDS 60
#define POSTED 16

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static struct doca_pe *tx_pe;
static struct doca_buf_inventory *tx_inv;
static struct doca_mmap *tx_map; /* maps are not thread safe unless asked to be */
static unsigned sent, received, flushed, want_meta, out;
static int end;
static uint32_t newest;
static const union doca_data nothing;

static void received_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	const uint32_t *meta = NULL;
	uint8_t want[64];
	void *data = NULL;
	uint32_t number;
	size_t len = 0;

	(void)user, (void)ctx;
	eth.calls++;
	data = eth_received(task, &len);
	CHECK_U64(len, 64);
	memcpy(&number, (uint8_t *)data + 14, 4);
	CHECK(number >= newest);
	newest = number;
	eth_frame(want, 64, number);
	CHECK_BYTES(data, want, 64);
	CHECK_OK(doca_eth_rxq_task_recv_get_metadata_array(task, &meta));
	CHECK(meta[0] == want_meta || meta[0] == DOCA_HTOBE32(want_meta));
	received++;
	if (eth_state(doca_eth_rxq_as_doca_ctx(rxq)) == DOCA_CTX_STATE_RUNNING) {
		eth_post_again(task);
		return;
	}
	/* Had come before the stop. */
	CHECK_STATUS(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(task)), DOCA_ERROR_BAD_STATE);
	flushed++;
	eth_drop_recv(task);
}

ETH_FLUSHED_CB(flushed)

static void sent_cb(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	sent++;
	CHECK_OK(doca_task_get_status(doca_eth_txq_task_send_as_doca_task(task)));
	eth_drop_send(task);
}

static void *sender(void *unused)
{
	while (!__atomic_load_n(&end, __ATOMIC_ACQUIRE) || sent < out) {
		if (out - sent < 32 && !__atomic_load_n(&end, __ATOMIC_ACQUIRE)) {
			struct doca_eth_txq_task_send *task = NULL;
			uint8_t *at = eth.mem + out % 64 * 64;
			struct doca_buf *buf = NULL;

			eth_frame(at, 64, out++);
			MUST(doca_buf_inventory_buf_get_by_data(tx_inv, tx_map, at, 64, &buf));
			MUST(doca_eth_txq_task_send_allocate_init(txq, buf, nothing, &task));
			CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
		}
		doca_pe_progress(tx_pe);
	}
	return unused;
}

static void start(void)
{
	struct doca_eth_rxq_task_recv *task = NULL;
	unsigned i;

	MUST(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)));
	CHECK_OK(doca_eth_rxq_apply_queue_id(rxq, 4));
	for (i = 0; i < POSTED; i++) {
		MUST(doca_eth_rxq_task_recv_allocate_init(rxq, eth_buf(&eth, (1u << 20) + i * 2048, 2048, 0), nothing,
							  &task));
		CHECK_OK(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(task)));
	}
}

int main(void)
{
	struct doca_ctx *rx;
	struct eth_rules rules;
	pthread_t thread;
	uint16_t queue = 4;
	unsigned round, i;

	eth_setup(&eth);
	MUST(doca_pe_create(&tx_pe));
	MUST(doca_buf_inventory_create(64, &tx_inv));
	MUST(doca_buf_inventory_start(tx_inv));
	MUST(doca_mmap_create(&tx_map));
	MUST(doca_mmap_add_dev(tx_map, eth.dev[0]));
	MUST(doca_mmap_set_memrange(tx_map, eth.mem, 1u << 20));
	MUST(doca_mmap_set_permissions(tx_map, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	MUST(doca_mmap_start(tx_map));
	MUST(doca_eth_txq_create(eth.dev[0], 64, &txq));
	MUST(doca_eth_txq_task_send_set_conf(txq, sent_cb, sent_cb, 64));
	MUST(doca_pe_connect_ctx(tx_pe, doca_eth_txq_as_doca_ctx(txq)));
	MUST(doca_ctx_start(doca_eth_txq_as_doca_ctx(txq)));
	MUST(doca_eth_rxq_create(eth.dev[1], 64, 2048, &rxq));
	MUST(doca_eth_rxq_set_metadata_num(rxq, 1));
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, received_cb, flushed_cb, POSTED));
	rx = doca_eth_rxq_as_doca_ctx(rxq);
	MUST(doca_pe_connect_ctx(eth.pe, rx));
	MUST_BE(pthread_create(&thread, NULL, sender, NULL) == 0);
	for (round = 0; round < ROUNDS; round++) {
		unsigned before;

		if (round % 2 == 0)
			start();
		eth_flow_begin();
		want_meta = 1000 + round;
		rules = eth_rules_begin(eth.dev[1], 0, &queue, 1, want_meta);
		if (round % 2 == 1)
			start();
		before = received;
		ETH_UNTIL(&eth, received >= before + 50);
		if (round % 3 == 0) {
			/* The queue goes first. */
			flushed = 0;
			CHECK_STATUS(doca_ctx_stop(rx), DOCA_ERROR_IN_PROGRESS);
			ETH_UNTIL(&eth, eth_state(rx) == DOCA_CTX_STATE_IDLE);
			CHECK_U64(flushed, POSTED);
			eth_rules_end(&rules);
		} else {
			/* The rule goes first: soon nothing comes any more. */
			eth_rules_end(&rules);
			do {
				before = received;
				for (i = 0; i < 500; i++)
					eth_progress(&eth);
			} while (received != before);
			eth_stop(&eth, rx);
		}
		doca_flow_destroy();
	}
	__atomic_store_n(&end, 1, __ATOMIC_RELEASE);
	MUST_BE(pthread_join(thread, NULL) == 0);
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	CHECK_OK(doca_ctx_stop(doca_eth_txq_as_doca_ctx(txq)));
	CHECK_OK(doca_eth_txq_destroy(txq));
	CHECK_OK(doca_pe_destroy(tx_pe));
	CHECK_OK(doca_buf_inventory_destroy(tx_inv));
	CHECK_OK(doca_mmap_destroy(tx_map));
	eth_teardown(&eth);
	return check_result();
}
