/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_buf.h: buffers: windows on memory maps
 *
 * A buffer describes a region of a map and, inside it, the data:
 *
 *   head            data                data + data_len       head + len
 *    |---- room ----|------ data -------|---- tail room -------|
 *
 * An engine reads the data part of a source; it writes into the tail room of a destination and lets
 * data_len grow. Buffers can be chained into lists; an engine then goes through the elements in
 * order.
 *
 * Buffers come from an inventory or a pool and are counted. Only the head of a list is counted;
 * dropping its last reference gives back every member.
 *
 * Threads: one thread at a time per buffer and per list. While a task with the buffer is in flight
 * nobody may change it.
 */
#ifndef DOCA_BUF_H_
#define DOCA_BUF_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;

/* References */

/**
 * Takes one more reference. *refcount, when not NULL, receives the count before.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL buffer), DOCA_ERROR_NOT_PERMITTED (not the head of its
 * list), DOCA_ERROR_TOO_BIG (65535 reached).
 */
DOCA_STABLE
doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * Drops a reference. *refcount, when not NULL, receives the count before. At 0 the buffer, or every
 * member of the list, goes back to where it came from. Allowed inside callbacks and after the
 * inventory was stopped.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL buffer), DOCA_ERROR_NOT_PERMITTED (not the head of its
 * list), DOCA_ERROR_BAD_STATE (count is 0 already).
 */
DOCA_STABLE
doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * Reads the count; 1 after allocation.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount);

/* Region and data */

/**
 * Reads the start of the region.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);

/**
 * Reads the length of the region of this element.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);

/**
 * Reads the start of the data.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);

/**
 * Reads the length of the data of this element.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len);

/**
 * Moves the data window, which must stay inside the region. No byte is touched.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, or window outside of the region).
 */
DOCA_STABLE
doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len);

/**
 * Changes the length of the data; its start stays.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, or data would end outside of the region).
 */
DOCA_STABLE
doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len);

/**
 * Empties the buffer: data length 0, start of the data unchanged. Do this before using a buffer
 * again as destination.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/* Lists */

/**
 * Reads the following element; NULL at the end.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf);

/**
 * Reads the last element; the buffer itself when it is alone.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf);

/**
 * Stores 1 when nothing follows, else 0.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last);

/**
 * Stores 1 when nothing precedes, else 0.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first);

/**
 * Stores 1 when the buffer has a neighbour, else 0.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list);

/**
 * Counts the elements of the list that begins with this buffer; 1 when it is alone.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (not a head).
 */
DOCA_STABLE
doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements);

/**
 * Appends list2 to list1; from then on list2 belongs to list1. Maps and inventories may differ.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (one of them is not a head, or
 * list2 has more than one reference).
 */
DOCA_STABLE
doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2);

/**
 * Does the same in constant time, with the last element of list1 given.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_PERMITTED (as doca_buf_chain_list(), or
 * list1_tail is not a tail).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head, struct doca_buf *list1_tail,
				      struct doca_buf *list2);

/**
 * Cuts list1 before list2, which becomes a head of its own with one reference.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, list2 is not a later element of list1).
 */
DOCA_STABLE
doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_BUF_H_ */
