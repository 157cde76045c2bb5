/*
 * rule: free-in-flight
 *
 * The program frees a batch of sends right after it has submitted it.
 */
#include "eth_misuse.h"

static void batch_cb(struct doca_task_batch *batch, uint16_t tasks, union doca_data ctx, union doca_data user,
		     union doca_data *users, struct doca_buf **packets, doca_error_t *status)
{
	(void)tasks, (void)ctx, (void)user, (void)users, (void)packets, (void)status;
	eth.calls++;
	if (!WRONG)
		doca_task_batch_free(batch);
}

int main(void)
{
	struct doca_task_batch *batch = NULL, *more[2];
	struct doca_buf **packets = NULL, *buf;
	union doca_data *users = NULL, user = {0};
	size_t inflight = 1;

	eth_setup(&eth);
	MUST(doca_eth_txq_create(eth.dev[0], 64, &txq));
	tx = doca_eth_txq_as_doca_ctx(txq);
	MUST(doca_eth_txq_task_batch_send_set_conf(txq, DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32, 2, batch_cb, batch_cb));
	eth_run(tx);
	MUST(doca_eth_txq_task_batch_send_allocate(txq, 1, user, &packets, &users, &batch));
	eth_frame(eth.mem, 100, 1);
	buf = packets[0] = eth_buf(&eth, 0, 2048, 100);
	MUST(doca_task_batch_submit(batch));
	if (WRONG)
		doca_task_batch_free(batch);
	while (inflight != 0) {
		eth_progress(&eth);
		MUST(doca_ctx_get_num_inflight_tasks(tx, &inflight));
	}
	MUST(doca_buf_dec_refcount(buf, NULL));
	/* It is back in the pool of two. */
	for (int i = 0; i < 2; i++)
		MUST(doca_eth_txq_task_batch_send_allocate(txq, 1, user, &packets, &users, &more[i]));
	for (int i = 0; i < 2; i++)
		doca_task_batch_free(more[i]);
	eth_stop(&eth, tx);
	MUST(doca_eth_txq_destroy(txq));
	eth_teardown(&eth);
	return check_result();
}
