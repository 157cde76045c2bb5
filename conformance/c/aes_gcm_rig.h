/*
 * Around the AES-GCM programs: a device, one map over guarded memory, an inventory, a progress engine and a context
 * whose callbacks are recorded.
 */
#ifndef CONFORMANCE_AES_GCM_RIG_H
#define CONFORMANCE_AES_GCM_RIG_H

#include <sched.h>

#include <doca_aes_gcm.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "check.h"

struct gcm {
	struct doca_dev *dev;
	struct doca_mmap *map;
	struct doca_buf_inventory *inv;
	struct doca_pe *pe;
	struct doca_aes_gcm *aes_gcm;
	struct doca_ctx *ctx;
	uint8_t *mem;
	size_t len;
	unsigned good, bad;
	doca_error_t status; /* of the last task */
	uint64_t user;	     /* ... its user data */
};

/* The parameters of one message. */
struct gcm_message {
	struct doca_aes_gcm_key *key;
	const uint8_t *iv;
	uint32_t iv_len, tag, aad;
};

static inline struct doca_dev *gcm_open_dev(void)
{
	struct doca_devinfo **list = NULL;
	struct doca_dev *dev = NULL;
	uint32_t count = 0, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++)
		if (doca_aes_gcm_cap_task_encrypt_is_supported(list[i]) == DOCA_SUCCESS &&
		    doca_aes_gcm_cap_task_decrypt_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_destroy_list(list));
	MUST_BE(dev != NULL);
	return dev;
}

static inline void gcm_done(struct gcm *gcm, struct doca_task *task, union doca_data user)
{
	gcm->status = doca_task_get_status(task);
	gcm->user = user.u64;
	doca_task_free(task);
}

static inline void gcm_encrypted(struct doca_aes_gcm_task_encrypt *task, union doca_data user, union doca_data ctx_user)
{
	struct gcm *gcm = (struct gcm *)ctx_user.ptr;

	gcm->good++;
	gcm_done(gcm, doca_aes_gcm_task_encrypt_as_task(task), user);
}

static inline void gcm_not_encrypted(struct doca_aes_gcm_task_encrypt *task, union doca_data user,
				     union doca_data ctx_user)
{
	struct gcm *gcm = (struct gcm *)ctx_user.ptr;

	gcm->bad++;
	gcm_done(gcm, doca_aes_gcm_task_encrypt_as_task(task), user);
}

static inline void gcm_decrypted(struct doca_aes_gcm_task_decrypt *task, union doca_data user, union doca_data ctx_user)
{
	struct gcm *gcm = (struct gcm *)ctx_user.ptr;

	gcm->good++;
	gcm_done(gcm, doca_aes_gcm_task_decrypt_as_task(task), user);
}

static inline void gcm_not_decrypted(struct doca_aes_gcm_task_decrypt *task, union doca_data user,
				     union doca_data ctx_user)
{
	struct gcm *gcm = (struct gcm *)ctx_user.ptr;

	gcm->bad++;
	gcm_done(gcm, doca_aes_gcm_task_decrypt_as_task(task), user);
}

static inline void gcm_setup(struct gcm *gcm, size_t bytes, uint32_t access)
{
	union doca_data user;

	memset(gcm, 0, sizeof(*gcm));
	gcm->dev = gcm_open_dev();
	gcm->len = bytes;
	gcm->mem = (uint8_t *)malloc(bytes);
	MUST_BE(gcm->mem != NULL);
	memset(gcm->mem, 0xa5, bytes);
	MUST(doca_mmap_create(&gcm->map));
	MUST(doca_mmap_add_dev(gcm->map, gcm->dev));
	MUST(doca_mmap_set_memrange(gcm->map, gcm->mem, bytes));
	MUST(doca_mmap_set_permissions(gcm->map, access));
	MUST(doca_mmap_start(gcm->map));
	MUST(doca_buf_inventory_create(256, &gcm->inv));
	MUST(doca_buf_inventory_start(gcm->inv));
	MUST(doca_pe_create(&gcm->pe));
	MUST(doca_aes_gcm_create(gcm->dev, &gcm->aes_gcm));
	gcm->ctx = doca_aes_gcm_as_ctx(gcm->aes_gcm);
	MUST_BE(gcm->ctx != NULL);
	MUST(doca_aes_gcm_task_encrypt_set_conf(gcm->aes_gcm, gcm_encrypted, gcm_not_encrypted, 8));
	MUST(doca_aes_gcm_task_decrypt_set_conf(gcm->aes_gcm, gcm_decrypted, gcm_not_decrypted, 8));
	user.u64 = 0;
	user.ptr = gcm;
	MUST(doca_ctx_set_user_data(gcm->ctx, user));
	MUST(doca_pe_connect_ctx(gcm->pe, gcm->ctx));
	MUST(doca_ctx_start(gcm->ctx));
}

static inline void gcm_teardown(struct gcm *gcm)
{
	CHECK_OK(doca_ctx_stop(gcm->ctx));
	CHECK_OK(doca_aes_gcm_destroy(gcm->aes_gcm));
	CHECK_OK(doca_pe_destroy(gcm->pe));
	CHECK_OK(doca_buf_inventory_destroy(gcm->inv));
	CHECK_OK(doca_mmap_destroy(gcm->map));
	CHECK_OK(doca_dev_close(gcm->dev));
	free(gcm->mem);
}

/* `len` bytes at offset `at` as data. */
static inline struct doca_buf *gcm_src(struct gcm *gcm, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_data(gcm->inv, gcm->map, gcm->mem + at, len, &buf));
	return buf;
}

/* Room for `len` bytes at offset `at`. */
static inline struct doca_buf *gcm_dst(struct gcm *gcm, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_addr(gcm->inv, gcm->map, gcm->mem + at, len, &buf));
	return buf;
}

/* Runs one task, encrypting or not, and gives its status; the buffers stay the caller's. */
static inline doca_error_t gcm_run(struct gcm *gcm, int encrypt, struct doca_buf *src, struct doca_buf *dst,
				   const struct gcm_message *m)
{
	struct doca_aes_gcm_task_encrypt *sealing = NULL;
	struct doca_aes_gcm_task_decrypt *opening = NULL;
	union doca_data user;
	unsigned before = gcm->good + gcm->bad, good = gcm->good;

	user.u64 = before + 77;
	if (encrypt) {
		MUST(doca_aes_gcm_task_encrypt_alloc_init(gcm->aes_gcm, src, dst, m->key, m->iv, m->iv_len, m->tag,
							  m->aad, user, &sealing));
		MUST(doca_task_submit(doca_aes_gcm_task_encrypt_as_task(sealing)));
	} else {
		MUST(doca_aes_gcm_task_decrypt_alloc_init(gcm->aes_gcm, src, dst, m->key, m->iv, m->iv_len, m->tag,
							  m->aad, user, &opening));
		MUST(doca_task_submit(doca_aes_gcm_task_decrypt_as_task(opening)));
	}
	CHECK_U64(gcm->good + gcm->bad, before); /* never inside submit */
	while (gcm->good + gcm->bad == before)
		if (doca_pe_progress(gcm->pe) == 0)
			sched_yield();
	CHECK_U64(gcm->user, before + 77);
	CHECK_U64(gcm->good - good, gcm->status == DOCA_SUCCESS);
	return gcm->status;
}

static inline size_t gcm_data_len(struct doca_buf *buf)
{
	size_t len = SIZE_MAX;

	CHECK_OK(doca_buf_get_data_len(buf, &len));
	return len;
}

static inline void gcm_drop(struct doca_buf *buf)
{
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
}

/* Hexadecimal digits to bytes. */
static inline size_t gcm_hex(uint8_t *out, const char *hex)
{
	size_t n = 0;
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		out[n++] = (uint8_t)byte;
	return n;
}

#endif
