/*
 * Receive tasks: frames of the other port arrive in the buffers the program posted, in the order of
 * both; with what the queue tells about each. A frame that does not fit fails its task alone; what
 * comes before a rule points at the queue is not for it; a stop gives everything back.
 *
 * clauses: eth RXQ CPU datapath (receive task); Behaviour; DOCA Flow calls
 * covers: doca_eth_rxq_task_recv_allocate_init doca_eth_rxq_task_recv_set_pkt doca_eth_rxq_task_recv_get_pkt
 *   doca_eth_rxq_task_recv_as_doca_task doca_eth_rxq_task_recv_get_l3_ok doca_eth_rxq_task_recv_get_l4_ok
 *   doca_eth_rxq_task_recv_get_metadata_array doca_eth_rxq_task_recv_get_flow_tag
 *   doca_eth_rxq_task_recv_get_rx_hash doca_eth_rxq_task_recv_get_timestamp doca_eth_rxq_apply_queue_id
 *   doca_eth_txq_task_send_allocate_init doca_eth_txq_set_l3_chksum_offload doca_eth_txq_set_l4_chksum_offload
 *   doca_flow_cfg_create doca_flow_init doca_flow_port_start doca_flow_pipe_create
 *   doca_flow_pipe_basic_add_entry doca_flow_entries_process doca_flow_pipe_destroy doca_flow_port_stop
 *   doca_flow_destroy
 */
#define _GNU_SOURCE
#include <time.h>

#include "eth_rig.h"

#define BUFS 256
#define WINDOW 2048

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static struct eth_rules rules;
static struct doca_buf *posted[BUFS];
static unsigned good, bad, sent;
static doca_error_t last;
static uint64_t last_user;
static struct {
	uint8_t l3, l4;
	uint32_t meta, tag, hash;
	uint64_t time;
} told;

static void recv_ok(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	const uint32_t *words = NULL;
	struct doca_buf *buf = NULL;

	(void)ctx;
	eth.calls++;
	good++;
	last_user = user.u64;
	last = doca_task_get_status(doca_eth_rxq_task_recv_as_doca_task(task));
	CHECK_OK(last);
	CHECK_OK(doca_eth_rxq_task_recv_get_pkt(task, &buf));
	CHECK_PTR(buf, posted[user.u64]);
	CHECK_OK(doca_eth_rxq_task_recv_get_l3_ok(task, &told.l3));
	CHECK_OK(doca_eth_rxq_task_recv_get_l4_ok(task, &told.l4));
	CHECK_OK(doca_eth_rxq_task_recv_get_metadata_array(task, &words));
	told.meta = words[0];
	CHECK_OK(doca_eth_rxq_task_recv_get_rx_hash(task, &told.hash));
	CHECK_OK(doca_eth_rxq_task_recv_get_timestamp(task, &told.time));
	/* Not asked for. */
	CHECK_STATUS(doca_eth_rxq_task_recv_get_flow_tag(task, &told.tag), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_task_recv_get_l3_ok(task, NULL), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_eth_rxq_task_recv_as_doca_task(task));
}

static void recv_bad(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	(void)ctx;
	eth.calls++;
	bad++;
	last_user = user.u64;
	last = doca_task_get_status(doca_eth_rxq_task_recv_as_doca_task(task));
	CHECK(last != DOCA_SUCCESS);
	doca_task_free(doca_eth_rxq_task_recv_as_doca_task(task));
}

static void send_done(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	struct doca_task *plain = doca_eth_txq_task_send_as_doca_task(task);

	(void)user;
	(void)ctx;
	eth.calls++;
	sent++;
	CHECK_OK(doca_task_get_status(plain));
	doca_task_free(plain);
}

static void start(void)
{
	struct doca_ctx *ctx;

	MUST(doca_eth_rxq_create(eth.dev[1], 256, 1600, &rxq));
	MUST(doca_eth_rxq_set_metadata_num(rxq, 1));
	MUST(doca_eth_rxq_set_rx_hash(rxq, 1));
	MUST(doca_eth_rxq_set_timestamp(rxq, 1));
	MUST(doca_eth_rxq_set_max_recv_buf_list_len(rxq, 2));
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, recv_ok, recv_bad, BUFS));
	ctx = doca_eth_rxq_as_doca_ctx(rxq);
	MUST(doca_pe_connect_ctx(eth.pe, ctx));
	MUST(doca_ctx_start(ctx));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	MUST(doca_eth_txq_create(eth.dev[0], 256, &txq));
	MUST(doca_eth_txq_set_l3_chksum_offload(txq, 1));
	MUST(doca_eth_txq_set_l4_chksum_offload(txq, 1));
	MUST(doca_eth_txq_task_send_set_conf(txq, send_done, send_done, 16));
	ctx = doca_eth_txq_as_doca_ctx(txq);
	MUST(doca_pe_connect_ctx(eth.pe, ctx));
	MUST(doca_ctx_start(ctx));
}

/* Posts a receive of `len` bytes in window `at`. */
static void post(unsigned at, size_t len)
{
	struct doca_eth_rxq_task_recv *task = NULL;
	union doca_data user = {.u64 = at};

	if (posted[at] != NULL)
		CHECK_OK(doca_buf_dec_refcount(posted[at], NULL));
	posted[at] = eth_buf(&eth, (size_t)at * WINDOW, len, 0);
	MUST(doca_eth_rxq_task_recv_allocate_init(rxq, posted[at], user, &task));
	CHECK_OK(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(task)));
}

/* Sends what lies behind the windows. */
static void transmit(size_t len)
{
	struct doca_buf *buf = eth_buf(&eth, (size_t)BUFS * WINDOW, 10000, len);
	struct doca_eth_txq_task_send *task = NULL;
	union doca_data user = {.u64 = 0};
	unsigned before = sent;

	MUST(doca_eth_txq_task_send_allocate_init(txq, buf, user, &task));
	CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
	ETH_UNTIL(&eth, sent == before + 1);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
}

static uint8_t *out(void)
{
	return eth.mem + (size_t)BUFS * WINDOW;
}

static void content(unsigned at, const uint8_t *want, size_t len)
{
	void *data = NULL;
	size_t got = 0;

	CHECK_OK(doca_buf_get_data_len(posted[at], &got));
	CHECK_U64(got, len);
	CHECK_OK(doca_buf_get_data(posted[at], &data));
	CHECK_PTR(data, eth.mem + (size_t)at * WINDOW);
	CHECK_BYTES(data, want, len);
}

static void no_rules(void)
{
	post(0, WINDOW);
	eth_frame(out(), 100, 1);
	transmit(100);
	eth_quiet(&eth);
	CHECK_U64(good, 0);
	/* From here on everything comes; what was sent before does not. */
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 1, (uint16_t[]){0}, 1, 1234);
	eth_frame(out(), 60, 2);
	transmit(60);
	ETH_UNTIL(&eth, good == 1);
	CHECK_U64(last_user, 0);
	content(0, out(), 60);
	CHECK_U64(told.meta, 1234);
	CHECK_U64(told.l3 | told.l4, 0);
}

static void in_order(void)
{
	static const size_t lens[] = {14, 15, 60, 64, 127, 128, 1000, 1514, 1600};
	unsigned round, i, n = sizeof(lens) / sizeof(lens[0]);

	for (round = 0; round < 50; round++) {
		unsigned before = good;

		for (i = 0; i < n; i++)
			post(i, WINDOW);
		for (i = 0; i < n; i++) {
			eth_frame(out(), lens[i], round * n + i);
			transmit(lens[i]);
			ETH_UNTIL(&eth, good == before + i + 1);
			CHECK_U64(last_user, i);
			content(i, out(), lens[i]);
		}
	}
}

static void about_it(void)
{
	unsigned before = good, was_bad = bad;
	struct timespec now;
	uint64_t then;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	then = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	/* The send queue fills checksums in. */
	post(1, WINDOW);
	len = eth_udp(out(), 101, 0x5a);
	transmit(len);
	ETH_UNTIL(&eth, good == before + 1);
	eth_check_sums(eth.mem + WINDOW);
	CHECK_U64(told.l3, 1);
	CHECK_U64(told.l4, 1);
	CHECK(told.hash != 0);
	CHECK(told.time >= then);

	/* A list of two; too short a buffer; then a frame longer than the queue takes, which is nobody's. */
	post(2, 64);
	eth_frame(out(), 65, 3);
	transmit(65);
	ETH_UNTIL(&eth, bad == was_bad + 1);
	CHECK_STATUS(last, DOCA_ERROR_TOO_BIG);
	CHECK_U64(last_user, 2);
	post(3, WINDOW);
	eth_frame(out(), 1601, 4);
	transmit(1601);
	eth_quiet(&eth);
	eth_frame(out(), 70, 5);
	transmit(70);
	ETH_UNTIL(&eth, good == before + 2);
	content(3, out(), 70);
	CHECK_U64(eth_state(doca_eth_rxq_as_doca_ctx(rxq)), DOCA_CTX_STATE_RUNNING);
}

static void lists(void)
{
	struct doca_buf *tail = eth_buf(&eth, 9 * WINDOW, 100, 0), *found = NULL;
	struct doca_eth_rxq_task_recv *task = NULL;
	union doca_data user = {.u64 = 8};
	unsigned before = good;
	size_t len = 0;

	CHECK_OK(doca_buf_dec_refcount(posted[8], NULL));
	posted[8] = eth_buf(&eth, 8 * WINDOW, 40, 0);
	MUST(doca_eth_rxq_task_recv_allocate_init(rxq, tail, user, &task));
	MUST(doca_buf_chain_list(posted[8], tail));
	doca_eth_rxq_task_recv_set_pkt(task, posted[8]);
	CHECK_OK(doca_eth_rxq_task_recv_get_pkt(task, &found));
	CHECK_PTR(found, posted[8]);
	CHECK_OK(doca_task_try_submit(doca_eth_rxq_task_recv_as_doca_task(task)));
	eth_frame(out(), 90, 6);
	transmit(90);
	ETH_UNTIL(&eth, good == before + 1);
	CHECK_OK(doca_buf_get_data_len(posted[8], &len));
	CHECK_U64(len, 40);
	CHECK_OK(doca_buf_get_data_len(tail, &len));
	CHECK_U64(len, 50);
	CHECK_BYTES(eth.mem + 8 * WINDOW, out(), 40);
	CHECK_BYTES(eth.mem + 9 * WINDOW, out() + 40, 50);
}

/* More than there are receives: what waits is taken later, in order. */
static void late(void)
{
	unsigned before = good, i;

	for (i = 0; i < 100; i++) {
		eth_frame(out(), 200, 1000 + i);
		transmit(200);
	}
	eth_quiet(&eth);
	for (i = 0; i < 100; i++) {
		uint8_t want[200];

		post(10 + i, WINDOW);
		ETH_UNTIL(&eth, good == before + i + 1);
		eth_frame(want, 200, 1000 + i);
		content(10 + i, want, 200);
	}
}

static void stop(void)
{
	unsigned was_bad = bad, i;

	for (i = 0; i < 20; i++)
		post(200 + i, WINDOW);
	eth_progress(&eth);
	CHECK_STATUS(doca_ctx_stop(doca_eth_rxq_as_doca_ctx(rxq)), DOCA_ERROR_IN_PROGRESS);
	for (i = 0; i < 20; i++) {
		ETH_UNTIL(&eth, bad == was_bad + i + 1);
		CHECK_U64(last_user, 200 + i);
		CHECK_STATUS(last, DOCA_ERROR_IO_FAILED);
	}
	CHECK_U64(eth_state(doca_eth_rxq_as_doca_ctx(rxq)), DOCA_CTX_STATE_IDLE);
	eth_rules_end(&rules);
	doca_flow_destroy();
	eth_stop(&eth, doca_eth_txq_as_doca_ctx(txq));
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	CHECK_OK(doca_eth_txq_destroy(txq));
	for (i = 0; i < BUFS; i++)
		if (posted[i] != NULL)
			CHECK_OK(doca_buf_dec_refcount(posted[i], NULL));
}

int main(void)
{
	eth_setup(&eth);
	start();
	no_rules();
	in_order();
	about_it();
	lists();
	late();
	stop();
	eth_teardown(&eth);
	return check_result();
}
