/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_sha.h: the hash engine
 *
 * SHA-1, SHA-256 and SHA-512 over the data of a buffer or list, in one task or piece by piece.
 *
 * The digest, in the byte order of the standard, goes into the tail room of the destination (one
 * buffer, not a list), whose data length grows by the digest length.
 *
 *   algorithm   digest = least room in the destination   block of a partial hash
 *   SHA-1       20 bytes                                 64 bytes
 *   SHA-256     32 bytes                                 64 bytes
 *   SHA-512     64 bytes                                 128 bytes
 *
 * A failed task does not stop the context.
 *
 * Threads: as for every context, one thread at a time. Capability queries on a devinfo: any thread.
 */
#ifndef DOCA_SHA_H_
#define DOCA_SHA_H_

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
struct doca_sha;
struct doca_sha_task_hash;
struct doca_sha_task_partial_hash;

/** Hash function. */
enum doca_sha_algorithm {
	DOCA_SHA_ALGORITHM_SHA1 = 0,
	DOCA_SHA_ALGORITHM_SHA256 = 1,
	DOCA_SHA_ALGORITHM_SHA512 = 2,
};

/** Completion of a hash task, for success and failure. */
typedef void (*doca_sha_task_hash_completion_cb_t)(struct doca_sha_task_hash *task,
						   union doca_data task_user_data,
						   union doca_data ctx_user_data);

/** Completion of one piece of a partial hash, for success and failure. */
typedef void (*doca_sha_task_partial_hash_completion_cb_t)(struct doca_sha_task_partial_hash *task,
							   union doca_data task_user_data,
							   union doca_data ctx_user_data);

/* Context */

/**
 * Makes an idle hash context on an open device, which must outlive it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_create(struct doca_dev *dev, struct doca_sha **sha);

/**
 * Frees an idle context and detaches it from its progress engine.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_destroy(struct doca_sha *sha);

/** The same object as a context; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_sha_as_ctx(struct doca_sha *sha);

/* Capabilities */

/**
 * Answers DOCA_SUCCESS when the device can run hash tasks with this algorithm.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL or unknown algorithm).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_task_hash_get_supported(struct doca_devinfo const *devinfo,
						  enum doca_sha_algorithm algorithm);

/**
 * Answers DOCA_SUCCESS when the device can run partial hash tasks with this algorithm.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL or unknown algorithm).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_task_partial_hash_get_supported(struct doca_devinfo const *devinfo,
							  enum doca_sha_algorithm algorithm);

/**
 * Reads the largest number of elements of a source list.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or unknown algorithm), DOCA_ERROR_NOT_SUPPORTED (the
 * device has no hash engine).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_list_buf_num_elem(struct doca_devinfo const *devinfo,
						    uint32_t *max_list_buf_num_elem);

/**
 * Reads the largest number of source bytes of one task.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or unknown algorithm), DOCA_ERROR_NOT_SUPPORTED (the
 * device has no hash engine).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_src_buf_size(struct doca_devinfo const *devinfo,
					       uint64_t *max_src_buf_size);

/**
 * Reads the least room a destination must offer: the digest length.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or unknown algorithm), DOCA_ERROR_NOT_SUPPORTED (the
 * device has no hash engine).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_min_dst_buf_size(struct doca_devinfo const *devinfo,
					       enum doca_sha_algorithm algorithm,
					       uint32_t *min_dst_buf_size);

/**
 * Reads the size of which every piece but the last must be a multiple.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or unknown algorithm), DOCA_ERROR_NOT_SUPPORTED (the
 * device has no hash engine).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_partial_hash_block_size(struct doca_devinfo const *devinfo,
						      enum doca_sha_algorithm algorithm,
						      uint32_t *partial_block_size);

/**
 * Reads the largest pool of either task type of this context.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_num_tasks(struct doca_sha *sha, uint32_t *max_num_tasks);

/* Hash task: one digest per task */

/**
 * Sets the callbacks and the pool size, given as its logarithm to base 2 (0: one task). Only while
 * IDLE; at least one of the two task types must be configured.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, too many tasks), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_conf(struct doca_sha *sha,
					 doca_sha_task_hash_completion_cb_t task_completion_cb,
					 doca_sha_task_hash_completion_cb_t task_error_cb,
					 uint8_t log_num_tasks);

/**
 * Takes a task from the pool. The buffers are remembered, not referenced; keep them until
 * completion.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown algorithm), DOCA_ERROR_BAD_STATE (context not
 * RUNNING), DOCA_ERROR_NO_MEMORY (all tasks taken).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
					   struct doca_buf const *src_buf, struct doca_buf *dst_buf,
					   union doca_data user_data,
					   struct doca_sha_task_hash **task);

/** The same object as a generic task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_sha_task_hash_as_task(struct doca_sha_task_hash *task);

/**
 * Replaces the source while the task is not in flight.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_src(struct doca_sha_task_hash *task,
					struct doca_buf const *src_buf);

/** Reads the source. */
DOCA_EXPERIMENTAL
struct doca_buf const *doca_sha_task_hash_get_src(struct doca_sha_task_hash const *task);

/**
 * Replaces the destination while the task is not in flight.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_dst(struct doca_sha_task_hash *task, struct doca_buf *dst_buf);

/** Reads the destination. */
DOCA_EXPERIMENTAL
struct doca_buf const *doca_sha_task_hash_get_dst(struct doca_sha_task_hash const *task);

/**
 * Replaces the algorithm while the task is not in flight.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown algorithm).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_algorithm(struct doca_sha_task_hash *task,
					      enum doca_sha_algorithm algorithm);

/** Reads the algorithm. */
DOCA_EXPERIMENTAL
enum doca_sha_algorithm doca_sha_task_hash_get_algorithm(struct doca_sha_task_hash const *task);

/*
 * Partial hash task: one digest over many submits
 *
 * The task carries the running hash. For each piece: set the source, mark it final if it is the
 * last, submit, wait for the callback. Pieces before the last leave the destination alone. Any
 * number of tasks may be under way at once.
 */

/**
 * Sets the callbacks and the pool size, given as its logarithm to base 2 (0: one task). Only while
 * IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, too many tasks), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_conf(
	struct doca_sha *sha, doca_sha_task_partial_hash_completion_cb_t task_completion_cb,
	doca_sha_task_partial_hash_completion_cb_t task_error_cb, uint8_t log_num_tasks);

/**
 * Takes a task from the pool with the source of the first piece. The buffers are remembered, not
 * referenced; keep them until completion.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown algorithm), DOCA_ERROR_BAD_STATE (context not
 * RUNNING), DOCA_ERROR_NO_MEMORY (all tasks taken).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_alloc_init(struct doca_sha *sha,
						   enum doca_sha_algorithm algorithm,
						   struct doca_buf const *src_buf,
						   struct doca_buf *dst_buf,
						   union doca_data user_data,
						   struct doca_sha_task_partial_hash **task);

/** The same object as a generic task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_sha_task_partial_hash_as_task(struct doca_sha_task_partial_hash *task);

/**
 * Sets the source of the next piece, between any two submits.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_src(struct doca_sha_task_partial_hash *task,
						struct doca_buf const *src_buf);

/** Reads the source. */
DOCA_EXPERIMENTAL
struct doca_buf const *doca_sha_task_partial_hash_get_src(
	struct doca_sha_task_partial_hash const *task);

/**
 * Replaces the destination before the first piece.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (a hash is under way).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_dst(struct doca_sha_task_partial_hash *task,
						struct doca_buf *dst_buf);

/** Reads the destination. */
DOCA_EXPERIMENTAL
struct doca_buf const *doca_sha_task_partial_hash_get_dst(
	struct doca_sha_task_partial_hash const *task);

/**
 * Replaces the algorithm before the first piece.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown algorithm), DOCA_ERROR_BAD_STATE (a hash is under
 * way).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_algorithm(struct doca_sha_task_partial_hash *task,
						      enum doca_sha_algorithm algorithm);

/** Reads the algorithm. */
DOCA_EXPERIMENTAL
enum doca_sha_algorithm doca_sha_task_partial_hash_get_algorithm(
	struct doca_sha_task_partial_hash const *task);

/**
 * Marks the next submit as the last piece; its size need not be a multiple of the block.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (in flight).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_is_final_buf(struct doca_sha_task_partial_hash *task);

/** 1 once the task was marked final, until reset; else 0. */
DOCA_EXPERIMENTAL
uint8_t doca_sha_task_partial_hash_get_is_final(struct doca_sha_task_partial_hash const *task);

/** 1 once the destination holds the digest, until reset; else 0. */
DOCA_EXPERIMENTAL
uint8_t doca_sha_task_partial_hash_get_has_result(struct doca_sha_task_partial_hash const *task);

/**
 * Forgets the running hash and both marks; source, destination and algorithm stay. Not while in
 * flight. Needed before a finished task starts anew.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_reset(struct doca_sha_task_partial_hash *task);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_SHA_H_ */
