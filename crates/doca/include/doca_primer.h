/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_primer.h: the names of the textbook's two program skeletons
 *
 * Includes the headers that the skeletons need and adds the names that they use beyond the
 * contract. Where a name means two things the number of arguments decides: doca_task_submit(task)
 * is the contract's call, doca_task_submit(ctx, buf) the textbook's.
 *
 * In the first skeleton a session (struct doca_ctx, made by doca_ctx_create()) comes first and goes
 * last; devices, memory and buffers hang on it. The second one works with the contract's objects
 * and with event channels. Release calls are safe on NULL.
 *
 * The names are macros over the functions below, so that a program may keep its own variables
 * called mmap or buf. Include this header instead of, or after, the others.
 *
 * Threads: a session and what hangs on it, and a channel with its progress engine, belong to one
 * thread at a time.
 */
#ifndef DOCA_PRIMER_H_
#define DOCA_PRIMER_H_

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_mem;
struct doca_event_channel;
struct doca_devinfo_list;

/** What kind of trouble an error code is. */
typedef enum doca_error_class {
	DOCA_ERROR_CLASS_NONE = 0,	/**< no error */
	DOCA_ERROR_CLASS_PARAMETER = 1, /**< the call is wrong and stays wrong: fix the program */
	DOCA_ERROR_CLASS_RESOURCE = 2,	/**< something is missing or out of order: act, then repeat */
	DOCA_ERROR_CLASS_TRANSIENT = 3, /**< the same call may work later: repeat */
} doca_error_class_t;

/** What devices may do with registered memory. */
enum doca_mem_access {
	DOCA_MEM_ACCESS_RO = 0, /**< read */
	DOCA_MEM_ACCESS_RW = 1, /**< read and write */
};

/** What a device can do: 1 or 0 per engine, and limits. */
struct doca_devinfo_caps {
	uint8_t dma;
	uint8_t sha;
	uint8_t compress;
	uint8_t aes_gcm;
	uint8_t erasure_coding;
	uint8_t rdma;
	uint8_t comch;
	uint8_t eth_rxq;
	uint8_t eth_txq;
	uint8_t sync_event;
	uint32_t model;			/**< 2 or 3 for a BlueField of that number, 0 for software */
	uint32_t dma_max_buf_list_len;	/**< elements of a copied list */
	uint32_t dma_max_num_tasks;	/**< copies in flight per context */
	uint64_t dma_max_buf_size;	/**< bytes of one copy */
	uint32_t rdma_max_message_size; /**< bytes of one RDMA message */
};

/* Error classes */

/** The class of an error code; DOCA_ERROR_CLASS_NONE for success. Any thread. */
DOCA_EXPERIMENTAL
doca_error_class_t doca_error_get_class(doca_error_t error);

/** 1 for the transient class, else 0. Any thread. */
DOCA_EXPERIMENTAL
uint8_t doca_error_is_retryable(doca_error_t error);

/* Trying again: doca_retry() and doca_retry_failed() below */

/** doca_error_t call(void *arg): what is tried. */
typedef doca_error_t (*doca_retry_call_t)(void *arg);

/**
 * Waits before the next try: 1 microsecond, doubled attempt times, at most 10 ms. pe, unless it is
 * NULL, makes progress meanwhile and runs callbacks. Returns how many callbacks and changes of
 * state there were. Thread of pe.
 */
DOCA_EXPERIMENTAL
uint32_t softdpu_primer_backoff(struct doca_pe *pe, uint32_t attempt);

/* First skeleton: session, device, memory, buffer */

/**
 * Prepares the library. Optional; may be repeated.
 *
 * Errors: DOCA_ERROR_INITIALIZATION (e.g. the topology file is unreadable).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_init(void);

/**
 * Makes a session. Free it with doca_ctx_destroy().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_INITIALIZATION.
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_ctx_create(struct doca_ctx **ctx);

/** Makes a session, or returns NULL when it cannot. */
DOCA_EXPERIMENTAL
struct doca_ctx *softdpu_primer_ctx_new(void);

/**
 * Sets how much the session logs, one of the DOCA_LOG_LEVEL_ values.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (not a session, not a level).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_ctx_set_log_level(struct doca_ctx *ctx, uint32_t level);

/**
 * Ends a session. Devices still open on it are dead from now on.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (not a session).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_ctx_destroy(struct doca_ctx *ctx);

/** The first device of the session, NULL when there is none; belongs to the session. */
DOCA_EXPERIMENTAL
struct doca_devinfo *softdpu_primer_devinfo_get_first(struct doca_ctx *ctx);

/**
 * As the contract's call; the device also hangs on the session its devinfo came from.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), and those of doca_dev_open().
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

/**
 * As the contract's call, safe on NULL. After the session is gone it answers
 * DOCA_ERROR_INVALID_VALUE and frees what is left.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (not open), DOCA_ERROR_IN_USE.
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_dev_close(struct doca_dev *dev);

/**
 * Makes len bytes at addr reachable for the device. The memory stays the program's.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, length 0, unknown access; alignment where the profile is
 * strict), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_mem_reg(struct doca_dev *dev, void *addr, size_t len, uint32_t access,
				    struct doca_mem **mem);

/**
 * Reads where the program sees the memory.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_mem_get_host_addr(const struct doca_mem *mem, void **addr);

/**
 * Reads where the device sees the memory.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_mem_get_dev_addr(const struct doca_mem *mem, uint64_t *addr);

/**
 * Ends a registration.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (not a registration), DOCA_ERROR_NOT_PERMITTED (buffers are
 * left).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_mem_unreg(struct doca_mem *mem);

/**
 * Makes a window of len bytes from byte offset of the memory on; all of it is data.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, outside of the memory), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_buf_create(struct doca_mem *mem, size_t offset, size_t len,
				       struct doca_buf **buf);

/**
 * Frees a window, after waiting for a submit that is still running. Memory is not touched.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (not a buffer).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_buf_destroy(struct doca_buf *buf);

/**
 * Lets the device read the buffer once. Returns when the work was accepted; it completes by itself.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_BAD_STATE.
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_task_submit(struct doca_ctx *ctx, struct doca_buf *buf);

/* Second skeleton: discovery, maps, event channels */

/**
 * Takes a snapshot of the devices as an object. Free it with doca_devinfo_list_destroy().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_FOUND.
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_devinfo_list_create(struct doca_devinfo_list **list);

/**
 * Reads how many devices the list has.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_devinfo_list_get_size(const struct doca_devinfo_list *list,
						  uint32_t *size);

/**
 * Reads a device of the list; it belongs to the list.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, index outside of the list).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_devinfo_list_get_devinfo(const struct doca_devinfo_list *list,
						     uint32_t index, struct doca_devinfo **devinfo);

/**
 * Frees a list. Devices opened from it stay open.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (not a list).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_devinfo_list_destroy(struct doca_devinfo_list *list);

/**
 * Reads what the device can do.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_devinfo_get_caps(const struct doca_devinfo *devinfo,
					     struct doca_devinfo_caps *caps);

/**
 * Maps len bytes on huge pages where there are any, else on ordinary pages. NULL only when there is
 * no memory at all.
 */
DOCA_EXPERIMENTAL
void *softdpu_primer_mmap_hugepage(size_t len);

/**
 * As the contract's call; a map without devices is registered with every device that is open or
 * will be.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, no range), and those of doca_mmap_start().
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_mmap_start(struct doca_mmap *mmap);

/**
 * Reads the memory key of the map on its first device.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, not started).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_mmap_get_mkey(const struct doca_mmap *mmap, uint32_t *mkey);

/**
 * Opens a file descriptor on the memory, to be closed by the program: a dmabuf where the kernel
 * can, else a sealed memory file.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not started),
 * DOCA_ERROR_NOT_SUPPORTED (memory that no descriptor can stand for, e.g. heap).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_mmap_export_dmabuf(struct doca_mmap *mmap, int *fd);

/** 1 when doca_mmap_export_dmabuf() gives a true dmabuf, else 0. */
DOCA_EXPERIMENTAL
uint8_t softdpu_primer_mmap_dmabuf_is_native(const struct doca_mmap *mmap);

/**
 * Makes a channel for the completions of an RDMA context; without one (NULL) the channel carries a
 * loop-back context on the first device that can do RDMA.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_FOUND (no RDMA
 * device), DOCA_ERROR_NOT_SUPPORTED.
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_rdma_create_event_channel(void *rdma,
						      struct doca_event_channel **channel);

/**
 * Connects a channel to a progress engine.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (connected already),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_pe_connect_event_channel(struct doca_pe *pe,
						     struct doca_event_channel *channel);

/**
 * Frees a channel.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (not a channel), DOCA_ERROR_IN_USE (tasks in flight).
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_event_channel_destroy(struct doca_event_channel *channel);

/**
 * Begins a one-sided write of len bytes at buf, inside a started map, to an address inside a
 * started map of this process or of the connected peer. ctx may be NULL: the channel's own. *task
 * answers doca_task_get_status(); free it with doca_task_free().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, buf outside of every map), DOCA_ERROR_BAD_STATE,
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t softdpu_primer_rdma_task_write(void *ctx, const void *buf, size_t len,
					    uint64_t remote_addr, void *task);

/* ---- Trying again ---- */

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* experimental calls inside */
#endif

/* Worth another try? Something that was begun is not begun again. */
#define SOFTDPU_PRIMER_PASSES_(status_) \
	(doca_error_is_retryable(status_) && (status_) != DOCA_ERROR_IN_PROGRESS && \
	 (status_) != DOCA_ERROR_CONNECTION_INPROGRESS)

/**
 * Calls call(arg) until it is not refused for a passing reason (DOCA_ERROR_CLASS_TRANSIENT), at
 * most times more times, with softdpu_primer_backoff() in between. DOCA_ERROR_IO_FAILED is not
 * tried again: a task that ended with it was carried out, perhaps in part.
 *
 * Returns the last answer.
 */
static inline doca_error_t doca_retry(struct doca_pe *pe, uint32_t times, doca_retry_call_t call,
				      void *arg)
{
	uint32_t attempt;

	for (attempt = 0;; attempt++) {
		doca_error_t status = call(arg);

		if (attempt >= times || status == DOCA_ERROR_IO_FAILED ||
		    !SOFTDPU_PRIMER_PASSES_(status))
			return status;
		(void)softdpu_primer_backoff(pe, attempt);
	}
}

/** As doca_retry(), also after DOCA_ERROR_IO_FAILED; for work that may be done twice. */
static inline doca_error_t doca_retry_failed(struct doca_pe *pe, uint32_t times,
					     doca_retry_call_t call, void *arg)
{
	uint32_t attempt;

	for (attempt = 0;; attempt++) {
		doca_error_t status = call(arg);

		if (attempt >= times || !SOFTDPU_PRIMER_PASSES_(status))
			return status;
		(void)softdpu_primer_backoff(pe, attempt);
	}
}

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* ---- The textbook's names ---- */

#define doca_init() softdpu_primer_init()
#define doca_ctx_set_log_level(ctx, level) softdpu_primer_ctx_set_log_level((ctx), (level))
#define doca_ctx_destroy(ctx) softdpu_primer_ctx_destroy(ctx)
#define doca_devinfo_get_first(ctx) softdpu_primer_devinfo_get_first(ctx)
#define doca_dev_open(devinfo, dev) softdpu_primer_dev_open((devinfo), (dev))
#define doca_dev_close(dev) softdpu_primer_dev_close(dev)
#define doca_mem_reg(dev, addr, len, access, mem) \
	softdpu_primer_mem_reg((dev), (addr), (len), (access), (mem))
#define doca_mem_get_host_addr(mem, addr) softdpu_primer_mem_get_host_addr((mem), (addr))
#define doca_mem_get_dev_addr(mem, addr) softdpu_primer_mem_get_dev_addr((mem), (addr))
#define doca_mem_unreg(mem) softdpu_primer_mem_unreg(mem)
#define doca_buf_create(mem, offset, len, buf) \
	softdpu_primer_buf_create((mem), (offset), (len), (buf))
#define doca_buf_destroy(buf) softdpu_primer_buf_destroy(buf)
#define doca_devinfo_list_create(list) softdpu_primer_devinfo_list_create(list)
#define doca_devinfo_list_get_size(list, size) softdpu_primer_devinfo_list_get_size((list), (size))
#define doca_devinfo_list_get_devinfo(list, index, devinfo) \
	softdpu_primer_devinfo_list_get_devinfo((list), (index), (devinfo))
#define doca_devinfo_list_destroy(list) softdpu_primer_devinfo_list_destroy(list)
#define doca_devinfo_get_pci_addr(devinfo, text) doca_devinfo_get_pci_addr_str((devinfo), (text))
#define doca_devinfo_get_caps(devinfo, caps) softdpu_primer_devinfo_get_caps((devinfo), (caps))
#define mmap_hugepage(len) softdpu_primer_mmap_hugepage(len)
#define doca_mmap_start(map) softdpu_primer_mmap_start(map)
#define doca_mmap_export_dmabuf(map, fd) softdpu_primer_mmap_export_dmabuf((map), (fd))
#define doca_mmap_dmabuf_is_native(map) softdpu_primer_mmap_dmabuf_is_native(map)
#define doca_pe_connect_event_channel(pe, channel) \
	softdpu_primer_pe_connect_event_channel((pe), (channel))
#define doca_event_channel_destroy(channel) softdpu_primer_event_channel_destroy(channel)

/* Any pointer for context and task, pointer or integer for the remote address. */
#define doca_rdma_task_write(ctx, buf, len, remote_addr, task) \
	softdpu_primer_rdma_task_write((void *)(ctx), (buf), (len), (uint64_t)(remote_addr), \
				       (void *)(task))

/*
 * Names that mean two things. SOFTDPU_PRIMER_PICK_() gives its fourth argument, so a list of
 * candidates behind the call's own arguments reads: for three, for two, for one. With a comma for
 * no argument at all, doca_ctx_create() and doca_ctx_create(&ctx) are told apart in the same way.
 */
#define SOFTDPU_PRIMER_PICK_(a1, a2, a3, name, ...) name
#define SOFTDPU_PRIMER_SPLIT_(...) SOFTDPU_PRIMER_PICK_(__VA_ARGS__)
#define SOFTDPU_PRIMER_SPLIT_AGAIN_(...) SOFTDPU_PRIMER_PICK_(__VA_ARGS__)
#define SOFTDPU_PRIMER_COMMA_(...) ,

#define doca_task_submit(...) \
	SOFTDPU_PRIMER_PICK_(__VA_ARGS__, none, softdpu_primer_task_submit, (doca_task_submit), none) \
	(__VA_ARGS__)

#define doca_mmap_get_mkey(...) \
	SOFTDPU_PRIMER_PICK_(__VA_ARGS__, (doca_mmap_get_mkey), softdpu_primer_mmap_get_mkey, none, \
			     none) \
	(__VA_ARGS__)

#define doca_rdma_create_event_channel(...) \
	SOFTDPU_PRIMER_PICK_(__VA_ARGS__, none, SOFTDPU_PRIMER_CHANNEL_OF_, \
			     SOFTDPU_PRIMER_CHANNEL_, none) \
	(__VA_ARGS__)
#define SOFTDPU_PRIMER_CHANNEL_OF_(rdma, channel) \
	softdpu_primer_rdma_create_event_channel((void *)(rdma), (channel))
#define SOFTDPU_PRIMER_CHANNEL_(channel) softdpu_primer_rdma_create_event_channel(NULL, (channel))

/* An argument in parentheses swallows the comma macro; that it is there is found out first. */
#define doca_ctx_create(...) \
	SOFTDPU_PRIMER_SPLIT_(SOFTDPU_PRIMER_COMMA_ __VA_ARGS__, none, softdpu_primer_ctx_create, \
			      SOFTDPU_PRIMER_SESSION_, none) \
	(__VA_ARGS__)
#define SOFTDPU_PRIMER_SESSION_(...) \
	SOFTDPU_PRIMER_SPLIT_AGAIN_(SOFTDPU_PRIMER_COMMA_ __VA_ARGS__(), none, \
				    softdpu_primer_ctx_new, softdpu_primer_ctx_create, none) \
	(__VA_ARGS__)

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_PRIMER_H_ */
