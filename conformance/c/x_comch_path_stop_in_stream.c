/*
 * A consumer that stops in the middle of a stream, thirty times: once it is idle its memory is the
 * program's alone, whatever the other process's producer is doing; every receive ends exactly once and is
 * whole or failed, every send ends exactly once, and the next consumer is served by the same producer.
 *
 * clauses: comch Producer and consumer contexts (stop with receives posted), Sending on the data path
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch_path.h"

#define ROUNDS 30
#define SLOTS 8
#define LEN 60000

static void check_whole(struct path_end *end, struct doca_task *task)
{
	uint8_t *bytes = end->data;

	(void)task;
	CHECK_U64(end->data_len, LEN);
	CHECK(memcmp(bytes, bytes + 1, LEN - 1) == 0); /* one value all over */
}

static void card(int line)
{
	struct comch_end control = {0};
	struct path_memory memory;
	struct doca_pe *pe = NULL;
	unsigned round, i;

	MUST(doca_pe_create(&pe));
	comch_make_server(&control, pe, "stop stream", 4);
	comch_run(&control);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, control.connects == 1);
	path_memory(&memory, control.dev, (size_t)SLOTS * LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (round = 0; round < ROUNDS; round++) {
		struct path_end consumer = {.on_done = check_whole, .repost = 1};

		path_consumer(&consumer, pe, control.peer, memory.map, SLOTS);
		MUST_BE(doca_ctx_start(consumer.ctx) == DOCA_ERROR_IN_PROGRESS);
		COMCH_UNTIL(pe, path_state(&consumer) == DOCA_CTX_STATE_RUNNING);
		for (i = 0; i < SLOTS; i++)
			(void)path_post(&consumer, path_empty(&memory, (size_t)i * LEN, LEN));
		COMCH_UNTIL(pe, consumer.good >= 10 + round);
		consumer.repost = 0;
		path_stop(&consumer, pe);
		memset(memory.bytes, 0xcc, (size_t)SLOTS * LEN);
		comch_idle(pe, 10);
		CHECK(memory.bytes[0] == 0xcc && memcmp(memory.bytes, memory.bytes + 1, (size_t)SLOTS * LEN - 1) == 0);
	}
	comch_send(&control, control.peer, "end", 3);
	COMCH_UNTIL(pe, control.disconnects == 1);
	comch_stop(&control);
	path_forget(&memory);
	comch_destroy(&control);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

int main(void)
{
	struct comch_end control = {0};
	struct path_end producer = {0};
	struct path_memory memory;
	struct doca_pe *pe = NULL;
	unsigned accepted = 0, number = 0;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&control, pe, "stop stream", 4);
	comch_run(&control);
	path_memory(&memory, control.dev, 4 * LEN, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	path_producer(&producer, pe, control.peer, 4);
	MUST(doca_ctx_start(producer.ctx));
	while (control.messages == 0) {
		size_t inflight = 0;

		MUST(doca_ctx_get_num_inflight_tasks(producer.ctx, &inflight));
		CHECK_U64(producer.good + producer.bad + inflight, accepted);
		if (control.newborn > 0 && inflight == 0) {
			doca_error_t status = DOCA_SUCCESS;
			int i;

			for (i = 0; i < 4 && status == DOCA_SUCCESS; i++) {
				memset(memory.bytes + i * LEN, (int)(number++ % 200), LEN);
				status = path_try_send(&producer, path_full(&memory, (size_t)i * LEN, LEN), NULL, 0,
						       control.consumer);
				accepted += status == DOCA_SUCCESS;
			}
			CHECK(status == DOCA_SUCCESS || status == DOCA_ERROR_AGAIN || status == DOCA_ERROR_NOT_FOUND ||
			      status == DOCA_ERROR_INVALID_VALUE);
		}
		comch_progress(pe);
	}
	COMCH_UNTIL(pe, control.expired == ROUNDS);
	CHECK_U64(path_state(&producer), DOCA_CTX_STATE_RUNNING);
	path_stop(&producer, pe);
	CHECK_U64(producer.good + producer.bad, accepted);
	path_forget(&memory);
	comch_stop(&control);
	comch_destroy(&control);
	CHECK_OK(doca_pe_destroy(pe));
	two_reap(pid);
	close(line);
	return check_result();
}
