/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_eth_txq_cpu_data_path.h: sending on the processor
 *
 * Send tasks take one frame each; large send (LSO) tasks take a header and data that is cut into
 * segments of the maximum segment size, each with the header in front. Both exist singly and in
 * batches. Success means that the frame has left the queue. Header lists, their bytes and the
 * buffers stay the program's and must live until completion.
 *
 * Threads: those of the queue's context.
 */
#ifndef DOCA_ETH_TXQ_CPU_DATA_PATH_H_
#define DOCA_ETH_TXQ_CPU_DATA_PATH_H_

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_types.h>
#include <doca_eth_txq.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_task;
struct doca_task_batch;
struct doca_eth_txq;
struct doca_eth_txq_task_send;
struct doca_eth_txq_task_lso_send;

/** Checksums filled in by the queue; a bit mask, passed as uint16_t. */
enum doca_eth_txq_ol_flags {
	DOCA_ETH_TXQ_OL_FLAGS_L3_CSUM = 1, /**< IPv4 header checksum */
	DOCA_ETH_TXQ_OL_FLAGS_L4_CSUM = 2, /**< TCP or UDP checksum */
};

/** Completion of a send task, for success and failure. */
typedef void (*doca_eth_txq_task_send_completion_cb_t)(struct doca_eth_txq_task_send *task_send,
						       union doca_data task_user_data,
						       union doca_data ctx_user_data);

/** Completion of a large send task, for success and failure. */
typedef void (*doca_eth_txq_task_lso_send_completion_cb_t)(
	struct doca_eth_txq_task_lso_send *task_lso_send, union doca_data task_user_data,
	union doca_data ctx_user_data);

/** Completion of a batch of sends; the arrays have tasks_num entries. */
typedef void (*doca_eth_txq_task_batch_send_completion_cb_t)(
	struct doca_task_batch *task_batch, uint16_t tasks_num, union doca_data ctx_user_data,
	union doca_data task_batch_user_data, union doca_data *task_user_data_array,
	struct doca_buf **pkt_array, doca_error_t *status_array);

/** Completion of a batch of large sends; the arrays have tasks_num entries. */
typedef void (*doca_eth_txq_task_batch_lso_send_completion_cb_t)(
	struct doca_task_batch *task_batch, uint16_t tasks_num, union doca_data ctx_user_data,
	union doca_data task_batch_user_data, union doca_data *task_user_data_array,
	struct doca_buf **pkt_payload_array, struct doca_gather_list **headers_array,
	doca_error_t *status_array);

/** Word metadata_index of packet packet_index in the flat array of a batch. */
#define doca_eth_txq_task_batch_metadata_array_get_metadata(metadata_array, metadata_num, \
							    packet_index, metadata_index) \
	((metadata_array)[(packet_index) * (metadata_num) + (metadata_index)])

/* Configuration */

/**
 * Sets the callbacks and the number of send tasks. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 or unknown number), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_send_set_conf(
	struct doca_eth_txq *eth_txq, doca_eth_txq_task_send_completion_cb_t task_completion_cb,
	doca_eth_txq_task_send_completion_cb_t task_error_cb, uint32_t task_send_num);

/**
 * Sets the callbacks and the number of large send tasks. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 or unknown number), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_lso_send_set_conf(
	struct doca_eth_txq *eth_txq,
	doca_eth_txq_task_lso_send_completion_cb_t task_completion_cb,
	doca_eth_txq_task_lso_send_completion_cb_t task_error_cb, uint32_t task_lso_send_num);

/**
 * Sets the callbacks and the number of batches of sends, each with at most the given number of
 * tasks. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 or unknown number), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_batch_send_set_conf(
	struct doca_eth_txq *eth_txq, enum doca_task_batch_max_tasks_number max_tasks_number,
	uint16_t num_task_batches,
	doca_eth_txq_task_batch_send_completion_cb_t success_completion_cb,
	doca_eth_txq_task_batch_send_completion_cb_t error_completion_cb);

/**
 * Sets the callbacks and the number of batches of large sends, each with at most the given number
 * of tasks. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 or unknown number), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_batch_lso_send_set_conf(
	struct doca_eth_txq *eth_txq, enum doca_task_batch_max_tasks_number max_tasks_number,
	uint16_t num_task_batches,
	doca_eth_txq_task_batch_lso_send_completion_cb_t success_completion_cb,
	doca_eth_txq_task_batch_lso_send_completion_cb_t error_completion_cb);

/**
 * Adds that many send tasks to the pool of a RUNNING queue.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0), DOCA_ERROR_BAD_STATE (not RUNNING),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_send_num_expand(struct doca_eth_txq *eth_txq,
					       uint32_t task_send_num);

/**
 * Adds that many large send tasks to the pool of a RUNNING queue.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0), DOCA_ERROR_BAD_STATE (not RUNNING),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_lso_send_num_expand(struct doca_eth_txq *eth_txq,
						   uint32_t task_lso_send_num);

/**
 * Adds that many batches of sends to the pool of a RUNNING queue.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0), DOCA_ERROR_BAD_STATE (not RUNNING),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_batch_send_num_expand(struct doca_eth_txq *eth_txq,
						     uint16_t task_batches_num);

/**
 * Adds that many batches of large sends to the pool of a RUNNING queue.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0), DOCA_ERROR_BAD_STATE (not RUNNING),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_batch_lso_send_num_expand(struct doca_eth_txq *eth_txq,
							 uint16_t task_batches_num);

/* Send task */

/**
 * Takes a send task for the frame in the data of pkt, which is remembered, not referenced.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not RUNNING), DOCA_ERROR_NO_MEMORY
 * (all tasks taken), DOCA_ERROR_NOT_CONNECTED (no progress engine), DOCA_ERROR_NOT_SUPPORTED (other
 * datapath).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_send_allocate_init(struct doca_eth_txq *eth_txq,
						  struct doca_buf *pkt, union doca_data user_data,
						  struct doca_eth_txq_task_send **task_send);

/** Replaces the frame while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_eth_txq_task_send_set_pkt(struct doca_eth_txq_task_send *task_send, struct doca_buf *pkt);

/**
 * Reads the buffer of the frame.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_send_get_pkt(const struct doca_eth_txq_task_send *task_send,
					    struct doca_buf **pkt);

/**
 * Reads where the task's metadata words are to be written.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_send_get_metadata_array(struct doca_eth_txq_task_send *task_send,
						       uint32_t **metadata_array);

/** Sets the checksums (enum doca_eth_txq_ol_flags) that the queue fills in for this task. */
DOCA_EXPERIMENTAL
void doca_eth_txq_task_send_set_ol_flags(struct doca_eth_txq_task_send *task_send,
					 uint16_t ol_flags);

/** The same object as a generic task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_eth_txq_task_send_as_doca_task(struct doca_eth_txq_task_send *task_send);

/* Large send task */

/**
 * Takes a large send task: the header pieces in headers, the data in pkt_payload.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not RUNNING), DOCA_ERROR_NO_MEMORY
 * (all tasks taken), DOCA_ERROR_NOT_CONNECTED (no progress engine), DOCA_ERROR_NOT_SUPPORTED (other
 * datapath).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_lso_send_allocate_init(
	struct doca_eth_txq *eth_txq, struct doca_buf *pkt_payload,
	struct doca_gather_list *headers, union doca_data user_data,
	struct doca_eth_txq_task_lso_send **task_lso_send);

/** Replaces the data while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_eth_txq_task_lso_send_set_pkt_payload(struct doca_eth_txq_task_lso_send *task_lso_send,
						struct doca_buf *pkt_payload);

/** Replaces the header list while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_eth_txq_task_lso_send_set_headers(struct doca_eth_txq_task_lso_send *task_lso_send,
					    struct doca_gather_list *headers);

/**
 * Reads the buffer of the data.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_lso_send_get_pkt_payload(
	const struct doca_eth_txq_task_lso_send *task_lso_send, struct doca_buf **pkt_payload);

/**
 * Reads the header list.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_lso_send_get_headers(
	const struct doca_eth_txq_task_lso_send *task_lso_send, struct doca_gather_list **headers);

/**
 * Reads where the task's metadata words are to be written.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_lso_send_get_metadata_array(
	struct doca_eth_txq_task_lso_send *task_lso_send, uint32_t **metadata_array);

/** Sets the bytes of data per segment for this task. */
DOCA_EXPERIMENTAL
void doca_eth_txq_task_lso_send_set_mss(struct doca_eth_txq_task_lso_send *task_lso_send,
					uint16_t mss);

/** Sets the checksums (enum doca_eth_txq_ol_flags) that the queue fills in for this task. */
DOCA_EXPERIMENTAL
void doca_eth_txq_task_lso_send_set_ol_flags(struct doca_eth_txq_task_lso_send *task_lso_send,
					     uint16_t ol_flags);

/** The same object as a generic task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_eth_txq_task_lso_send_as_doca_task(
	struct doca_eth_txq_task_lso_send *task_lso_send);

/*
 * Batch of sends
 *
 * The arrays belong to the library, are filled by the program before submit and are valid until the
 * batch is freed.
 */

/**
 * Takes a batch of tasks_num sends with the arrays for packets and user data.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, tasks_num 0 or above the configured maximum),
 * DOCA_ERROR_BAD_STATE (not RUNNING), DOCA_ERROR_NO_MEMORY (all batches taken),
 * DOCA_ERROR_NOT_CONNECTED (no progress engine), DOCA_ERROR_NOT_SUPPORTED (other datapath).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_batch_send_allocate(struct doca_eth_txq *eth_txq, uint16_t tasks_num,
						   union doca_data task_batch_user_data,
						   struct doca_buf ***pkt_array,
						   union doca_data **task_user_data_array,
						   struct doca_task_batch **task_batch);

/**
 * Reads the array of metadata words, flat; see the macro above.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_batch_send_get_metadata_array(
	struct doca_task_batch *task_batch_send, uint32_t **metadata_array);

/**
 * Reads the array of checksum flags.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_batch_send_get_ol_flags_array(
	struct doca_task_batch *task_batch_send, uint16_t **ol_flags_array);

/*
 * Batch of large sends
 *
 * The arrays belong to the library, are filled by the program before submit and are valid until the
 * batch is freed.
 */

/**
 * Takes a batch of tasks_num large sends with the arrays for data, header lists and user data.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, tasks_num 0 or above the configured maximum),
 * DOCA_ERROR_BAD_STATE (not RUNNING), DOCA_ERROR_NO_MEMORY (all batches taken),
 * DOCA_ERROR_NOT_CONNECTED (no progress engine), DOCA_ERROR_NOT_SUPPORTED (other datapath).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_batch_lso_send_allocate(struct doca_eth_txq *eth_txq,
						       uint16_t tasks_num,
						       union doca_data task_batch_user_data,
						       struct doca_buf ***pkt_payload_array,
						       struct doca_gather_list ***headers_array,
						       union doca_data **task_user_data_array,
						       struct doca_task_batch **task_batch);

/**
 * Reads the array of metadata words, flat; see the macro above.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_batch_lso_send_get_metadata_array(
	struct doca_task_batch *task_batch_lso_send, uint32_t **metadata_array);

/**
 * Reads the array of segment sizes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_batch_lso_send_get_mss_array(
	struct doca_task_batch *task_batch_lso_send, uint16_t **mss_array);

/**
 * Reads the array of checksum flags.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_task_batch_lso_send_get_ol_flags_array(
	struct doca_task_batch *task_batch_lso_send, uint16_t **ol_flags_array);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_ETH_TXQ_CPU_DATA_PATH_H_ */
