/*
 * Ports with real interfaces behind them, a veth pair in a network name space of its own: frames get
 * through; when an interface goes down, sends are carried out all the same (their frames are lost), the
 * receive queue stays as it is and tells nothing; when the interfaces are up again, frames get through
 * to the receives that were posted before. (Needs the right to make a name space; else it is skipped.)
 *
 * clauses: eth Behaviour
 * covers: @
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "eth_rig.h"

#define POSTED 64u
#define WINDOW 2048u

static struct eth eth;
static struct doca_eth_rxq *rxq;
static struct doca_eth_txq *txq;
static unsigned received, flushed, sent;
static uint32_t newest; /* number of the frame that came last */
static const union doca_data nothing;

static void received_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	size_t len = 0;
	void *data = NULL;

	(void)user, (void)ctx;
	eth.calls++;
	received++;
	data = eth_received(task, &len);
	CHECK_U64(len, 60);
	memcpy(&newest, (uint8_t *)data + 14, 4);
	if (eth_state(doca_eth_rxq_as_doca_ctx(rxq)) == DOCA_CTX_STATE_RUNNING) {
		eth_post_again(task);
		return;
	}
	/* A late frame, reported while the queue stops: its task is over as the flushed ones are. */
	flushed++;
	eth_drop_recv(task);
}

ETH_FLUSHED_CB(flushed)

ETH_SENT_CB(sent)

/* Sends a frame with a number in it, and sees the send through. */
static void send_one(uint32_t number)
{
	struct doca_eth_txq_task_send *task = NULL;
	unsigned before = sent;
	struct doca_buf *buf;

	eth_frame(eth.mem, 60, number);
	buf = eth_buf(&eth, 0, 60, 60);
	MUST(doca_eth_txq_task_send_allocate_init(txq, buf, nothing, &task));
	CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
	ETH_UNTIL(&eth, sent == before + 1);
}

/* Sends frames with this number until one has come: an interface may need a moment. */
static void get_through(uint32_t number)
{
	unsigned i;

	while (newest != number) {
		send_one(number);
		for (i = 0; i < 1000 && newest != number; i++)
			eth_progress(&eth);
	}
}

static void ip(const char *command)
{
	char line[128];

	snprintf(line, sizeof(line), "ip link %s 2>/dev/null", command);
	if (system(line) != 0)
		SKIP("the command '%s' fails here", line);
}

/* Keeps the kernel from sending frames of its own. */
static void quiet(const char *name)
{
	char path[96];
	int file;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", name);
	file = open(path, O_WRONLY);
	if (file >= 0) {
		CHECK(write(file, "1", 1) == 1);
		close(file);
	}
}

int main(void)
{
	struct eth_rules rules;
	unsigned i, before;
	uint16_t queue = 0;

	if (unshare(CLONE_NEWNET) != 0)
		SKIP("no right to make a network name space");
	ip("add va type veth peer name vb");
	quiet("va");
	quiet("vb");
	ip("set va up");
	ip("set vb up");
	setenv("SOFTDPU_PORT_p0", "packet:va", 1);
	setenv("SOFTDPU_PORT_p1", "packet:vb", 1);
	eth_setup(&eth);
	MUST(doca_eth_rxq_create(eth.dev[1], POSTED, 1600, &rxq));
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, received_cb, flushed_cb, POSTED));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_eth_rxq_apply_queue_id(rxq, queue));
	MUST(doca_eth_txq_create(eth.dev[0], POSTED, &txq));
	MUST(doca_eth_txq_task_send_set_conf(txq, sent_cb, sent_cb, POSTED));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_txq_as_doca_ctx(txq)));
	MUST(doca_ctx_start(doca_eth_txq_as_doca_ctx(txq)));
	eth_flow_begin();
	rules = eth_rules_begin(eth.dev[1], 1, &queue, 1, 0);
	for (i = 0; i < POSTED; i++) {
		struct doca_eth_rxq_task_recv *task = NULL;
		struct doca_buf *buf = eth_buf(&eth, (i + 1) * WINDOW, WINDOW, 0);

		MUST(doca_eth_rxq_task_recv_allocate_init(rxq, buf, nothing, &task));
		CHECK_OK(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(task)));
	}
	get_through(1);

	/* The sender's interface, then the receiver's, then both. */
	for (i = 0; i < 3; i++) {
		if (i != 1)
			ip("set va down");
		if (i != 0)
			ip("set vb down");
		/* What was on its way before. */
		while (eth_progress(&eth))
			continue;
		before = received;
		send_one(100 + i);
		send_one(100 + i);
		eth_quiet(&eth);
		CHECK_U64(received, before);
		CHECK_U64(flushed, 0);
		CHECK_U64(eth_state(doca_eth_rxq_as_doca_ctx(rxq)), DOCA_CTX_STATE_RUNNING);
		CHECK_U64(eth_state(doca_eth_txq_as_doca_ctx(txq)), DOCA_CTX_STATE_RUNNING);
		ip("set va up");
		ip("set vb up");
		get_through(10 + i);
	}

	eth_stop(&eth, doca_eth_rxq_as_doca_ctx(rxq));
	CHECK_U64(flushed, POSTED);
	eth_stop(&eth, doca_eth_txq_as_doca_ctx(txq));
	eth_rules_end(&rules);
	doca_flow_destroy();
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	CHECK_OK(doca_eth_txq_destroy(txq));
	eth_teardown(&eth);
	return check_result();
}
