/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_aes_gcm.h: the authenticated encryption engine
 *
 * AES-GCM with 128- and 256-bit keys, initialisation vectors of up to 12 bytes and tags of 12 or 16
 * bytes.
 *
 *   task      source data             appended to the destination
 *   encrypt   AAD, plain text         AAD, cipher text, tag
 *   decrypt   AAD, cipher text, tag   AAD, plain text
 *
 * Source lists are read as one stream, destination lists filled in order; element borders mean
 * nothing. A wrong tag fails the decrypt task (status DOCA_ERROR_IO_FAILED), leaves the
 * destination's data length alone and shows no plain text. A failed task does not stop the context.
 * Never use one vector twice with one key.
 *
 * Threads: as for every context, one thread at a time, keys included. Capability queries on a
 * devinfo: any thread.
 */
#ifndef DOCA_AES_GCM_H_
#define DOCA_AES_GCM_H_

#include <inttypes.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;
struct doca_aes_gcm;
struct doca_aes_gcm_key;
struct doca_aes_gcm_task_encrypt;
struct doca_aes_gcm_task_decrypt;

/** Size of a raw key. */
enum doca_aes_gcm_key_type {
	DOCA_AES_GCM_KEY_128 = 1, /**< 16 bytes */
	DOCA_AES_GCM_KEY_256 = 2, /**< 32 bytes */
};

/** Completion of an encrypt task, for success and failure. */
typedef void (*doca_aes_gcm_task_encrypt_completion_cb_t)(struct doca_aes_gcm_task_encrypt *task,
							  union doca_data task_user_data,
							  union doca_data ctx_user_data);

/** Completion of a decrypt task, for success and failure. */
typedef void (*doca_aes_gcm_task_decrypt_completion_cb_t)(struct doca_aes_gcm_task_decrypt *task,
							  union doca_data task_user_data,
							  union doca_data ctx_user_data);

/* Context */

/**
 * Makes an idle context on an open device, which must outlive it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (the device cannot do it),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_create(struct doca_dev *dev, struct doca_aes_gcm **aes_gcm);

/**
 * Frees an idle context. Destroy its keys first.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (a key is left), DOCA_ERROR_BAD_STATE
 * (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_destroy(struct doca_aes_gcm *aes_gcm);

/** The same object as a context; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_aes_gcm_as_ctx(struct doca_aes_gcm *aes_gcm);

/**
 * Reads the largest number of tasks of both types together.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_get_max_num_tasks(struct doca_aes_gcm *aes_gcm,
						uint32_t *max_num_tasks);

/* Keys */

/**
 * Makes a key of this context from 16 or 32 raw bytes, which are copied: wipe yours on return. In
 * any state. The key serves any number of tasks of this context.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown type), DOCA_ERROR_NOT_SUPPORTED (the device lacks
 * this key size), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_key_create(struct doca_aes_gcm *aes_gcm, const void *raw_key,
				     enum doca_aes_gcm_key_type raw_key_type,
				     struct doca_aes_gcm_key **key);

/**
 * Wipes and frees a key that no task in flight uses.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (a task in flight uses it),
 * DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_key_destroy(struct doca_aes_gcm_key *key);

/* Encrypt task */

/**
 * Answers DOCA_SUCCESS when the device can encrypt.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_is_supported(const struct doca_devinfo *devinfo);

/**
 * Reads the longest initialisation vector in bytes.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_iv_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_iv_len);

/**
 * Answers DOCA_SUCCESS when 12-byte tags can be used.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_is_tag_96_supported(const struct doca_devinfo *devinfo);

/**
 * Answers DOCA_SUCCESS when 16-byte tags can be used.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_is_tag_128_supported(const struct doca_devinfo *devinfo);

/**
 * Answers DOCA_SUCCESS when keys of this size can be used.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL, unknown type).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_is_key_type_supported(
	const struct doca_devinfo *devinfo, enum doca_aes_gcm_key_type key_type);

/**
 * Reads the most bytes a source or a destination may have, lists taken together.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_buf_size(const struct doca_devinfo *devinfo,
							    uint64_t *max_buffer_size);

/**
 * Reads the largest number of elements of a list; 1 means no lists.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem(
	const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem);

/**
 * Turns this task type on: callbacks and pool size. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 or too many tasks), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_task_encrypt_set_conf(
	struct doca_aes_gcm *aes_gcm, doca_aes_gcm_task_encrypt_completion_cb_t task_completion_cb,
	doca_aes_gcm_task_encrypt_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Takes a task from the pool. Source: aad_size bytes of additional data, then the plain text.
 * Appended to the destination: the additional data, the cipher text, the tag.
 *
 * Lengths are in bytes. iv stays the program's and is read no later than submit; buffers and key
 * are remembered, not referenced; sizes are looked at on submit.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, vector too long, tag size neither 12 nor 16),
 * DOCA_ERROR_BAD_STATE (context not RUNNING), DOCA_ERROR_NO_MEMORY (all tasks taken).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_task_encrypt_alloc_init(struct doca_aes_gcm *aes_gcm,
						  struct doca_buf const *src_buff,
						  struct doca_buf *dst_buff,
						  struct doca_aes_gcm_key *key, const uint8_t *iv,
						  uint32_t iv_length, uint32_t tag_size,
						  uint32_t aad_size, union doca_data user_data,
						  struct doca_aes_gcm_task_encrypt **task);

/** The same object as a generic task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_aes_gcm_task_encrypt_as_task(struct doca_aes_gcm_task_encrypt *task);

/** Replaces the source while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_src(struct doca_aes_gcm_task_encrypt *task,
				       struct doca_buf const *src_buff);

/** Reads the source. */
DOCA_EXPERIMENTAL
struct doca_buf const *doca_aes_gcm_task_encrypt_get_src(
	const struct doca_aes_gcm_task_encrypt *task);

/** Replaces the destination while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_dst(struct doca_aes_gcm_task_encrypt *task,
				       struct doca_buf *dst_buff);

/** Reads the destination. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_aes_gcm_task_encrypt_get_dst(const struct doca_aes_gcm_task_encrypt *task);

/** Replaces the key, which must be of the same context, while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_key(struct doca_aes_gcm_task_encrypt *task,
				       struct doca_aes_gcm_key *key);

/** Reads the key. */
DOCA_EXPERIMENTAL
struct doca_aes_gcm_key *doca_aes_gcm_task_encrypt_get_key(
	const struct doca_aes_gcm_task_encrypt *task);

/** Replaces the initialisation vector (pointer and length) while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_iv(struct doca_aes_gcm_task_encrypt *task, const uint8_t *iv,
				      uint32_t iv_length);

/** Reads the pointer to the vector and, through iv_length, its length. */
DOCA_EXPERIMENTAL
const uint8_t *doca_aes_gcm_task_encrypt_get_iv(const struct doca_aes_gcm_task_encrypt *task,
						uint32_t *iv_length);

/** Replaces the tag size, 12 or 16 bytes, while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_tag_size(struct doca_aes_gcm_task_encrypt *task,
					    uint32_t tag_size);

/** Reads the tag size in bytes. */
DOCA_EXPERIMENTAL
uint32_t doca_aes_gcm_task_encrypt_get_tag_size(const struct doca_aes_gcm_task_encrypt *task);

/** Replaces the size of the additional data while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_aad_size(struct doca_aes_gcm_task_encrypt *task,
					    uint32_t aad_size);

/** Reads the size of the additional data in bytes. */
DOCA_EXPERIMENTAL
uint32_t doca_aes_gcm_task_encrypt_get_aad_size(const struct doca_aes_gcm_task_encrypt *task);

/* Decrypt task */

/**
 * Answers DOCA_SUCCESS when the device can decrypt.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_is_supported(const struct doca_devinfo *devinfo);

/**
 * Reads the longest initialisation vector in bytes.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_iv_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_iv_len);

/**
 * Answers DOCA_SUCCESS when 12-byte tags can be used.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_is_tag_96_supported(const struct doca_devinfo *devinfo);

/**
 * Answers DOCA_SUCCESS when 16-byte tags can be used.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_is_tag_128_supported(const struct doca_devinfo *devinfo);

/**
 * Answers DOCA_SUCCESS when keys of this size can be used.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL, unknown type).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_is_key_type_supported(
	const struct doca_devinfo *devinfo, enum doca_aes_gcm_key_type key_type);

/**
 * Reads the most bytes a source or a destination may have, lists taken together.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_buf_size(const struct doca_devinfo *devinfo,
							    uint64_t *max_buffer_size);

/**
 * Reads the largest number of elements of a list; 1 means no lists.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_list_buf_num_elem(
	const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem);

/**
 * Turns this task type on: callbacks and pool size. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 or too many tasks), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_task_decrypt_set_conf(
	struct doca_aes_gcm *aes_gcm, doca_aes_gcm_task_decrypt_completion_cb_t task_completion_cb,
	doca_aes_gcm_task_decrypt_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Takes a task from the pool. Source: aad_size bytes of additional data, then the cipher text, then
 * the tag. Appended to the destination: the additional data, the plain text.
 *
 * Lengths are in bytes. iv stays the program's and is read no later than submit; buffers and key
 * are remembered, not referenced; sizes are looked at on submit.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, vector too long, tag size neither 12 nor 16),
 * DOCA_ERROR_BAD_STATE (context not RUNNING), DOCA_ERROR_NO_MEMORY (all tasks taken).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_task_decrypt_alloc_init(struct doca_aes_gcm *aes_gcm,
						  struct doca_buf const *src_buff,
						  struct doca_buf *dst_buff,
						  struct doca_aes_gcm_key *key, const uint8_t *iv,
						  uint32_t iv_length, uint32_t tag_size,
						  uint32_t aad_size, union doca_data user_data,
						  struct doca_aes_gcm_task_decrypt **task);

/** The same object as a generic task; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_task *doca_aes_gcm_task_decrypt_as_task(struct doca_aes_gcm_task_decrypt *task);

/** Replaces the source while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_src(struct doca_aes_gcm_task_decrypt *task,
				       struct doca_buf const *src_buff);

/** Reads the source. */
DOCA_EXPERIMENTAL
struct doca_buf const *doca_aes_gcm_task_decrypt_get_src(
	const struct doca_aes_gcm_task_decrypt *task);

/** Replaces the destination while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_dst(struct doca_aes_gcm_task_decrypt *task,
				       struct doca_buf *dst_buff);

/** Reads the destination. */
DOCA_EXPERIMENTAL
struct doca_buf *doca_aes_gcm_task_decrypt_get_dst(const struct doca_aes_gcm_task_decrypt *task);

/** Replaces the key, which must be of the same context, while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_key(struct doca_aes_gcm_task_decrypt *task,
				       struct doca_aes_gcm_key *key);

/** Reads the key. */
DOCA_EXPERIMENTAL
struct doca_aes_gcm_key *doca_aes_gcm_task_decrypt_get_key(
	const struct doca_aes_gcm_task_decrypt *task);

/** Replaces the initialisation vector (pointer and length) while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_iv(struct doca_aes_gcm_task_decrypt *task, const uint8_t *iv,
				      uint32_t iv_length);

/** Reads the pointer to the vector and, through iv_length, its length. */
DOCA_EXPERIMENTAL
const uint8_t *doca_aes_gcm_task_decrypt_get_iv(const struct doca_aes_gcm_task_decrypt *task,
						uint32_t *iv_length);

/** Replaces the tag size, 12 or 16 bytes, while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_tag_size(struct doca_aes_gcm_task_decrypt *task,
					    uint32_t tag_size);

/** Reads the tag size in bytes. */
DOCA_EXPERIMENTAL
uint32_t doca_aes_gcm_task_decrypt_get_tag_size(const struct doca_aes_gcm_task_decrypt *task);

/** Replaces the size of the additional data while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_aad_size(struct doca_aes_gcm_task_decrypt *task,
					    uint32_t aad_size);

/** Reads the size of the additional data in bytes. */
DOCA_EXPERIMENTAL
uint32_t doca_aes_gcm_task_decrypt_get_aad_size(const struct doca_aes_gcm_task_decrypt *task);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_AES_GCM_H_ */
