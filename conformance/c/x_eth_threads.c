/*
 * A sender and a receiver, each a thread with a progress engine and an inventory of its own; the receiver
 * sleeps in epoll until there are frames, and stops when the last has come. Every frame that was sent while
 * buffers were posted comes once, in order. Afterwards the main thread takes both apart.
 *
 * clauses: core-exec Behaviour 7, 8; eth Behaviour
 * covers: @
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/epoll.h>

#include "eth_rig.h"

#define FRAMES 20000u
#define POSTED 128u

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static struct doca_pe *rx_pe, *tx_pe;
static struct doca_buf_inventory *rx_inv, *tx_inv;
static struct doca_mmap *tx_map; /* maps are not thread safe unless asked to be */
static unsigned received, flushed, sent; /* the first two are the receiver's, the last the sender's */
static unsigned taken;			 /* what the sender may know */
static const union doca_data nothing;

static void received_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	uint32_t number = 0;
	void *data = NULL;

	(void)user, (void)ctx;
	data = eth_received(task, NULL);
	memcpy(&number, (uint8_t *)data + 14, 4);
	CHECK_U64(number, received);
	received++;
	eth_post_again(task);
	__atomic_store_n(&taken, received, __ATOMIC_RELEASE);
}

static void flushed_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	flushed++;
	eth_drop_recv(task);
}

static void sent_cb(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	sent++;
	CHECK_OK(doca_task_get_status(doca_eth_txq_task_send_as_doca_task(task)));
	eth_drop_send(task);
}

static void *receiver(void *unused)
{
	struct epoll_event event = {.events = EPOLLIN}, got;
	doca_notification_handle_t handle = 0;
	int epoll = epoll_create1(0);
	unsigned i;

	MUST(doca_pe_get_notification_handle(rx_pe, &handle));
	MUST_BE(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, (int)handle, &event) == 0);
	for (i = 0; i < POSTED; i++) {
		struct doca_eth_rxq_task_recv *task = NULL;
		struct doca_buf *buf = NULL;

		MUST(doca_buf_inventory_buf_get_by_addr(rx_inv, eth.map, eth.mem + (1u << 20) + i * 2048, 2048, &buf));
		MUST(doca_eth_rxq_task_recv_allocate_init(rxq, buf, nothing, &task));
		CHECK_OK(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(task)));
	}
	while (received < FRAMES) {
		while (doca_pe_progress(rx_pe))
			continue;
		if (received >= FRAMES)
			break;
		CHECK_OK(doca_pe_request_notification(rx_pe));
		MUST_BE(epoll_wait(epoll, &got, 1, 50000) == 1);
		CHECK_OK(doca_pe_clear_notification(rx_pe, 0));
	}
	close(epoll);
	return unused;
}

static void *sender(void *unused)
{
	unsigned i = 0;

	while (sent < FRAMES) {
		/* No more on the way than there are buffers; pauses, in which the receiver sleeps. */
		while (i < FRAMES && i - __atomic_load_n(&taken, __ATOMIC_ACQUIRE) < POSTED / 2 && i - sent < 64) {
			struct doca_eth_txq_task_send *task = NULL;
			uint8_t *at = eth.mem + i % 256 * 128;
			struct doca_buf *buf = NULL;

			if (i % 4096 == 4095 && __atomic_load_n(&taken, __ATOMIC_ACQUIRE) == i)
				usleep(20000);
			eth_frame(at, 64, i);
			MUST(doca_buf_inventory_buf_get_by_data(tx_inv, tx_map, at, 64, &buf));
			MUST(doca_eth_txq_task_send_allocate_init(txq, buf, nothing, &task));
			CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
			i++;
		}
		if (!doca_pe_progress(tx_pe))
			sched_yield();
	}
	return unused;
}

int main(void)
{
	struct eth_rules rules;
	pthread_t threads[2];
	uint16_t queue = 0;
	unsigned i;

	eth_setup(&eth);
	MUST(doca_pe_create(&rx_pe));
	MUST(doca_pe_create(&tx_pe));
	MUST(doca_buf_inventory_create(256, &rx_inv));
	MUST(doca_buf_inventory_start(rx_inv));
	MUST(doca_buf_inventory_create(256, &tx_inv));
	MUST(doca_buf_inventory_start(tx_inv));
	MUST(doca_mmap_create(&tx_map));
	MUST(doca_mmap_add_dev(tx_map, eth.dev[0]));
	MUST(doca_mmap_set_memrange(tx_map, eth.mem, 1u << 20));
	MUST(doca_mmap_set_permissions(tx_map, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	MUST(doca_mmap_start(tx_map));
	MUST(doca_eth_rxq_create(eth.dev[1], 256, 2048, &rxq));
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, received_cb, flushed_cb, POSTED));
	MUST(doca_pe_connect_ctx(rx_pe, doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	MUST(doca_eth_txq_create(eth.dev[0], 256, &txq));
	MUST(doca_eth_txq_task_send_set_conf(txq, sent_cb, sent_cb, 64));
	MUST(doca_pe_connect_ctx(tx_pe, doca_eth_txq_as_doca_ctx(txq)));
	MUST(doca_ctx_start(doca_eth_txq_as_doca_ctx(txq)));
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 0, &queue, 1, 0);
	MUST_BE(pthread_create(&threads[0], NULL, receiver, NULL) == 0);
	usleep(20000); /* it posts first, and sleeps */
	MUST_BE(pthread_create(&threads[1], NULL, sender, NULL) == 0);
	for (i = 0; i < 2; i++)
		MUST_BE(pthread_join(threads[i], NULL) == 0);
	CHECK_U64(received, FRAMES);
	eth_rules_end(&rules);
	doca_flow_destroy();
	CHECK_STATUS(doca_ctx_stop(doca_eth_rxq_as_doca_ctx(rxq)), DOCA_ERROR_IN_PROGRESS);
	while (flushed < POSTED)
		doca_pe_progress(rx_pe);
	CHECK_U64(eth_state(doca_eth_rxq_as_doca_ctx(rxq)), DOCA_CTX_STATE_IDLE);
	CHECK_OK(doca_ctx_stop(doca_eth_txq_as_doca_ctx(txq)));
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	CHECK_OK(doca_eth_txq_destroy(txq));
	CHECK_OK(doca_pe_destroy(rx_pe));
	CHECK_OK(doca_pe_destroy(tx_pe));
	CHECK_OK(doca_buf_inventory_destroy(rx_inv));
	CHECK_OK(doca_buf_inventory_destroy(tx_inv));
	CHECK_OK(doca_mmap_destroy(tx_map));
	eth_teardown(&eth);
	return check_result();
}
