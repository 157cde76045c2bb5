/*
 * Hints for the compiler.
 */
#ifndef DOCA_COMMON_DEFINES_H_
#define DOCA_COMMON_DEFINES_H_

/* The condition is expected to hold. */
#ifndef doca_likely
#define doca_likely(x) __builtin_expect(!!(x), 1)
#endif

/* The condition is expected not to hold. */
#ifndef doca_unlikely
#define doca_unlikely(x) __builtin_expect(!!(x), 0)
#endif

#endif /* DOCA_COMMON_DEFINES_H_ */
