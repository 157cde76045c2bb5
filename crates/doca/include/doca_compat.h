/*
 * How firm a declaration is, and versioned structures.
 */
#ifndef DOCA_COMPAT_H_
#define DOCA_COMPAT_H_

#include "doca_config.h"

/* Kept by the compiler even when nothing refers to it. */
#define DOCA_USED __attribute__((used))

/* Firm declaration. */
#define DOCA_STABLE __attribute__((visibility("default")))

/* May change with the next version: using it warns unless the program says that it knows. */
#ifdef DOCA_ALLOW_EXPERIMENTAL_API
#define DOCA_EXPERIMENTAL __attribute__((visibility("default")))
#else
#define DOCA_EXPERIMENTAL \
	__attribute__((visibility("default"), \
		       deprecated("experimental: define DOCA_ALLOW_EXPERIMENTAL_API to use it without this warning")))
#endif

/* Will go away: using it warns unless the program says that it knows. */
#ifdef DOCA_ALLOW_DEPRECATED_API
#define DOCA_DEPRECATED __attribute__((visibility("default")))
#else
#define DOCA_DEPRECATED \
	__attribute__((visibility("default"), \
		       deprecated("going away: define DOCA_ALLOW_DEPRECATED_API to use it without this warning")))
#endif

#ifdef DOCA_COMPAT_HELPERS

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* First member of a versioned structure: the version of the interface it was filled for. */
#define DOCA_STRUCT_START size_t __doca_api_version

/* Version a structure was filled for; takes a pointer. */
#define DOCA_STRUCT_GET_VERSION(p) ((p)->__doca_api_version)

/* Sets the version, nothing else; by variable and by pointer. */
#define DOCA_STRUCT_PTR_CTOR(p) \
	do { \
		(p)->__doca_api_version = DOCA_VERSION_EXACT; \
	} while (0)
#define DOCA_STRUCT_CTOR(x) DOCA_STRUCT_PTR_CTOR(&(x))

/* Zeroes the structure, then sets the version; by variable and by pointer. */
#define DOCA_STRUCT_PTR_MEMSET_CTOR(p) \
	do { \
		memset((p), 0, sizeof(*(p))); \
		DOCA_STRUCT_PTR_CTOR(p); \
	} while (0)
#define DOCA_STRUCT_MEMSET_CTOR(x) DOCA_STRUCT_PTR_MEMSET_CTOR(&(x))

/* First piece of a list of designated initialisers. */
#define DOCA_STRUCT_CTOR_LIST_START .__doca_api_version = DOCA_VERSION_EXACT

/* Defines a variable of a versioned structure, everything but the version zero. */
#ifdef __cplusplus
#define DOCA_STRUCT_DEF(tag, name) struct tag name = {DOCA_VERSION_EXACT}
#else
#define DOCA_STRUCT_DEF(tag, name) struct tag name = {DOCA_STRUCT_CTOR_LIST_START}
#endif

/* Last: it needs the attributes above. */
#include "doca_version.h"

#endif /* DOCA_COMPAT_HELPERS */

#endif /* DOCA_COMPAT_H_ */
