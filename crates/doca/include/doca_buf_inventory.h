/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_buf_inventory.h: inventories: pools of buffer descriptors
 *
 * An inventory holds a fixed number of descriptors that can be aimed at any region of any started
 * map. Running out is an ordinary condition (DOCA_ERROR_NO_MEMORY). Descriptors go back with
 * doca_buf_dec_refcount().
 *
 * Threads: one thread at a time per inventory.
 */
#ifndef DOCA_BUF_INVENTORY_H_
#define DOCA_BUF_INVENTORY_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_buf_inventory;
struct doca_mmap;

/* Life cycle */

/**
 * Makes a stopped inventory of num_elements descriptors. Free it with doca_buf_inventory_destroy().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or 0), DOCA_ERROR_NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory);

/**
 * Stops the inventory if needed and frees it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (a descriptor is out; the inventory
 * stays).
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);

/**
 * Opens the inventory for allocation.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);

/**
 * Closes it. Descriptors that are out stay valid and can still be given back.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/**
 * Adds descriptors; those in use are not disturbed.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or 0), DOCA_ERROR_BAD_STATE (not started),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory, uint32_t num_elements);

/* Take a descriptor */

/**
 * Takes a descriptor for the region [addr, addr + len) of a map with the data window [data, data +
 * data_len); one reference, no neighbours. For a map created from an export the addresses are the
 * exporter's.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, region outside of the map, window outside of the region),
 * DOCA_ERROR_BAD_STATE (inventory or map not started), DOCA_ERROR_NO_MEMORY (inventory is empty).
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory,
						struct doca_mmap *mmap, void *addr, size_t len,
						void *data, size_t data_len, struct doca_buf **buf);

/**
 * Takes an empty buffer, i.e. a destination: region [addr, addr + len), data length 0.
 *
 * Errors: those of doca_buf_inventory_buf_get_by_args().
 */
static inline doca_error_t doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inventory,
							      struct doca_mmap *mmap, void *addr,
							      size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

/**
 * Takes a full buffer, i.e. a source: region and data are both [data, data + data_len).
 *
 * Errors: those of doca_buf_inventory_buf_get_by_args().
 */
static inline doca_error_t doca_buf_inventory_buf_get_by_data(struct doca_buf_inventory *inventory,
							      struct doca_mmap *mmap, void *data,
							      size_t data_len,
							      struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, data, data_len, data, data_len,
						  buf);
}

/**
 * Takes descriptors that look at the same bytes as src_buf; the head of a list duplicates the list.
 * No byte is copied.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (source is not a head),
 * DOCA_ERROR_BAD_STATE (inventory or map not started), DOCA_ERROR_NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory,
					const struct doca_buf *src_buf, struct doca_buf **dst_buf);

/*
 * Aim a descriptor anew
 *
 * Same map, same inventory, reference count and neighbours stay. Not while a task with the buffer
 * is in flight.
 */

/**
 * Region [addr, addr + len), data [data, data + data_len).
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, region outside of the map, window outside of the region).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_reuse_by_args(struct doca_buf *buf, void *addr, size_t len,
						  void *data, size_t data_len);

/**
 * Region [addr, addr + len), no data: a destination.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, region outside of the map, window outside of the region).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_reuse_by_addr(struct doca_buf *buf, void *addr, size_t len);

/**
 * Region and data [data, data + data_len): a source.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, region outside of the map, window outside of the region).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_reuse_by_data(struct doca_buf *buf, void *data,
						  size_t data_len);

/* Properties */

/**
 * Stores a value for the program, in any state.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory,
					      union doca_data user_data);

/**
 * Reads the stored value; 0 when never set.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inventory,
					      union doca_data *user_data);

/**
 * Reads the total number of descriptors, expansions included.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inventory,
						 uint32_t *num_of_elements);

/**
 * Reads how many descriptors can be taken now.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inventory,
						      uint32_t *num_of_free_elements);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_BUF_INVENTORY_H_ */
