/*
 * Message queues between producers and consumers of one process, without a connection: settings before
 * start, children afterwards, immediate data from one to the other. A build without them says NOT_SUPPORTED
 * from create.
 *
 * clauses: comch Message queue
 * covers: @
 */
#define _GNU_SOURCE
#include <doca_comch_msgq.h>

#include "x_comch_path.h"

int main(void)
{
	struct path_end consumer = {0}, producer = {0};
	struct doca_comch_msgq *queue = NULL;
	struct doca_pe *pe = NULL;
	struct doca_dev *dev = comch_open(COMCH_CARD, 1);
	doca_error_t status;
	uint32_t id = 0;
	unsigned i;

	CHECK_STATUS2(doca_comch_msgq_create(dev, NULL), DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_NOT_SUPPORTED);
	status = doca_comch_msgq_create(dev, &queue);
	if (status == DOCA_ERROR_NOT_SUPPORTED)
		SKIP("message queues are not built");
	MUST(status);
	CHECK_REFUSED(doca_comch_msgq_consumer_create(queue, &consumer.consumer)); /* not started */
	CHECK_OK(doca_comch_msgq_set_max_num_consumers(queue, 1));
	CHECK_OK(doca_comch_msgq_set_max_num_producers(queue, 1));
	MUST(doca_comch_msgq_start(queue));
	CHECK_REFUSED(doca_comch_msgq_set_max_num_consumers(queue, 2));
	MUST(doca_pe_create(&pe));
	MUST(doca_comch_msgq_consumer_create(queue, &consumer.consumer));
	MUST(doca_comch_msgq_producer_create(queue, &producer.producer));
	CHECK_REFUSED(doca_comch_msgq_stop(queue)); /* it has children */
	CHECK_REFUSED(doca_comch_msgq_destroy(queue));
	{
		struct doca_comch_producer *second = NULL;

		CHECK_REFUSED(doca_comch_msgq_producer_create(queue, &second)); /* one was the limit */
	}
	consumer.ctx = doca_comch_consumer_as_ctx(consumer.consumer);
	producer.ctx = doca_comch_producer_as_ctx(producer.producer);
	path_common(&consumer, pe);
	path_common(&producer, pe);
	MUST(doca_comch_consumer_task_post_recv_set_conf(consumer.consumer, path_received_cb, path_not_received_cb, 4));
	MUST(doca_comch_producer_task_send_set_conf(producer.producer, path_sent_cb, path_not_sent_cb, 4));
	CHECK_STATUS2(doca_ctx_start(consumer.ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	MUST(doca_ctx_start(producer.ctx));
	COMCH_UNTIL(pe, path_state(&consumer) == DOCA_CTX_STATE_RUNNING);
	MUST(doca_comch_consumer_get_id(consumer.consumer, &id));
	for (i = 0; i < 100; i++) {
		(void)path_post(&consumer, NULL);
		path_send(&producer, NULL, &i, sizeof(i), id);
		COMCH_UNTIL(pe, consumer.good == i + 1 && producer.good == i + 1);
		CHECK_U64(consumer.imm_len, sizeof(i));
		CHECK_BYTES(consumer.imm, &i, sizeof(i));
	}
	path_stop(&producer, pe);
	path_stop(&consumer, pe);
	CHECK_OK(doca_comch_msgq_stop(queue));
	CHECK_OK(doca_comch_msgq_destroy(queue));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
