/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_buf_pool.h: pools of equal buffers in one map
 *
 * A pool cuts a map into equal slots once and hands them out as buffers. Nothing is computed or
 * checked per buffer, which makes it the fast way on a data path. Buffers go back with
 * doca_buf_dec_refcount().
 *
 * Threads: one thread at a time per pool.
 */
#ifndef DOCA_BUF_POOL_H_
#define DOCA_BUF_POOL_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_buf_pool;
struct doca_mmap;

/* Life cycle */

/**
 * Makes a stopped pool of num_elements slots of element_size bytes. The map needs a range already
 * and must outlive the pool.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0, map without a range), DOCA_ERROR_NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size,
				  const struct doca_mmap *mmap, struct doca_buf_pool **buf_pool);

/**
 * Stops the pool if needed and frees it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (a buffer is out).
 */
DOCA_STABLE
doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool);

/**
 * Lays the slots out; the map must be started.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (map not started),
 * DOCA_ERROR_INITIALIZATION (the slots do not fit into the range).
 */
DOCA_STABLE
doca_error_t doca_buf_pool_start(struct doca_buf_pool *buf_pool);

/**
 * Closes the pool; the setters work again.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (a buffer is out).
 */
DOCA_STABLE
doca_error_t doca_buf_pool_stop(struct doca_buf_pool *buf_pool);

/**
 * Takes a slot as an empty buffer with one reference.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not started), DOCA_ERROR_EMPTY (no
 * slot is free).
 */
DOCA_STABLE
doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf);

/* Properties */

/**
 * Stores a value for the program.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (started).
 */
DOCA_STABLE
doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool, union doca_data user_data);

/**
 * Reads the stored value; 0 when never set.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *buf_pool,
					 union doca_data *user_data);

/**
 * Asks for slot addresses that are multiples of a power of two; 1 by default.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, not a power of two), DOCA_ERROR_BAD_STATE (started).
 */
DOCA_STABLE
doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool,
						 size_t element_alignment);

/**
 * Reads the alignment of the slots.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_pool_get_element_alignment(const struct doca_buf_pool *buf_pool,
						 size_t *element_alignment);

/**
 * Reads the number of slots.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *buf_pool,
					    uint32_t *num_of_elements);

/**
 * Reads how many slots can be taken now.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *buf_pool,
						 uint32_t *num_of_free_elements);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_BUF_POOL_H_ */
