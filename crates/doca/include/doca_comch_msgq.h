/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_comch_msgq.h: message queues between processor and accelerator
 *
 * A queue that producers and consumers use without a connection.
 *
 * Threads: one thread at a time per queue.
 */
#ifndef DOCA_COMCH_MSGQ_H_
#define DOCA_COMCH_MSGQ_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_dpa;
struct doca_comch_consumer;
struct doca_comch_msgq;
struct doca_comch_producer;

/**
 * Makes a stopped queue on an open device, which must outlive it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_create(struct doca_dev *dev, struct doca_comch_msgq **msgq);

/**
 * Frees a stopped queue.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (started, or producers or consumers
 * are left).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_destroy(struct doca_comch_msgq *msgq);

/**
 * Sets how many consumers the queue may have. Only while stopped.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_max_num_consumers(struct doca_comch_msgq *msgq,
						   uint32_t max_num_consumers);

/**
 * Sets how many producers the queue may have. Only while stopped.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_max_num_producers(struct doca_comch_msgq *msgq,
						   uint32_t max_num_producers);

/**
 * Freezes the settings; producers and consumers can be made.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_start(struct doca_comch_msgq *msgq);

/**
 * Makes the queue configurable again.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (producers or consumers are left).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_stop(struct doca_comch_msgq *msgq);

/**
 * Makes a consumer of a started queue; it takes immediate data only.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not started), DOCA_ERROR_NO_MEMORY
 * (as many as configured exist).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_consumer_create(struct doca_comch_msgq *msgq,
					     struct doca_comch_consumer **consumer);

/**
 * Makes a producer of a started queue.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not started), DOCA_ERROR_NO_MEMORY
 * (as many as configured exist).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_producer_create(struct doca_comch_msgq *msgq,
					     struct doca_comch_producer **producer);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_COMCH_MSGQ_H_ */
