/*
 * The process at the other end is killed in the middle of the data path, six times: producers and consumers
 * of the connection leave RUNNING by themselves, their tasks end in the error callback, they and the client
 * can be destroyed, and memory that was shared is the program's again.
 *
 * clauses: comch Producer and consumer contexts (connection drops)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch_path.h"

#define ROUNDS 6
#define LEN 200000

static void card(int line)
{
	struct path_end consumer = {.repost = 1};
	struct comch_end control = {0};
	struct path_memory memory;
	struct doca_pe *pe = NULL;
	int i;

	two_await(line, 'g');
	MUST(doca_pe_create(&pe));
	comch_make_server(&control, pe, "drop", 4);
	comch_run(&control);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, control.connects == 1);
	path_memory(&memory, control.dev, 4 * LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	path_consumer(&consumer, pe, control.peer, memory.map, 4);
	MUST_BE(doca_ctx_start(consumer.ctx) == DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, path_state(&consumer) == DOCA_CTX_STATE_RUNNING && control.newborn == 1);
	for (i = 0; i < 4; i++)
		(void)path_post(&consumer, path_empty(&memory, (size_t)i * LEN, LEN));
	for (;;)
		comch_progress(pe);
}

int main(void)
{
	int lines[ROUNDS], round;
	pid_t pids[ROUNDS];

	for (round = 0; round < ROUNDS; round++) {
		pids[round] = two_fork(&lines[round]);
		if (pids[round] == 0)
			card(lines[round]);
	}
	for (round = 0; round < ROUNDS; round++) {
		struct path_end consumer = {0}, producer = {0};
		struct comch_end control = {0};
		struct path_memory memory;
		struct doca_pe *pe = NULL;
		unsigned posted = 3;

		two_tell(lines[round], 'g');
		two_await(lines[round], 'l');
		MUST(doca_pe_create(&pe));
		comch_make_client(&control, pe, "drop", 4);
		comch_run(&control);
		path_memory(&memory, control.dev, 4 * LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
		path_consumer(&consumer, pe, control.peer, memory.map, 4);
		MUST_BE(doca_ctx_start(consumer.ctx) == DOCA_ERROR_IN_PROGRESS);
		COMCH_UNTIL(pe, path_state(&consumer) == DOCA_CTX_STATE_RUNNING && control.newborn == 1);
		path_producer(&producer, pe, control.peer, 8);
		MUST(doca_ctx_start(producer.ctx));
		for (unsigned i = 0; i < posted; i++)
			(void)path_post(&consumer, path_empty(&memory, i * LEN, LEN));
		while (producer.good < 20 + (unsigned)round) {
			size_t inflight = 0;

			MUST(doca_ctx_get_num_inflight_tasks(producer.ctx, &inflight));
			if (inflight < 4)
				(void)path_try_send(&producer, path_full(&memory, 0, LEN), NULL, 0, control.consumer);
			comch_progress(pe);
		}
		two_kill(pids[round]);
		COMCH_UNTIL(pe, path_state(&producer) == DOCA_CTX_STATE_IDLE &&
					path_state(&consumer) == DOCA_CTX_STATE_IDLE);
		CHECK_U64(consumer.good + consumer.bad, posted);
		CHECK_OK(doca_comch_producer_destroy(producer.producer));
		CHECK_OK(doca_comch_consumer_destroy(consumer.consumer));
		COMCH_UNTIL(pe, comch_state(&control) == DOCA_CTX_STATE_IDLE);
		path_forget(&memory);
		comch_destroy(&control);
		CHECK_OK(doca_pe_destroy(pe));
		close(lines[round]);
	}
	return check_result();
}
