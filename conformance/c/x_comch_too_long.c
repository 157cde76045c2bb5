/*
 * Ends that do not agree: a message above the receiver's limit fails its sender's task with TOO_BIG and is
 * not delivered, the connection lives on and shorter ones get through, in both directions.
 *
 * clauses: comch Control messages (larger than the receiver's limit)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

int main(void)
{
	struct comch_end server = {0}, client = {0};
	struct doca_pe *pe = NULL;
	uint8_t bytes[1000];
	int round;

	two_fill(bytes, sizeof(bytes), 1);
	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "too long", 4);
	comch_make_client(&client, pe, "too long", 4);
	MUST(doca_comch_server_set_max_msg_size(server.server, 100));
	MUST(doca_comch_client_set_max_msg_size(client.client, 1000));
	comch_run(&server);
	comch_run(&client);
	COMCH_UNTIL(pe, server.connects == 1);
	for (round = 1; round <= 5; round++) {
		doca_error_t status = comch_try_send(&client, client.peer, bytes, 101);

		/* The sender may know the other limit, and refuse. */
		if (status == DOCA_SUCCESS) {
			COMCH_UNTIL(pe, client.failed == (unsigned)round);
			CHECK_STATUS(client.status, DOCA_ERROR_TOO_BIG);
		} else {
			CHECK_STATUS2(status, DOCA_ERROR_TOO_BIG, DOCA_ERROR_INVALID_VALUE);
		}
		CHECK_U64(server.messages, round - 1);
		comch_send(&client, client.peer, bytes, 100);
		COMCH_UNTIL(pe, server.messages == (unsigned)round && client.sent == (unsigned)round);
		CHECK_U64(server.last_len, 100);
	}
	/* The server's own limit is 100 whatever the client takes. */
	CHECK_STATUS(comch_try_send(&server, server.peer, bytes, 101), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(comch_try_send(&server, server.peer, bytes, 100));
	COMCH_UNTIL(pe, client.messages == 1);
	CHECK(two_is(client.last, 100, 1));
	comch_stop(&client);
	COMCH_UNTIL(pe, server.disconnects == 1);
	comch_stop(&server);
	comch_destroy(&client);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
