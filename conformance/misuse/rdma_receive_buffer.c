/*
 * rule: buffer-in-flight
 *
 * The program gives the buffer of a receive back right after it was posted.
 */
#include "rdma_misuse.h"

int main(void)
{
	struct doca_buf *to;

	rdma_pair();
	rdma_message();
	to = side_room(&b, b.map, b.mem, 64);
	MUST(side_receive(&b, to, 1));
	if (WRONG)
		DROP(to);
	/* The receive comes back unused. */
	side_stop(&b);
	CHECK_U64(b.bad, 1);
	if (!WRONG)
		DROP(to);
	MUST(doca_rdma_connection_disconnect(ab));
	rdma_pair_end();
	return check_result();
}
