/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_buf_array.h: arrays of equal elements for device programs
 *
 * The host part of an array that programs on an accelerator index by number.
 *
 * Threads: one thread at a time per array.
 */
#ifndef DOCA_BUF_ARRAY_H_
#define DOCA_BUF_ARRAY_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf_arr;
struct doca_mmap;

/** Handle of an array on a data-path accelerator; for source compatibility only. */
typedef uint64_t doca_dpa_dev_buf_arr_t;

/**
 * Makes an array of num_elem elements, not started.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or 0), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_create(size_t num_elem, struct doca_buf_arr **buf_arr);

/**
 * Places the array: elements of elem_size bytes from byte start_offset of the map on. Before start.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, size 0), DOCA_ERROR_BAD_STATE (started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, struct doca_mmap *mmap,
				     size_t elem_size, uint64_t start_offset);

/**
 * Freezes the array and makes it known to its target.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (started, no target, map not
 * started), DOCA_ERROR_NO_MEMORY (also when the map is too small).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr);

/**
 * Makes the array configurable again.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_stop(struct doca_buf_arr *buf_arr);

/**
 * Stops the array if needed and frees it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *buf_arr);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_BUF_ARRAY_H_ */
