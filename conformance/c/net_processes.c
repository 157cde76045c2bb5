/*
 * Two processes over the network: what rdma_processes.c tests holds there, too.
 *
 * env: SOFTDPU_RDMA_PATH=network
 * clauses: rdma Behaviour 1, 2, 6, 14
 * covers: @
 */
#define _GNU_SOURCE
#include "net_rig.h"
#include "rdma_processes.c"
