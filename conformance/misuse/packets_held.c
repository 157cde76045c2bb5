/*
 * rule: packets-held
 *
 * The program stops a receive queue and waits, while it has a packet of it.
 */
#include "eth_misuse.h"

int main(void)
{
	unsigned i;

	eth_begin(1);
	eth_pass();
	if (!WRONG)
		MUST(doca_buf_dec_refcount(held[0], NULL));
	CHECK_STATUS2(doca_ctx_stop(rx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	for (i = 0; i < 200; i++) {
		eth_progress(&eth);
		nap(10);
	}
	if (WRONG)
		MUST(doca_buf_dec_refcount(held[0], NULL));
	ETH_UNTIL(&eth, eth_state(rx) == DOCA_CTX_STATE_IDLE);
	eth_end();
	return check_result();
}
