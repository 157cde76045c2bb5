/*
 * The data path by sleeping: both processes wait in poll() for their consumer to run, for every receive and
 * for every completed send; then an idle second, in which neither uses the processor.
 *
 * clauses: comch Producer and consumer contexts; core-exec 7
 * covers: @
 */
#define _GNU_SOURCE
#include <poll.h>

#include "x_comch_path.h"

#define ROUNDS 200
#define LEN 5000

static void sleep_once(struct doca_pe *pe)
{
	struct pollfd waiting = {.events = POLLIN};

	if (comch_progress(pe) != 0)
		return;
	MUST(doca_pe_get_notification_handle(pe, &waiting.fd));
	CHECK_OK(doca_pe_request_notification(pe));
	MUST_BE(poll(&waiting, 1, -1) == 1);
	CHECK_OK(doca_pe_clear_notification(pe, 0));
}

#define SLEEP_UNTIL(pe, condition) \
	do { \
		while (!(condition)) \
			sleep_once(pe); \
	} while (0)

static long cpu_ms(void)
{
	struct timespec time;

	MUST_BE(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Asleep for a second with everything connected. */
static void idle_second(struct doca_pe *pe)
{
	struct pollfd waiting = {.events = POLLIN};
	long before = cpu_ms();
	int i;

	MUST(doca_pe_get_notification_handle(pe, &waiting.fd));
	for (i = 0; i < 10; i++) {
		while (comch_progress(pe) != 0)
			;
		CHECK_OK(doca_pe_request_notification(pe));
		(void)poll(&waiting, 1, 100);
		CHECK_OK(doca_pe_clear_notification(pe, 0));
	}
	CHECK(cpu_ms() - before < 300);
}

/* Both sides alike: what comes in goes out again, changed. */
static void play(struct comch_end *control, struct doca_pe *pe, int line, int begins)
{
	struct path_end consumer = {.repost = 1}, producer = {0};
	struct path_memory memory;
	unsigned round, own = begins ? 0 : 1;

	path_memory(&memory, control->dev, 2 * LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	path_consumer(&consumer, pe, control->peer, memory.map, 1);
	MUST_BE(doca_ctx_start(consumer.ctx) == DOCA_ERROR_IN_PROGRESS);
	SLEEP_UNTIL(pe, path_state(&consumer) != DOCA_CTX_STATE_STARTING);
	MUST_BE(path_state(&consumer) == DOCA_CTX_STATE_RUNNING);
	(void)path_post(&consumer, path_empty(&memory, 0, LEN));
	SLEEP_UNTIL(pe, control->newborn == 1);
	path_producer(&producer, pe, control->peer, 2);
	MUST(doca_ctx_start(producer.ctx));
	for (round = 0; round < ROUNDS; round++) {
		if (!begins || round > 0) {
			SLEEP_UNTIL(pe, consumer.good == round + (begins ? 0 : 1));
			CHECK(two_is(memory.bytes, LEN, 2 * round + (begins ? 0 : 1) - 1 + 1000));
		}
		two_fill(memory.bytes + LEN, LEN, 2 * round + own + 1000);
		path_send(&producer, path_full(&memory, LEN, LEN), NULL, 0, control->consumer);
		SLEEP_UNTIL(pe, producer.good == round + 1);
	}
	if (begins)
		SLEEP_UNTIL(pe, consumer.good == ROUNDS);
	idle_second(pe);
	two_tell(line, 'i');
	two_await(line, 'i');
	consumer.repost = 0;
	CHECK_STATUS(doca_ctx_stop(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	SLEEP_UNTIL(pe, path_state(&consumer) == DOCA_CTX_STATE_IDLE);
	path_stop(&consumer, pe);
	SLEEP_UNTIL(pe, control->expired == 1);
	path_stop(&producer, pe);
	path_forget(&memory);
}

int main(void)
{
	struct comch_end control = {0};
	struct doca_pe *pe = NULL;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		MUST(doca_pe_create(&pe));
		comch_make_server(&control, pe, "path asleep", 4);
		comch_run(&control);
		two_tell(line, 'l');
		SLEEP_UNTIL(pe, control.connects == 1);
		play(&control, pe, line, 0);
		SLEEP_UNTIL(pe, control.disconnects == 1);
	} else {
		two_await(line, 'l');
		MUST(doca_pe_create(&pe));
		comch_make_client(&control, pe, "path asleep", 4);
		MUST_BE(doca_ctx_start(control.ctx) == DOCA_ERROR_IN_PROGRESS);
		SLEEP_UNTIL(pe, comch_state(&control) != DOCA_CTX_STATE_STARTING);
		MUST(doca_comch_client_get_connection(control.client, &control.peer));
		play(&control, pe, line, 1);
	}
	comch_stop(&control);
	comch_destroy(&control);
	CHECK_OK(doca_pe_destroy(pe));
	if (pid == 0) {
		close(line);
		exit(check_result());
	}
	two_reap(pid);
	close(line);
	return check_result();
}
