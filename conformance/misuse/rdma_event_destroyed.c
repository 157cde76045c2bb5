/*
 * rule: use-after-destroy
 *
 * The program makes a task for a peer's sync event, whose handle it has destroyed.
 */
#include "rdma_event_misuse.h"

int main(void)
{
	struct doca_rdma_task_remote_net_sync_event_notify_set *task = NULL;
	struct doca_buf *from;
	union doca_data user = {0};

	rdma_event_begin();
	from = side_data(&a, a.map, a.mem, 8);
	if (WRONG)
		MUST(doca_sync_event_remote_net_destroy(remote));
	if (doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(a.rdma, ab, remote, from, user, &task) ==
	    DOCA_SUCCESS) {
		if (WRONG) {
			doca_task_free(doca_rdma_task_remote_net_sync_event_notify_set_as_task(task));
		} else {
			MUST(doca_task_submit(doca_rdma_task_remote_net_sync_event_notify_set_as_task(task)));
			UNTIL2(&a, &b, a.good == 1);
		}
	}
	DROP(from);
	if (WRONG)
		remote = NULL;
	rdma_event_end();
	return check_result();
}
