/*
 * Types that several families share.
 */
#ifndef DOCA_TYPES_H_
#define DOCA_TYPES_H_

#include <stdint.h>

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** File descriptor that becomes readable when something happened: for poll, epoll and the like. */
typedef int doca_event_handle_t;

/** No descriptor. */
#define doca_event_invalid_handle (-1)

/** Older name of the same thing. */
typedef doca_event_handle_t doca_notification_handle_t;

/** Bytes of a GID. */
#define DOCA_GID_BYTE_LENGTH 16

/** A value of the program that travels with an object; the library never looks inside. */
union doca_data {
	void *ptr;
	uint64_t u64;
};

/** A piece of memory in a list of pieces. */
struct doca_gather_list {
	void *addr;			/**< first byte */
	uint64_t len;			/**< bytes */
	struct doca_gather_list *next;	/**< next piece, or NULL */
};

/**
 * What may be done with memory; flags may be combined. A device of this side can always read. "PCI" is the
 * other side of the pair host and card; its two access flags exclude each other.
 */
enum doca_access_flag {
	DOCA_ACCESS_FLAG_LOCAL_READ_ONLY = 0,		  /**< devices of this side read */
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE = (1 << 0),	  /**< devices of this side read and write */
	DOCA_ACCESS_FLAG_RDMA_READ = (1 << 1),		  /**< RDMA peers read */
	DOCA_ACCESS_FLAG_RDMA_WRITE = (1 << 2),		  /**< RDMA peers write */
	DOCA_ACCESS_FLAG_RDMA_ATOMIC = (1 << 3),	  /**< RDMA peers do atomic operations */
	DOCA_ACCESS_FLAG_PCI_READ_ONLY = (1 << 4),	  /**< the other side reads */
	DOCA_ACCESS_FLAG_PCI_READ_WRITE = (1 << 5),	  /**< the other side reads and writes */
	DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING = (1 << 6), /**< accesses may overtake each other */
};

/** Kind of a PCI function. */
enum doca_pci_func_type {
	DOCA_PCI_FUNC_TYPE_PF = 0, /**< physical function */
	DOCA_PCI_FUNC_TYPE_VF = 1, /**< virtual function */
	DOCA_PCI_FUNC_TYPE_SF = 2, /**< scalable function */
};

/* Integers whose bytes stand in big-endian order. */
typedef __be16 doca_be16_t;
typedef __be32 doca_be32_t;
typedef __be64 doca_be64_t;

/** How a transmit queue holds packets back until a point in time. */
enum doca_eth_wait_on_time_type {
	DOCA_ETH_WAIT_ON_TIME_TYPE_NONE = 0,   /**< not at all */
	DOCA_ETH_WAIT_ON_TIME_TYPE_NATIVE = 1, /**< the device itself */
	DOCA_ETH_WAIT_ON_TIME_TYPE_DPDK = 2,   /**< with the help of DPDK */
};

/** Largest transfer unit of a connection. */
enum doca_mtu_size {
	DOCA_MTU_SIZE_256_BYTES = 0,
	DOCA_MTU_SIZE_512_BYTES = 1,
	DOCA_MTU_SIZE_1K_BYTES = 2,
	DOCA_MTU_SIZE_2K_BYTES = 3,
	DOCA_MTU_SIZE_4K_BYTES = 4,
	DOCA_MTU_SIZE_RAW_ETHERNET = 5,
};

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_TYPES_H_ */
