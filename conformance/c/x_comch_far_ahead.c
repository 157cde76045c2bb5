/*
 * A fast sender and a slow receiver: 1024 send tasks against a receive queue of 10. What does not fit
 * stays in flight and is not failed; the pool runs dry with NO_MEMORY; everything arrives in order once
 * the receiver looks.
 *
 * clauses: comch Control messages (receiver queue full), Numbers
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define TASKS 1024
#define LEN 2000

static void heard(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	(void)peer;
	CHECK_U64(len, LEN);
	CHECK(two_is(bytes, len, end->messages - 1));
}

static void serve(int line)
{
	struct comch_end end = {.on_message = heard};
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	comch_make_server(&end, pe, "far", 1);
	MUST(doca_comch_server_set_recv_queue_size(end.server, 10));
	comch_run(&end);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, end.connects == 1);
	two_await(line, 'f'); /* blocked meanwhile */
	COMCH_UNTIL(pe, end.messages == 2 * TASKS);
	COMCH_UNTIL(pe, end.disconnects == 1);
	CHECK_U64(end.messages, 2 * TASKS);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

int main(void)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;
	uint8_t bytes[LEN];
	size_t inflight = 0;
	uint32_t most = 0;
	unsigned i;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		serve(line);
		exit(check_result());
	}
	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, "far", TASKS);
	MUST(doca_comch_cap_get_max_send_tasks(doca_dev_as_devinfo(end.dev), &most));
	CHECK(most >= TASKS);
	MUST(doca_comch_client_set_recv_queue_size(end.client, 10));
	comch_run(&end);
	/* Without one call to progress: all of the pool must be submittable. */
	for (i = 0; i < TASKS; i++) {
		two_fill(bytes, LEN, i);
		CHECK_OK(comch_try_send(&end, end.peer, bytes, LEN));
	}
	CHECK_STATUS(comch_try_send(&end, end.peer, bytes, LEN), DOCA_ERROR_NO_MEMORY);
	CHECK_OK(doca_ctx_get_num_inflight_tasks(end.ctx, &inflight));
	CHECK_U64(inflight, TASKS);
	comch_idle(pe, 150);
	CHECK_U64(end.failed, 0);
	/* The receiver has not looked: its queue alone can have taken some. */
	CHECK_OK(doca_ctx_get_num_inflight_tasks(end.ctx, &inflight));
	CHECK_U64(inflight, TASKS - end.sent);
	two_tell(line, 'f');
	COMCH_UNTIL(pe, end.sent == TASKS);
	for (i = TASKS; i < 2 * TASKS; i++) {
		two_fill(bytes, LEN, i);
		comch_send(&end, end.peer, bytes, LEN);
	}
	COMCH_UNTIL(pe, end.sent == 2 * TASKS);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	two_reap(pid);
	close(line);
	return check_result();
}
