/*
 * Checks for the conformance programs: each failed check prints file, line, what was expected and
 * what came, and is counted; main() ends with `return check_result();`.
 *
 * Exit status: 0 all checks held, 1 some failed, 77 skipped (reason on stdout), 124 watchdog.
 */
#ifndef CONFORMANCE_CHECK_H
#define CONFORMANCE_CHECK_H

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_error.h>

#define CHECK_PRINTF(fmt_, args_) __attribute__((format(printf, fmt_, args_)))

static int check_failures;

CHECK_PRINTF(3, 4) static inline void check_fail(const char *file, int line, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "%s:%d: %s\n", file, line, text);
	/* A broken loop must not fill the disk. */
	if (__atomic_add_fetch(&check_failures, 1, __ATOMIC_RELAXED) >= 200) {
		fprintf(stderr, "too many failed checks\n");
		exit(1);
	}
}

/* A truth. */
#define CHECK(condition) \
	do { \
		if (!(condition)) \
			check_fail(__FILE__, __LINE__, "expected: %s", #condition); \
	} while (0)

/* Two whole numbers (or flags, enumerators) that have to be equal. */
#define CHECK_U64(got, want) check_u64(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(want))

/* Two pointers that have to be equal. */
#define CHECK_PTR(got, want) \
	check_ptr(__FILE__, __LINE__, #got, (const volatile void *)(got), (const volatile void *)(want))

/* Two texts that have to be equal. */
#define CHECK_TEXT(got, want) check_text(__FILE__, __LINE__, #got, got, want)

/* `length` bytes that have to be equal. */
#define CHECK_BYTES(got, want, length) check_bytes(__FILE__, __LINE__, #got, got, want, length)

/* A call and the one status it has to answer. */
#define CHECK_STATUS(call, want) check_status(__FILE__, __LINE__, #call, call, want, want)

/* A call for which the contract leaves two fitting answers. */
#define CHECK_STATUS2(call, want, other) check_status(__FILE__, __LINE__, #call, call, want, other)

/* A call that has to answer success. */
#define CHECK_OK(call) CHECK_STATUS(call, DOCA_SUCCESS)

/* A call that has to be refused, with whatever code. */
#define CHECK_REFUSED(call) check_refused(__FILE__, __LINE__, #call, call)

/* A call without whose success the rest makes no sense: ends the program when it fails. */
#define MUST(call) check_must(__FILE__, __LINE__, #call, call)

/* A truth without which the rest makes no sense. */
#define MUST_BE(condition) \
	do { \
		if (!(condition)) { \
			check_fail(__FILE__, __LINE__, "needed: %s", #condition); \
			exit(1); \
		} \
	} while (0)

/* Something that this machine lacks. */
#define SKIP(...) \
	do { \
		printf("skipped: " __VA_ARGS__); \
		printf("\n"); \
		fflush(stdout); \
		exit(77); \
	} while (0)

static inline void check_u64(const char *file, int line, const char *what, uint64_t got, uint64_t want)
{
	if (got != want)
		check_fail(file, line, "%s: expected %" PRIu64 " (0x%" PRIx64 "), got %" PRIu64 " (0x%" PRIx64 ")",
			   what, want, want, got, got);
}

static inline void check_ptr(const char *file, int line, const char *what, const volatile void *got,
			     const volatile void *want)
{
	if (got != want)
		check_fail(file, line, "%s: expected %#" PRIxPTR ", got %#" PRIxPTR, what, (uintptr_t)want,
			   (uintptr_t)got);
}

static inline void check_text(const char *file, int line, const char *what, const char *got, const char *want)
{
	if (got == NULL || strcmp(got, want) != 0)
		check_fail(file, line, "%s: expected \"%s\", got \"%s\"", what, want, got == NULL ? "(null)" : got);
}

static inline void check_bytes(const char *file, int line, const char *what, const void *got, const void *want,
			       size_t length)
{
	const unsigned char *g = (const unsigned char *)got;
	const unsigned char *w = (const unsigned char *)want;
	size_t i;

	for (i = 0; i < length; i++) {
		if (g[i] != w[i]) {
			check_fail(file, line, "%s: byte %zu of %zu: expected 0x%02x, got 0x%02x", what, i, length,
				   w[i], g[i]);
			return;
		}
	}
}

static inline void check_status(const char *file, int line, const char *what, doca_error_t got, doca_error_t want,
				doca_error_t other)
{
	if (got == want || got == other)
		return;
	if (want == other)
		check_fail(file, line, "%s: expected %s, got %s", what, doca_error_get_name(want),
			   doca_error_get_name(got));
	else
		check_fail(file, line, "%s: expected %s or %s, got %s", what, doca_error_get_name(want),
			   doca_error_get_name(other), doca_error_get_name(got));
}

static inline void check_refused(const char *file, int line, const char *what, doca_error_t got)
{
	if (got == DOCA_SUCCESS)
		check_fail(file, line, "%s: expected a refusal, got DOCA_SUCCESS", what);
}

static inline void check_must(const char *file, int line, const char *what, doca_error_t got)
{
	if (got != DOCA_SUCCESS) {
		check_fail(file, line, "%s: needed DOCA_SUCCESS, got %s", what, doca_error_get_name(got));
		exit(1);
	}
}

static inline void check_watchdog(int signal_number)
{
	static const char text[] = "watchdog: the program did not end within 60 s\n";

	(void)signal_number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(125);
	_exit(124);
}

/* Every program has the watchdog from its first instruction on. */
__attribute__((constructor)) static void check_start(void)
{
	signal(SIGALRM, check_watchdog);
	alarm(60);
}

static inline int check_result(void)
{
	int failures = __atomic_load_n(&check_failures, __ATOMIC_RELAXED);

	if (failures != 0)
		fprintf(stderr, "%d failed check(s)\n", failures);
	return failures == 0 ? 0 : 1;
}

#endif
