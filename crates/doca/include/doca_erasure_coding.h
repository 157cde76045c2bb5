/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_erasure_coding.h: the erasure coding engine
 *
 * Multiplies blocks of bytes by a matrix over GF(2^8), polynomial x^8+x^4+x^3+x^2+1: byte b of
 * output j is the sum (XOR) over all inputs i of coefficient(i, j) times byte b of input i. The
 * four task types do the same with matrices made for different purposes; any matrix may be given to
 * any task.
 *
 * Block size = source data length / inputs of the matrix. It must come out even, be a multiple of
 * 64 and at least 64; pad shorter data. Inputs are read from the source list as one stream, outputs
 * * block size bytes are appended to the destination list. A destination block may lie exactly over
 * a source block. A failed task does not stop the context.
 *
 * Threads: as for every context, one thread at a time, matrices included. Capability queries on a
 * devinfo: any thread.
 */
#ifndef DOCA_ERASURE_CODING_H_
#define DOCA_ERASURE_CODING_H_

#include <inttypes.h>
#include <stddef.h>

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
struct doca_ec;
struct doca_ec_matrix;
struct doca_ec_task_galois_mul;
struct doca_ec_task_create;
struct doca_ec_task_update;
struct doca_ec_task_recover;

/** How doca_ec_matrix_create() computes the coefficient of data block i and redundancy block j. */
enum doca_ec_matrix_type {
	/** 1 / (i + (j + number of data blocks)); any loss within the redundancy can be repaired. */
	DOCA_EC_MATRIX_TYPE_CAUCHY = 1,
	/** (i + 1) to the power j; the first redundancy block is the XOR of the data blocks. */
	DOCA_EC_MATRIX_TYPE_VANDERMONDE = 2,
};

/** Completion of a multiplication, for success and failure. */
typedef void (*doca_ec_task_galois_mul_completion_cb_t)(struct doca_ec_task_galois_mul *task,
							union doca_data task_user_data,
							union doca_data ctx_user_data);

/** Completion of a create task, for success and failure. */
typedef void (*doca_ec_task_create_completion_cb_t)(struct doca_ec_task_create *task,
						    union doca_data task_user_data,
						    union doca_data ctx_user_data);

/** Completion of an update task, for success and failure. */
typedef void (*doca_ec_task_update_completion_cb_t)(struct doca_ec_task_update *task,
						    union doca_data task_user_data,
						    union doca_data ctx_user_data);

/** Completion of a recover task, for success and failure. */
typedef void (*doca_ec_task_recover_completion_cb_t)(struct doca_ec_task_recover *task,
						     union doca_data task_user_data,
						     union doca_data ctx_user_data);

/* Context */

/**
 * Makes an idle context on an open device, which must outlive it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED (the
 * device lacks the engine).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_create(struct doca_dev *dev, struct doca_ec **ec);

/**
 * Frees an idle context. Destroy its matrices first.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_destroy(struct doca_ec *ec);

/** The same object as a context; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_ec_as_ctx(struct doca_ec *ec);

/* Capabilities */

/**
 * Reads the largest size of one block in bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (the device lacks the engine).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_get_max_block_size(const struct doca_devinfo *devinfo,
					    uint64_t *max_block_size);

/**
 * Reads the largest number of elements of a list; 1 means no lists.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (the device lacks the engine).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
					      uint32_t *max_buf_list_len);

/**
 * Answers DOCA_SUCCESS when the device can multiply blocks by any matrix.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_task_galois_mul_is_supported(const struct doca_devinfo *devinfo);

/**
 * Answers DOCA_SUCCESS when the device can create redundancy.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_task_create_is_supported(const struct doca_devinfo *devinfo);

/**
 * Answers DOCA_SUCCESS when the device can update redundancy.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_task_update_is_supported(const struct doca_devinfo *devinfo);

/**
 * Answers DOCA_SUCCESS when the device can recover blocks.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_task_recover_is_supported(const struct doca_devinfo *devinfo);

/*
 * Matrices
 *
 * A matrix belongs to its context and serves any number of tasks. Make it in any state; free it
 * when no task in flight uses it.
 */

/**
 * Makes the coding matrix of the given type.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown type, a count of 0, more blocks than the field
 * has room for), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_create(struct doca_ec *ec, enum doca_ec_matrix_type type,
				   size_t data_block_count, size_t rdnc_block_count,
				   struct doca_ec_matrix **matrix);

/**
 * Makes a coding matrix from data_block_count * rdnc_block_count coefficients, which are copied.
 * The one of data block i and redundancy block j is byte i * rdnc_block_count + j.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, a count of 0), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_create_from_raw(struct doca_ec *ec, uint8_t *data,
					    size_t data_block_count, size_t rdnc_block_count,
					    struct doca_ec_matrix **matrix);

/**
 * Makes the matrix that updates the redundancy after n_updates data blocks changed. Indices ascend
 * and are only read during the call. The result has 2 * n_updates + redundancy inputs and
 * redundancy outputs.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, no index, index out of range or out of order),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_create_update(struct doca_ec *ec,
					  const struct doca_ec_matrix *coding_matrix,
					  uint32_t update_indices[], size_t n_updates,
					  struct doca_ec_matrix **matrix);

/**
 * Makes the matrix that computes n_missing lost blocks from the first surviving ones. Indices
 * ascend; those from the number of data blocks on mean redundancy blocks. The result has as many
 * inputs as there are data blocks and n_missing outputs.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, no index, more than the redundancy can repair, index out
 * of range or out of order, survivors do not suffice), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_create_recover(struct doca_ec *ec,
					   const struct doca_ec_matrix *coding_matrix,
					   uint32_t missing_indices[], size_t n_missing,
					   struct doca_ec_matrix **matrix);

/**
 * Frees a matrix of any kind. No task in flight should use it; one that does fails with
 * DOCA_ERROR_INVALID_VALUE, unless it is done already.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, destroyed before).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_destroy(struct doca_ec_matrix *matrix);

/* Generic multiplication */

/**
 * Turns this task type on: callbacks and pool size. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 or too many tasks), DOCA_ERROR_BAD_STATE (not IDLE),
 * DOCA_ERROR_NOT_SUPPORTED (the device does not run it).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_galois_mul_set_conf(
	struct doca_ec *ec, doca_ec_task_galois_mul_completion_cb_t successful_task_completion_cb,
	doca_ec_task_galois_mul_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Takes a task from the pool. src_buf: one block per input of the matrix. dst_buf: room for one
 * block per output. Matrix and buffers are remembered, not referenced; sizes are looked at on
 * submit.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (context not RUNNING),
 * DOCA_ERROR_NO_MEMORY (all tasks taken).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_galois_mul_allocate_init(struct doca_ec *ec,
						   const struct doca_ec_matrix *coding_matrix,
						   const struct doca_buf *src_buf,
						   struct doca_buf *dst_buf,
						   union doca_data user_data,
						   struct doca_ec_task_galois_mul **task);

/** The same object as a generic task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_ec_task_galois_mul_as_task(struct doca_ec_task_galois_mul *task);

/** Replaces the matrix while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_galois_mul_set_coding_matrix(struct doca_ec_task_galois_mul *task,
					       const struct doca_ec_matrix *coding_matrix);

/** Reads the matrix. */
DOCA_EXPERIMENTAL
const struct doca_ec_matrix *doca_ec_task_galois_mul_get_coding_matrix(
	const struct doca_ec_task_galois_mul *task);

/** Replaces the source while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_galois_mul_set_src_buf(struct doca_ec_task_galois_mul *task,
					 const struct doca_buf *src_buf);

/** Reads the source. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_ec_task_galois_mul_get_src_buf(
	const struct doca_ec_task_galois_mul *task);

/** Replaces the destination while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_galois_mul_set_dst_buf(struct doca_ec_task_galois_mul *task,
					 struct doca_buf *dst_buf);

/** Reads the destination. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_ec_task_galois_mul_get_dst_buf(const struct doca_ec_task_galois_mul *task);

/* Redundancy: create */

/**
 * Turns this task type on: callbacks and pool size. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 or too many tasks), DOCA_ERROR_BAD_STATE (not IDLE),
 * DOCA_ERROR_NOT_SUPPORTED (the device does not run it).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_create_set_conf(
	struct doca_ec *ec, doca_ec_task_create_completion_cb_t successful_task_completion_cb,
	doca_ec_task_create_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Takes a task from the pool. original_data_blocks: all data blocks in the order of their indices.
 * rdnc_blocks: room for all redundancy blocks, filled in the order of their indices. Matrix and
 * buffers are remembered, not referenced; sizes are looked at on submit.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (context not RUNNING),
 * DOCA_ERROR_NO_MEMORY (all tasks taken).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_create_allocate_init(struct doca_ec *ec,
					       const struct doca_ec_matrix *coding_matrix,
					       const struct doca_buf *original_data_blocks,
					       struct doca_buf *rdnc_blocks,
					       union doca_data user_data,
					       struct doca_ec_task_create **task);

/** The same object as a generic task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_ec_task_create_as_task(struct doca_ec_task_create *task);

/** Replaces the matrix while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_create_set_coding_matrix(struct doca_ec_task_create *task,
					   const struct doca_ec_matrix *coding_matrix);

/** Reads the matrix. */
DOCA_EXPERIMENTAL
const struct doca_ec_matrix *doca_ec_task_create_get_coding_matrix(
	const struct doca_ec_task_create *task);

/** Replaces the source while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_create_set_original_data_blocks(struct doca_ec_task_create *task,
						  const struct doca_buf *original_data_blocks);

/** Reads the source. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_ec_task_create_get_original_data_blocks(
	const struct doca_ec_task_create *task);

/** Replaces the destination while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_create_set_rdnc_blocks(struct doca_ec_task_create *task,
					 struct doca_buf *rdnc_blocks);

/** Reads the destination. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_ec_task_create_get_rdnc_blocks(const struct doca_ec_task_create *task);

/* Redundancy: update after data blocks changed */

/**
 * Turns this task type on: callbacks and pool size. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 or too many tasks), DOCA_ERROR_BAD_STATE (not IDLE),
 * DOCA_ERROR_NOT_SUPPORTED (the device does not run it).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_update_set_conf(
	struct doca_ec *ec, doca_ec_task_update_completion_cb_t successful_task_completion_cb,
	doca_ec_task_update_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Takes a task from the pool. original_updated_and_rdnc_blocks: for each updated index the old
 * block and then the new one, after these all old redundancy blocks. updated_rdnc_blocks: room for
 * all redundancy blocks. Matrix and buffers are remembered, not referenced; sizes are looked at on
 * submit.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (context not RUNNING),
 * DOCA_ERROR_NO_MEMORY (all tasks taken).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_update_allocate_init(
	struct doca_ec *ec, const struct doca_ec_matrix *update_matrix,
	const struct doca_buf *original_updated_and_rdnc_blocks,
	struct doca_buf *updated_rdnc_blocks, union doca_data user_data,
	struct doca_ec_task_update **task);

/** The same object as a generic task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_ec_task_update_as_task(struct doca_ec_task_update *task);

/** Replaces the matrix while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_update_set_update_matrix(struct doca_ec_task_update *task,
					   const struct doca_ec_matrix *update_matrix);

/** Reads the matrix. */
DOCA_EXPERIMENTAL
const struct doca_ec_matrix *doca_ec_task_update_get_update_matrix(
	const struct doca_ec_task_update *task);

/** Replaces the source while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_update_set_original_updated_and_rdnc_blocks(
	struct doca_ec_task_update *task, const struct doca_buf *original_updated_and_rdnc_blocks);

/** Reads the source. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_ec_task_update_get_original_updated_and_rdnc_blocks(
	const struct doca_ec_task_update *task);

/** Replaces the destination while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_update_set_updated_rdnc_blocks(struct doca_ec_task_update *task,
						 struct doca_buf *updated_rdnc_blocks);

/** Reads the destination. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_ec_task_update_get_updated_rdnc_blocks(
	const struct doca_ec_task_update *task);

/* Recovery of lost blocks */

/**
 * Turns this task type on: callbacks and pool size. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 or too many tasks), DOCA_ERROR_BAD_STATE (not IDLE),
 * DOCA_ERROR_NOT_SUPPORTED (the device does not run it).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_recover_set_conf(
	struct doca_ec *ec, doca_ec_task_recover_completion_cb_t successful_task_completion_cb,
	doca_ec_task_recover_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Takes a task from the pool. available_blocks: as many blocks as there are data blocks: surviving
 * data, then surviving redundancy, in the order of their indices. recovered_data_blocks: room for
 * one block per missing index, filled in their order. Matrix and buffers are remembered, not
 * referenced; sizes are looked at on submit.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (context not RUNNING),
 * DOCA_ERROR_NO_MEMORY (all tasks taken).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_recover_allocate_init(struct doca_ec *ec,
						const struct doca_ec_matrix *recover_matrix,
						const struct doca_buf *available_blocks,
						struct doca_buf *recovered_data_blocks,
						union doca_data user_data,
						struct doca_ec_task_recover **task);

/** The same object as a generic task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_ec_task_recover_as_task(struct doca_ec_task_recover *task);

/** Replaces the matrix while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_recover_set_recover_matrix(struct doca_ec_task_recover *task,
					     const struct doca_ec_matrix *recover_matrix);

/** Reads the matrix. */
DOCA_EXPERIMENTAL
const struct doca_ec_matrix *doca_ec_task_recover_get_recover_matrix(
	const struct doca_ec_task_recover *task);

/** Replaces the source while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_recover_set_available_blocks(struct doca_ec_task_recover *task,
					       const struct doca_buf *available_blocks);

/** Reads the source. */
DOCA_EXPERIMENTAL
const struct doca_buf *doca_ec_task_recover_get_available_blocks(
	const struct doca_ec_task_recover *task);

/** Replaces the destination while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_recover_set_recovered_data_blocks(struct doca_ec_task_recover *task,
						    struct doca_buf *recovered_data_blocks);

/** Reads the destination. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_ec_task_recover_get_recovered_data(const struct doca_ec_task_recover *task);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_ERASURE_CODING_H_ */
