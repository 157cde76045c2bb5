/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_rdma_bridge.h: the door to verbs
 *
 * Hands protection domains and memory keys over to programs that use verbs themselves. A device
 * without verbs answers DOCA_ERROR_NOT_SUPPORTED to all four.
 *
 * Threads: any thread for devices; one thread at a time per buffer and map.
 */
#ifndef DOCA_RDMA_BRIDGE_H_
#define DOCA_RDMA_BRIDGE_H_

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_dev;
struct doca_mmap;
struct ibv_pd;

/**
 * Reads the protection domain of an open device; it belongs to the device.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (no verbs).
 */
DOCA_STABLE
doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd);

/**
 * Opens a device from a protection domain of the program. Close it with doca_dev_close().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (no verbs).
 */
DOCA_STABLE
doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd, struct doca_dev **dev);

/**
 * Reads the memory key of a buffer on a device.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (no verbs).
 */
DOCA_STABLE
doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf, struct doca_dev *dev,
					   uint32_t *mkey);

/**
 * Reads the memory key of a map in a protection domain.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (no verbs).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap, struct ibv_pd *pd,
						    uint32_t *mkey);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_RDMA_BRIDGE_H_ */
