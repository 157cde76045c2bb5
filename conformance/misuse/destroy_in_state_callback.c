/*
 * rule: destroy-in-callback
 *
 * The callback that reports a client's fall back to idle destroys the progress engine that runs it.
 */
#include "misuse.h"

#include "../c/x_comch.h"

static void on_state(struct comch_end *end, enum doca_ctx_states before, enum doca_ctx_states now)
{
	(void)before;
	if (WRONG && now == DOCA_CTX_STATE_IDLE)
		CHECK_REFUSED(doca_pe_destroy(end->pe));
}

int main(void)
{
	struct comch_end client = {.on_state = on_state};
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	comch_make_client(&client, pe, "nobody serves this", 4);
	MUST_BE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, comch_state(&client) == DOCA_CTX_STATE_IDLE);
	comch_destroy(&client);
	MUST(doca_pe_destroy(pe));
	return check_result();
}
