/*
 * Version a program was compiled for, and version it runs with.
 */
#ifndef DOCA_VERSION_H_
#define DOCA_VERSION_H_

#include <stddef.h>

#include "doca_compat.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DOCA_VERSION_MAJOR 3
#define DOCA_VERSION_MINOR 3
#define DOCA_VERSION_PATCH 0
#define DOCA_VERSION_STRING "3.3.0000"

/* One number for a version: 8 bits major, 8 bits minor, 16 bits patch. */
#define DOCA_VERSION_CALC_EXACT(major, minor, patch) \
	((((size_t)(major)) << 24) | (((size_t)(minor)) << 16) | ((size_t)(patch)))

/* The same with the patch in thousands, as releases are counted. A patch above 65 runs into the minor part. */
#define DOCA_VERSION_CALC(major, minor, patch) \
	((((size_t)(major)) << 24) | (((size_t)(minor)) << 16) | ((size_t)(patch) * 1000))

/* This version in both counts. */
#define DOCA_VERSION_EXACT DOCA_VERSION_CALC_EXACT(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)
#define DOCA_VERSION_OFFICIAL DOCA_VERSION_CALC(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)

/* Whether a version is this one; whether it is this one or an older one. */
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC(major, minor, patch) == DOCA_VERSION_OFFICIAL)
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC(major, minor, patch) <= DOCA_VERSION_OFFICIAL)

/**
 * Version the program was compiled for.
 *
 * @return static text such as "3.3.0000".
 *
 * Any thread.
 */
static inline const char *doca_version(void)
{
	return DOCA_VERSION_STRING;
}

/**
 * Version of the library the program runs with.
 *
 * @return static text in the form of doca_version().
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
const char *doca_version_runtime(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_VERSION_H_ */
