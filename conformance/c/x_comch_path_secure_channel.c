/*
 * The shape of an encrypting channel: in each of two processes the main thread drives the control path, one
 * worker sends and another receives, each with its own progress engine. One buffer is the source of all
 * sends in flight; receives are posted again from their callback. At the end the consumer's tasks are freed
 * and its buffers dropped while still in flight, then it is stopped; nothing crashes and it gets idle.
 *
 * clauses: comch Freed tasks in flight, Threads, Sending on the data path; core-exec 5
 * covers: @
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "x_comch_path.h"

#define COUNT 20000
#define DEPTH 256 /* sends in flight */
#define RECEIVES 64 /* fewer: submit says AGAIN most of the time */
#define LEN 1024

static struct comch_end control;
static uint32_t their_consumer; /* set by the main thread */
static int workers_done;

static void *receive(void *unused)
{
	struct path_end consumer = {.repost = 1};
	struct doca_task *tasks[RECEIVES];
	struct doca_buf *bufs[RECEIVES];
	struct path_memory memory;
	struct doca_pe *pe = NULL;
	unsigned i;

	(void)unused;
	MUST(doca_pe_create(&pe));
	path_memory(&memory, control.dev, (size_t)RECEIVES * LEN, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	path_consumer(&consumer, pe, control.peer, memory.map, RECEIVES);
	MUST_BE(doca_ctx_start(consumer.ctx) == DOCA_ERROR_IN_PROGRESS);
	/* What this waits for is done by the main thread. */
	COMCH_UNTIL(pe, path_state(&consumer) != DOCA_CTX_STATE_STARTING);
	MUST_BE(path_state(&consumer) == DOCA_CTX_STATE_RUNNING);
	for (i = 0; i < RECEIVES; i++) {
		bufs[i] = path_empty(&memory, (size_t)i * LEN, LEN);
		tasks[i] = path_post(&consumer, bufs[i]);
	}
	COMCH_UNTIL(pe, consumer.good == COUNT);
	for (i = 0; i < RECEIVES; i++)
		CHECK(two_is(memory.bytes + (size_t)i * LEN, LEN, 3));
	/* Still in flight, all of them. */
	consumer.keep = 1;
	consumer.repost = 0;
	for (i = 0; i < RECEIVES; i++) {
		CHECK_OK(doca_buf_dec_refcount(bufs[i], NULL));
		doca_task_free(tasks[i]);
	}
	path_stop(&consumer, NULL);
	path_forget(&memory);
	CHECK_OK(doca_pe_destroy(pe));
	__atomic_add_fetch(&workers_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void *transmit(void *unused)
{
	struct path_end producer = {.keep = 1};
	struct doca_comch_producer_task_send *tasks[DEPTH];
	struct path_memory memory;
	struct doca_pe *pe = NULL;
	struct doca_buf *buf;
	unsigned sent = 0, i;
	uint32_t to;

	(void)unused;
	MUST(doca_pe_create(&pe));
	path_memory(&memory, control.dev, LEN, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	two_fill(memory.bytes, LEN, 3);
	buf = path_full(&memory, 0, LEN);
	while ((to = __atomic_load_n(&their_consumer, __ATOMIC_ACQUIRE)) == 0)
		sched_yield();
	path_producer(&producer, pe, control.peer, DEPTH);
	MUST(doca_ctx_start(producer.ctx));
	for (i = 0; i < DEPTH; i++)
		MUST(doca_comch_producer_task_send_alloc_init(producer.producer, buf, NULL, 0, to, &tasks[i]));
	while (sent < COUNT) {
		/* A round of all tasks, then all of them are waited for. */
		for (i = 0; i < DEPTH && sent < COUNT; i++, sent++) {
			doca_error_t status;

			while ((status = doca_task_submit(doca_comch_producer_task_send_as_task(tasks[i]))) ==
			       DOCA_ERROR_AGAIN)
				sched_yield();
			MUST(status);
		}
		COMCH_UNTIL(pe, producer.good == sent);
	}
	CHECK_U64(producer.bad, 0);
	for (i = 0; i < DEPTH; i++)
		doca_task_free(doca_comch_producer_task_send_as_task(tasks[i]));
	path_stop(&producer, NULL);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	path_forget(&memory);
	CHECK_OK(doca_pe_destroy(pe));
	__atomic_add_fetch(&workers_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void channel(int line, int server)
{
	struct doca_pe *pe = NULL;
	pthread_t threads[2];

	MUST(doca_pe_create(&pe));
	if (server) {
		comch_make_server(&control, pe, "secure", 16);
		comch_run(&control);
		two_tell(line, 'l');
		COMCH_UNTIL(pe, control.connects == 1);
	} else {
		two_await(line, 'l');
		comch_make_client(&control, pe, "secure", 16);
		comch_run(&control);
	}
	MUST_BE(pthread_create(&threads[0], NULL, receive, NULL) == 0);
	MUST_BE(pthread_create(&threads[1], NULL, transmit, NULL) == 0);
	COMCH_UNTIL(pe, control.newborn == 1);
	__atomic_store_n(&their_consumer, control.consumer, __ATOMIC_RELEASE);
	COMCH_UNTIL(pe, __atomic_load_n(&workers_done, __ATOMIC_ACQUIRE) == 2);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	COMCH_UNTIL(pe, control.expired == 1);
	/* Both sides are through with their children before one goes. */
	two_tell(line, 'e');
	while (!two_ready(line))
		comch_progress(pe);
	two_await(line, 'e');
	if (server) {
		COMCH_UNTIL(pe, control.disconnects == 1);
		comch_stop(&control);
	} else {
		comch_stop(&control);
	}
	comch_destroy(&control);
	CHECK_OK(doca_pe_destroy(pe));
}

int main(void)
{
	int line;
	pid_t pid = two_fork(&line);

	channel(line, pid == 0);
	if (pid == 0) {
		close(line);
		exit(check_result());
	}
	two_reap(pid);
	close(line);
	return check_result();
}
