/*
 * Message queues inside one process: producers and consumers without a connection, immediate data alone, and what
 * may be done in which state.
 *
 * clauses: comch Message queue, Producer, Consumer
 * covers: doca_comch_msgq_create doca_comch_msgq_destroy doca_comch_msgq_set_max_num_consumers
 * covers: doca_comch_msgq_set_max_num_producers doca_comch_msgq_start doca_comch_msgq_stop
 * covers: doca_comch_msgq_consumer_create doca_comch_msgq_producer_create
 */
#define _GNU_SOURCE
#include <doca_comch_msgq.h>

#include "x_comch_path.h"

#define ROUNDS 1000

static void setup(struct path_end *end, struct doca_pe *pe)
{
	if (end->consumer != NULL) {
		end->ctx = doca_comch_consumer_as_ctx(end->consumer);
		path_common(end, pe);
		MUST(doca_comch_consumer_task_post_recv_set_conf(end->consumer, path_received_cb, path_not_received_cb, 4));
		MUST_BE(doca_ctx_start(end->ctx) == DOCA_ERROR_IN_PROGRESS);
		while (path_state(end) == DOCA_CTX_STATE_STARTING)
			comch_progress(pe);
	} else {
		end->ctx = doca_comch_producer_as_ctx(end->producer);
		path_common(end, pe);
		MUST(doca_comch_producer_task_send_set_conf(end->producer, path_sent_cb, path_not_sent_cb, 4));
		MUST(doca_ctx_start(end->ctx));
	}
	MUST_BE(path_state(end) == DOCA_CTX_STATE_RUNNING);
}

int main(void)
{
	struct path_end in = {0}, out = {0};
	struct doca_comch_consumer *one_more = NULL;
	struct doca_comch_msgq *queue = NULL;
	struct doca_dev *dev = comch_open(COMCH_CARD, 1);
	struct doca_pe *pe = NULL;
	uint32_t id = 0, from = 0, i;

	MUST(doca_pe_create(&pe));
	CHECK_STATUS(doca_comch_msgq_create(NULL, &queue), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_msgq_create(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_comch_msgq_create(dev, &queue));
	CHECK_STATUS2(doca_comch_msgq_consumer_create(queue, &in.consumer), DOCA_ERROR_BAD_STATE, DOCA_ERROR_IN_USE);
	CHECK_OK(doca_comch_msgq_set_max_num_consumers(queue, 1));
	CHECK_OK(doca_comch_msgq_set_max_num_producers(queue, 1));
	CHECK_OK(doca_comch_msgq_start(queue));
	CHECK_STATUS(doca_comch_msgq_start(queue), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_comch_msgq_set_max_num_consumers(queue, 2), DOCA_ERROR_BAD_STATE);
	CHECK_REFUSED(doca_comch_msgq_destroy(queue));

	MUST(doca_comch_msgq_consumer_create(queue, &in.consumer));
	CHECK_STATUS(doca_comch_msgq_consumer_create(queue, &one_more), DOCA_ERROR_NO_MEMORY);
	MUST(doca_comch_msgq_producer_create(queue, &out.producer));
	CHECK_STATUS(doca_comch_msgq_stop(queue), DOCA_ERROR_IN_USE);
	setup(&in, pe);
	setup(&out, pe);
	CHECK_OK(doca_comch_consumer_get_id(in.consumer, &id));
	CHECK_OK(doca_comch_producer_get_id(out.producer, &from));

	CHECK_STATUS(path_try_send(&out, NULL, &id, sizeof(id), id), DOCA_ERROR_AGAIN);
	in.repost = 1;
	path_post(&in, NULL);
	path_post(&in, NULL);
	for (i = 0; i < ROUNDS; i++) {
		path_send(&out, NULL, &i, sizeof(i), id);
		while (in.good <= i || out.good <= i)
			comch_progress(pe);
		CHECK_U64(in.imm_len, sizeof(i));
		CHECK_BYTES(in.imm, &i, sizeof(i));
		CHECK_U64(in.producer_id, from);
	}
	CHECK_STATUS2(path_try_send(&out, NULL, &i, sizeof(i), id + 1000), DOCA_ERROR_NOT_FOUND, DOCA_ERROR_INVALID_VALUE);

	path_stop(&out, NULL);
	path_stop(&in, NULL);
	CHECK_U64(in.bad, 2);
	CHECK_OK(doca_comch_msgq_stop(queue));
	CHECK_OK(doca_comch_msgq_destroy(queue));
	CHECK_STATUS(doca_comch_msgq_start(queue), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
