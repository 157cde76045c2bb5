/*
 * A producer that outruns its consumer: submit says AGAIN while no receive is posted, and stops saying so
 * once the other process has posted one, without a single call to progress on this side; inside a
 * completion callback too. Order and bytes of 2000 transfers hold.
 *
 * clauses: comch Sending on the data path (AGAIN); core-exec 6
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch_path.h"

#define COUNT 2000
#define SLOTS 4
#define LEN 3000

static struct path_memory memory;
static struct comch_end control;

static void check_slot(struct path_end *end, struct doca_task *task)
{
	(void)task;
	CHECK_U64(end->data_len, LEN);
	CHECK(two_is(end->data, LEN, end->good - 1));
	/* Slow now and then. */
	if (end->good % 500 == 0)
		two_sleep_ms(20);
}

static void card(int line)
{
	struct path_end consumer = {.repost = 1, .on_done = check_slot};
	struct doca_pe *pe = NULL;
	unsigned i;

	MUST(doca_pe_create(&pe));
	comch_make_server(&control, pe, "spin", 4);
	comch_run(&control);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, control.connects == 1);
	path_memory(&memory, control.dev, SLOTS * LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	path_consumer(&consumer, pe, control.peer, memory.map, SLOTS);
	MUST_BE(doca_ctx_start(consumer.ctx) == DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, path_state(&consumer) == DOCA_CTX_STATE_RUNNING);
	/* Nothing is posted until the producer has seen AGAIN. */
	while (!two_ready(line))
		comch_progress(pe);
	two_await(line, 'a');
	two_sleep_ms(100);
	for (i = 0; i < SLOTS; i++)
		(void)path_post(&consumer, path_empty(&memory, i * LEN, LEN));
	COMCH_UNTIL(pe, consumer.good == COUNT);
	consumer.repost = 0;
	path_stop(&consumer, pe);
	CHECK_U64(consumer.bad, SLOTS);
	COMCH_UNTIL(pe, control.disconnects == 1);
	comch_stop(&control);
	path_forget(&memory);
	comch_destroy(&control);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

static void send_next(struct path_end *end, unsigned number)
{
	size_t at = number % SLOTS * LEN;

	two_fill(memory.bytes + at, LEN, number);
	path_send(end, path_full(&memory, at, LEN), NULL, 0, control.consumer);
}

/* The next one goes out from inside the callback. */
static void sent(struct path_end *end, struct doca_task *task)
{
	unsigned *next = end->own;

	CHECK_STATUS(doca_task_get_status(task), DOCA_SUCCESS);
	if (*next < COUNT)
		send_next(end, (*next)++);
}

int main(void)
{
	struct path_end producer = {.on_done = sent};
	struct doca_pe *pe = NULL, *fast = NULL;
	unsigned next = 0;
	int line, i;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	producer.own = &next;
	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	MUST(doca_pe_create(&fast));
	comch_make_client(&control, pe, "spin", 4);
	comch_run(&control);
	path_memory(&memory, control.dev, SLOTS * LEN, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	COMCH_UNTIL(pe, control.newborn == 1);
	path_producer(&producer, fast, control.peer, SLOTS + 1);
	MUST(doca_ctx_start(producer.ctx));
	for (i = 0; i < 1000; i++)
		CHECK_STATUS(path_try_send(&producer, path_full(&memory, 0, 1), NULL, 0, control.consumer),
			     DOCA_ERROR_AGAIN);
	two_tell(line, 'a');
	/* Two in flight, the rest follows in the callbacks; the first of them waits for the other process. */
	send_next(&producer, next++);
	send_next(&producer, next++);
	COMCH_UNTIL(fast, producer.good == COUNT);
	CHECK_U64(producer.bad, 0);
	path_stop(&producer, pe);
	COMCH_UNTIL(pe, control.expired == 1);
	path_forget(&memory);
	comch_stop(&control);
	comch_destroy(&control);
	CHECK_OK(doca_pe_destroy(fast));
	CHECK_OK(doca_pe_destroy(pe));
	two_reap(pid);
	close(line);
	return check_result();
}
