/*
 * Sixteen threads set up everything at the same time, from the device list to the first copy, and
 * take it down again; several rounds. Nobody gets a stray refusal, everybody gets the same device.
 *
 * clauses: core-exec 8 (device calls from any thread), doca_dev_open (same pointer)
 * covers: @
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "rig.h"

#define THREADS 16
#define ROUNDS 12

static pthread_barrier_t gate;
static struct doca_dev *seen[THREADS];

static void *one_copy(void *argument)
{
	size_t number = (size_t)argument;
	struct rig rig;

	pthread_barrier_wait(&gate);
	rig_setup(&rig, 8192, 1);
	seen[number] = rig.dev;
	(void)rig_copy(&rig, 0, 4096, 4096, number);
	rig_drain(&rig);
	CHECK_U64(rig.good, 1);
	CHECK_U64(rig.order[0], number);
	CHECK_BYTES(rig.mem + 4096, rig.mem, 4096);
	/* Every handle is still open here. */
	pthread_barrier_wait(&gate);
	CHECK_PTR(seen[number], seen[0]);
	rig_teardown(&rig);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	size_t round, i;

	MUST_BE(pthread_barrier_init(&gate, NULL, THREADS) == 0);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < THREADS; i++)
			MUST_BE(pthread_create(&threads[i], NULL, one_copy, (void *)i) == 0);
		for (i = 0; i < THREADS; i++)
			MUST_BE(pthread_join(threads[i], NULL) == 0);
	}
	pthread_barrier_destroy(&gate);
	return check_result();
}
