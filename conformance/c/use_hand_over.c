/*
 * Work changes hands: one thread makes, starts and feeds a context; after it has been joined, the
 * main thread drains, stops and destroys it on the same progress engine.
 *
 * clauses: core-exec 8 (one thread at a time, the thread may change)
 * covers: @
 */
#include <pthread.h>

#include "rig.h"

#define TASKS 64
#define PIECE 3000

static pthread_t callback_thread;
static unsigned callbacks;

static void note_thread(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	(void)rig;
	(void)task;
	callback_thread = pthread_self();
	callbacks++;
}

static void *make_and_feed(void *argument)
{
	struct rig *rig = argument;
	size_t i;

	rig_setup(rig, (size_t)2 * TASKS * PIECE, TASKS);
	rig->on_done = note_thread;
	for (i = 0; i < TASKS; i++)
		(void)rig_copy(rig, i * PIECE, (TASKS + i) * PIECE, PIECE, i);
	/* Some come back here, the rest later. */
	while (callbacks < TASKS / 4)
		rig_progress(rig);
	CHECK(pthread_equal(callback_thread, pthread_self()));
	return NULL;
}

int main(void)
{
	struct rig rig;
	pthread_t thread;
	size_t round;

	for (round = 0; round < 5; round++) {
		callbacks = 0;
		MUST_BE(pthread_create(&thread, NULL, make_and_feed, &rig) == 0);
		MUST_BE(pthread_join(thread, NULL) == 0);
		CHECK_U64(rig_inflight(&rig) + callbacks, TASKS);
		rig_drain(&rig);
		CHECK(pthread_equal(callback_thread, pthread_self()));
		CHECK_U64(rig.good, TASKS);
		CHECK_BYTES(rig.mem + TASKS * PIECE, rig.mem, TASKS * PIECE);
		CHECK_OK(doca_ctx_stop(rig.ctx));
		CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_IDLE);
		rig_teardown(&rig);
	}
	return check_result();
}
