/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_eth_txq.h: Ethernet transmit queues
 *
 * A transmit queue is a context that sends whole frames (without check sequence) through one port;
 * see doca_eth_txq_cpu_data_path.h for the tasks.
 *
 * Properties can be set while the context is IDLE, unless said otherwise.
 *
 * Threads: as for every context, one thread at a time. Capability queries: any thread.
 */
#ifndef DOCA_ETH_TXQ_H_
#define DOCA_ETH_TXQ_H_

#include <stdint.h>
#include <stddef.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_eth_txq;

/** Kind of a transmit queue. */
enum doca_eth_txq_type {
	DOCA_ETH_TXQ_TYPE_REGULAR = 0,
};

/** Who makes the packets. */
enum doca_eth_txq_data_path_type {
	DOCA_ETH_TXQ_DATA_PATH_TYPE_CPU = 0,
	DOCA_ETH_TXQ_DATA_PATH_TYPE_GPU = 1,
};

/* Context */

/**
 * Makes an idle queue on an open device, which must outlive it, for max_burst_size packets at once.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 or above the capability), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_create(struct doca_dev *dev, uint32_t max_burst_size,
				 struct doca_eth_txq **eth_txq);

/**
 * Frees an idle queue and detaches it from its progress engine.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_destroy(struct doca_eth_txq *eth_txq);

/** The same object as a context; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_eth_txq_as_doca_ctx(struct doca_eth_txq *eth_txq);

/* Properties */

/**
 * Chooses the kind of the queue; there is one.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown type), DOCA_ERROR_BAD_STATE (not IDLE),
 * DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_set_type(struct doca_eth_txq *eth_txq, enum doca_eth_txq_type type);

/**
 * Replaces the burst size given at creation.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_set_max_burst_size(struct doca_eth_txq *eth_txq, uint32_t max_burst_size);

/**
 * Sets the largest number of elements of a packet's buffer list; 1 by default.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_set_max_send_buf_list_len(struct doca_eth_txq *eth_txq,
						    uint32_t max_send_buf_list_len);

/**
 * Sets how many 32-bit words of metadata go with each packet; 0 by default.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_set_metadata_num(struct doca_eth_txq *eth_txq, uint8_t metadata_num);

/**
 * Sets the bytes of data per segment of large sends; 1500 by default. A task may overrule it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_set_mss(struct doca_eth_txq *eth_txq, uint16_t mss);

/**
 * Sets the longest header of large sends in bytes; 74 by default.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_set_max_lso_header_size(struct doca_eth_txq *eth_txq,
						  uint16_t max_lso_header_size);

/**
 * Lets the queue fill in IPv4 header checksums (not 0) or not (0, default). A task may overrule it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_set_l3_chksum_offload(struct doca_eth_txq *eth_txq,
						uint8_t enable_l3_chksum);

/**
 * Lets the queue fill in TCP and UDP checksums (not 0) or not (0, default). A task may overrule it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_set_l4_chksum_offload(struct doca_eth_txq *eth_txq,
						uint8_t enable_l4_chksum);

/**
 * Allows sends that wait for a point in time.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not IDLE),
 * DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_set_wait_on_time_offload(struct doca_eth_txq *eth_txq);

/**
 * Gives a RUNNING queue a number of the program's choice.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not RUNNING),
 * DOCA_ERROR_ALREADY_EXIST (number in use).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_apply_queue_id(struct doca_eth_txq *eth_txq, uint16_t queue_id);

/**
 * Reads the number of a started queue when the program chose none.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_get_flow_queue_id(struct doca_eth_txq *eth_txq, uint16_t *flow_queue_id);

/**
 * Turns a time in nanoseconds into the value that a waiting send takes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (waiting sends are off),
 * DOCA_ERROR_BAD_STATE (not started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_calculate_timestamp(struct doca_eth_txq *eth_txq, uint64_t timestamp_ns,
					      uint64_t *wait_on_time_value);

/* Capabilities */

/**
 * Reads the largest burst in packets for a list length and a header size of large sends (0: none).
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_cap_get_max_burst_size(const struct doca_devinfo *devinfo,
						 uint32_t max_send_buf_list_len,
						 uint16_t max_lso_header_size,
						 uint32_t *max_burst_size);

/**
 * Reads the largest number of elements of a packet's buffer list.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_cap_get_max_send_buf_list_len(const struct doca_devinfo *devinfo,
							uint32_t *max_send_buf_list_len);

/**
 * Reads the most words of metadata per packet.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_cap_get_max_metadata_num(const struct doca_devinfo *devinfo,
						   uint8_t *max_metadata_num);

/**
 * Reads the longest header of a large send in bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_cap_get_max_lso_header_size(const struct doca_devinfo *devinfo,
						      uint16_t *max_lso_header_size);

/**
 * Reads the most data of a large send in bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_cap_get_max_lso_msg_size(const struct doca_devinfo *devinfo,
						   uint32_t *max_lso_msg_size);

/**
 * Answers DOCA_SUCCESS when queues of this type can run on this datapath.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL, unknown type).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_cap_is_type_supported(const struct doca_devinfo *devinfo,
						enum doca_eth_txq_type type,
						enum doca_eth_txq_data_path_type data_path_type);

/**
 * Answers DOCA_SUCCESS when the device fills in IPv4 header checksums.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_cap_is_l3_chksum_offload_supported(const struct doca_devinfo *devinfo);

/**
 * Answers DOCA_SUCCESS when the device fills in TCP and UDP checksums.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_cap_is_l4_chksum_offload_supported(const struct doca_devinfo *devinfo);

/**
 * Reads in which way sends can wait for a point in time.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_txq_cap_get_wait_on_time_offload_supported(
	const struct doca_devinfo *devinfo, enum doca_eth_wait_on_time_type *wait_on_time_mode);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_ETH_TXQ_H_ */
