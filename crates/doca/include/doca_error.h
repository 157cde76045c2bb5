/*
 * Status of calls and tasks.
 */
#ifndef DOCA_ERROR_H_
#define DOCA_ERROR_H_

#include "doca_common_defines.h"
#include "doca_compat.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Status of a call or of a task. */
typedef enum doca_error {
	DOCA_SUCCESS = 0, /**< done */
	DOCA_ERROR_UNKNOWN = 1, /**< the cause is not classified */
	DOCA_ERROR_NOT_PERMITTED = 2, /**< caller or present configuration does not allow it */
	DOCA_ERROR_IN_USE = 3, /**< something still refers to the object */
	DOCA_ERROR_NOT_SUPPORTED = 4, /**< device, build or platform lacks it */
	DOCA_ERROR_AGAIN = 5, /**< no room right now: call again */
	DOCA_ERROR_INVALID_VALUE = 6, /**< an argument is wrong */
	DOCA_ERROR_NO_MEMORY = 7, /**< memory or a fixed pool ran out */
	DOCA_ERROR_INITIALIZATION = 8, /**< a resource could not be set up */
	DOCA_ERROR_TIME_OUT = 9, /**< waited too long */
	DOCA_ERROR_SHUTDOWN = 10, /**< being shut down, or already so */
	DOCA_ERROR_CONNECTION_RESET = 11, /**< the peer dropped the connection */
	DOCA_ERROR_CONNECTION_ABORTED = 12, /**< the connection, or the attempt to make it, was given up */
	DOCA_ERROR_CONNECTION_INPROGRESS = 13, /**< the connection is still being made */
	DOCA_ERROR_NOT_CONNECTED = 14, /**< a connection is needed first (to a peer, or to a progress engine) */
	DOCA_ERROR_NO_LOCK = 15, /**< the lock was not obtained */
	DOCA_ERROR_NOT_FOUND = 16, /**< no such thing */
	DOCA_ERROR_IO_FAILED = 17, /**< a transfer failed; usual status of a failed task */
	DOCA_ERROR_BAD_STATE = 18, /**< not allowed in the object's present state */
	DOCA_ERROR_UNSUPPORTED_VERSION = 19, /**< versions do not fit */
	DOCA_ERROR_OPERATING_SYSTEM = 20, /**< a system call failed */
	DOCA_ERROR_DRIVER = 21, /**< the driver layer failed */
	DOCA_ERROR_UNEXPECTED = 22, /**< inside, something is inconsistent */
	DOCA_ERROR_ALREADY_EXIST = 23, /**< it is there already */
	DOCA_ERROR_FULL = 24, /**< the container is full */
	DOCA_ERROR_EMPTY = 25, /**< the container is empty */
	DOCA_ERROR_IN_PROGRESS = 26, /**< started, will finish later; no failure for start and stop */
	DOCA_ERROR_TOO_BIG = 27, /**< larger than the limit */
	DOCA_ERROR_AUTHENTICATION = 28, /**< authentication failed */
	DOCA_ERROR_BAD_CONFIG = 29, /**< the configuration is not valid */
	DOCA_ERROR_SKIPPED = 30, /**< the result is good, but earlier output was dropped */
	DOCA_ERROR_DEVICE_FATAL_ERROR = 31, /**< the device is dead */
} doca_error_t;

/** True when a status is an error. */
#define DOCA_IS_ERROR(r) doca_unlikely((r) != DOCA_SUCCESS)

/**
 * Keeps the first error: stores status t in the variable r while r is a success. When r holds an error
 * already, t is not evaluated.
 */
#define DOCA_ERROR_PROPAGATE(r, t) \
	do { \
		if ((r) == DOCA_SUCCESS) \
			(r) = (t); \
	} while (0)

/**
 * Identifier of a status, such as "DOCA_ERROR_IO_FAILED".
 *
 * @param error any number.
 * @return static text, never NULL; a fixed text for a number that is no status.
 *
 * Any thread.
 */
DOCA_STABLE
const char *doca_error_get_name(doca_error_t error);

/**
 * Short text for people about a status. The wording may change.
 *
 * @param error any number.
 * @return static text, never NULL; a fixed text for a number that is no status.
 *
 * Any thread.
 */
DOCA_STABLE
const char *doca_error_get_descr(doca_error_t error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_ERROR_H_ */
