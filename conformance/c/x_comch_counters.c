/*
 * Counters of a connection: zero before the first snapshot, frozen by each, the local side of this one
 * connection alone.
 *
 * clauses: comch doca_comch_connection_update_info, doca_comch_connection_get_counter
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

static void expect(const struct doca_comch_connection *peer, uint64_t sent, uint64_t sent_bytes, uint64_t received,
		   uint64_t received_bytes)
{
	const enum doca_comch_counter kinds[4] = {DOCA_COMCH_COUNTER_SENT_MESSAGES, DOCA_COMCH_COUNTER_SENT_BYTES,
						  DOCA_COMCH_COUNTER_RECV_MESSAGES, DOCA_COMCH_COUNTER_RECV_BYTES};
	const uint64_t want[4] = {sent, sent_bytes, received, received_bytes};
	uint64_t value;
	int i;

	for (i = 0; i < 4; i++) {
		value = UINT64_MAX;
		CHECK_OK(doca_comch_connection_get_counter(peer, kinds[i], &value));
		CHECK_U64(value, want[i]);
	}
}

int main(void)
{
	struct comch_end server = {0}, client = {0}, other = {0};
	struct doca_comch_connection *first;
	struct doca_pe *pe = NULL;
	uint8_t bytes[500] = {0};
	uint64_t value = 0;
	uint32_t i;

	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "counters", 16);
	comch_make_client(&client, pe, "counters", 16);
	comch_make_client(&other, pe, "counters", 16);
	comch_run(&server);
	comch_run(&client);
	COMCH_UNTIL(pe, server.connects == 1);
	first = server.peer;
	comch_run(&other);
	COMCH_UNTIL(pe, server.connects == 2);
	expect(client.peer, 0, 0, 0, 0);
	for (i = 1; i <= 10; i++)
		comch_send(&client, client.peer, bytes, 10 * i);
	comch_send(&server, first, bytes, 123);
	comch_send(&other, other.peer, bytes, 499);
	COMCH_UNTIL(pe, client.sent == 10 && server.messages == 11 && client.messages == 1 && server.sent == 1 &&
				other.sent == 1);
	expect(client.peer, 0, 0, 0, 0); /* no snapshot yet */
	CHECK_OK(doca_comch_connection_update_info(client.peer));
	CHECK_OK(doca_comch_connection_update_info(first));
	CHECK_OK(doca_comch_connection_update_info(other.peer));
	expect(client.peer, 10, 550, 1, 123);
	expect(first, 1, 123, 10, 550);
	expect(other.peer, 1, 499, 0, 0);
	comch_send(&client, client.peer, bytes, 1);
	COMCH_UNTIL(pe, client.sent == 11 && server.messages == 12);
	expect(client.peer, 10, 550, 1, 123);
	CHECK_OK(doca_comch_connection_update_info(client.peer));
	expect(client.peer, 11, 551, 1, 123);
	CHECK_STATUS(doca_comch_connection_update_info(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_connection_get_counter(NULL, DOCA_COMCH_COUNTER_SENT_BYTES, &value),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_connection_get_counter(client.peer, DOCA_COMCH_COUNTER_SENT_BYTES, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_connection_get_counter(client.peer, (enum doca_comch_counter)9, &value),
		     DOCA_ERROR_INVALID_VALUE);
	comch_stop(&client);
	comch_stop(&other);
	COMCH_UNTIL(pe, server.disconnects == 2);
	comch_stop(&server);
	comch_destroy(&client);
	comch_destroy(&other);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
