/*
 * Messages between two contexts, all of them over the network: what rdma_messages.c tests holds there, too.
 *
 * env: SOFTDPU_RDMA_PATH=network
 * clauses: rdma Receive, Send, Send with immediate, Write with immediate; Behaviour 2, 3, 8, 9, 14
 * covers: @
 */
#define _GNU_SOURCE
#include "net_rig.h"
#include "rdma_messages.c"
