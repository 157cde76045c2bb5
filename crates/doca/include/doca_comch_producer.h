/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_comch_producer.h: the sending end of the data path
 *
 * A producer sends buffers and small immediate data over a connection to a consumer of the other
 * end. It is a context of its own, RUNNING at once, and may be connected to another progress engine
 * than its server or client. Sends of one producer to one consumer arrive in order.
 *
 * Submit answers DOCA_ERROR_AGAIN while the consumer has no receive posted; that clears without any
 * progress of this program.
 *
 * Threads: as for every context, one thread at a time; it may be another one than that of the
 * connection's owner. Capability queries: any thread.
 */
#ifndef DOCA_COMCH_PRODUCER_H_
#define DOCA_COMCH_PRODUCER_H_

#include <stddef.h>
#include <stdint.h>

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
struct doca_dpa_thread;
struct doca_dpa_completion;
struct doca_comch_connection;
struct doca_comch_producer;
struct doca_comch_producer_task_send;

/** Handle of accelerator programs; for source compatibility only. */
typedef uint64_t doca_dpa_dev_comch_producer_t;

/** Completion of a send, for success and failure. */
typedef void (*doca_comch_producer_task_send_completion_cb_t)(
	struct doca_comch_producer_task_send *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/* Context */

/**
 * Makes an idle producer on an established connection, at either end. Destroy it before the server
 * or client.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_BAD_STATE (connection
 * not established), DOCA_ERROR_NOT_PERMITTED (peer cannot do it).
 */
DOCA_STABLE
doca_error_t doca_comch_producer_create(struct doca_comch_connection *comch_connection,
					struct doca_comch_producer **producer);

/**
 * Frees an idle producer.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (not IDLE), DOCA_ERROR_INITIALIZATION.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer);

/**
 * Reads the producer's number on its connection, which the consumer sees with each message.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_producer_get_id(const struct doca_comch_producer *producer, uint32_t *id);

/** The same object as a context; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_producer_as_ctx(struct doca_comch_producer *producer);

/* Capabilities */

/**
 * Answers DOCA_SUCCESS when producers can run on the device.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_is_supported(const struct doca_devinfo *devinfo);

/**
 * Reads the largest pool of send tasks of one producer.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
						       uint32_t *max_num_tasks);

/**
 * Reads the most bytes of one send.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
						      uint32_t *max_buf_size);

/**
 * Reads the largest number of elements of a buffer list; 1 means no lists.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_buf_list_len);

/**
 * Reads how many producers one connection can have.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *devinfo,
						       uint32_t *max_producers);

/* Send task */

/**
 * Sets the callbacks and the pool size. Mandatory, only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0, above the capability), DOCA_ERROR_BAD_STATE (not
 * IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_producer_task_send_set_conf(
	struct doca_comch_producer *producer,
	doca_comch_producer_task_send_completion_cb_t task_completion_cb,
	doca_comch_producer_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/**
 * Takes a send task for one consumer. buf is the data, NULL for none; imm_data holds up to 32 bytes
 * that travel along, NULL and 0 for none; one of the two is needed. Immediate data is copied on
 * submit; the buffer is remembered, not referenced, and may be in any number of sends at once.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, too much immediate data, unusable buffer),
 * DOCA_ERROR_BAD_STATE (not RUNNING), DOCA_ERROR_NO_MEMORY (all tasks taken).
 */
DOCA_STABLE
doca_error_t doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer,
						      const struct doca_buf *buf, uint8_t *imm_data,
						      uint32_t imm_data_len, uint32_t consumer_id,
						      struct doca_comch_producer_task_send **task);

/** Reads the buffer. */
DOCA_STABLE
const struct doca_buf *doca_comch_producer_task_send_get_buf(
	const struct doca_comch_producer_task_send *task);

/** Replaces the buffer while the task is not in flight. */
DOCA_STABLE
void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task,
					   const struct doca_buf *buf);

/** Reads the receiving consumer's id. */
DOCA_STABLE
uint32_t doca_comch_producer_task_send_get_consumer_id(
	const struct doca_comch_producer_task_send *task);

/** Replaces the receiving consumer while the task is not in flight. */
DOCA_STABLE
void doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task,
						   const uint32_t consumer_id);

/** Reads the pointer to the immediate data. */
DOCA_STABLE
uint8_t *doca_comch_producer_task_send_get_imm_data(
	const struct doca_comch_producer_task_send *task);

/** Reads the length of the immediate data in bytes. */
DOCA_STABLE
uint32_t doca_comch_producer_task_send_get_imm_data_len(
	const struct doca_comch_producer_task_send *task);

/** Replaces the immediate data while the task is not in flight. */
DOCA_STABLE
void doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task,
						uint8_t *imm_data, uint32_t imm_data_len);

/** The same object as a generic task; NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_COMCH_PRODUCER_H_ */
