/*
 * What the hash programs need: a device that hashes, one memory map over plain heap memory, an
 * inventory, a progress engine and a context with both kinds of tasks, whose callbacks are counted.
 */
#ifndef CONFORMANCE_SHA_RIG_H
#define CONFORMANCE_SHA_RIG_H

#include <sched.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_sha.h>
#include <doca_types.h>

#include "check.h"

struct sha_rig {
	struct doca_dev *dev;
	struct doca_mmap *map;
	struct doca_buf_inventory *inv;
	struct doca_pe *pe;
	struct doca_sha *sha;
	struct doca_ctx *ctx;
	uint8_t *mem;
	size_t len;
	unsigned good;	     /* success callbacks */
	unsigned bad;	     /* error callbacks */
	doca_error_t status; /* of the last one */
	uint64_t user;	     /* its user data */
};

static const size_t sha_digest_len[] = {20, 32, 64};
static const size_t sha_block_len[] = {64, 64, 128};

static inline void sha_record(struct sha_rig *rig, struct doca_task *task, union doca_data user, unsigned *count)
{
	(*count)++;
	rig->status = doca_task_get_status(task);
	rig->user = user.u64;
}

static inline void sha_hash_good(struct doca_sha_task_hash *task, union doca_data user, union doca_data ctx)
{
	struct sha_rig *rig = (struct sha_rig *)ctx.ptr;

	sha_record(rig, doca_sha_task_hash_as_task(task), user, &rig->good);
}

static inline void sha_hash_bad(struct doca_sha_task_hash *task, union doca_data user, union doca_data ctx)
{
	struct sha_rig *rig = (struct sha_rig *)ctx.ptr;

	sha_record(rig, doca_sha_task_hash_as_task(task), user, &rig->bad);
}

static inline void sha_piece_good(struct doca_sha_task_partial_hash *task, union doca_data user, union doca_data ctx)
{
	struct sha_rig *rig = (struct sha_rig *)ctx.ptr;

	sha_record(rig, doca_sha_task_partial_hash_as_task(task), user, &rig->good);
}

static inline void sha_piece_bad(struct doca_sha_task_partial_hash *task, union doca_data user, union doca_data ctx)
{
	struct sha_rig *rig = (struct sha_rig *)ctx.ptr;

	sha_record(rig, doca_sha_task_partial_hash_as_task(task), user, &rig->bad);
}

/* Opens the first device that hashes; with `pci` the one with that address. */
static inline struct doca_dev *sha_open_dev(const char *pci)
{
	struct doca_devinfo **list = NULL;
	struct doca_dev *dev = NULL;
	uint32_t count = 0, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++) {
		uint8_t equal = 1;

		if (doca_sha_cap_task_hash_get_supported(list[i], DOCA_SHA_ALGORITHM_SHA256) != DOCA_SUCCESS)
			continue;
		if (pci != NULL)
			MUST(doca_devinfo_is_equal_pci_addr(list[i], pci, &equal));
		if (equal)
			MUST(doca_dev_open(list[i], &dev));
	}
	MUST(doca_devinfo_destroy_list(list));
	MUST_BE(dev != NULL);
	return dev;
}

static inline void sha_setup(struct sha_rig *rig, size_t bytes, uint8_t log_tasks)
{
	union doca_data user;
	size_t i;

	memset(rig, 0, sizeof(*rig));
	user.u64 = 0;
	user.ptr = rig;
	rig->dev = sha_open_dev(NULL);
	rig->len = bytes;
	rig->mem = (uint8_t *)malloc(bytes);
	MUST_BE(rig->mem != NULL);
	for (i = 0; i < bytes; i++)
		rig->mem[i] = (uint8_t)(i * 31 + (i >> 8) * 7 + 1);
	MUST(doca_mmap_create(&rig->map));
	MUST(doca_mmap_add_dev(rig->map, rig->dev));
	MUST(doca_mmap_set_memrange(rig->map, rig->mem, bytes));
	MUST(doca_mmap_set_permissions(rig->map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	MUST(doca_mmap_start(rig->map));
	MUST(doca_buf_inventory_create(1024, &rig->inv));
	MUST(doca_buf_inventory_start(rig->inv));
	MUST(doca_pe_create(&rig->pe));
	MUST(doca_sha_create(rig->dev, &rig->sha));
	rig->ctx = doca_sha_as_ctx(rig->sha);
	MUST_BE(rig->ctx != NULL);
	MUST(doca_sha_task_hash_set_conf(rig->sha, sha_hash_good, sha_hash_bad, log_tasks));
	MUST(doca_sha_task_partial_hash_set_conf(rig->sha, sha_piece_good, sha_piece_bad, log_tasks));
	MUST(doca_pe_connect_ctx(rig->pe, rig->ctx));
	MUST(doca_ctx_set_user_data(rig->ctx, user));
	MUST(doca_ctx_start(rig->ctx));
}

static inline struct doca_buf *sha_src(struct sha_rig *rig, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_data(rig->inv, rig->map, rig->mem + at, len, &buf));
	return buf;
}

static inline struct doca_buf *sha_dst(struct sha_rig *rig, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, rig->map, rig->mem + at, len, &buf));
	return buf;
}

static inline void sha_drop(struct doca_buf *buf)
{
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
}

/* Progress until `count` callbacks more have run. */
static inline void sha_wait(struct sha_rig *rig, unsigned count)
{
	unsigned end = rig->good + rig->bad + count;

	while (rig->good + rig->bad < end) {
		unsigned done = rig->good + rig->bad;
		uint8_t moved = doca_pe_progress(rig->pe);

		CHECK_U64(rig->good + rig->bad, done + (moved != 0));
		if (moved == 0)
			sched_yield();
	}
}

/* Submits and waits; the status of the completion. */
static inline doca_error_t sha_run(struct sha_rig *rig, struct doca_task *task)
{
	MUST(doca_task_submit(task));
	sha_wait(rig, 1);
	CHECK_U64(doca_task_get_status(task), rig->status);
	return rig->status;
}

/* What a failing task does: try_submit answers `want`, submit accepts and the task fails with it; the
 * context goes on. */
static inline void sha_fails(struct sha_rig *rig, struct doca_task *task, doca_error_t want)
{
	unsigned good = rig->good;
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	CHECK_STATUS(doca_task_try_submit(task), want);
	CHECK_STATUS(sha_run(rig, task), want);
	CHECK_U64(rig->good, good);
	CHECK_OK(doca_ctx_get_state(rig->ctx, &state));
	CHECK_U64(state, DOCA_CTX_STATE_RUNNING);
}

/* The data of a buffer in hexadecimal. */
static inline const char *sha_hex(const struct doca_buf *buf)
{
	static char text[2][257];
	static unsigned turn;
	char *out = text[turn++ % 2];
	void *data = NULL;
	size_t len = 0, i;

	MUST(doca_buf_get_data(buf, &data));
	MUST(doca_buf_get_data_len(buf, &len));
	MUST_BE(len <= 128);
	out[0] = '\0';
	for (i = 0; i < len; i++)
		snprintf(out + 2 * i, 3, "%02x", ((const uint8_t *)data)[i]);
	return out;
}

/* The digest of [at, at + len), by a task of its own into the last 64 bytes of the memory. */
static inline void sha_one_shot(struct sha_rig *rig, enum doca_sha_algorithm algorithm, size_t at, size_t len,
				uint8_t *digest)
{
	struct doca_buf *src = sha_src(rig, at, len), *dst = sha_dst(rig, rig->len - 64, 64);
	struct doca_sha_task_hash *task = NULL;
	union doca_data user = {0};

	MUST(doca_sha_task_hash_alloc_init(rig->sha, algorithm, src, dst, user, &task));
	CHECK_OK(sha_run(rig, doca_sha_task_hash_as_task(task)));
	memcpy(digest, rig->mem + rig->len - 64, sha_digest_len[algorithm]);
	doca_task_free(doca_sha_task_hash_as_task(task));
	sha_drop(src);
	sha_drop(dst);
}

static inline void sha_teardown(struct sha_rig *rig)
{
	uint32_t total = 0, free_now = 0;
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;

	CHECK_STATUS2(doca_ctx_stop(rig->ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	do {
		CHECK_OK(doca_ctx_get_state(rig->ctx, &state));
		(void)doca_pe_progress(rig->pe);
	} while (state != DOCA_CTX_STATE_IDLE);
	CHECK_OK(doca_sha_destroy(rig->sha));
	CHECK_OK(doca_pe_destroy(rig->pe));
	CHECK_OK(doca_buf_inventory_get_num_elements(rig->inv, &total));
	CHECK_OK(doca_buf_inventory_get_num_free_elements(rig->inv, &free_now));
	CHECK_U64(free_now, total);
	CHECK_OK(doca_buf_inventory_destroy(rig->inv));
	CHECK_OK(doca_mmap_destroy(rig->map));
	CHECK_OK(doca_dev_close(rig->dev));
	free(rig->mem);
}

#endif
