/*
 * rule: context-in-use
 *
 * The program stops a client whose connection has a producer.
 */
#include "misuse.h"

#include "../c/x_comch_path.h"

int main(void)
{
	struct comch_end server = {0}, client = {0};
	struct doca_comch_producer *producer = NULL;
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "children", 4);
	comch_make_client(&client, pe, "children", 4);
	comch_run(&server);
	comch_run(&client);
	COMCH_UNTIL(pe, server.connects == 1);
	MUST(doca_comch_producer_create(client.peer, &producer));
	if (WRONG)
		CHECK_STATUS2(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_USE, DOCA_ERROR_IN_PROGRESS);
	MUST(doca_comch_producer_destroy(producer));
	if (comch_state(&client) == DOCA_CTX_STATE_RUNNING)
		comch_stop(&client);
	COMCH_UNTIL(pe, comch_state(&client) == DOCA_CTX_STATE_IDLE);
	comch_stop(&server);
	comch_destroy(&client);
	comch_destroy(&server);
	MUST(doca_pe_destroy(pe));
	return check_result();
}
