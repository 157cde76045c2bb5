/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_dev.h: devices and their representors
 *
 * A devinfo describes a function that could be opened; it belongs to the list it came from. A
 * device (doca_dev) is an open function and may be shared by memory maps and contexts. A
 * representor (doca_dev_rep) stands, on the card, for a function of the host.
 *
 * Threads: every call of this header may be made from any thread, at any time.
 *
 * Sizes in bytes; text sizes count the terminating NUL.
 */
#ifndef DOCA_DEV_H_
#define DOCA_DEV_H_

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_devinfo;
struct doca_devinfo_rep;
struct doca_dev;
struct doca_dev_rep;

/** Which representors a list shall hold; a bit mask, passed as int. */
enum doca_devinfo_rep_filter {
	DOCA_DEVINFO_REP_FILTER_ALL = 0,		/**< every kind */
	DOCA_DEVINFO_REP_FILTER_NET = 1 << 1,		/**< network functions */
	DOCA_DEVINFO_REP_FILTER_EMULATED = 1 << 2,	/**< emulated devices */
};

#define DOCA_DEVINFO_VUID_SIZE 128	   /**< vendor id text of a function */
#define DOCA_DEVINFO_IPV4_ADDR_SIZE 4	   /**< IPv4 address, network order */
#define DOCA_DEVINFO_IPV6_ADDR_SIZE 16	   /**< IPv6 address, network order */
#define DOCA_DEVINFO_MAC_ADDR_SIZE 6	   /**< Ethernet address */
#define DOCA_DEVINFO_IFACE_NAME_SIZE 256   /**< network interface name */
#define DOCA_DEVINFO_IBDEV_NAME_SIZE 64	   /**< RDMA device name */
#define DOCA_DEVINFO_PCI_ADDR_SIZE 13	   /**< "DDDD:BB:DD.F" */
#define DOCA_DEVINFO_PCI_BDF_SIZE 8	   /**< "BB:DD.F" */
#define DOCA_DEVINFO_REP_VUID_SIZE 128	   /**< vendor id text of a represented function */
#define DOCA_DEVINFO_REP_PCI_ADDR_SIZE 13  /**< "DDDD:BB:DD.F" of a represented function */
#define DOCA_DEVINFO_REP_PCI_BDF_SIZE 8	   /**< "BB:DD.F" of a represented function */

/* Lists */

/**
 * Takes a snapshot of the functions this process can see.
 *
 * On success *dev_list points at *nb_devs devinfo pointers in a fixed order. Array and elements
 * belong to the list and die in doca_devinfo_destroy_list(). Any number of lists may exist.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_FOUND (devices
 * cannot be enumerated, e.g. the topology file is unreadable).
 */
DOCA_STABLE
doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs);

/**
 * Frees a device list with its elements. Devices opened from it stay open.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, not a list), DOCA_ERROR_IN_USE (an element is corrupt).
 */
DOCA_STABLE
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);

/**
 * Takes a snapshot of the representors that a device manages.
 *
 * filter is a mask of enum doca_devinfo_rep_filter. The result may be empty. Array and elements
 * belong to the list and die in doca_devinfo_rep_destroy_list().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or unknown filter), DOCA_ERROR_NOT_SUPPORTED (the device
 * shows no representors of that kind; always so on the host side), DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
					  struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep);

/**
 * Frees a representor list with its elements. Representors opened from it stay open.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, not a list), DOCA_ERROR_IN_USE (an element is corrupt).
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep);

/* Open and close */

/**
 * Opens a function, or takes one more reference on it when it is open already: the same function
 * gives the same pointer every time. Each successful call needs one doca_dev_close().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or dead devinfo), DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_NOT_CONNECTED (cannot be opened), DOCA_ERROR_INITIALIZATION (too many open devices),
 * DOCA_ERROR_NOT_SUPPORTED (devinfo cannot be opened).
 */
DOCA_STABLE
doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

/**
 * Gives back one reference; the last one closes the device. A refused last close leaves the device
 * open.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, not open), DOCA_ERROR_IN_USE (a memory map, context or
 * representor still uses the device).
 */
DOCA_STABLE
doca_error_t doca_dev_close(struct doca_dev *dev);

/**
 * Asks the device to keep its resources ready for a quick restart of the program. A hint, meant to
 * be repeated while it answers DOCA_ERROR_AGAIN.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_NOT_SUPPORTED (see the capability),
 * DOCA_ERROR_AGAIN, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev);

/**
 * Opens a representor. Every call gives a handle of its own, also for the same function.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or dead devinfo), DOCA_ERROR_NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep);

/**
 * Closes a representor handle. Close it before its device.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, not open), DOCA_ERROR_IN_USE (something still uses it,
 * e.g. a comch server).
 */
DOCA_STABLE
doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);

/**
 * The devinfo of an open device, for capability queries. Borrowed: valid while the device is open,
 * never part of a list. NULL for NULL.
 */
DOCA_STABLE
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/** The devinfo of an open representor; borrowed like that of a device. NULL for NULL. */
DOCA_STABLE
struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep);

/* Properties of a function */

/**
 * Writes the PCI address as "0000:03:00.0" (lower-case hexadecimal) into a buffer of
 * DOCA_DEVINFO_PCI_ADDR_SIZE bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_OPERATING_SYSTEM.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str);

/**
 * Compares the function's PCI address with a text in either form ("0000:03:00.0" or "03:00.0",
 * domain 0000), upper or lower case. *is_equal becomes 1 or 0.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or not a PCI address), DOCA_ERROR_OPERATING_SYSTEM.
 */
DOCA_STABLE
doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo,
					    const char *pci_addr_str, uint8_t *is_equal);

/**
 * Copies the IPv4 address in network order; needs DOCA_DEVINFO_IPV4_ADDR_SIZE bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, size too small), DOCA_ERROR_NOT_FOUND (none assigned),
 * DOCA_ERROR_OPERATING_SYSTEM.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr,
					uint32_t size);

/**
 * Copies the IPv6 address in network order; needs DOCA_DEVINFO_IPV6_ADDR_SIZE bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, size too small), DOCA_ERROR_OPERATING_SYSTEM.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr,
					uint32_t size);

/**
 * Copies the Ethernet address; needs DOCA_DEVINFO_MAC_ADDR_SIZE bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, size too small), DOCA_ERROR_NOT_SUPPORTED (link layer is
 * not Ethernet).
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr,
				       uint32_t size);

/**
 * Writes the network interface name; needs DOCA_DEVINFO_IFACE_NAME_SIZE bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, size too small), DOCA_ERROR_OPERATING_SYSTEM (no
 * interface, or look-up failed).
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name,
					 uint32_t size);

/**
 * Writes the RDMA device name, e.g. "mlx5_0"; needs DOCA_DEVINFO_IBDEV_NAME_SIZE bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, or size below the constant named).
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name,
					 uint32_t size);

/**
 * Reads the InfiniBand local identifier.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (not InfiniBand),
 * DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);

/**
 * Reads the link rate in bits per second.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo,
					  uint64_t *active_rate);

/**
 * Reads the card's number for this function.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id);

/**
 * Tells physical, virtual and sub-functions apart.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo,
					    enum doca_pci_func_type *pci_func_type);

/**
 * Reads the index of a sub-function.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (not a sub-function).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index);

/**
 * Reads the operating system's index of the network interface.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_OPERATING_SYSTEM (no interface).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_iface_index(const struct doca_devinfo *devinfo,
					  uint32_t *iface_index);

/*
 * Capabilities of a function
 *
 * Each call stores 1 or 0. A 0 for a filter promises that doca_devinfo_rep_create_list() answers
 * DOCA_ERROR_NOT_SUPPORTED for that filter.
 */

/**
 * May the device plug emulated devices into the host?
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
							   uint8_t *is_hotplug_manager);

/**
 * Can the device hold notifications back to send fewer of them?
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_notification_moderation_supported(
	const struct doca_devinfo *devinfo, uint8_t *is_notification_moderation_supported);

/**
 * Does doca_dev_accelerate_resource_reclaim() work on this device?
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
	const struct doca_devinfo *devinfo, uint8_t *is_accelerate_resource_reclaim);

/**
 * May representors be listed with DOCA_DEVINFO_REP_FILTER_ALL?
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (no representors at all),
 * DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo,
							  uint8_t *filter_all_supported);

/**
 * May representors be listed with DOCA_DEVINFO_REP_FILTER_NET?
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (no representors at all),
 * DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo,
							  uint8_t *filter_net_supported);

/**
 * May representors be listed with DOCA_DEVINFO_REP_FILTER_EMULATED?
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (no representors at all),
 * DOCA_ERROR_DRIVER.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(const struct doca_devinfo *devinfo,
							       uint8_t *filter_emulated_supported);

/* Properties of a representor */

/**
 * Writes the vendor's unique id of the represented function; needs DOCA_DEVINFO_REP_VUID_SIZE
 * bytes. The text stays the same over restarts.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, size too small).
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid,
				       uint32_t size);

/**
 * Writes the PCI address of the represented function as the host sees it, into
 * DOCA_DEVINFO_REP_PCI_ADDR_SIZE bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_UNEXPECTED.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep,
					       char *pci_addr_str);

/**
 * Tells whether the represented function is physical, virtual or a sub-function.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
						enum doca_pci_func_type *pci_func_type);

/**
 * Stores 1 when the represented function was plugged in by the card, else 0.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep,
					     uint8_t *is_hotplug);

/**
 * Writes the name of the representor's network interface; needs DOCA_DEVINFO_IFACE_NAME_SIZE bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, size too small), DOCA_ERROR_OPERATING_SYSTEM (no
 * interface).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep,
					     char *iface_name, uint32_t size);

/**
 * Reads the card's number for the represented function.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep,
					  uint16_t *vhca_id);

/**
 * Compares the represented function's host-side PCI address with a text; forms as in
 * doca_devinfo_is_equal_pci_addr(). This is how a program on the card finds "its" host function.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL or not a PCI address), DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_UNEXPECTED.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
						const char *pci_addr_str, uint8_t *is_equal);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_DEV_H_ */
