/*
 * What programs for plans of faults share: FAULT_EFFECT says which plan a program was started with.
 *
 * A program that includes this defines _GNU_SOURCE first.
 */
#ifndef CONFORMANCE_FAULT_RIG_H
#define CONFORMANCE_FAULT_RIG_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline int is(const char *effect)
{
	const char *given = getenv("FAULT_EFFECT");

	return strcmp(given == NULL ? "none" : given, effect) == 0;
}

/* In seconds. */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#endif
