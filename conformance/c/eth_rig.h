/*
 * What the Ethernet programs need: two ports of the card that are wired to each other, memory both
 * may use, buffers, a progress engine; rules that bring packets to queues.
 *
 * Every call to progress goes through eth_progress(), which holds the library to two promises: a
 * call that answers 0 ran nothing; a call runs one callback at most.
 */
#ifndef CONFORMANCE_ETH_RIG_H
#define CONFORMANCE_ETH_RIG_H

#include <sched.h>

#include <doca_bitfield.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_eth_rxq.h>
#include <doca_eth_rxq_cpu_data_path.h>
#include <doca_eth_txq.h>
#include <doca_eth_txq_cpu_data_path.h>
#include <doca_flow.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_types.h>

#include "check.h"

#define ETH_BYTES (8u << 20)
#define ETH_BUFS 4096

struct eth {
	struct doca_dev *dev[2]; /* p0 and p1 */
	struct doca_mmap *map;
	struct doca_buf_inventory *inv;
	struct doca_pe *pe;
	uint8_t *mem;
	unsigned calls; /* callbacks that ran */
};

static inline struct doca_dev *eth_open(const char *name)
{
	struct doca_devinfo **list = NULL;
	struct doca_dev *dev = NULL;
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint32_t count = 0, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++) {
		if (doca_devinfo_get_iface_name(list[i], iface, sizeof(iface)) == DOCA_SUCCESS &&
		    strcmp(iface, name) == 0)
			MUST(doca_dev_open(list[i], &dev));
	}
	MUST(doca_devinfo_destroy_list(list));
	MUST_BE(dev != NULL);
	return dev;
}

static inline void eth_setup(struct eth *eth)
{
	memset(eth, 0, sizeof(*eth));
	eth->dev[0] = eth_open("p0");
	eth->dev[1] = eth_open("p1");
	eth->mem = aligned_alloc(64, ETH_BYTES);
	MUST_BE(eth->mem != NULL);
	memset(eth->mem, 0, ETH_BYTES);
	MUST(doca_mmap_create(&eth->map));
	MUST(doca_mmap_set_max_num_devices(eth->map, 2));
	MUST(doca_mmap_add_dev(eth->map, eth->dev[0]));
	MUST(doca_mmap_add_dev(eth->map, eth->dev[1]));
	MUST(doca_mmap_set_memrange(eth->map, eth->mem, ETH_BYTES));
	MUST(doca_mmap_set_permissions(eth->map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	MUST(doca_mmap_start(eth->map));
	MUST(doca_buf_inventory_create(ETH_BUFS, &eth->inv));
	MUST(doca_buf_inventory_start(eth->inv));
	MUST(doca_pe_create(&eth->pe));
}

static inline void eth_teardown(struct eth *eth)
{
	CHECK_OK(doca_pe_destroy(eth->pe));
	CHECK_OK(doca_buf_inventory_destroy(eth->inv));
	CHECK_OK(doca_mmap_destroy(eth->map));
	CHECK_OK(doca_dev_close(eth->dev[0]));
	CHECK_OK(doca_dev_close(eth->dev[1]));
	free(eth->mem);
}

static inline int eth_progress(struct eth *eth)
{
	unsigned before = eth->calls;
	int moved = doca_pe_progress(eth->pe);

	if (!moved)
		CHECK_U64(eth->calls, before);
	CHECK(eth->calls - before <= 1);
	return moved;
}

/* Progresses until it holds; the watchdog of check.h ends what hangs. */
#define ETH_UNTIL(eth_, condition_) \
	do { \
		while (!(condition_)) { \
			if (!eth_progress(eth_)) \
				sched_yield(); \
		} \
	} while (0)

/* A good many calls in which nothing may happen. */
static inline void eth_quiet(struct eth *eth)
{
	unsigned before = eth->calls, i;

	for (i = 0; i < 1000; i++)
		eth_progress(eth);
	CHECK_U64(eth->calls, before);
}

static inline enum doca_ctx_states eth_state(struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;

	CHECK_OK(doca_ctx_get_state(ctx, &state));
	return state;
}

/* Stops and progresses until idle. */
static inline void eth_stop(struct eth *eth, struct doca_ctx *ctx)
{
	CHECK_STATUS2(doca_ctx_stop(ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	ETH_UNTIL(eth, eth_state(ctx) == DOCA_CTX_STATE_IDLE);
}

/* A buffer on `len` bytes at `at`, with `data` of them filled. */
static inline struct doca_buf *eth_buf(struct eth *eth, size_t at, size_t len, size_t data)
{
	struct doca_buf *buf = NULL;

	MUST_BE(at + len <= ETH_BYTES);
	MUST(doca_buf_inventory_buf_get_by_addr(eth->inv, eth->map, eth->mem + at, len, &buf));
	MUST(doca_buf_set_data(buf, eth->mem + at, data));
	return buf;
}

/* What was received: its bytes, and how many where that is asked for. */
static inline uint8_t *eth_received(struct doca_eth_rxq_task_recv *task, size_t *len)
{
	struct doca_buf *pkt = NULL;
	void *data = NULL;

	CHECK_OK(doca_eth_rxq_task_recv_get_pkt(task, &pkt));
	CHECK_OK(doca_buf_get_data(pkt, &data));
	if (len != NULL)
		CHECK_OK(doca_buf_get_data_len(pkt, len));
	return data;
}

/* Posts a receive once more, its buffer emptied. */
static inline void eth_post_again(struct doca_eth_rxq_task_recv *task)
{
	struct doca_buf *pkt = NULL;

	CHECK_OK(doca_eth_rxq_task_recv_get_pkt(task, &pkt));
	CHECK_OK(doca_buf_reset_data_len(pkt));
	CHECK_OK(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(task)));
}

/* The end of a receive: its buffer goes back, then the task. */
static inline void eth_drop_recv(struct doca_eth_rxq_task_recv *task)
{
	struct doca_buf *pkt = NULL;

	CHECK_OK(doca_eth_rxq_task_recv_get_pkt(task, &pkt));
	CHECK_OK(doca_buf_dec_refcount(pkt, NULL));
	doca_task_free(doca_eth_rxq_task_recv_as_doca_task(task));
}

/* The end of a send. */
static inline void eth_drop_send(struct doca_eth_txq_task_send *task)
{
	struct doca_buf *pkt = NULL;

	CHECK_OK(doca_eth_txq_task_send_get_pkt(task, &pkt));
	CHECK_OK(doca_buf_dec_refcount(pkt, NULL));
	doca_task_free(doca_eth_txq_task_send_as_doca_task(task));
}

/* The callback of receives that a stopping queue gives back: counted in a variable of the program. */
#define ETH_FLUSHED_CB(counter_) \
	static void flushed_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx) \
	{ \
		(void)user, (void)ctx; \
		eth.calls++; \
		(counter_)++; \
		eth_drop_recv(task); \
	}

/* The callback of sends: they have gone out, and are counted in a variable of the program. */
#define ETH_SENT_CB(counter_) \
	static void sent_cb(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx) \
	{ \
		(void)user, (void)ctx; \
		eth.calls++; \
		(counter_)++; \
		CHECK_OK(doca_task_get_status(doca_eth_txq_task_send_as_doca_task(task))); \
		eth_drop_send(task); \
	}

/* A frame of `len` bytes (14 or more) with a number in it, not of IP. */
static inline void eth_frame(uint8_t *to, size_t len, uint32_t number)
{
	static const uint8_t head[14] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
	size_t i;

	for (i = 0; i < len; i++)
		to[i] = (uint8_t)(number + 7 * i);
	memcpy(to, head, 14);
	if (len >= 18)
		memcpy(to + 14, &number, 4);
}

/* An IPv4 frame with `len` bytes of UDP data, checksums left out; returns its length. */
static inline size_t eth_udp(uint8_t *to, size_t len, uint8_t fill)
{
	static const uint8_t head[42] = {2, 0,	0, 0, 0, 2, 2, 0,  0, 0, 0, 1, 8,    0,	   0x45, 0,    0, 0,	0, 1, 0x40,
					 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x30, 0x39, 0, 0x35, 0, 0, 0, 0};
	size_t total = 28 + len;

	memcpy(to, head, sizeof(head));
	to[16] = (uint8_t)(total >> 8);
	to[17] = (uint8_t)total;
	to[38] = (uint8_t)((8 + len) >> 8);
	to[39] = (uint8_t)(8 + len);
	memset(to + 42, fill, len);
	return 42 + len;
}

/* The internet checksum over `len` bytes, of which the stored one is a part: 0 when that is right. */
static inline uint16_t eth_sum(const uint8_t *at, size_t len, uint32_t sum)
{
	size_t i;

	for (i = 0; i < len; i++)
		sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Are the checksums of an IPv4 frame with UDP or TCP right? */
static inline void eth_check_sums(const uint8_t *frame)
{
	uint32_t len = ((uint32_t)frame[16] << 8 | frame[17]) - 20, pseudo = frame[23] + len, i;

	for (i = 0; i < 8; i += 2)
		pseudo += (uint32_t)frame[26 + i] << 8 | frame[27 + i];
	CHECK_U64(eth_sum(frame + 14, 20, 0), 0);
	CHECK_U64(eth_sum(frame + 34, len, pseudo), 0);
}

/* Rules: every packet of a port to these queues, with this metadata. */
struct eth_rules {
	struct doca_flow_port *port;
	struct doca_flow_pipe *pipe;
};

static inline void eth_flow_begin(void)
{
	struct doca_flow_cfg *cfg = NULL;

	MUST(doca_flow_cfg_create(&cfg));
	MUST(doca_flow_cfg_set_pipe_queues(cfg, 1));
	MUST(doca_flow_cfg_set_mode_args(cfg, "vnf"));
	MUST(doca_flow_cfg_set_nr_counters(cfg, 1 << 19));
	MUST(doca_flow_init(cfg));
	MUST(doca_flow_cfg_destroy(cfg));
}

static inline struct eth_rules eth_rules_begin(struct doca_dev *dev, uint16_t id, uint16_t *queues, int count,
					       uint32_t meta)
{
	struct eth_rules rules = {NULL, NULL};
	struct doca_flow_port_cfg *port_cfg = NULL;
	struct doca_flow_pipe_cfg *pipe_cfg = NULL;
	struct doca_flow_pipe_entry *entry = NULL;
	struct doca_flow_match match;
	struct doca_flow_actions actions, *list[1] = {&actions};
	struct doca_flow_fwd fwd, miss;

	memset(&match, 0, sizeof(match));
	memset(&actions, 0, sizeof(actions));
	memset(&fwd, 0, sizeof(fwd));
	memset(&miss, 0, sizeof(miss));
	MUST(doca_flow_port_cfg_create(&port_cfg));
	MUST(doca_flow_port_cfg_set_port_id(port_cfg, id));
	MUST(doca_flow_port_cfg_set_dev(port_cfg, dev));
	MUST(doca_flow_port_start(port_cfg, &rules.port));
	MUST(doca_flow_port_cfg_destroy(port_cfg));
	MUST(doca_flow_pipe_cfg_create(&pipe_cfg, rules.port));
	MUST(doca_flow_pipe_cfg_set_name(pipe_cfg, "ALL"));
	MUST(doca_flow_pipe_cfg_set_type(pipe_cfg, DOCA_FLOW_PIPE_BASIC));
	MUST(doca_flow_pipe_cfg_set_is_root(pipe_cfg, true));
	MUST(doca_flow_pipe_cfg_set_match(pipe_cfg, &match, NULL));
	actions.meta.pkt_meta = DOCA_HTOBE32(meta);
	MUST(doca_flow_pipe_cfg_set_actions(pipe_cfg, list, NULL, NULL, 1));
	fwd.type = DOCA_FLOW_FWD_RSS;
	fwd.rss_type = DOCA_FLOW_RESOURCE_TYPE_NON_SHARED;
	fwd.rss.queues_array = queues;
	fwd.rss.nr_queues = count;
	fwd.rss.outer_flags = DOCA_FLOW_RSS_IPV4 | DOCA_FLOW_RSS_UDP;
	miss.type = DOCA_FLOW_FWD_DROP;
	MUST(doca_flow_pipe_create(pipe_cfg, &fwd, &miss, &rules.pipe));
	MUST(doca_flow_pipe_cfg_destroy(pipe_cfg));
	MUST(doca_flow_pipe_basic_add_entry(0, rules.pipe, &match, 0, &actions, NULL, NULL, 0, NULL, &entry));
	MUST(doca_flow_entries_process(rules.port, 0, 10000, 4));
	return rules;
}

static inline void eth_rules_end(struct eth_rules *rules)
{
	doca_flow_pipe_destroy(rules->pipe);
	CHECK_OK(doca_flow_port_stop(rules->port));
}

#endif
