/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_pe.h: progress engines, tasks and task batches
 *
 * A progress engine carries out and reports the work of the contexts connected to it. Nothing of
 * the program is called except from inside doca_pe_progress() (and state callbacks from
 * doca_ctx_start() and doca_ctx_stop()).
 *
 * A task comes from a pool of its context (<engine>_task_..._alloc_init()) and belongs to the
 * program, except between submit and its completion callback. It may be submitted again any number
 * of times, also inside its callback.
 *
 * Threads: an engine, its contexts and their tasks belong to one thread at a time; the thread may
 * change. Different engines run in parallel and may share devices, memory maps and connections.
 */
#ifndef DOCA_PE_H_
#define DOCA_PE_H_

#include <stdint.h>
#include <stdlib.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_pe;
struct doca_task;
struct doca_task_batch;

/** Largest number of tasks in one batch, as a code. */
enum doca_task_batch_max_tasks_number {
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16 = 0,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32 = 1,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_64 = 2,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128 = 3,
};

/** Number of events in one event batch, as its logarithm to base 2. */
enum doca_event_batch_events_number {
	DOCA_EVENT_BATCH_EVENTS_NUMBER_1 = 0,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_2 = 1,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_4 = 2,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_8 = 3,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_16 = 4,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_32 = 5,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_64 = 6,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_128 = 7,
};

/** How doca_task_submit_ex() treats a task; a bit mask. Both bits are hints. */
enum doca_task_submit_flag {
	DOCA_TASK_SUBMIT_FLAG_NONE = 0,
	/** Start this task, and those held back before it, at once. */
	DOCA_TASK_SUBMIT_FLAG_FLUSH = 1 << 0,
	/** The completion may be reported together with that of a later task. */
	DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS = 1 << 1,
};

/** Which contexts doca_pe_progress() looks at after a notification. */
enum doca_pe_event_mode {
	/** Those that had an event or had work when it was requested; clearing is mandatory. */
	DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE = 0,
	/** All of them; the next request clears by itself. */
	DOCA_PE_EVENT_MODE_PROGRESS_ALL = 1,
};

/**
 * Completion callback in its generic form. The callback types of the engines have the same shape with
 * their own task type in front.
 */
typedef void (*doca_task_completion_cb_t)(struct doca_task *task, union doca_data task_user_data,
					  union doca_data ctx_user_data);

/* Progress engine */

/**
 * Makes a progress engine without contexts. Free it with doca_pe_destroy().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_pe_create(struct doca_pe **pe);

/**
 * Frees a progress engine. Every context connected to it must have been destroyed; stopping is not
 * enough.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (a context is still connected; nothing
 * is freed).
 */
DOCA_STABLE
doca_error_t doca_pe_destroy(struct doca_pe *pe);

/**
 * Connects an IDLE context, once in its life; the connection survives stop and start and ends when
 * the context is destroyed.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_BAD_STATE (context not
 * IDLE), DOCA_ERROR_NOT_PERMITTED (already connected).
 */
DOCA_STABLE
doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

/**
 * Does one round of work and never blocks. Visits the contexts in turn and runs at most one
 * completion or event callback.
 *
 * Returns non-zero when a callback ran or a context changed its state, 0 when there is nothing to
 * report now. Not to be called from a callback of the same engine (it then does nothing and returns
 * 0); progress of another engine inside a callback is fine.
 */
DOCA_STABLE
uint8_t doca_pe_progress(struct doca_pe *pe);

/**
 * Adds up the tasks in flight of all connected contexts.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks);

/**
 * Gives the file descriptor to poll or epoll for reading. It stays the same over the engine's life
 * and belongs to the engine: never close it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe,
					     doca_notification_handle_t *handle);

/**
 * Arms the engine: the descriptor becomes readable as soon as doca_pe_progress() has or gets
 * something to do, at once when work is ready already. Repeating the call is harmless.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_pe_request_notification(struct doca_pe *pe);

/**
 * Disarms the engine and makes the descriptor unreadable; handle is not looked at. Succeeds also
 * when nothing was pending.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_OPERATING_SYSTEM.
 */
DOCA_STABLE
doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle);

/**
 * Chooses the event mode; selective by default. Not inside a completion callback.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or unknown mode).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode);

/* Tasks */

/**
 * Hands a task to its context without looking at its fields; what is wrong with them shows as an
 * error completion. Same as doca_task_submit_ex() with DOCA_TASK_SUBMIT_FLAG_FLUSH.
 *
 * DOCA_SUCCESS: the library owns the task until its callback begins. Any other code: the program
 * still owns it. Buffers of the task must stay alive and untouched until completion.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (not a task), DOCA_ERROR_BAD_STATE (context not RUNNING),
 * DOCA_ERROR_AGAIN (no room at the peer; clears without the program's own progress).
 */
DOCA_STABLE
doca_error_t doca_task_submit(struct doca_task *task);

/**
 * Submits with a mask of enum doca_task_submit_flag.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (not a task, unknown flag), DOCA_ERROR_BAD_STATE (context not
 * RUNNING), DOCA_ERROR_AGAIN.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);

/**
 * Submits after checking the fields of the task: lengths, limits, permissions.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (a field is wrong), DOCA_ERROR_NOT_PERMITTED (memory without the
 * right), and those of doca_task_submit(); the task was not submitted.
 */
DOCA_STABLE
doca_error_t doca_task_try_submit(struct doca_task *task);

/**
 * Gives a task back to its pool; buffers it refers to are not touched. Allowed inside callbacks. A
 * task freed in flight is flushed and given back when it lands. NULL is ignored.
 */
DOCA_STABLE
void doca_task_free(struct doca_task *task);

/**
 * Result of the last completion; meaningful from the callback on, until the task is freed or
 * submitted again.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_task_get_status(const struct doca_task *task);

/**
 * Sets the task's user data while the program owns the task; the callback gets the value current at
 * completion.
 */
DOCA_STABLE
void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);

/** Reads the task's user data; 0 when it was never set. */
DOCA_STABLE
union doca_data doca_task_get_user_data(const struct doca_task *task);

/** The context that allocated the task; also right after doca_task_free(). NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

/*
 * Task batches
 *
 * A batch is allocated by an engine as one unit and follows the rules of tasks.
 */

/**
 * Hands a batch to its context without looking at its members.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (not a batch), DOCA_ERROR_BAD_STATE (context not RUNNING).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch);

/**
 * Hands a batch over after checking its members.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (a member is wrong; nothing was submitted),
 * DOCA_ERROR_BAD_STATE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch);

/** Gives a batch back to its pool; allowed inside its callback. */
DOCA_EXPERIMENTAL
void doca_task_batch_free(struct doca_task_batch *task_batch);

/**
 * DOCA_SUCCESS only when every task of the batch succeeded.
 *
 * Errors: the code of a failed task; DOCA_ERROR_IN_PROGRESS while the batch is in flight.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch);

/** Sets the batch's user data while the program owns the batch. */
DOCA_EXPERIMENTAL
void doca_task_batch_set_user_data(struct doca_task_batch *task_batch, union doca_data user_data);

/** Reads the batch's user data. */
DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_user_data(const struct doca_task_batch *task_batch);

/** The context that allocated the batch. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *task_batch);

/** The user data of that context. */
DOCA_EXPERIMENTAL
union doca_data doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch);

/** Number of tasks in the batch, at most the configured maximum. */
DOCA_EXPERIMENTAL
uint16_t doca_task_batch_get_tasks_num(struct doca_task_batch *task_batch);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_PE_H_ */
