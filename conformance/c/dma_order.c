/*
 * Completions come in the order of submission although the copies take very different times, in both
 * settings of ordered completions, while work goes on without the program's progress.
 *
 * clauses: core-exec 5 (order); dma set_ordered_completions; submit only queues
 * covers: @
 */
#define _GNU_SOURCE
#include "rig.h"

#define TASKS 200
#define LARGE ((size_t)4 << 20)

static void mixed(struct rig *rig, uint8_t ordered)
{
	static const size_t len[] = {64, 3 << 20, 1, 700000, 4096, 1 << 20, 100, 65536};
	uint64_t i;

	CHECK_OK(doca_dma_set_ordered_completions(rig->dma, ordered));
	rig->good = rig->bad = 0;
	for (i = 0; i < TASKS; i++)
		(void)rig_copy(rig, 0, LARGE + i, len[(i * 5) % 8], i);
	CHECK_U64(rig->good, 0);
	rig_drain(rig);
	CHECK_U64(rig->good, TASKS);
	for (i = 0; i < TASKS; i++)
		CHECK_U64(rig->order[i], i);
}

/* A large copy lands while the program does something else; its callback waits for progress. */
static void by_itself(struct rig *rig)
{
	volatile uint8_t *last = rig->mem + 2 * LARGE - 1;
	unsigned good = rig->good;

	rig->mem[LARGE - 1] = 0x77;
	*last = 0;
	(void)rig_copy(rig, 0, LARGE, LARGE, 1);
	while (__atomic_load_n(last, __ATOMIC_ACQUIRE) != 0x77)
		sched_yield();
	CHECK_U64(rig->good, good);
	CHECK_U64(rig_inflight(rig), 1);
	rig_drain(rig);
	CHECK_U64(rig->good, good + 1);
	CHECK_BYTES(rig->mem + LARGE, rig->mem, LARGE);
	/* A small one as well. */
	last = rig->mem + LARGE + 63;
	rig->mem[63] = 0x78;
	*last = 0;
	(void)rig_copy(rig, 0, LARGE, 64, 1);
	while (__atomic_load_n(last, __ATOMIC_ACQUIRE) != 0x78)
		usleep(100);
	CHECK_U64(rig_inflight(rig), 1);
	rig_drain(rig);
}

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 2 * LARGE + TASKS, TASKS);
	mixed(&rig, 0);
	mixed(&rig, 1);
	by_itself(&rig);
	rig_teardown(&rig);
	return check_result();
}
