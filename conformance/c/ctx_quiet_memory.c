/*
 * When a task has come back, flushed or not, nobody touches its memory any more; when a context is
 * idle, that holds for all of it, tasks freed in flight included. The program takes the memory away at
 * that very moment, so that whoever still touches it is caught by a signal.
 *
 * clauses: core-exec 3e, 4, 5 (ownership on entry of the callback); dma Behaviour
 * covers: @
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "rig.h"

#define TASKS 4
#define HALF ((size_t)4 << 20)
#define ROUNDS 40

enum how { STOPPED, FAILED, FREED, HOWS };

static struct rig rig;
static uint8_t *memory;
static enum how how;

/* The part of the memory that belongs to one task: source and destination. */
static uint8_t *part(uint64_t number)
{
	return memory + number * 2 * HALF;
}

static void back(struct rig *r, struct doca_dma_task_memcpy *task)
{
	uint64_t number = doca_task_get_user_data(doca_dma_task_memcpy_as_task(task)).u64;

	(void)r;
	if (how == FREED)
		return; /* it may still tell, and has nothing to say */
	CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
	CHECK_OK(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	MUST_BE(mprotect(part(number), 2 * HALF, PROT_NONE) == 0);
}

static void one_round(unsigned round)
{
	struct doca_dma_task_memcpy *task[TASKS];
	struct doca_buf *src[TASKS], *dst[TASKS];
	struct doca_mmap *map;
	unsigned i;

	memory = mmap(NULL, TASKS * 2 * HALF, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST_BE(memory != MAP_FAILED);
	map = rig_map(rig.dev, memory, TASKS * 2 * HALF, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	rig.good = rig.bad = rig.changes = 0;
	for (i = 0; i < TASKS; i++) {
		size_t len = round % 3 == 0 ? HALF : HALF / 2 + round * 4099;

		MUST(doca_buf_inventory_buf_get_by_data(rig.inv, map, part(i), len, &src[i]));
		MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, map, part(i) + HALF, HALF, &dst[i]));
		if (how == FAILED && i == round % 2)
			MUST(doca_buf_reset_data_len(src[i]));
		task[i] = rig_task(&rig, src[i], dst[i], i);
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task[i])));
	}
	/* Let others begin, more or less far. */
	if (round % 4 != 0)
		usleep(round % 4 * 150);
	if (round % 5 == 0)
		rig_progress(&rig);
	if (how == FREED) {
		for (i = rig.good + rig.bad; i < TASKS; i++)
			doca_task_free(doca_dma_task_memcpy_as_task(task[i]));
		for (i = 0; i < TASKS; i++) {
			CHECK_OK(doca_buf_dec_refcount(src[i], NULL));
			CHECK_OK(doca_buf_dec_refcount(dst[i], NULL));
		}
		for (i = 0; i < rig.good + rig.bad; i++)
			doca_task_free(doca_dma_task_memcpy_as_task(task[i]));
	}
	if (how != FAILED)
		CHECK_STATUS2(doca_ctx_stop(rig.ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	rig_until_idle(&rig);
	if (how != FREED)
		CHECK_U64(rig.good + rig.bad, TASKS);
	MUST_BE(munmap(memory, TASKS * 2 * HALF) == 0);
	CHECK_OK(doca_mmap_destroy(map));
	MUST(doca_ctx_start(rig.ctx));
}

int main(void)
{
	unsigned round;

	rig_setup(&rig, 64, TASKS);
	rig.free_tasks = rig.drop_bufs = 0;
	rig.on_done = back;
	for (how = STOPPED; how < HOWS; how++)
		for (round = 0; round < ROUNDS; round++)
			one_round(round);
	rig_teardown(&rig);
	return check_result();
}
