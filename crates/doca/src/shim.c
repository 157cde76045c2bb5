/*
 * The part of the C face that must be C: functions with a variable argument list, calls that hand a
 * va_list to the program, and the stdio streams (which are macros). Everything else is Rust.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SHIM_SUCCESS = 0,
	SHIM_INVALID_VALUE = 6,
	SHIM_NO_MEMORY = 7,
	/* answer of softdpu_log_wants: somebody listens, format the record */
	SHIM_WANTED = -1
};

/* Implemented in Rust (log/c.rs). */
int softdpu_log_wants(uint32_t level, int source);
int softdpu_log_deliver(uint32_t level, int source, const char *fname, int line, const char *func,
			const char *text, size_t len);

/*
 * One record. Disabled records cost a few compares: nothing is formatted before somebody wants it.
 * errno survives the call, and "%m" sees the caller's.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 6, 7), visibility("default")))
#endif
int
doca_log(uint32_t level, int source, const char *fname, int line, const char *func, const char *format, ...)
{
	char room[1024];
	char *text = room;
	const int caller_errno = errno;
	va_list args;
	int len;
	int result;

	if (format == NULL)
		return SHIM_INVALID_VALUE;
	result = softdpu_log_wants(level, source);
	if (result != SHIM_WANTED)
		return result;

	errno = caller_errno;
	va_start(args, format);
	len = vsnprintf(room, sizeof(room), format, args);
	va_end(args);
	if (len < 0) {
		errno = caller_errno;
		return SHIM_INVALID_VALUE;
	}
	if ((size_t)len >= sizeof(room)) {
		text = malloc((size_t)len + 1);
		if (text == NULL) {
			errno = caller_errno;
			return SHIM_NO_MEMORY;
		}
		errno = caller_errno;
		va_start(args, format);
		vsnprintf(text, (size_t)len + 1, format, args);
		va_end(args);
	}
	result = softdpu_log_deliver(level, source, fname, line, func, text, (size_t)len);
	if (text != room)
		free(text);
	errno = caller_errno;
	return result;
}

typedef int (*softdpu_argp_logger)(int level, const char *format, va_list args);

static int
call_with_list(softdpu_argp_logger callback, int level, const char *format, ...)
{
	va_list args;
	int result;

	va_start(args, format);
	result = callback(level, format, args);
	va_end(args);
	return result;
}

/* Hands one finished message to the program's logger callback, which wants a va_list. */
int
softdpu_argp_call_logger(softdpu_argp_logger callback, int level, const char *message)
{
	return call_with_list(callback, level, "%s", message);
}

/* The stdio streams of the process: 1 is stdout, anything else stderr. */
FILE *
softdpu_stream(int number)
{
	return number == 1 ? stdout : stderr;
}
