/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_comch_consumer.h: the receiving end of the data path
 *
 * A consumer posts empty buffers and gets them back filled by producers of the other end, in
 * posting order. It is a context of its own: doca_ctx_start() answers DOCA_ERROR_IN_PROGRESS, and
 * RUNNING comes with the progress of both ends. The peer is told when it is RUNNING and when it is
 * gone.
 *
 * Threads: as for every context, one thread at a time; it may be another one than that of the
 * connection's owner. Capability queries: any thread.
 */
#ifndef DOCA_COMCH_CONSUMER_H_
#define DOCA_COMCH_CONSUMER_H_

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
struct doca_mmap;
struct doca_task;
struct doca_dpa_thread;
struct doca_comch_connection;
struct doca_comch_consumer;
struct doca_comch_consumer_completion;
struct doca_comch_consumer_task_post_recv;

/* Handles of accelerator programs; for source compatibility only. */
typedef uint64_t doca_dpa_dev_comch_consumer_t;
typedef uint64_t doca_dpa_dev_comch_consumer_completion_t;

/** Completion of a posted receive, for success and failure. */
typedef void (*doca_comch_consumer_task_post_recv_completion_cb_t)(
	struct doca_comch_consumer_task_post_recv *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/* Context */

/**
 * Makes an idle consumer on an established connection, at either end. Its receive buffers lie in
 * buf_mmap, a started map with DOCA_ACCESS_FLAG_PCI_READ_WRITE that must outlive it. Destroy the
 * consumer before the server or client.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_BAD_STATE (connection
 * not established), DOCA_ERROR_NOT_PERMITTED (peer cannot do it, or map without the right).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_create(struct doca_comch_connection *comch_connection,
					struct doca_mmap *buf_mmap,
					struct doca_comch_consumer **consumer);

/**
 * Frees an idle consumer; the peer gets its expired event.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (not IDLE), DOCA_ERROR_INITIALIZATION.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer);

/**
 * Reads the consumer's id on its connection, which the peer gets in its events; never 0 or 0xffff.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer, uint32_t *id);

/** The same object as a context; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer);

/* Capabilities */

/**
 * Answers DOCA_SUCCESS when consumers can run on the device.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_is_supported(const struct doca_devinfo *devinfo);

/**
 * Reads the largest number of receive tasks of one consumer.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
						       uint32_t *max_num_tasks);

/**
 * Reads the largest receive buffer in bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
						      uint32_t *max_buf_size);

/**
 * Reads the largest number of elements of a buffer list; 1 means no lists.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_buf_list_len);

/**
 * Reads how many consumers one connection can have.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo,
						       uint32_t *max_consumers);

/**
 * Reads the most immediate data of one message in bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_imm_data_len);

/* Properties */

/**
 * Sets how much immediate data this consumer takes, in bytes. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, above the capability), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer,
						  uint32_t imm_data_len);

/**
 * Reads how much immediate data it takes; the capability by default.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer,
						  uint32_t *imm_data_len);

/* Receive task */

/**
 * Sets the callbacks and the number of receive tasks. Mandatory, only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0, above the capability), DOCA_ERROR_BAD_STATE (not
 * IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_task_post_recv_set_conf(
	struct doca_comch_consumer *consumer,
	doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
	doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb,
	uint32_t num_post_recv_tasks);

/**
 * Takes a receive task. buf is an empty buffer in the consumer's map, NULL when only immediate data
 * is expected; it is remembered, not referenced.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, buffer of another map), DOCA_ERROR_BAD_STATE (not
 * RUNNING), DOCA_ERROR_NO_MEMORY (all tasks taken).
 */
DOCA_STABLE
doca_error_t doca_comch_consumer_task_post_recv_alloc_init(
	struct doca_comch_consumer *consumer, struct doca_buf *buf,
	struct doca_comch_consumer_task_post_recv **task);

/** Reads the buffer. */
DOCA_STABLE
struct doca_buf *doca_comch_consumer_task_post_recv_get_buf(
	const struct doca_comch_consumer_task_post_recv *task);

/** Replaces the buffer while the task is not in flight. */
DOCA_STABLE
void doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task,
						struct doca_buf *buf);

/** The sending producer's number; valid after success. */
DOCA_STABLE
uint32_t doca_comch_consumer_task_post_recv_get_producer_id(
	const struct doca_comch_consumer_task_post_recv *task);

/** The immediate data received; valid after success, until the task is freed or posted again. */
DOCA_STABLE
const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(
	const struct doca_comch_consumer_task_post_recv *task);

/** The length of the immediate data received, 0 for none; valid after success. */
DOCA_STABLE
uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(
	const struct doca_comch_consumer_task_post_recv *task);

/** The same object as a generic task; NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_comch_consumer_task_post_recv_as_task(
	struct doca_comch_consumer_task_post_recv *task);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_COMCH_CONSUMER_H_ */
