/*
 * rule: refusal-ignored
 *
 * The program submits more writes than its send queue holds, does not look at the answers, and waits for all of them.
 */
#include "rdma_misuse.h"

#define WRITES 8

int main(void)
{
	struct doca_rdma_task_write *task[WRITES];
	doca_error_t status[WRITES];
	struct doca_buf *from[WRITES], *to[WRITES];
	struct doca_mmap *far;
	union doca_data user = {0};
	unsigned i, rounds;

	side_prepare(&a, NULL, NULL, 65536, WRITES);
	side_prepare(&b, NULL, a.pe, 65536, WRITES);
	MUST(doca_rdma_set_send_queue_size(a.rdma, 4));
	side_start(&a);
	side_start(&b);
	side_join(&a, &b, &ab, &ba);
	far = side_import(&b, &a);
	for (i = 0; i < WRITES; i++) {
		from[i] = side_data(&a, a.map, a.mem + 64 * i, 64);
		to[i] = side_room(&a, far, b.mem + 64 * i, 64);
		MUST(doca_rdma_task_write_allocate_init(a.rdma, ab, from[i], to[i], user, &task[i]));
		status[i] = doca_task_submit(doca_rdma_task_write_as_task(task[i]));
	}
	MUST_BE(status[WRITES - 1] != DOCA_SUCCESS);
	for (rounds = 0; rounds < (WRONG ? 350 : 1); rounds++) {
		side_progress(&a);
		nap(10);
	}
	for (i = 0; i < WRITES; i++) {
		while (status[i] != DOCA_SUCCESS) {
			side_progress(&a);
			status[i] = doca_task_submit(doca_rdma_task_write_as_task(task[i]));
		}
	}
	UNTIL(&a, a.good == WRITES);
	for (i = 0; i < WRITES; i++) {
		DROP(from[i]);
		DROP(to[i]);
	}
	MUST(doca_mmap_destroy(far));
	MUST(doca_rdma_connection_disconnect(ab));
	MUST(doca_rdma_connection_disconnect(ba));
	rdma_pair_end();
	return check_result();
}
