/*
 * rule: context-not-idle
 *
 * The program destroys a running RDMA context.
 */
#include "rdma_misuse.h"

int main(void)
{
	rdma_pair();
	rdma_message();
	if (WRONG)
		CHECK_REFUSED(doca_rdma_destroy(a.rdma));
	MUST(doca_rdma_connection_disconnect(ab));
	MUST(doca_rdma_connection_disconnect(ba));
	rdma_pair_end();
	return check_result();
}
