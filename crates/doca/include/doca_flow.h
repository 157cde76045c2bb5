/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_flow.h: flow rules: which packets go to which receive queues
 *
 * The part of packet steering that Ethernet receive queues need: ports, a pipe that matches every
 * packet of a port, and entries that spread packets over queues, drop them and attach metadata.
 * Members named reserved stand for richer rules; they must be zero, else the rule answers
 * DOCA_ERROR_NOT_SUPPORTED.
 *
 * Order: configure and doca_flow_init(); a port per device; a pipe per port with its entries; at
 * the end the same backwards. Packets of a port without a pipe are dropped.
 *
 * Threads: set-up and tear-down calls belong to one thread at a time; each pipe queue to one thread
 * at a time.
 */
#ifndef DOCA_FLOW_H_
#define DOCA_FLOW_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_flow_action_descs;
struct doca_flow_cfg;
struct doca_flow_monitor;
struct doca_flow_pipe;
struct doca_flow_pipe_cfg;
struct doca_flow_pipe_entry;
struct doca_flow_port;
struct doca_flow_port_cfg;
struct doca_flow_target;

/** Kind of a pipe. Only the basic kind is there. */
enum doca_flow_pipe_type {
	DOCA_FLOW_PIPE_BASIC = 0,
	DOCA_FLOW_PIPE_CONTROL = 1,
	DOCA_FLOW_PIPE_LPM = 2,
	DOCA_FLOW_PIPE_CT = 3,
	DOCA_FLOW_PIPE_ACL = 4,
	DOCA_FLOW_PIPE_ORDERED_LIST = 5,
	DOCA_FLOW_PIPE_HASH = 6,
};

/** Where a packet goes. */
enum doca_flow_fwd_type {
	DOCA_FLOW_FWD_NONE = 0,
	DOCA_FLOW_FWD_RSS = 1, /**< to receive queues, spread by a hash */
	DOCA_FLOW_FWD_PORT = 2,
	DOCA_FLOW_FWD_PIPE = 3,
	DOCA_FLOW_FWD_DROP = 4, /**< nowhere */
	DOCA_FLOW_FWD_TARGET = 5,
	DOCA_FLOW_FWD_ORDERED_LIST_PIPE = 6,
	DOCA_FLOW_FWD_HASH_PIPE = 7,
	DOCA_FLOW_FWD_CHANGEABLE = 100,
};

/** Whether a resource is used by one rule or by many. */
enum doca_flow_resource_type {
	DOCA_FLOW_RESOURCE_TYPE_NONE = 0,
	DOCA_FLOW_RESOURCE_TYPE_SHARED = 1,
	DOCA_FLOW_RESOURCE_TYPE_NON_SHARED = 2,
};

/** Header fields that go into the hash; a bit mask. */
enum doca_flow_rss_type {
	DOCA_FLOW_RSS_IPV4 = 1,
	DOCA_FLOW_RSS_IPV6 = 2,
	DOCA_FLOW_RSS_UDP = 4,
	DOCA_FLOW_RSS_TCP = 8,
	DOCA_FLOW_RSS_ESP = 16,
};

/** Hash function. */
enum doca_flow_rss_hash_function {
	DOCA_FLOW_RSS_HASH_FUNCTION_TOEPLITZ = 0,
	DOCA_FLOW_RSS_HASH_FUNCTION_SYMMETRIC_TOEPLITZ = 1, /**< both directions alike */
};

/** How a hash pipe finds its entry. */
enum doca_flow_pipe_hash_map_algorithm {
	DOCA_FLOW_PIPE_HASH_MAP_ALGORITHM_HASH = 0,
};

/** How an entry is handed over; a bit mask. */
enum doca_flow_entry_flags {
	DOCA_FLOW_ENTRY_FLAGS_NO_WAIT = 1,	  /**< at once */
	DOCA_FLOW_ENTRY_FLAGS_WAIT_FOR_BATCH = 2, /**< together with later entries */
};

/** Metadata of a packet, in big-endian order; word 0 arrives with the packet. */
struct doca_flow_meta {
	doca_be32_t pkt_meta;
	doca_be32_t u32[10];
};

/** Findings of the parser. */
struct doca_flow_parser_meta {
	uint8_t reserved[32];
};

/** Headers of a packet. */
struct doca_flow_header_format {
	uint8_t reserved[128];
};

/** Tunnel header. */
struct doca_flow_tun {
	uint8_t reserved[64];
};

/** What a packet must look like; all zero matches every packet. */
struct doca_flow_match {
	struct doca_flow_meta meta;
	struct doca_flow_parser_meta parser_meta;
	struct doca_flow_header_format outer;
	struct doca_flow_tun tun;
	struct doca_flow_header_format inner;
};

/** An action that is not there. */
struct doca_flow_reserved_action {
	uint8_t reserved[128];
};

/** What is done with a packet: its metadata is set. */
struct doca_flow_actions {
	enum doca_flow_resource_type decap_type;
	struct doca_flow_reserved_action decap;
	bool pop_vlan;
	struct doca_flow_meta meta;
	struct doca_flow_parser_meta parser_meta;
	struct doca_flow_header_format outer;
	struct doca_flow_tun tun;
	enum doca_flow_resource_type encap_type;
	struct doca_flow_reserved_action encap;
	bool has_push;
	struct doca_flow_reserved_action push;
	struct doca_flow_reserved_action nat64;
	bool has_crypto_encap;
	struct doca_flow_reserved_action crypto_encap;
	struct doca_flow_reserved_action crypto;
};

/** Receive queues and the hash that spreads packets over them. */
struct doca_flow_resource_rss_cfg {
	uint32_t outer_flags;	/**< enum doca_flow_rss_type, for the outer headers */
	uint32_t inner_flags;	/**< the same for the inner headers */
	uint16_t *queues_array; /**< numbers of the queues, see doca_eth_rxq_apply_queue_id() */
	int nr_queues;		/**< how many */
	enum doca_flow_rss_hash_function rss_hash_func;
};

/** Where packets go; type tells which member counts. */
struct doca_flow_fwd {
	enum doca_flow_fwd_type type;
	__extension__ union {
		__extension__ struct {
			enum doca_flow_resource_type rss_type;
			__extension__ union {
				struct doca_flow_resource_rss_cfg rss;
				uint32_t shared_rss_id;
			};
		};
		__extension__ struct {
			uint16_t port_id;
		};
		__extension__ struct {
			struct doca_flow_pipe *next_pipe;
		};
		struct {
			struct doca_flow_pipe *pipe;
			uint32_t idx;
		} ordered_list_pipe;
		__extension__ struct {
			struct doca_flow_target *target;
		};
		struct {
			struct doca_flow_pipe *pipe;
			enum doca_flow_pipe_hash_map_algorithm algorithm;
		} hash_pipe;
	};
};

/* The library */

/**
 * Makes a configuration for doca_flow_init().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_flow_cfg_create(struct doca_flow_cfg **cfg);

/**
 * Sets how many queues hand entries over in parallel.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_flow_cfg_set_pipe_queues(struct doca_flow_cfg *cfg, uint16_t pipe_queues);

/**
 * Sets the mode; "vnf" is the one there is, also as "vnf,hws". The text is copied.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (other modes).
 */
DOCA_STABLE
doca_error_t doca_flow_cfg_set_mode_args(struct doca_flow_cfg *cfg, const char *mode_args);

/**
 * Sets how many counters are kept ready.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_flow_cfg_set_nr_counters(struct doca_flow_cfg *cfg, uint32_t nr_counters);

/**
 * Starts the library; configuration is copied.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED,
 * DOCA_ERROR_UNKNOWN.
 */
DOCA_STABLE
doca_error_t doca_flow_init(struct doca_flow_cfg *cfg);

/**
 * Frees a configuration.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_flow_cfg_destroy(struct doca_flow_cfg *cfg);

/** Ends the library with all that is left in it. */
DOCA_STABLE
void doca_flow_destroy(void);

/* Ports */

/**
 * Makes a configuration for doca_flow_port_start().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_flow_port_cfg_create(struct doca_flow_port_cfg **cfg);

/**
 * Sets the port's number, chosen by the program.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_flow_port_cfg_set_port_id(struct doca_flow_port_cfg *cfg, uint16_t port_id);

/**
 * Sets the open device behind the port; it must outlive the port.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_flow_port_cfg_set_dev(struct doca_flow_port_cfg *cfg, struct doca_dev *dev);

/**
 * Starts a port; configuration is copied.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, no device), DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_ALREADY_EXIST (number in use), DOCA_ERROR_NOT_PERMITTED.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_flow_port_start(const struct doca_flow_port_cfg *cfg,
				  struct doca_flow_port **port);

/**
 * Frees a configuration.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_flow_port_cfg_destroy(struct doca_flow_port_cfg *cfg);

/**
 * Stops a port and frees it with its pipes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE.
 */
DOCA_STABLE
doca_error_t doca_flow_port_stop(struct doca_flow_port *port);

/* Pipes */

/**
 * Makes a configuration for a pipe of a port.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_flow_pipe_cfg_create(struct doca_flow_pipe_cfg **cfg,
				       struct doca_flow_port *port);

/**
 * Sets the pipe's name, for messages; copied.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_flow_pipe_cfg_set_name(struct doca_flow_pipe_cfg *cfg, const char *name);

/**
 * Sets the kind of the pipe.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown kind), DOCA_ERROR_NOT_SUPPORTED (not basic).
 */
DOCA_STABLE
doca_error_t doca_flow_pipe_cfg_set_type(struct doca_flow_pipe_cfg *cfg,
					 enum doca_flow_pipe_type type);

/**
 * Says that packets of the port come to this pipe first.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_flow_pipe_cfg_set_is_root(struct doca_flow_pipe_cfg *cfg, bool is_root);

/**
 * Sets what packets must look like; a NULL mask means the whole of match.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (a reserved member is not
 * zero).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_flow_pipe_cfg_set_match(struct doca_flow_pipe_cfg *cfg,
					  const struct doca_flow_match *match,
					  const struct doca_flow_match *match_mask);

/**
 * Sets the actions entries can choose from; NULL masks and descriptors are fine.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (a reserved member is not
 * zero).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_flow_pipe_cfg_set_actions(struct doca_flow_pipe_cfg *cfg,
					    struct doca_flow_actions *const *actions,
					    struct doca_flow_actions *const *actions_masks,
					    struct doca_flow_action_descs *const *action_descs,
					    size_t nr_actions);

/**
 * Makes the pipe: matching packets go to fwd, others to fwd_miss. Configuration and queue list are
 * copied.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown queue), DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER, DOCA_ERROR_TOO_BIG.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_flow_pipe_create(const struct doca_flow_pipe_cfg *cfg,
				   const struct doca_flow_fwd *fwd,
				   const struct doca_flow_fwd *fwd_miss,
				   struct doca_flow_pipe **pipe);

/**
 * Frees a configuration.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_flow_pipe_cfg_destroy(struct doca_flow_pipe_cfg *cfg);

/**
 * Adds a rule to a pipe through one of its queues. monitor, fwd and usr_ctx may be NULL; the entry
 * belongs to the pipe.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED (a
 * reserved member is not zero), DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_flow_pipe_basic_add_entry(uint16_t pipe_queue, struct doca_flow_pipe *pipe,
					    const struct doca_flow_match *match, uint8_t action_idx,
					    const struct doca_flow_actions *actions,
					    const struct doca_flow_monitor *monitor,
					    const struct doca_flow_fwd *fwd, uint32_t flags,
					    void *usr_ctx, struct doca_flow_pipe_entry **entry);

/**
 * Carries out entries handed over through a queue, at most max_processed_entries within timeout
 * microseconds.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_TIME_OUT.
 */
DOCA_STABLE
doca_error_t doca_flow_entries_process(struct doca_flow_port *port, uint16_t pipe_queue,
				       uint64_t timeout, uint32_t max_processed_entries);

/** Frees a pipe with its entries. */
DOCA_STABLE
void doca_flow_pipe_destroy(struct doca_flow_pipe *pipe);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_FLOW_H_ */
