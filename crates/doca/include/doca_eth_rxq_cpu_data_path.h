/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_eth_rxq_cpu_data_path.h: receiving on the processor
 *
 * Receive tasks of the regular type; receive events, one by one or in batches, of the managed type.
 * What the getters tell is valid inside the callback.
 *
 * Buffers of events carry one reference. Dropping it gives the memory back to the queue; for a
 * batch use either that or doca_eth_rxq_event_batch_managed_recv_pkt_array_free(), not both.
 *
 * Threads: those of the queue's context.
 */
#ifndef DOCA_ETH_RXQ_CPU_DATA_PATH_H_
#define DOCA_ETH_RXQ_CPU_DATA_PATH_H_

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_types.h>
#include <doca_eth_rxq.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_task;
struct doca_eth_rxq;
struct doca_eth_rxq_task_recv;
struct doca_eth_rxq_event_managed_recv;
struct doca_eth_rxq_event_batch_managed_recv;

/** Completion of a receive task, for success and failure. */
typedef void (*doca_eth_rxq_task_recv_completion_cb_t)(struct doca_eth_rxq_task_recv *task_recv,
						       union doca_data task_user_data,
						       union doca_data ctx_user_data);

/** A packet arrived, or (error handler) one was lost: pkt is NULL then. */
typedef void (*doca_eth_rxq_event_managed_recv_handler_cb_t)(
	struct doca_eth_rxq_event_managed_recv *event_managed_recv, struct doca_buf *pkt,
	union doca_data event_user_data);

/** Packets arrived, or (error handler) were lost: no packets and a NULL array then. */
typedef void (*doca_eth_rxq_event_batch_managed_recv_handler_cb_t)(
	struct doca_eth_rxq_event_batch_managed_recv *event_batch_managed_recv,
	uint16_t events_number, union doca_data event_batch_user_data, doca_error_t status,
	struct doca_buf **pkt_array);

/** Word metadata_index of packet packet_index in the flat array of an event batch. */
#define doca_eth_rxq_event_batch_managed_recv_metadata_array_get_metadata( \
	metadata_array, metadata_num, packet_index, metadata_index) \
	((metadata_array)[(packet_index) * (metadata_num) + (metadata_index)])

/*
 * Configuration
 *
 * Only while IDLE. A managed queue needs one of the two registrations.
 */

/**
 * Regular type: sets the callbacks and the number of receive tasks.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 tasks), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_task_recv_set_conf(
	struct doca_eth_rxq *eth_rxq, doca_eth_rxq_task_recv_completion_cb_t task_completion_cb,
	doca_eth_rxq_task_recv_completion_cb_t task_error_cb, uint32_t task_recv_num);

/**
 * Managed type: sets the handlers for single packets.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_managed_recv_register(
	struct doca_eth_rxq *eth_rxq, union doca_data user_data,
	doca_eth_rxq_event_managed_recv_handler_cb_t success_event_handler,
	doca_eth_rxq_event_managed_recv_handler_cb_t error_event_handler);

/**
 * Managed type: sets the handlers for groups of packets, between min and max in number.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown number, min above max), DOCA_ERROR_BAD_STATE (not
 * IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_batch_managed_recv_register(
	struct doca_eth_rxq *eth_rxq, enum doca_event_batch_events_number events_number_max,
	enum doca_event_batch_events_number events_number_min, union doca_data user_data,
	doca_eth_rxq_event_batch_managed_recv_handler_cb_t success_event_batch_handler,
	doca_eth_rxq_event_batch_managed_recv_handler_cb_t error_event_batch_handler);

/* Receive task */

/**
 * Takes a receive task; pkt, a buffer or list, takes one packet. It is remembered, not referenced.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not RUNNING), DOCA_ERROR_NO_MEMORY
 * (all tasks taken), DOCA_ERROR_NOT_CONNECTED (no progress engine), DOCA_ERROR_NOT_SUPPORTED (other
 * datapath).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_task_recv_allocate_init(struct doca_eth_rxq *eth_rxq,
						  struct doca_buf *pkt, union doca_data user_data,
						  struct doca_eth_rxq_task_recv **task_recv);

/** Replaces the buffer while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_eth_rxq_task_recv_set_pkt(struct doca_eth_rxq_task_recv *task_recv, struct doca_buf *pkt);

/**
 * Reads the buffer.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_task_recv_get_pkt(const struct doca_eth_rxq_task_recv *task_recv,
					    struct doca_buf **pkt);

/** The same object as a generic task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_eth_rxq_task_recv_as_doca_task(struct doca_eth_rxq_task_recv *task_recv);

/**
 * Reads 1 when the IP header checksum was found right, else 0.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_task_recv_get_l3_ok(const struct doca_eth_rxq_task_recv *task_recv,
					      uint8_t *l3_ok);

/**
 * Reads 1 when the TCP or UDP checksum was found right, else 0.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_task_recv_get_l4_ok(const struct doca_eth_rxq_task_recv *task_recv,
					      uint8_t *l4_ok);

/**
 * Reads the metadata words; they belong to the library.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_task_recv_get_metadata_array(
	const struct doca_eth_rxq_task_recv *task_recv, const uint32_t **metadata_array);

/**
 * Reads the flow tag.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_task_recv_get_flow_tag(const struct doca_eth_rxq_task_recv *task_recv,
						 uint32_t *flow_tag);

/**
 * Reads the hash.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_task_recv_get_rx_hash(const struct doca_eth_rxq_task_recv *task_recv,
						uint32_t *rx_hash);

/**
 * Reads the arrival time in nanoseconds.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_task_recv_get_timestamp(const struct doca_eth_rxq_task_recv *task_recv,
						  uint64_t *timestamp);

/* Receive event */

/**
 * Result of this event.
 *
 * Errors: the reason of a loss.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_managed_recv_get_status(
	const struct doca_eth_rxq_event_managed_recv *event_managed_recv);

/**
 * Reads 1 when the IP header checksum was found right, else 0.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_managed_recv_get_l3_ok(
	const struct doca_eth_rxq_event_managed_recv *event_managed_recv, uint8_t *l3_ok);

/**
 * Reads 1 when the TCP or UDP checksum was found right, else 0.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_managed_recv_get_l4_ok(
	const struct doca_eth_rxq_event_managed_recv *event_managed_recv, uint8_t *l4_ok);

/**
 * Reads the metadata words; they belong to the library.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_managed_recv_get_metadata_array(
	const struct doca_eth_rxq_event_managed_recv *event_managed_recv,
	const uint32_t **metadata_array);

/**
 * Reads the flow tag.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_managed_recv_get_flow_tag(
	const struct doca_eth_rxq_event_managed_recv *event_managed_recv, uint32_t *flow_tag);

/**
 * Reads the hash.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_managed_recv_get_rx_hash(
	const struct doca_eth_rxq_event_managed_recv *event_managed_recv, uint32_t *rx_hash);

/**
 * Reads the arrival time in nanoseconds.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_managed_recv_get_timestamp(
	const struct doca_eth_rxq_event_managed_recv *event_managed_recv, uint64_t *timestamp);

/** The queue of the event, as a context. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_eth_rxq_event_managed_recv_get_ctx(
	const struct doca_eth_rxq_event_managed_recv *event_managed_recv);

/*
 * Receive event batch
 *
 * Arrays have one entry per packet and belong to the library.
 */

/**
 * Reads per packet, whether the IP header checksum was found right.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_batch_managed_recv_get_l3_ok_array(
	const struct doca_eth_rxq_event_batch_managed_recv *event_batch_managed_recv,
	const uint8_t **l3_ok_array);

/**
 * Reads per packet, whether the TCP or UDP checksum was found right.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_batch_managed_recv_get_l4_ok_array(
	const struct doca_eth_rxq_event_batch_managed_recv *event_batch_managed_recv,
	const uint8_t **l4_ok_array);

/**
 * Reads the metadata words of all packets, flat; see the macro above.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_batch_managed_recv_get_metadata_array(
	const struct doca_eth_rxq_event_batch_managed_recv *event_batch_managed_recv,
	const uint32_t **metadata_array);

/**
 * Reads the flow tags.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_batch_managed_recv_get_flow_tag_array(
	const struct doca_eth_rxq_event_batch_managed_recv *event_batch_managed_recv,
	const uint32_t **flow_tag_array);

/**
 * Reads the hashes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_batch_managed_recv_get_rx_hash_array(
	const struct doca_eth_rxq_event_batch_managed_recv *event_batch_managed_recv,
	const uint32_t **rx_hash_array);

/**
 * Reads the arrival times in nanoseconds.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_event_batch_managed_recv_get_timestamp_array(
	const struct doca_eth_rxq_event_batch_managed_recv *event_batch_managed_recv,
	const uint64_t **timestamp_array);

/** The queue of the batch, as a context. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_eth_rxq_event_batch_managed_recv_get_ctx(
	const struct doca_eth_rxq_event_batch_managed_recv *event_batch_managed_recv);

/**
 * Gives all packet buffers of one batch back to their queue: at any later time, from any callback,
 * also after the queue was stopped.
 */
DOCA_EXPERIMENTAL
void doca_eth_rxq_event_batch_managed_recv_pkt_array_free(struct doca_buf **pkt_array);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_ETH_RXQ_CPU_DATA_PATH_H_ */
