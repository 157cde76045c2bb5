/*
 * What the programs of the gallery about RDMA share: two contexts of one process on one progress engine, connected.
 */
#ifndef CONFORMANCE_RDMA_MISUSE_H
#define CONFORMANCE_RDMA_MISUSE_H

#include "misuse.h"

#include "../c/rdma_rig.h"

static struct side a, b;
static struct doca_rdma_connection *ab, *ba;

static inline void rdma_pair(void)
{
	side_prepare(&a, NULL, NULL, 65536, 8);
	side_prepare(&b, NULL, a.pe, 65536, 8);
	side_start(&a);
	side_start(&b);
	side_join(&a, &b, &ab, &ba);
}

static inline void rdma_pair_end(void)
{
	side_stop(&a);
	side_stop(&b);
	side_teardown(&b, 0);
	side_teardown(&a, 1);
}

/* One message from a to b. */
static inline void rdma_message(void)
{
	struct doca_buf *from = side_data(&a, a.map, a.mem, 64), *to = side_room(&b, b.map, b.mem, 64);
	unsigned sent = a.good, got = b.receives;

	MUST(side_receive(&b, to, 1));
	MUST(side_send(&a, ab, from, 2));
	UNTIL2(&a, &b, a.good == sent + 1 && b.receives == got + 1);
	DROP(from);
	DROP(to);
}

#endif
