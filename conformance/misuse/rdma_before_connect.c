/*
 * rule: not-connected
 *
 * The program sends over a connection that it has not connected yet.
 */
#include "rdma_misuse.h"

int main(void)
{
	const void *blob_a, *blob_b;
	struct doca_buf *from, *to;
	size_t len_a, len_b;

	side_prepare(&a, NULL, NULL, 65536, 8);
	side_prepare(&b, NULL, a.pe, 65536, 8);
	side_start(&a);
	side_start(&b);
	from = side_data(&a, a.map, a.mem, 64);
	to = side_room(&b, b.map, b.mem, 64);
	MUST(doca_rdma_export(a.rdma, &blob_a, &len_a, &ab));
	MUST(doca_rdma_export(b.rdma, &blob_b, &len_b, &ba));
	if (WRONG) {
		MUST(side_send(&a, ab, from, 1));
		UNTIL(&a, a.bad == 1);
	} else {
		MUST(doca_rdma_connect(a.rdma, blob_b, len_b, ab));
		MUST(doca_rdma_connect(b.rdma, blob_a, len_a, ba));
		MUST(side_receive(&b, to, 2));
		MUST(side_send(&a, ab, from, 1));
		UNTIL2(&a, &b, a.good == 1 && b.receives == 1);
	}
	DROP(from);
	DROP(to);
	MUST(doca_rdma_connection_disconnect(ab));
	MUST(doca_rdma_connection_disconnect(ba));
	rdma_pair_end();
	return check_result();
}
