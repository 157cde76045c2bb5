/*
 * A client on a function that the server is not for: it becomes idle at once, and one log line names the function it
 * should have been.
 *
 * clauses: comch Roles and topology, Client life
 * covers: @
 */
#define _GNU_SOURCE
#include "capture.h"
#include "x_comch.h"

int main(void)
{
	struct comch_end server = {0}, client = {0};
	struct doca_log_backend *log = capture_sdk(DOCA_LOG_LEVEL_ERROR);
	struct doca_pe *pe = NULL;

	MUST_BE(log != NULL);
	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "lost and found", 2);
	comch_run(&server);

	client.pe = pe;
	client.dev = comch_open("b1:00.1", 0);
	MUST(doca_comch_client_create(client.dev, "lost and found", &client.client));
	client.ctx = doca_comch_client_as_ctx(client.client);
	comch_common(&client);
	MUST(doca_comch_client_task_send_set_conf(client.client, comch_sent_cb, comch_failed_cb, 2));
	capture_clear();
	MUST_BE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, comch_state(&client) == DOCA_CTX_STATE_IDLE);
	CHECK_U64(client.changes, 2);
	CHECK_U64(client.to[0], DOCA_CTX_STATE_STARTING);
	CHECK_U64(client.to[1], DOCA_CTX_STATE_IDLE);
	CHECK_U64(capture_count, 1);
	CHECK(strstr(capture_text, "b1:00.0") != NULL);
	CHECK(strstr(capture_text, "b1:00.1") != NULL);
	CHECK(strstr(capture_text, "lost and found") != NULL);
	CHECK_U64(server.connects, 0);

	comch_stop(&server);
	CHECK_OK(doca_comch_client_destroy(client.client));
	CHECK_OK(doca_dev_close(client.dev));
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
