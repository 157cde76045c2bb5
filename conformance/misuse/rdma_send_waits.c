/*
 * rule: send-waits
 *
 * One side sends, and the other one posts no receive.
 */
#include "rdma_misuse.h"

int main(void)
{
	struct doca_buf *from, *to;
	unsigned i;

	rdma_pair();
	rdma_message();
	from = side_data(&a, a.map, a.mem, 64);
	to = side_room(&b, b.map, b.mem, 64);
	if (!WRONG)
		MUST(side_receive(&b, to, 1));
	MUST(side_send(&a, ab, from, 2));
	for (i = 0; i < 350 && a.good == 1; i++) {
		side_progress(&a);
		nap(10);
	}
	if (WRONG)
		MUST(side_receive(&b, to, 1));
	UNTIL2(&a, &b, a.good == 2 && b.receives == 2);
	DROP(from);
	DROP(to);
	MUST(doca_rdma_connection_disconnect(ab));
	MUST(doca_rdma_connection_disconnect(ba));
	rdma_pair_end();
	return check_result();
}
