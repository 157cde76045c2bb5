/*
 * Frames gathered from lists of buffers and scattered over lists of others: every byte at its place, the
 * lengths set, appended behind what a buffer holds already; lists longer than the queue was told of, frames
 * too long for what was posted, and buffers of memory that the device may not write.
 *
 * clauses: eth set_max_recv_buf_list_len, set_max_send_buf_list_len; core-memory (lists)
 * covers: @
 */
#include "eth_rig.h"

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static unsigned received, failed, sent, unsent;
static doca_error_t last, last_send;
static const union doca_data nothing;

static void received_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	eth.calls++;
	received++;
	doca_task_free(doca_eth_rxq_task_recv_as_doca_task(task));
}

static void failed_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	eth.calls++;
	failed++;
	last = doca_task_get_status(doca_eth_rxq_task_recv_as_doca_task(task));
	doca_task_free(doca_eth_rxq_task_recv_as_doca_task(task));
}

static void sent_cb(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	eth.calls++;
	sent++;
	doca_task_free(doca_eth_txq_task_send_as_doca_task(task));
}

static void unsent_cb(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	eth.calls++;
	unsent++;
	last_send = doca_task_get_status(doca_eth_txq_task_send_as_doca_task(task));
	doca_task_free(doca_eth_txq_task_send_as_doca_task(task));
}

static struct doca_task *recv_task(struct doca_buf *buf)
{
	struct doca_eth_rxq_task_recv *task = NULL;

	MUST(doca_eth_rxq_task_recv_allocate_init(rxq, buf, nothing, &task));
	return doca_eth_rxq_task_recv_as_doca_task(task);
}

static struct doca_task *send_task(struct doca_buf *buf)
{
	struct doca_eth_txq_task_send *task = NULL;

	MUST(doca_eth_txq_task_send_allocate_init(txq, buf, nothing, &task));
	return doca_eth_txq_task_send_as_doca_task(task);
}

/* A list of `count` buffers with `each` bytes, 4096 bytes apart. */
static struct doca_buf *list_of(size_t at, unsigned count, size_t each, size_t data)
{
	struct doca_buf *head = eth_buf(&eth, at, each, data);
	unsigned i;

	for (i = 1; i < count; i++)
		MUST(doca_buf_chain_list(head, eth_buf(&eth, at + i * 4096, each, data)));
	return head;
}

static size_t data_len(struct doca_buf *buf)
{
	size_t len = 9999;

	CHECK_OK(doca_buf_get_data_len(buf, &len));
	return len;
}

/* A receive task that was accepted and cannot be: it fails, at the latest when a frame wants it. */
static void fail_receive(unsigned want)
{
	struct doca_buf *from = eth_buf(&eth, 3 << 20, 128, 0);
	int i;

	for (i = 0; i < 100000 && failed != want; i++)
		eth_progress(&eth);
	if (failed != want) {
	
		eth_frame(eth.mem + (3 << 20), 64, 77);
		MUST(doca_buf_set_data(from, eth.mem + (3 << 20), 64));
		CHECK_OK(doca_task_submit(send_task(from)));
	}
	ETH_UNTIL(&eth, failed == want);
	CHECK_OK(doca_buf_dec_refcount(from, NULL));
}

static void there_and_back(void)
{
	struct doca_buf *from = list_of(0, 3, 100, 50), *to = list_of(1 << 20, 4, 64, 0), *next = NULL;
	uint8_t frame[150], *got = eth.mem + (1 << 20);

	eth_frame(frame, sizeof(frame), 7);
	memcpy(eth.mem, frame, 50);
	memcpy(eth.mem + 4096, frame + 50, 50);
	memcpy(eth.mem + 8192, frame + 100, 50);
	CHECK_OK(doca_task_submit(recv_task(to)));
	CHECK_OK(doca_task_try_submit(send_task(from)));
	ETH_UNTIL(&eth, received == 1 && sent == 1);
	CHECK_BYTES(got, frame, 64);
	CHECK_BYTES(got + 4096, frame + 64, 64);
	CHECK_BYTES(got + 8192, frame + 128, 22);
	CHECK_U64(got[8192 + 22], 0);
	CHECK_U64(data_len(to), 64);
	CHECK_OK(doca_buf_get_next_in_list(to, &next));
	CHECK_U64(data_len(next), 64);
	CHECK_OK(doca_buf_get_next_in_list(next, &next));
	CHECK_U64(data_len(next), 22);
	CHECK_OK(doca_buf_get_next_in_list(next, &next));
	CHECK_U64(data_len(next), 0);
	/* Sources do not change. */
	CHECK_U64(data_len(from), 50);
	CHECK_OK(doca_buf_dec_refcount(from, NULL));
	CHECK_OK(doca_buf_dec_refcount(to, NULL));
}

static void too_long(void)
{
	struct doca_buf *from = list_of(0, 4, 100, 50), *to = list_of(1 << 20, 5, 64, 0), *small, *good;
	struct doca_task *task;

	/* Refused with try_submit, accepted and failed by submit. */
	task = send_task(from);
	CHECK_STATUS(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_task_submit(task));
	ETH_UNTIL(&eth, unsent == 1);
	CHECK_STATUS(last_send, DOCA_ERROR_INVALID_VALUE);
	task = recv_task(to);
	CHECK_STATUS(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_task_submit(task));
	fail_receive(1);
	CHECK_STATUS(last, DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_dec_refcount(from, NULL));
	CHECK_OK(doca_buf_dec_refcount(to, NULL));
	/* A data error does not end the queue. */
	CHECK_U64(eth_state(doca_eth_rxq_as_doca_ctx(rxq)), DOCA_CTX_STATE_RUNNING);
	CHECK_U64(eth_state(doca_eth_txq_as_doca_ctx(txq)), DOCA_CTX_STATE_RUNNING);
	/* Room for 100 of 150 bytes: fails alone, and nothing is written behind it. */
	small = list_of(1 << 20, 2, 50, 0);
	memset(eth.mem + (1 << 20), 0xEE, 8192);
	good = eth_buf(&eth, 2 << 20, 2048, 0);
	from = list_of(0, 3, 100, 50);
	received = sent = 0;
	CHECK_OK(doca_task_submit(recv_task(small)));
	CHECK_OK(doca_task_submit(recv_task(good)));
	CHECK_OK(doca_task_submit(send_task(from)));
	CHECK_OK(doca_task_submit(send_task(from)));
	ETH_UNTIL(&eth, failed == 2 && received == 1 && sent == 2);
	CHECK_U64(eth.mem[(1 << 20) + 50], 0xEE);
	CHECK_U64(eth.mem[(1 << 20) + 4096 + 50], 0xEE);
	CHECK_U64(data_len(good), 150);
	CHECK_OK(doca_buf_dec_refcount(from, NULL));
	CHECK_OK(doca_buf_dec_refcount(small, NULL));
	CHECK_OK(doca_buf_dec_refcount(good, NULL));
}

/* Nothing in it: no frame. */
static void empty(void)
{
	struct doca_buf *from = eth_buf(&eth, 0, 100, 0);
	struct doca_task *task = send_task(from);

	unsent = 0;
	CHECK_STATUS(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_task_submit(task));
	ETH_UNTIL(&eth, unsent == 1);
	CHECK_STATUS(last_send, DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_dec_refcount(from, NULL));
}

/* Memory that may only be read is good for sending, not for receiving. */
static void read_only(void)
{
	static uint8_t text[4096] __attribute__((aligned(64)));
	struct doca_mmap *map = NULL;
	struct doca_buf *buf = NULL, *to = eth_buf(&eth, 2 << 20, 2048, 0);
	struct doca_task *task;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_set_max_num_devices(map, 2));
	MUST(doca_mmap_add_dev(map, eth.dev[0]));
	MUST(doca_mmap_add_dev(map, eth.dev[1]));
	MUST(doca_mmap_set_memrange(map, text, sizeof(text)));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	MUST(doca_mmap_start(map));
	eth_frame(text, 64, 9);
	MUST(doca_buf_inventory_buf_get_by_data(eth.inv, map, text, 64, &buf));
	received = sent = failed = 0;
	CHECK_OK(doca_task_submit(recv_task(to)));
	CHECK_OK(doca_task_submit(send_task(buf)));
	ETH_UNTIL(&eth, received == 1 && sent == 1);
	CHECK_BYTES(eth.mem + (2 << 20), text, 64);
	CHECK_OK(doca_buf_reset_data_len(buf));
	task = recv_task(buf);
	CHECK_STATUS(doca_task_try_submit(task), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_task_submit(task));
	fail_receive(1);
	CHECK_STATUS(last, DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_mmap_stop(map), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_OK(doca_buf_dec_refcount(to, NULL));
	CHECK_OK(doca_mmap_destroy(map));
}

int main(void)
{
	struct eth_rules rules;
	uint16_t queue = 0;

	eth_setup(&eth);
	MUST(doca_eth_rxq_create(eth.dev[1], 64, 2048, &rxq));
	MUST(doca_eth_rxq_set_max_recv_buf_list_len(rxq, 4));
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, received_cb, failed_cb, 8));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	MUST(doca_eth_txq_create(eth.dev[0], 64, &txq));
	MUST(doca_eth_txq_set_max_send_buf_list_len(txq, 3));
	MUST(doca_eth_txq_task_send_set_conf(txq, sent_cb, unsent_cb, 8));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_txq_as_doca_ctx(txq)));
	MUST(doca_ctx_start(doca_eth_txq_as_doca_ctx(txq)));
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 0, &queue, 1, 0);
	there_and_back();
	too_long();
	empty();
	read_only();
	eth_rules_end(&rules);
	doca_flow_destroy();
	CHECK_OK(doca_ctx_stop(doca_eth_rxq_as_doca_ctx(rxq)));
	CHECK_OK(doca_ctx_stop(doca_eth_txq_as_doca_ctx(txq)));
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	CHECK_OK(doca_eth_txq_destroy(txq));
	eth_teardown(&eth);
	return check_result();
}
