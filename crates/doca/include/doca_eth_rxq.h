/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_eth_rxq.h: Ethernet receive queues
 *
 * A receive queue is a context that gets whole frames (without check sequence) of one port. Nothing
 * arrives before a flow rule points at it (doca_flow.h). How packets are delivered is up to the
 * type: into buffers that the program posts as tasks (regular), or in events with buffers of the
 * queue's own memory (managed memory pool); see doca_eth_rxq_cpu_data_path.h.
 *
 * Properties can be set while the context is IDLE, unless said otherwise.
 *
 * Threads: as for every context, one thread at a time. Capability queries: any thread.
 */
#ifndef DOCA_ETH_RXQ_H_
#define DOCA_ETH_RXQ_H_

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
struct doca_mmap;
struct doca_eth_rxq;

/** How a receive queue delivers packets. */
enum doca_eth_rxq_type {
	DOCA_ETH_RXQ_TYPE_CYCLIC = 0,	       /**< ring in memory, for accelerators only */
	DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL = 1, /**< events with buffers of the queue */
	DOCA_ETH_RXQ_TYPE_REGULAR = 2,	       /**< tasks with buffers of the program; default */
};

/** Who handles the packets. */
enum doca_eth_rxq_data_path_type {
	DOCA_ETH_RXQ_DATA_PATH_TYPE_CPU = 0,
	DOCA_ETH_RXQ_DATA_PATH_TYPE_GPU = 1,
};

/* Context */

/**
 * Makes an idle queue on an open device, which must outlive it, for frames of at most
 * max_packet_size bytes and max_burst_size packets at once.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 or above the capability), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_create(struct doca_dev *dev, uint32_t max_burst_size,
				 uint32_t max_packet_size, struct doca_eth_rxq **eth_rxq);

/**
 * Frees an idle queue and detaches it from its progress engine.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_destroy(struct doca_eth_rxq *eth_rxq);

/** The same object as a context; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_eth_rxq_as_doca_ctx(struct doca_eth_rxq *eth_rxq);

/* Properties */

/**
 * Chooses how packets are delivered; regular by default.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown type), DOCA_ERROR_BAD_STATE (not IDLE),
 * DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_set_type(struct doca_eth_rxq *eth_rxq, enum doca_eth_rxq_type type);

/**
 * Replaces the burst size given at creation.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_set_max_burst_size(struct doca_eth_rxq *eth_rxq, uint32_t max_burst_size);

/**
 * Replaces the frame size given at creation.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_set_max_packet_size(struct doca_eth_rxq *eth_rxq,
					      uint32_t max_packet_size);

/**
 * Sets how many 32-bit words of metadata come with each packet; 0 by default.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_set_metadata_num(struct doca_eth_rxq *eth_rxq, uint8_t metadata_num);

/**
 * Switches the flow tag of each packet on (not 0) or off (0, default).
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_set_flow_tag(struct doca_eth_rxq *eth_rxq, uint8_t enable_flow_tag);

/**
 * Switches the hash of each packet on (not 0) or off (0, default).
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_set_rx_hash(struct doca_eth_rxq *eth_rxq, uint8_t enable_rx_hash);

/**
 * Switches the arrival time of each packet, in nanoseconds, on (not 0) or off (0, default).
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_set_timestamp(struct doca_eth_rxq *eth_rxq, uint8_t enable_timestamp);

/**
 * Sets how many bytes stay free before the frame in each buffer; managed type only, 0 by default.
 * Headroom, frame and tailroom together may have 8 KiB.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_set_packet_headroom(struct doca_eth_rxq *eth_rxq, uint16_t head_size);

/**
 * Sets how many bytes stay free behind the frame in each buffer; managed type only, 0 by default.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_set_packet_tailroom(struct doca_eth_rxq *eth_rxq, uint16_t tail_size);

/**
 * Sets the largest number of elements of a posted buffer list; regular type only, 1 by default.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_set_max_recv_buf_list_len(struct doca_eth_rxq *eth_rxq,
						    uint32_t max_recv_buf_list_len);

/**
 * Gives the queue its packet memory: part of a started map that outlives the queue. Managed and
 * cyclic types only; see doca_eth_rxq_estimate_packet_buf_size().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or out of range), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_set_pkt_buf(struct doca_eth_rxq *eth_rxq, struct doca_mmap *mmap,
				      uint32_t mmap_offset, uint32_t mmap_len);

/**
 * Holds notifications back until a time in microseconds or a number of packets is reached. Only
 * after start.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not started),
 * DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_set_notification_moderation(struct doca_eth_rxq *eth_rxq,
						      uint16_t period_usec, uint16_t comp_count);

/**
 * Gives a RUNNING queue the number by which flow rules know it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not RUNNING),
 * DOCA_ERROR_ALREADY_EXIST (number in use).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_apply_queue_id(struct doca_eth_rxq *eth_rxq, uint16_t queue_id);

/**
 * Reads the number by which flow rules know a started queue when the program chose none.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_get_flow_queue_id(struct doca_eth_rxq *eth_rxq, uint16_t *flow_queue_id);

/**
 * Reads the card's own number of a started queue.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_get_hw_queue_num(struct doca_eth_rxq *eth_rxq, uint32_t *queue_num);

/* Capabilities */

/**
 * Reads the largest burst in packets.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_cap_get_max_burst_size(const struct doca_devinfo *devinfo,
						 uint32_t *max_burst_size);

/**
 * Reads the most words of metadata per packet.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_cap_get_max_metadata_num(const struct doca_devinfo *devinfo,
						   uint8_t *max_metadata_num);

/**
 * Reads the largest headroom in bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_cap_get_max_packet_headroom(const struct doca_devinfo *devinfo,
						      uint16_t *max_packet_headroom);

/**
 * Reads the largest tailroom in bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_cap_get_max_packet_tailroom(const struct doca_devinfo *devinfo,
						      uint16_t *max_packet_tailroom);

/**
 * Reads the largest number of elements of a posted buffer list.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_cap_get_max_recv_buf_list_len(const struct doca_devinfo *devinfo,
							uint32_t *max_recv_buf_list_len);

/**
 * Reads the largest frame in bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_cap_get_max_packet_size(const struct doca_devinfo *devinfo,
						  uint32_t *max_packet_size);

/**
 * Answers DOCA_SUCCESS when queues of this type can run on this datapath.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL, unknown type).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_cap_is_type_supported(const struct doca_devinfo *devinfo,
						enum doca_eth_rxq_type type,
						enum doca_eth_rxq_data_path_type data_path_type);

/**
 * Computes how many bytes doca_eth_rxq_set_pkt_buf() should get for a rate in MB/s and a time in
 * microseconds that a packet is held, given frame, burst, head and tail sizes and the logarithm of
 * the largest coalesced packet. Any thread.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown type, out of range), DOCA_ERROR_NOT_SUPPORTED
 * (regular type).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_eth_rxq_estimate_packet_buf_size(enum doca_eth_rxq_type type, uint32_t rate,
						   uint16_t pkt_max_time, uint32_t max_packet_size,
						   uint32_t max_burst_size,
						   uint8_t log_max_lro_pkt_sz, uint16_t head_size,
						   uint16_t tail_size, uint32_t *buf_size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_ETH_RXQ_H_ */
