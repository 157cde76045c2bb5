/*
 * rule: double-destroy
 *
 * The program gives a packet of a batch back by itself, and then the whole batch.
 */
#include "eth_misuse.h"

int main(void)
{
	eth_begin(0);
	eth_pass();
	MUST_BE(batches == 1 && array != NULL);
	if (WRONG)
		MUST(doca_buf_dec_refcount(array[0], NULL));
	doca_eth_rxq_event_batch_managed_recv_pkt_array_free(array);
	eth_end();
	return check_result();
}
