/* Ethernet: a frame leaves port p0 and arrives at port p1, whose rules bring it to a queue. */
#include "tutorial.h"

#include <doca_eth_rxq.h>
#include <doca_eth_rxq_cpu_data_path.h>
#include <doca_eth_txq.h>
#include <doca_eth_txq_cpu_data_path.h>
#include <doca_flow.h>

static void left(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	landed(ctx, doca_eth_txq_task_send_as_doca_task(task));
}

static void arrived(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	landed(ctx, doca_eth_rxq_task_recv_as_doca_task(task));
}

static struct doca_dev *open_port(const char *name)
{
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++)
		if (doca_devinfo_get_iface_name(list[i], iface, sizeof(iface)) == DOCA_SUCCESS && strcmp(iface, name) == 0)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_destroy_list(list));
	return dev;
}

static struct rig make_port(const char *name)
{
	struct rig rig = {.dev = open_port(name), .memory = calloc(1, 8192)};

	MUST(doca_mmap_create(&rig.map));
	MUST(doca_mmap_add_dev(rig.map, rig.dev));
	MUST(doca_mmap_set_memrange(rig.map, rig.memory, 8192));
	MUST(doca_mmap_start(rig.map));
	MUST(doca_buf_inventory_create(8, &rig.inventory));
	MUST(doca_buf_inventory_start(rig.inventory));
	MUST(doca_pe_create(&rig.pe));
	return rig;
}

/* Every frame that arrives at the port goes to queue 0. Without a rule frames are dropped. */
static struct doca_flow_port *steer(struct doca_dev *dev)
{
	struct doca_flow_cfg *cfg;
	struct doca_flow_port_cfg *port_cfg;
	struct doca_flow_pipe_cfg *pipe_cfg;
	struct doca_flow_pipe_entry *entry;
	struct doca_flow_port *port;
	struct doca_flow_pipe *pipe;
	struct doca_flow_match all;
	struct doca_flow_fwd to, otherwise;
	uint16_t queue = 0;

	memset(&all, 0, sizeof(all));
	memset(&to, 0, sizeof(to));
	memset(&otherwise, 0, sizeof(otherwise));
	MUST(doca_flow_cfg_create(&cfg));
	MUST(doca_flow_cfg_set_pipe_queues(cfg, 1));
	MUST(doca_flow_cfg_set_mode_args(cfg, "vnf"));
	MUST(doca_flow_init(cfg));
	MUST(doca_flow_cfg_destroy(cfg));
	MUST(doca_flow_port_cfg_create(&port_cfg));
	MUST(doca_flow_port_cfg_set_port_id(port_cfg, 1));
	MUST(doca_flow_port_cfg_set_dev(port_cfg, dev));
	MUST(doca_flow_port_start(port_cfg, &port));
	MUST(doca_flow_port_cfg_destroy(port_cfg));
	MUST(doca_flow_pipe_cfg_create(&pipe_cfg, port));
	MUST(doca_flow_pipe_cfg_set_name(pipe_cfg, "ALL"));
	MUST(doca_flow_pipe_cfg_set_type(pipe_cfg, DOCA_FLOW_PIPE_BASIC));
	MUST(doca_flow_pipe_cfg_set_is_root(pipe_cfg, true));
	MUST(doca_flow_pipe_cfg_set_match(pipe_cfg, &all, NULL));
	to.type = DOCA_FLOW_FWD_RSS;
	to.rss_type = DOCA_FLOW_RESOURCE_TYPE_NON_SHARED;
	to.rss.queues_array = &queue;
	to.rss.nr_queues = 1;
	otherwise.type = DOCA_FLOW_FWD_DROP;
	MUST(doca_flow_pipe_create(pipe_cfg, &to, &otherwise, &pipe));
	MUST(doca_flow_pipe_cfg_destroy(pipe_cfg));
	MUST(doca_flow_pipe_basic_add_entry(0, pipe, &all, 0, NULL, NULL, NULL, 0, NULL, &entry));
	MUST(doca_flow_entries_process(port, 0, 10000, 4));
	return port;
}

int main(void)
{
	static const char frame[] = "\x02\x00\x00\x00\x00\x02" "\x02\x00\x00\x00\x00\x01" "\x88\xb5" "a frame of our own";
	struct rig out = make_port("p0"), in = make_port("p1");
	struct doca_eth_rxq_task_recv *receive;
	struct doca_eth_txq_task_send *send;
	struct doca_buf *sent, *received;
	struct doca_eth_rxq *rxq;
	struct doca_eth_txq *txq;
	struct doca_flow_port *port;
	union doca_data none = {0};

	MUST(doca_eth_rxq_create(in.dev, 64, 1600, &rxq));
	MUST(doca_eth_rxq_set_type(rxq, DOCA_ETH_RXQ_TYPE_REGULAR));
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, arrived, arrived, 4));
	start(&in, doca_eth_rxq_as_doca_ctx(rxq));
	MUST(doca_eth_rxq_apply_queue_id(rxq, 0));
	MUST(doca_eth_txq_create(out.dev, 64, &txq));
	MUST(doca_eth_txq_set_type(txq, DOCA_ETH_TXQ_TYPE_REGULAR));
	MUST(doca_eth_txq_task_send_set_conf(txq, left, left, 4));
	start(&out, doca_eth_txq_as_doca_ctx(txq));
	port = steer(in.dev);

	/* Room for what comes, then what comes. */
	received = room(&in, 0, 1600);
	MUST(doca_eth_rxq_task_recv_allocate_init(rxq, received, none, &receive));
	MUST(doca_task_submit(doca_eth_rxq_task_recv_as_doca_task(receive)));
	in.flying = 1;
	memcpy(out.memory, frame, sizeof(frame));
	sent = data(&out, 0, sizeof(frame));
	MUST(doca_eth_txq_task_send_allocate_init(txq, sent, none, &send));
	MUST(carry_out(&out, doca_eth_txq_task_send_as_doca_task(send)));
	while (in.flying > 0)
		doca_pe_progress(in.pe);
	printf("%zu bytes: %s\n", length_of(received), in.memory + 14);

	MUST(doca_buf_dec_refcount(sent, NULL));
	MUST(doca_buf_dec_refcount(received, NULL));
	MUST(doca_flow_port_stop(port));
	doca_flow_destroy();
	stop(&in, doca_eth_rxq_as_doca_ctx(rxq));
	stop(&out, doca_eth_txq_as_doca_ctx(txq));
	MUST(doca_eth_rxq_destroy(rxq));
	MUST(doca_eth_txq_destroy(txq));
	free_rig(&in);
	free_rig(&out);
	return 0;
}
