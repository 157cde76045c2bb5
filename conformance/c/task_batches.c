/*
 * What is no task batch is refused everywhere a batch is asked for, and a task is not mistaken for one.
 *
 * clauses: core-exec doca_pe.h task batches
 * covers: @
 */
#include "rig.h"

int main(void)
{
	struct rig rig;
	struct doca_task *task;
	struct doca_task_batch *list[3];
	union doca_data data = {.u64 = 5};
	size_t i;

	rig_setup(&rig, 4096, 2);
	rig.drop_bufs = 0;
	task = doca_dma_task_memcpy_as_task(rig_task(&rig, NULL, NULL, 77));
	list[0] = NULL;
	list[1] = (struct doca_task_batch *)task;
	list[2] = (struct doca_task_batch *)rig.map;
	for (i = 0; i < 3; i++) {
		CHECK_STATUS(doca_task_batch_submit(list[i]), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_task_batch_try_submit(list[i]), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_task_batch_get_status(list[i]), DOCA_ERROR_INVALID_VALUE);
		doca_task_batch_set_user_data(list[i], data);
		CHECK_U64(doca_task_batch_get_user_data(list[i]).u64, 0);
		CHECK_U64(doca_task_batch_get_ctx_user_data(list[i]).u64, 0);
		CHECK_PTR(doca_task_batch_get_ctx(list[i]), NULL);
		CHECK_U64(doca_task_batch_get_tasks_num(list[i]), 0);
		doca_task_batch_free(list[i]);
	}
	/* The task that was taken for one is as it was. */
	CHECK_U64(doca_task_get_user_data(task).u64, 77);
	CHECK_PTR(doca_task_get_ctx(task), rig.ctx);
	doca_task_free(task);
	rig_teardown(&rig);
	return check_result();
}
