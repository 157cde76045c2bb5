/*
 * rule: context-in-use
 *
 * The program stops a message queue that has a producer.
 */
#include "misuse.h"

#include <doca_comch_msgq.h>
#include <doca_comch_producer.h>

#include "../c/x_comch.h"

int main(void)
{
	struct doca_comch_producer *producer = NULL;
	struct doca_comch_msgq *queue = NULL;
	struct doca_dev *dev = comch_open(COMCH_CARD, 1);

	MUST(doca_comch_msgq_create(dev, &queue));
	MUST(doca_comch_msgq_set_max_num_producers(queue, 1));
	MUST(doca_comch_msgq_start(queue));
	MUST(doca_comch_msgq_producer_create(queue, &producer));
	if (WRONG)
		CHECK_REFUSED(doca_comch_msgq_stop(queue));
	MUST(doca_comch_producer_destroy(producer));
	MUST(doca_comch_msgq_stop(queue));
	MUST(doca_comch_msgq_destroy(queue));
	MUST(doca_dev_close(dev));
	return check_result();
}
