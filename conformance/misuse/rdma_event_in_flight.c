/*
 * rule: submit-in-flight
 *
 * The program submits an addition to a peer's sync event a second time before the first has ended.
 */
#include "rdma_event_misuse.h"

int main(void)
{
	struct doca_rdma_task_remote_net_sync_event_notify_add *task = NULL;
	struct doca_buf *before;
	struct doca_task *plain;
	union doca_data user = {0};

	rdma_event_begin();
	before = side_room(&a, a.map, a.mem, 8);
	MUST(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(a.rdma, ab, remote, before, 1, user, &task));
	plain = doca_rdma_task_remote_net_sync_event_notify_add_as_task(task);
	a.keep_tasks = 1;
	MUST(doca_task_submit(plain));
	if (WRONG)
		CHECK_REFUSED(doca_task_submit(plain));
	UNTIL2(&a, &b, a.good == 1);
	MUST(doca_buf_reset_data_len(before));
	if (!WRONG) {
		MUST(doca_task_submit(plain));
		UNTIL2(&a, &b, a.good == 2);
	}
	doca_task_free(plain);
	DROP(before);
	rdma_event_end();
	return check_result();
}
