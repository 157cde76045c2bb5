/*
 * What the programs of the gallery share. Each of them breaks one rule, which its head names; compiled with RIGHT defined
 * it is the correct program next to it, which breaks none. The difference is all between #ifdef and #endif.
 */
#ifndef CONFORMANCE_MISUSE_H
#define CONFORMANCE_MISUSE_H

#define _GNU_SOURCE
#include <time.h>

#include "../c/rig.h"

#ifdef RIGHT
#define WRONG 0
#else
#define WRONG 1
#endif

static inline void nap(unsigned milliseconds)
{
	struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = (long)(milliseconds % 1000) * 1000000};

	while (nanosleep(&time, &time) != 0)
		;
}

/* Two buffers and a task over them, not submitted; callbacks free the task and give the buffers back. */
static inline struct doca_task *copy_task(struct rig *rig, size_t from, size_t to, size_t len)
{
	return doca_dma_task_memcpy_as_task(rig_task(rig, rig_src(rig, from, len), rig_dst(rig, to, len), 0));
}

/* The end after a task that failed and stopped the context. */
static inline void failed_teardown(struct rig *rig)
{
	rig_until_idle(rig);
	MUST(doca_dma_destroy(rig->dma));
	rig->dma = NULL;
	rig_teardown(rig);
}

#endif
