/*
 * What a plan of faults makes of copies: FAULT_EFFECT says which plan the program was started with. Without one, nothing
 * happens to anything.
 *
 * clauses: none; for plans of faults
 * covers: @
 */
#define _GNU_SOURCE
#include "fault_rig.h"
#include "rig.h"

static struct rig rig;

static void one(uint64_t value)
{
	(void)rig_copy(&rig, 0, 4096, 64, value);
	rig_drain(&rig);
}

/* The third one fails, which stops a DMA context, and is not carried out; those after the restart go well. */
static void error(void)
{
	one(1);
	one(2);
	rig.mem[4096] = 0;
	one(3);
	CHECK_U64(rig.good, 2);
	CHECK_U64(rig.bad, 1);
	CHECK_U64(rig.status[2], DOCA_ERROR_TIME_OUT);
	CHECK_U64(rig.mem[4096], 0);
	rig_until_idle(&rig);
	MUST(doca_ctx_start(rig.ctx));
	one(4);
	CHECK_U64(rig.good, 3);
}

static void delay(void)
{
	double begun = now();

	one(1);
	one(2);
	CHECK(now() - begun >= 0.02);
	CHECK_U64(rig.good, 2);
}

/* Lost until the context stops; the others go on. */
static void drop(void)
{
	int i;

	(void)rig_copy(&rig, 0, 4096, 64, 1);
	(void)rig_copy(&rig, 0, 4096, 64, 2);
	(void)rig_copy(&rig, 0, 4096, 64, 3);
	for (i = 0; i < 20000; i++)
		rig_progress(&rig);
	CHECK_U64(rig.good, 2);
	CHECK_U64(rig.order[1], 3);
	CHECK_U64(rig_inflight(&rig), 1);
	CHECK_STATUS(doca_ctx_stop(rig.ctx), DOCA_ERROR_IN_PROGRESS);
	rig_until_idle(&rig);
	CHECK_U64(rig.bad, 1);
	CHECK_U64(rig.status[2], DOCA_ERROR_IO_FAILED);
	CHECK_U64(rig.order[2], 2);
}

/* The submission is refused twice; the task stays the program's meanwhile. */
static void full(void)
{
	struct doca_dma_task_memcpy *task;
	struct doca_task *plain;

	one(1);
	task = rig_task(&rig, rig_src(&rig, 0, 64), rig_dst(&rig, 4096, 64), 2);
	plain = doca_dma_task_memcpy_as_task(task);
	CHECK_STATUS(doca_task_submit(plain), DOCA_ERROR_FULL);
	CHECK_STATUS(doca_task_try_submit(plain), DOCA_ERROR_FULL);
	CHECK_U64(rig_inflight(&rig), 0);
	CHECK_OK(doca_task_submit(plain));
	rig_drain(&rig);
	one(3);
	CHECK_U64(rig.good, 3);
}

static void alloc(void)
{
	struct doca_buf *src = rig_src(&rig, 0, 64), *dst = rig_dst(&rig, 4096, 64);
	struct doca_dma_task_memcpy *task = NULL;
	union doca_data user = {0};

	one(1);
	CHECK_STATUS(doca_dma_task_memcpy_alloc_init(rig.dma, src, dst, user, &task), DOCA_ERROR_NO_MEMORY);
	MUST(doca_dma_task_memcpy_alloc_init(rig.dma, src, dst, user, &task));
	CHECK_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	rig_drain(&rig);
	CHECK_U64(rig.good, 2);
}

/* A task with memory at a place of the only map is refused once: the third of five copies, which go to different places. */
static void place(void)
{
	struct doca_dma_task_memcpy *task;
	int i;

	for (i = 0; i < 5; i++) {
		task = rig_task(&rig, rig_src(&rig, 0, 64), rig_dst(&rig, 4096 + 64 * (size_t)i, 64), (uint64_t)i);
		if (i == 2)
			CHECK_STATUS(doca_task_submit(doca_dma_task_memcpy_as_task(task)), DOCA_ERROR_FULL);
		CHECK_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
		rig_drain(&rig);
	}
	CHECK_U64(rig.good, 5);
}

int main(void)
{
	int i;

	rig_setup(&rig, 8192, 8);
	if (is("error"))
		error();
	else if (is("delay"))
		delay();
	else if (is("drop"))
		drop();
	else if (is("full"))
		full();
	else if (is("alloc"))
		alloc();
	else if (is("place"))
		place();
	else {
		for (i = 0; i < 5; i++)
			one((uint64_t)i);
		CHECK_U64(rig.good, 5);
	}
	rig_teardown(&rig);
	return check_result();
}
