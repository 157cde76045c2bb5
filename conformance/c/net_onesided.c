/*
 * One-sided access and atomics over the network: what rdma_onesided.c tests holds there, too.
 *
 * env: SOFTDPU_RDMA_PATH=network
 * clauses: rdma Read, Write, Atomic; Behaviour (permissions table, 1, 9)
 * covers: @
 */
#define _GNU_SOURCE
#include "net_rig.h"
#include "rdma_onesided.c"
