/*
 * rule: not-connected
 *
 * The program sends over a connection after it has disconnected it.
 */
#include "rdma_misuse.h"

int main(void)
{
	rdma_pair();
	rdma_message();
	MUST(doca_rdma_connection_disconnect(ab));
	if (WRONG) {
		struct doca_rdma_task_send *task = NULL;
		union doca_data user = {0};

		/* Refused at once, or failed. */
		if (doca_rdma_task_send_allocate_init(a.rdma, ab, NULL, user, &task) == DOCA_SUCCESS) {
			MUST(doca_task_submit(doca_rdma_task_send_as_task(task)));
			UNTIL2(&a, &b, a.bad == 1);
		}
	}
	MUST(doca_rdma_connection_disconnect(ba));
	rdma_pair_end();
	return check_result();
}
