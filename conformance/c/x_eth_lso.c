/*
 * One send of a long text, cut into segments: headers in pieces, every segment with them in front, the last
 * one short; the length of a segment by queue and by task; sequence and lengths of real TCP; headers and
 * payload read back in the callback after the task was freed; what is too long.
 *
 * clauses: eth set_mss, set_max_lso_header_size, task_lso_send
 * covers: @
 */
#include "eth_rig.h"

#define PAYLOAD 4000

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static struct doca_ctx *tx;
static unsigned good, bad, received;
static doca_error_t last;
static uint8_t frames[32][2048];
static size_t lens[32];
static struct doca_gather_list nodes[4];
static uint8_t header[256];
static const union doca_data nothing;

static void done(struct doca_eth_txq_task_lso_send *task)
{
	struct doca_task *plain = doca_eth_txq_task_lso_send_as_doca_task(task);
	struct doca_gather_list *list = NULL;
	struct doca_buf *payload = NULL;

	eth.calls++;
	last = doca_task_get_status(plain);
	doca_task_free(plain);
	CHECK_PTR(doca_task_get_ctx(plain), tx);
	CHECK_OK(doca_eth_txq_task_lso_send_get_headers(task, &list));
	CHECK_PTR(list, &nodes[0]);
	CHECK_OK(doca_eth_txq_task_lso_send_get_pkt_payload(task, &payload));
	CHECK_OK(doca_buf_dec_refcount(payload, NULL));
}

static void good_cb(struct doca_eth_txq_task_lso_send *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	good++;
	done(task);
}

static void bad_cb(struct doca_eth_txq_task_lso_send *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	bad++;
	done(task);
}

static void received_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	void *data = NULL;
	size_t len = 0;

	(void)user, (void)ctx;
	eth.calls++;
	data = eth_received(task, &len);
	MUST_BE(received < 32 && len <= 2048);
	memcpy(frames[received], data, len);
	lens[received++] = len;
	eth_post_again(task);
}

static void flushed_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	eth.calls++;
	eth_drop_recv(task);
}

/* Header bytes [0, len) in `pieces` nodes. */
static void cut(size_t len, unsigned pieces)
{
	size_t at = 0;
	unsigned i;

	memset(nodes, 0, sizeof(nodes));
	for (i = 0; i < pieces; i++) {
		size_t part = i == pieces - 1 ? len - at : len / pieces;

		nodes[i].addr = header + at;
		nodes[i].len = part;
		nodes[i].next = i == pieces - 1 ? NULL : &nodes[i + 1];
		at += part;
	}
}

static struct doca_eth_txq_task_lso_send *task_of(size_t payload)
{
	struct doca_eth_txq_task_lso_send *task = NULL;

	MUST(doca_eth_txq_task_lso_send_allocate_init(txq, eth_buf(&eth, 0, payload == 0 ? 64 : payload, payload),
						      nodes, nothing, &task));
	return task;
}

static void go(struct doca_eth_txq_task_lso_send *task)
{
	good = bad = received = 0;
	CHECK_OK(doca_task_submit(doca_eth_txq_task_lso_send_as_doca_task(task)));
	ETH_UNTIL(&eth, good + bad == 1);
}

/* The segments carry all of the payload, in order, each behind `head` bytes. */
static void segments(size_t head, size_t payload, size_t mss)
{
	unsigned want = (unsigned)((payload + mss - 1) / mss), i;
	size_t at = 0;

	CHECK_U64(good, 1);
	ETH_UNTIL(&eth, received >= want);
	CHECK_U64(received, want);
	for (i = 0; i < want; i++) {
		size_t part = payload - at < mss ? payload - at : mss;

		CHECK_U64(lens[i], head + part);
		CHECK_BYTES(frames[i] + head, eth.mem + at, part);
		CHECK_BYTES(frames[i], header, 14);
		at += part;
	}
}

static uint32_t be32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Ethernet, IPv4, TCP without options, PSH and FIN. */
static void tcp_header(void)
{
	static const uint8_t text[54] = {2,    0,    0, 0, 0, 2,  2, 0, 0, 0, 0,    1,	  8,	0,    0x45, 0, 0, 0, 0x12, 0x34, 0x40, 0,
					 64,   6,    0, 0, 10, 0, 0, 1, 10, 0, 0,   2,	  0x30, 0x39, 0,    80, 0xff, 0xff, 0xfc, 0,
					 0,    0,    0, 9, 0x50, 0x19, 0x10, 0,	 0,   0,    0,	  0};

	memcpy(header, text, sizeof(text));
}

int main(void)
{
	struct doca_eth_rxq_task_recv *recv = NULL;
	struct doca_eth_txq_task_lso_send *task;
	struct eth_rules rules;
	uint16_t queue = 0, most = 0;
	unsigned i;

	eth_setup(&eth);
	MUST(doca_eth_rxq_create(eth.dev[1], 256, 2048, &rxq));
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, received_cb, flushed_cb, 32));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 0, &queue, 1, 0);
	for (i = 0; i < 32; i++) {
		MUST(doca_eth_rxq_task_recv_allocate_init(rxq, eth_buf(&eth, (1u << 20) + i * 2048, 2048, 0), nothing,
							  &recv));
		CHECK_OK(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(recv)));
	}
	MUST(doca_eth_txq_create(eth.dev[0], 256, &txq));
	tx = doca_eth_txq_as_doca_ctx(txq);
	MUST(doca_eth_txq_set_mss(txq, 1000));
	CHECK_OK(doca_eth_txq_cap_get_max_lso_header_size(doca_dev_as_devinfo(eth.dev[0]), &most));
	CHECK(most >= 74);
	MUST(doca_eth_txq_set_max_lso_header_size(txq, 64));
	MUST(doca_eth_txq_task_lso_send_set_conf(txq, good_cb, bad_cb, 4));
	MUST(doca_pe_connect_ctx(eth.pe, tx));
	MUST(doca_ctx_start(tx));
	for (i = 0; i < ETH_BYTES / 16; i++)
		eth.mem[i] = (uint8_t)(i * 13 + (i >> 8));

	/* Nothing but an Ethernet header, and a text that is none of IP. */
	memcpy(header, "\2\0\0\0\0\2\2\0\0\0\0\1\x08\0", 14);
	cut(14, 1);
	go(task_of(PAYLOAD));
	segments(14, PAYLOAD, 1000);
	/* By task, which says it for itself alone. */
	task = task_of(PAYLOAD);
	doca_eth_txq_task_lso_send_set_mss(task, 1500);
	go(task);
	segments(14, PAYLOAD, 1500);
	go(task_of(PAYLOAD - 1));
	segments(14, PAYLOAD - 1, 1000);
	/* Shorter than a segment. */
	go(task_of(10));
	segments(14, 10, 1000);

	/* TCP, in three pieces: numbers go on, lengths are right, checksums too when asked for. */
	tcp_header();
	header[16] = (40 + PAYLOAD - 500) >> 8;
	header[17] = (40 + PAYLOAD - 500) & 255;
	cut(54, 3);
	task = task_of(PAYLOAD - 500);
	doca_eth_txq_task_lso_send_set_ol_flags(task, DOCA_ETH_TXQ_OL_FLAGS_L3_CSUM | DOCA_ETH_TXQ_OL_FLAGS_L4_CSUM);
	go(task);
	segments(54, PAYLOAD - 500, 1000);
	for (i = 0; i < received; i++) {
		/* 0xfffffc00: wraps. */
		CHECK_U64(be32(frames[i] + 38), (uint32_t)(0xfffffc00u + i * 1000));
		CHECK_U64((uint32_t)frames[i][16] << 8 | frames[i][17], lens[i] - 14);
		CHECK_U64((uint32_t)frames[i][18] << 8 | frames[i][19], 0x1234 + i);
		CHECK_U64(frames[i][47], i == received - 1 ? 0x19 : 0x10);
		eth_check_sums(frames[i]);
	}
	/* The program's bytes are as they were. */
	CHECK_U64(header[17], (40 + PAYLOAD - 500) & 255);
	CHECK_U64(header[24] | header[25] | header[50] | header[51], 0);

	/* A header longer than the queue was told of, and one just as long; no payload. */
	cut(65, 2);
	task = task_of(100);
	CHECK_STATUS(doca_task_try_submit(doca_eth_txq_task_lso_send_as_doca_task(task)), DOCA_ERROR_INVALID_VALUE);
	go(task);
	CHECK_U64(bad, 1);
	CHECK_STATUS(last, DOCA_ERROR_INVALID_VALUE);
	cut(64, 4);
	go(task_of(1000));
	CHECK_U64(good, 1);
	ETH_UNTIL(&eth, received == 1);
	task = NULL;
	CHECK_STATUS(doca_eth_txq_task_lso_send_allocate_init(txq, NULL, nodes, nothing, &task),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_U64(eth_state(tx), DOCA_CTX_STATE_RUNNING);
	CHECK_OK(doca_ctx_stop(tx));
	CHECK_OK(doca_eth_txq_destroy(txq));
	eth_rules_end(&rules);
	doca_flow_destroy();
	eth_stop(&eth, doca_eth_rxq_as_doca_ctx(rxq));
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	eth_teardown(&eth);
	return check_result();
}
