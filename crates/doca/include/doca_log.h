/*
 * Logging: records of the program, records of the library, and where they go.
 *
 * A program registers one source per file (DOCA_LOG_REGISTER) and logs with DOCA_LOG_INFO and its sisters.
 * Records of the program go to application backends, records of the library to SDK backends; without a
 * backend they are dropped. A backend shows levels from its upper limit (the most severe) to its lower limit
 * (the most verbose).
 *
 * A record is one line:
 *     [HH:MM:SS:uuuuuu][thread][DOCA][LVL][file:line][function] message
 * (records of the library have no function) and is delivered in one piece.
 *
 * Backends are never destroyed: what they write to must outlive the logging of the process.
 */
#ifndef DOCA_LOG_H_
#define DOCA_LOG_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "doca_compat.h"
#include "doca_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Levels; a larger number is more verbose. */
enum doca_log_level {
	DOCA_LOG_LEVEL_DISABLE = 10, /**< as a limit: nothing is shown */
	DOCA_LOG_LEVEL_CRIT = 20,    /**< the program cannot go on */
	DOCA_LOG_LEVEL_ERROR = 30,   /**< something failed */
	DOCA_LOG_LEVEL_WARNING = 40, /**< something looks wrong */
	DOCA_LOG_LEVEL_INFO = 50,    /**< what is going on */
	DOCA_LOG_LEVEL_DEBUG = 60,   /**< for people who look for a fault */
	DOCA_LOG_LEVEL_TRACE = 70,   /**< every step */
};

/** Room for the name of a logger, terminator included. */
#define DOCA_LOGGER_NAME_SIZE 256

/** Opaque: one destination of records. */
struct doca_log_backend;

/** Opaque: one source of records, in a tree by "::". */
struct doca_logger;

/**
 * Takes a record from a buffer backend; runs on the thread that logs, one record at a time. Records logged
 * inside reach no buffer backend.
 *
 * @param buf the buffer of the backend, with one NUL-terminated record.
 */
typedef void (*log_flush_callback)(char *buf);

/* ---- limits of application backends ---- */

/**
 * Sets the most verbose level that one application backend shows.
 *
 * @param backend application backend.
 * @param level a level of enum doca_log_level.
 * @return DOCA_SUCCESS; INVALID_VALUE: no backend, or not a level; NOT_PERMITTED: the limit is strict and would
 * widen, or this is an SDK backend.
 *
 * Any thread; counts for later records.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend, uint32_t level);

/**
 * Sets the most severe level that one application backend shows.
 *
 * @param backend application backend.
 * @param upper_limit a level of enum doca_log_level.
 * @return as doca_log_backend_set_level_lower_limit().
 *
 * Any thread; counts for later records.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend, uint32_t upper_limit);

/**
 * Pins the present lower limit: later calls, global ones included, cannot widen it.
 *
 * @param backend backend.
 * @return DOCA_SUCCESS; INVALID_VALUE: no backend.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend);

/**
 * Pins the present upper limit: later calls, global ones included, cannot widen it.
 *
 * @param backend backend.
 * @return DOCA_SUCCESS; INVALID_VALUE: no backend.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend);

/**
 * Sets the lower limit of all application backends, and of those created later. At first: INFO.
 *
 * @param level a level of enum doca_log_level.
 * @return DOCA_SUCCESS; INVALID_VALUE: not a level.
 *
 * Any thread; counts for later records.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);

/**
 * Sets the upper limit of all application backends, and of those created later. At first: CRIT.
 *
 * @param upper_limit a level of enum doca_log_level.
 * @return DOCA_SUCCESS; INVALID_VALUE: not a level.
 *
 * Any thread; counts for later records.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_upper_limit(uint32_t upper_limit);

/**
 * @return the global lower limit of application backends.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_lower_limit(void);

/**
 * @return the global upper limit of application backends.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_upper_limit(void);

/* ---- sources and records ---- */

/**
 * Gives the identifier of a source. The same name gives the same identifier; "A::B" lies below "A".
 *
 * @param source_name name; cut after 255 characters.
 * @param source receives the identifier.
 * @return DOCA_SUCCESS; INVALID_VALUE: a NULL argument; NO_MEMORY.
 *
 * Any thread; works before main().
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_register_source(const char *source_name, int *source);

/**
 * For old programs: sources live as long as the process.
 *
 * @param source ignored.
 * @return DOCA_SUCCESS.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_unregister_source(int source);

/**
 * Logs one record of the program. A newline is added.
 *
 * @param level level of the record: CRIT to TRACE.
 * @param source identifier of the source.
 * @param fname file; its last path component is shown.
 * @param line line in the file.
 * @param func function.
 * @param format as for printf(), with its values. errno stays as it is.
 * @return DOCA_SUCCESS, also when nobody listens; INVALID_VALUE: unknown level or source, format NULL or not to be
 * followed; NO_MEMORY.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
__attribute__((format(printf, 6, 7)))
doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func, const char *format,
		      ...);

/* ---- the tree of loggers ---- */

/**
 * @return how many application backends there may be; the standard pair counts as two.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
uint32_t doca_log_get_max_num_backends(void);

/**
 * @return how many SDK backends there may be.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
uint32_t doca_log_get_max_num_backends_sdk(void);

/**
 * Lists the loggers below one, without that one; a logger comes before those below it.
 *
 * @param logger where to begin; NULL: at the top.
 * @param depth how many levels down; 0: all.
 * @param logger_list receives the list; give it back with doca_logger_destroy_list().
 * @param nb_loggers receives the number of loggers. The list ends in one NULL more.
 * @return DOCA_SUCCESS; INVALID_VALUE: a NULL output; NOT_FOUND: not a logger; NO_MEMORY.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_create_list(const struct doca_logger *logger, uint8_t depth, struct doca_logger ***logger_list,
				     uint32_t *nb_loggers);

/**
 * Gives a list back; its loggers live on.
 *
 * @param logger_list list from doca_logger_create_list().
 * @return DOCA_SUCCESS; INVALID_VALUE: NULL, or not such a list.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_destroy_list(struct doca_logger **logger_list);

/**
 * Sets the most verbose level that a logger lets through to the backends. At first: TRACE.
 *
 * @param logger logger; NULL: all, with propagate only.
 * @param level a level of enum doca_log_level.
 * @param propagate not 0: for all loggers below it, too, and for those registered there later.
 * @return DOCA_SUCCESS; INVALID_VALUE: not a level, or NULL without propagate; NOT_FOUND: not a logger.
 *
 * Any thread; counts for later records.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_set_level(struct doca_logger *logger, int level, uint8_t propagate);

/**
 * Most verbose level that a logger lets through.
 *
 * @param logger logger.
 * @param level receives the level.
 * @return DOCA_SUCCESS; INVALID_VALUE: a NULL argument; NOT_FOUND: not a logger.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_get_level(const struct doca_logger *logger, int *level);

/**
 * Full name of a logger, such as "A::B".
 *
 * @param logger logger.
 * @param name receives the name, terminated.
 * @return DOCA_SUCCESS; INVALID_VALUE: a NULL argument; NOT_FOUND: not a logger.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_logger_get_name(const struct doca_logger *logger, char name[DOCA_LOGGER_NAME_SIZE]);

/**
 * Finds a logger in a list by its full name.
 *
 * @param logger_list list from doca_logger_create_list().
 * @param name full name.
 * @return the logger; NULL: none of that name, or a bad argument.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
struct doca_logger *doca_logger_find_by_name(struct doca_logger **logger_list, const char *name);

/* ---- backends: application records in the first form, records of the library in the _sdk form ---- */

/**
 * Creates an application backend that writes to a stream and flushes it record by record.
 *
 * @param fptr stream that stays open.
 * @param backend receives the backend.
 * @return DOCA_SUCCESS; INVALID_VALUE: a NULL argument; NO_MEMORY: no memory, or all backends are used.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend);

/**
 * Creates an SDK backend that writes to a stream and flushes it record by record.
 *
 * @param fptr stream that stays open.
 * @param backend receives the backend.
 * @return DOCA_SUCCESS; INVALID_VALUE: a NULL argument; NO_MEMORY: no memory, or all backends are used.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend);

/**
 * Creates an application backend that writes to a file descriptor.
 *
 * @param fd descriptor that stays open for writing.
 * @param backend receives the backend.
 * @return DOCA_SUCCESS; INVALID_VALUE: a NULL argument, or not a descriptor for writing; NO_MEMORY: no memory, or all backends are used.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend);

/**
 * Creates an SDK backend that writes to a file descriptor.
 *
 * @param fd descriptor that stays open for writing.
 * @param backend receives the backend.
 * @return DOCA_SUCCESS; INVALID_VALUE: a NULL argument, or not a descriptor for writing; NO_MEMORY: no memory, or all backends are used.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend);

/**
 * Creates an application backend that puts each record, terminated, at the start of a buffer and calls a handler. A
 * record without room is not delivered.
 *
 * @param buf buffer that stays.
 * @param capacity bytes of the buffer.
 * @param handler takes the record away.
 * @param backend receives the backend.
 * @return DOCA_SUCCESS; INVALID_VALUE: a NULL argument, or capacity 0; NO_MEMORY: no memory, or all backends are used.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity, log_flush_callback handler,
					      struct doca_log_backend **backend);

/**
 * Creates an SDK backend that puts each record, terminated, at the start of a buffer and calls a handler. A
 * record without room is not delivered.
 *
 * @param buf buffer that stays.
 * @param capacity bytes of the buffer.
 * @param handler takes the record away.
 * @param backend receives the backend.
 * @return DOCA_SUCCESS; INVALID_VALUE: a NULL argument, or capacity 0; NO_MEMORY: no memory, or all backends are used.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity, log_flush_callback handler,
						  struct doca_log_backend **backend);

/**
 * Creates an application backend that sends to the system's log daemon.
 *
 * @param name identity in the system's log; copied.
 * @param backend receives the backend.
 * @return DOCA_SUCCESS; INVALID_VALUE: a NULL argument; NO_MEMORY: no memory, or all backends are used.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog(const char *name, struct doca_log_backend **backend);

/**
 * Creates an SDK backend that sends to the system's log daemon.
 *
 * @param name identity in the system's log; copied.
 * @param backend receives the backend.
 * @return DOCA_SUCCESS; INVALID_VALUE: a NULL argument; NO_MEMORY: no memory, or all backends are used.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name, struct doca_log_backend **backend);

/**
 * Creates two application backends without a handle: stdout takes INFO and more verbose, stderr WARNING and more
 * severe, both within the global limits. A second call changes nothing.
 *
 * @return DOCA_SUCCESS; NO_MEMORY.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_standard(void);

/* ---- levels of SDK backends ---- */

/**
 * Sets the most verbose level that one SDK backend shows.
 *
 * @param backend SDK backend.
 * @param level a level of enum doca_log_level.
 * @return DOCA_SUCCESS; INVALID_VALUE: no backend, or not a level; NOT_PERMITTED: the level is strict and would
 * widen, or this is an application backend.
 *
 * Any thread; counts for later records.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level);

/**
 * Sets the level of all SDK backends, and of those created later. At first: INFO.
 *
 * @param level a level of enum doca_log_level.
 * @return DOCA_SUCCESS; INVALID_VALUE: not a level.
 *
 * Any thread; counts for later records.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level);

/**
 * @return the global level of SDK backends.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_sdk_limit(void);

/* ---- for use in programs ---- */

#ifdef __cplusplus
#define SOFTDPU_LOG_EAT_SEMICOLON static_assert(true, "")
#else
#define SOFTDPU_LOG_EAT_SEMICOLON _Static_assert(1, "")
#endif

/**
 * Once per file, at file scope: registers the text of the argument as the source of the file's records,
 * before main().
 */
#define DOCA_LOG_REGISTER(source) \
	static int log_source; \
	static void __attribute__((constructor(101), used)) softdpu_log_register_this_file(void) \
	{ \
		doca_log_register_source(#source, &log_source); \
	} \
	SOFTDPU_LOG_EAT_SEMICOLON

/** DOCA_LOG(level, format, ...): one record of this file. */
#define DOCA_LOG(level, ...) doca_log((level), log_source, __FILE__, __LINE__, __func__, __VA_ARGS__)

/* The same with a fixed level; the first argument is the format. */
#define DOCA_LOG_CRIT(...) DOCA_LOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
#define DOCA_LOG_ERR(...) DOCA_LOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define DOCA_LOG_WARN(...) DOCA_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define DOCA_LOG_INFO(...) DOCA_LOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
#define DOCA_LOG_DBG(...) DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Trace records exist only in files that ask for them; elsewhere the arguments are not evaluated. */
#ifdef DOCA_LOGGING_ALLOW_TRACE
#define DOCA_LOG_TRC(...) DOCA_LOG(DOCA_LOG_LEVEL_TRACE, __VA_ARGS__)
#else
#define DOCA_LOG_TRC(...) \
	do { \
	} while (0)
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_LOG_H_ */
