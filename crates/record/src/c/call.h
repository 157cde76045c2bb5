/*
 * What the generated functions are made of that repeat calls.
 */
#ifndef SOFTDPU_RECORD_CALL_H
#define SOFTDPU_RECORD_CALL_H

#include <stdint.h>
#include <string.h>

/* Calls a function of the library with numbers. */
typedef uint64_t (*replay_call)(void *function, const uint64_t *arguments);

/* The library calls a function of the program: src/replay/ffi.rs. */
uint64_t softdpu_replay_called(uint32_t type, uint64_t function, const uint64_t *words, uint32_t count);

/* The library, for all of the process, and a function of it. */
int softdpu_replay_open(void);
void *softdpu_replay_find(const char *name);
/* A stream that goes nowhere. */
void *softdpu_replay_stream(void);

static inline double call_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#endif
