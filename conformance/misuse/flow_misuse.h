/*
 * What the programs of the gallery about flow share: a port with a pipe that drops, and entries in it.
 */
#ifndef CONFORMANCE_FLOW_MISUSE_H
#define CONFORMANCE_FLOW_MISUSE_H

#include "misuse.h"

#include "../c/eth_rig.h"

static struct doca_dev *dev;
static struct doca_flow_port *port;
static struct doca_flow_pipe *pipe_of_port;

static inline void flow_begin(void)
{
	struct doca_flow_port_cfg *port_cfg = NULL;
	struct doca_flow_pipe_cfg *pipe_cfg = NULL;
	struct doca_flow_match match = {0};
	struct doca_flow_fwd fwd = {.type = DOCA_FLOW_FWD_DROP};

	dev = eth_open("p0");
	eth_flow_begin();
	MUST(doca_flow_port_cfg_create(&port_cfg));
	MUST(doca_flow_port_cfg_set_port_id(port_cfg, 0));
	MUST(doca_flow_port_cfg_set_dev(port_cfg, dev));
	MUST(doca_flow_port_start(port_cfg, &port));
	MUST(doca_flow_port_cfg_destroy(port_cfg));
	MUST(doca_flow_pipe_cfg_create(&pipe_cfg, port));
	MUST(doca_flow_pipe_cfg_set_name(pipe_cfg, "DROP"));
	MUST(doca_flow_pipe_cfg_set_type(pipe_cfg, DOCA_FLOW_PIPE_BASIC));
	MUST(doca_flow_pipe_cfg_set_is_root(pipe_cfg, true));
	MUST(doca_flow_pipe_cfg_set_match(pipe_cfg, &match, NULL));
	MUST(doca_flow_pipe_create(pipe_cfg, &fwd, NULL, &pipe_of_port));
	MUST(doca_flow_pipe_cfg_destroy(pipe_cfg));
}

static inline void flow_entry(void)
{
	struct doca_flow_pipe_entry *entry = NULL;
	struct doca_flow_match match = {0};

	MUST(doca_flow_pipe_basic_add_entry(0, pipe_of_port, &match, 0, NULL, NULL, NULL,
					    DOCA_FLOW_ENTRY_FLAGS_NO_WAIT, NULL, &entry));
}

#endif
