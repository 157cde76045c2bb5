/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_dma.h: the copy engine
 *
 * Copies between lists of buffers, within a process or across the PCIe link.
 *
 * The data of the source list goes, in order, into the tail rooms of the destination list, whose
 * data lengths grow; the two lists may be cut differently. Source and destination must not overlap.
 * After a failure the descriptors are as before and the bytes of the destination are undefined.
 *
 * A failed copy stops its context: state STOPPING, all other tasks come back, IDLE once every task
 * is freed. Then the context may be started again.
 *
 * Threads: as for every context, one thread at a time. Capability queries on a devinfo: any thread.
 */
#ifndef DOCA_DMA_H_
#define DOCA_DMA_H_

#include <inttypes.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;
struct doca_dma;
struct doca_dma_task_memcpy;

/** Completion of a copy, for success and failure. */
typedef void (*doca_dma_task_memcpy_completion_cb_t)(struct doca_dma_task_memcpy *task,
						     union doca_data task_user_data,
						     union doca_data ctx_user_data);

/* Context */

/**
 * Makes an idle copy context on an open device, which must outlive it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_INITIALIZATION.
 */
DOCA_STABLE
doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma);

/**
 * Frees an idle context and detaches it from its progress engine.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_dma_destroy(struct doca_dma *dma);

/** The same object as a context; NULL for NULL. Always the same pointer. */
DOCA_STABLE
struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma);

/**
 * 1: completions are reported in the order of submission; 0: in any order. Before or after start.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, value above 1).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_set_ordered_completions(struct doca_dma *dma, uint8_t ordered_completions);

/**
 * Reads the setting; 0 by default.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_get_ordered_completions(struct doca_dma *dma, uint8_t *ordered_completions);

/* Capabilities */

/**
 * Answers DOCA_SUCCESS when the device can copy.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo);

/**
 * Reads the largest number of tasks the context may be configured with.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma, uint32_t *max_num_tasks);

/**
 * Reads the largest number of bytes of one task, the whole list taken together.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (the device cannot copy),
 * DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *devinfo,
						       uint64_t *buf_size);

/**
 * Reads the largest number of elements of a source or destination list; 1 means no lists.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (the device cannot copy),
 * DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_dma_cap_task_memcpy_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							   uint32_t *max_buf_list_len);

/* Copy task */

/**
 * Sets the two callbacks and the size of the task pool, i.e. the most copies in flight. Mandatory,
 * while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 or too many tasks), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_dma_task_memcpy_set_conf(struct doca_dma *dma,
					   doca_dma_task_memcpy_completion_cb_t task_completion_cb,
					   doca_dma_task_memcpy_completion_cb_t task_error_cb,
					   uint32_t num_memcpy_tasks);

/**
 * Takes a task from the pool and notes source, destination and user data. The buffers are neither
 * checked nor referenced here; keep them until completion.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (context not RUNNING),
 * DOCA_ERROR_NO_MEMORY (all tasks taken).
 */
DOCA_STABLE
doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src,
					     struct doca_buf *dst, union doca_data user_data,
					     struct doca_dma_task_memcpy **task);

/** The same object as a generic task; NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task);

/** Replaces the source while the task is not in flight. */
DOCA_STABLE
void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task, const struct doca_buf *src);

/** Replaces the destination while the task is not in flight. */
DOCA_STABLE
void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task, struct doca_buf *dst);

/** Reads the source. */
DOCA_STABLE
const struct doca_buf *doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task);

/** Reads the destination. */
DOCA_STABLE
struct doca_buf *doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_DMA_H_ */
