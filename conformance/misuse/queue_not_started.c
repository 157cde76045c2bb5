/*
 * rule: queue-not-started
 *
 * The program asks a message queue for a consumer before it has started it.
 */
#include "misuse.h"

#include <doca_comch_consumer.h>
#include <doca_comch_msgq.h>

#include "../c/x_comch.h"

int main(void)
{
	struct doca_comch_consumer *consumer = NULL;
	struct doca_comch_msgq *queue = NULL;
	struct doca_dev *dev = comch_open(COMCH_CARD, 1);

	MUST(doca_comch_msgq_create(dev, &queue));
	MUST(doca_comch_msgq_set_max_num_consumers(queue, 1));
	if (WRONG)
		CHECK_REFUSED(doca_comch_msgq_consumer_create(queue, &consumer));
	MUST(doca_comch_msgq_start(queue));
	MUST(doca_comch_msgq_consumer_create(queue, &consumer));
	MUST(doca_comch_consumer_destroy(consumer));
	MUST(doca_comch_msgq_stop(queue));
	MUST(doca_comch_msgq_destroy(queue));
	MUST(doca_dev_close(dev));
	return check_result();
}
