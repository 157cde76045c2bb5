/*
 * Rules of contexts whose peers are on the network: what rdma_rules.c tests holds there, too.
 *
 * env: SOFTDPU_RDMA_PATH=network
 * clauses: rdma Context, Capabilities, Properties, Tasks: shared rules, Verbs bridge; Behaviour 3, 7, 13
 * covers: @
 */
#define _GNU_SOURCE
#include "net_rig.h"
#include "rdma_rules.c"
