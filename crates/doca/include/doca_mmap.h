/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_mmap.h: memory maps
 *
 * A memory map makes one range of the program's memory reachable for devices, and can hand it to
 * the other side of the PCIe link or to an RDMA peer as a small descriptor.
 *
 *   created -> configured (set_*, add_dev) -> started (start) -> configured (stop) -> gone (destroy)
 *   created from an export: as if started, cannot be configured; stop makes it useless
 *
 * Access masks are made of enum doca_access_flag. A map without explicit permissions has
 * DOCA_ACCESS_FLAG_LOCAL_READ_WRITE. The library never owns the memory: keep it alive while the map
 * is started.
 *
 * Threads: one thread at a time per map, unless doca_mmap_enable_thread_safety() was called.
 * Capability queries: any thread.
 */
#ifndef DOCA_MMAP_H_
#define DOCA_MMAP_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_mmap;
struct doca_dev;
struct doca_devinfo;

/**
 * Told by doca_mmap_destroy() that the library is done with the range: its address, its exact length
 * and the pointer given along with the callback. A function type; cb and &cb both fit.
 */
typedef void(doca_mmap_memrange_free_cb_t)(void *addr, size_t len, void *cookie);

/** Number of a map on a data-path accelerator; for source compatibility only. */
typedef uint32_t doca_dpa_dev_mmap_t;

/* Life cycle */

/**
 * Makes an empty map: no range, no device, default permissions, user data 0. Free it with
 * doca_mmap_destroy().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_mmap_create(struct doca_mmap **mmap);

/**
 * Stops the map if needed, drops its descriptors, frees it and then calls the free callback.
 * Allowed in every state. Not thread safe, even with thread safety on.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (a buffer still points into the
 * map, or it cannot be unregistered; the map stays).
 */
DOCA_STABLE
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/**
 * Checks the configuration and registers the range with every device of the map. From here on
 * exports and buffers work and all setters are refused.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, no range), DOCA_ERROR_NOT_PERMITTED (created from an
 * export, or started), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_DRIVER (the range has a hole or cannot be
 * pinned).
 */
DOCA_STABLE
doca_error_t doca_mmap_start(struct doca_mmap *mmap);

/**
 * Returns to the configurable state. Descriptors of this map die, and maps imported from them fail
 * from now on.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (a buffer still points into the
 * map).
 */
DOCA_STABLE
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/**
 * Adds a device before start. The device must stay open while it is a member.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (started, or created from an
 * export), DOCA_ERROR_NO_MEMORY (device limit reached), DOCA_ERROR_ALREADY_EXIST,
 * DOCA_ERROR_NOT_SUPPORTED (device of a foreign protection domain).
 */
DOCA_STABLE
doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * Takes a device out again, before start.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (started, or created from an
 * export), DOCA_ERROR_NOT_FOUND (not a member).
 */
DOCA_STABLE
doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * Lets several threads use the map and make buffers in it; cannot be undone. Buffers are no longer
 * counted, so doca_mmap_get_num_bufs() says nothing and destroy and stop no longer refuse. Call it
 * before start, or right after creating the map from an export; the call itself is not thread safe.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (started, or buffers exist).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap);

/*
 * Configuration
 *
 * Only before start, never on a map created from an export.
 */

/**
 * Sets the one range of the map, once per object. No alignment is asked for; heap, stack and file
 * mappings are all fine.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, zero length, range wraps), DOCA_ERROR_NOT_PERMITTED (set
 * before, or created from an export), DOCA_ERROR_BAD_STATE (started).
 */
DOCA_STABLE
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

/**
 * Sets the range to len bytes of a dmabuf from dmabuf_offset on, addressed from addr. The
 * descriptor stays the program's.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_NOT_PERMITTED (set before), DOCA_ERROR_BAD_STATE
 * (started), DOCA_ERROR_NOT_SUPPORTED (no dmabuf on this machine).
 */
DOCA_STABLE
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr,
					   size_t dmabuf_offset, size_t len);

/**
 * Reads the range, in every state. For a map created from an export it is the exporter's address
 * and length: arguments for buffer calls, never a pointer to follow.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (no range yet).
 */
DOCA_STABLE
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len);

/**
 * Sets the access mask.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, undefined bits, both PCI rights, relaxed ordering with a
 * PCI right), DOCA_ERROR_NOT_PERMITTED (created from an export), DOCA_ERROR_BAD_STATE (started).
 */
DOCA_STABLE
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

/**
 * Sets the callback that doca_mmap_destroy() runs on its thread, at most once, and only if the map
 * was started after this call.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (created from an export),
 * DOCA_ERROR_BAD_STATE (started).
 */
DOCA_STABLE
doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb,
				   void *opaque);

/**
 * Stores a value for the program.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (started).
 */
DOCA_STABLE
doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data);

/**
 * Changes how many devices the map may hold; before the first start.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0, or fewer than added), DOCA_ERROR_NOT_PERMITTED (was
 * started).
 */
DOCA_STABLE
doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices);

/**
 * Replaces the secret that later exports for dev carry; the token is copied.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, token too long), DOCA_ERROR_NOT_FOUND (device not in the
 * map), DOCA_ERROR_NOT_PERMITTED (exported, or created from an export), DOCA_ERROR_BAD_STATE
 * (started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_export_access_token(struct doca_mmap *mmap, const struct doca_dev *dev,
					       const uint8_t *token, size_t token_sz);

/* Queries */

/**
 * Reads the stored value; 0 when never set.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data);

/**
 * Reads how many devices the map may hold.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap, uint32_t *max_num_devices);

/**
 * Counts the buffers that point into the map, members of lists one by one.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs);

/**
 * Stores 1 once the map was exported, else 0.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported);

/**
 * Stores 1 when the map was created from an export, else 0.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export);

/**
 * Reads the memory key of the range on one device, in host byte order.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, not started, device not in the map).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_mkey(const struct doca_mmap *mmap, const struct doca_dev *dev,
				uint32_t *mkey);

/* Export and import */

/**
 * Makes the descriptor with which a process on the other side of the PCIe link reaches the range.
 * It is plain bytes, belongs to the map and lives until stop or destroy; the call may be repeated.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (not started, created from an
 * export, or no PCI right in the mask), DOCA_ERROR_NOT_FOUND (device not in the map),
 * DOCA_ERROR_NOT_SUPPORTED (device cannot export), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
				  const void **export_desc, size_t *export_desc_len);

/**
 * Makes the descriptor with which an RDMA peer reaches the range; rules as for
 * doca_mmap_export_pci(). A map imported over PCI may be exported on, when the exporter granted
 * RDMA rights.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (not started, or no RDMA right
 * in the mask), DOCA_ERROR_NOT_FOUND (device not in the map), DOCA_ERROR_NOT_SUPPORTED,
 * DOCA_ERROR_NO_MEMORY, DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
				   const void **export_desc, size_t *export_desc_len);

/**
 * Builds a map over the exporter's memory, usable at once and reached through dev; rights are those
 * the exporter granted. user_data may be NULL. The descriptor is only read during the call. Free
 * the map with doca_mmap_destroy().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, or the descriptor is damaged or dead),
 * DOCA_ERROR_NOT_SUPPORTED (device cannot import), DOCA_ERROR_NOT_PERMITTED, DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
					  size_t export_desc_len, struct doca_dev *dev,
					  struct doca_mmap **mmap);

/* Capabilities */

/**
 * Stores 1 when the device can export to the other side of the PCIe link, else 0.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo,
						   uint8_t *mmap_export);

/**
 * Stores 1 when the device can reach memory exported by the other side, else 0.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo,
							       uint8_t *from_export);

/**
 * Reads the largest export token in bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_cap_get_max_export_access_token_size(const struct doca_devinfo *devinfo,
							    size_t *max_sz);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_MMAP_H_ */
