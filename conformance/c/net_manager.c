/*
 * The connection manager over the network: what rdma_manager.c tests holds there, too.
 *
 * env: SOFTDPU_RDMA_PATH=network
 * clauses: rdma Connecting through the connection manager, Connection objects; Behaviour 5, 6
 * covers: @
 */
#define _GNU_SOURCE
#include "net_rig.h"
#include "rdma_manager.c"
