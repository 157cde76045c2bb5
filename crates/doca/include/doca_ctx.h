/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_ctx.h: contexts and their states
 *
 * Every engine object is also a context: its <engine>_as_ctx() call gives the same object under the
 * type below. A context is configured while IDLE, connected to one progress engine, started, used
 * and stopped.
 *
 *   IDLE -> RUNNING                        start, most engines
 *   IDLE -> STARTING -> RUNNING            start of an engine that must first reach a peer
 *   STARTING or RUNNING -> STOPPING        stop, a fatal task failure, a lost peer
 *   STOPPING -> IDLE                       nothing in flight and every task freed
 *
 * Threads: a context belongs to the progress engine it is connected to and, with it, to one thread
 * at a time; the thread may change.
 */
#ifndef DOCA_CTX_H_
#define DOCA_CTX_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_devinfo;

/** State of a context. */
enum doca_ctx_states {
	DOCA_CTX_STATE_IDLE = 0,     /**< may be configured, started, destroyed */
	DOCA_CTX_STATE_STARTING = 1, /**< start goes on in doca_pe_progress() */
	DOCA_CTX_STATE_RUNNING = 2,  /**< tasks may be allocated and submitted */
	DOCA_CTX_STATE_STOPPING = 3, /**< tasks in flight come back; nothing new is accepted */
};

/**
 * Called after each change of state, with the context's current user data.
 *
 * Runs inside doca_ctx_start(), doca_ctx_stop() or doca_pe_progress(), on the calling thread. It may
 * allocate, submit, free and stop; when next_state is IDLE it may even destroy the context. It must
 * not call doca_pe_progress() on the engine of this context.
 */
typedef void (*doca_ctx_state_changed_callback_t)(const union doca_data user_data,
						  struct doca_ctx *ctx,
						  enum doca_ctx_states prev_state,
						  enum doca_ctx_states next_state);

/* Start and stop */

/**
 * Freezes the configuration and allocates what the context needs. Only from IDLE.
 *
 * DOCA_SUCCESS: the context is RUNNING, and the state callback has seen it. DOCA_ERROR_IN_PROGRESS
 * (comch clients and consumers): the context is STARTING and becomes RUNNING, or IDLE again, in a
 * later doca_pe_progress().
 *
 * Errors: DOCA_ERROR_IN_PROGRESS (no failure, see above), DOCA_ERROR_INVALID_VALUE (NULL or
 * mandatory configuration missing), DOCA_ERROR_BAD_STATE (not IDLE), DOCA_ERROR_NOT_CONNECTED (no
 * progress engine), DOCA_ERROR_NOT_SUPPORTED (device lacks the engine), DOCA_ERROR_INITIALIZATION
 * (no resources), DOCA_ERROR_UNEXPECTED.
 */
DOCA_STABLE
doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/**
 * Ends the work of a context; allowed in every state, also inside callbacks.
 *
 * DOCA_SUCCESS: the context is IDLE now, or was so before. DOCA_ERROR_IN_PROGRESS: it is STOPPING;
 * each task in flight comes back through a completion callback in later doca_pe_progress() calls,
 * and the context becomes IDLE once every task has been freed. A stop called inside a callback is
 * always DOCA_ERROR_IN_PROGRESS unless the context was IDLE.
 *
 * Errors: DOCA_ERROR_IN_PROGRESS (no failure, see above), DOCA_ERROR_INVALID_VALUE (NULL),
 * DOCA_ERROR_NOT_CONNECTED (no progress engine), DOCA_ERROR_UNEXPECTED.
 */
DOCA_STABLE
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/**
 * Pushes out tasks that were submitted without DOCA_TASK_SUBMIT_FLAG_FLUSH. Cancels nothing. NULL
 * is ignored.
 */
DOCA_EXPERIMENTAL
void doca_ctx_flush_tasks(struct doca_ctx *ctx);

/* Properties */

/**
 * Counts the tasks that were submitted and whose completion callback has not begun. Any state.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx,
					     size_t *num_inflight_tasks);

/**
 * Sets the value that completion, event and state callbacks of this context receive. Any state; the
 * latest value counts; 0 before the first call.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);

/**
 * Reads the value back.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data);

/**
 * Sets the state callback, replacing an earlier one; NULL takes it away.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
					   doca_ctx_state_changed_callback_t cb);

/**
 * Reads the state. Inside the state callback this is already the new one.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state);

/**
 * Chooses the completion vector, a placement hint below doca_ctx_cap_get_num_completion_vectors().
 * Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or vector too large), DOCA_ERROR_BAD_STATE (not IDLE),
 * DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector);

/**
 * Reads how many completion vectors the device has; at least 1. Any thread.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo,
						     uint32_t *num_comp_vectors);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_CTX_H_ */
