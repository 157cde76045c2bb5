/*
 * What the compression programs share: a device that can do a task, a context with its maps, buffers,
 * and progress until nothing is in flight.
 */
#ifndef CONFORMANCE_COMPRESS_RIG_H
#define CONFORMANCE_COMPRESS_RIG_H

#include <sched.h>
#include <sys/mman.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_types.h>

#include "check.h"

struct squeeze {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_compress *compress;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inv;
	struct doca_mmap *map;
	uint8_t *mem;
	size_t len;
	unsigned good, bad;
	doca_error_t status;   /* of the last completion */
	uint64_t order[4096];  /* task user data, in order of completion */
	uint32_t crc, other;   /* checksums of the last good completion */
};

typedef doca_error_t (*squeeze_cap)(const struct doca_devinfo *devinfo);

/* The first device that can do all of these. */
static inline struct doca_dev *squeeze_open(const squeeze_cap *caps, size_t count)
{
	struct doca_devinfo **list = NULL;
	struct doca_dev *dev = NULL;
	uint32_t devices = 0, i;

	MUST(doca_devinfo_create_list(&list, &devices));
	for (i = 0; i < devices && dev == NULL; i++) {
		size_t fits = 0;

		while (fits < count && caps[fits](list[i]) == DOCA_SUCCESS)
			fits++;
		if (fits == count)
			MUST(doca_dev_open(list[i], &dev));
	}
	MUST(doca_devinfo_destroy_list(list));
	MUST_BE(dev != NULL);
	return dev;
}

/* `len` bytes of memory that end at a page nobody may touch. */
static inline uint8_t *squeeze_guarded(size_t len, size_t *mapped)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (len + page - 1) / page * page;
	uint8_t *at = (uint8_t *)mmap(NULL, body + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST_BE(at != MAP_FAILED);
	MUST_BE(mprotect(at + body, page, PROT_NONE) == 0);
	*mapped = body;
	return at + body - len;
}

static inline struct doca_mmap *squeeze_map(struct squeeze *s, void *addr, size_t len, uint32_t access)
{
	struct doca_mmap *map = NULL;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, s->dev));
	MUST(doca_mmap_set_memrange(map, addr, len));
	MUST(doca_mmap_set_permissions(map, access));
	MUST(doca_mmap_start(map));
	return map;
}

static inline void squeeze_note(struct squeeze *s, struct doca_task *task, union doca_data user, int good)
{
	s->status = doca_task_get_status(task);
	CHECK_U64(s->status == DOCA_SUCCESS, good);
	s->order[(s->good + s->bad) % 4096] = user.u64;
	if (good)
		s->good++;
	else
		s->bad++;
}

/* Both callbacks of a task type: note what happened, free the task. */
#define SQUEEZE_CALLBACKS(kind_, other_) \
	static inline void kind_##_good(struct doca_compress_task_##kind_ *task, union doca_data user, \
					union doca_data ctx_user) \
	{ \
		struct squeeze *s = (struct squeeze *)ctx_user.ptr; \
		squeeze_note(s, doca_compress_task_##kind_##_as_task(task), user, 1); \
		s->crc = doca_compress_task_##kind_##_get_crc_cs(task); \
		s->other = doca_compress_task_##kind_##_get_##other_##_cs(task); \
		doca_task_free(doca_compress_task_##kind_##_as_task(task)); \
	} \
	static inline void kind_##_bad(struct doca_compress_task_##kind_ *task, union doca_data user, \
				       union doca_data ctx_user) \
	{ \
		squeeze_note((struct squeeze *)ctx_user.ptr, doca_compress_task_##kind_##_as_task(task), user, 0); \
		doca_task_free(doca_compress_task_##kind_##_as_task(task)); \
	}

SQUEEZE_CALLBACKS(compress_deflate, adler)
SQUEEZE_CALLBACKS(decompress_deflate, adler)
SQUEEZE_CALLBACKS(decompress_lz4_stream, xxh)
SQUEEZE_CALLBACKS(decompress_lz4_block, xxh)

/* Device, engine, inventory and `len` bytes of memory; the caller configures task types and starts. */
static inline void squeeze_make(struct squeeze *s, const squeeze_cap *caps, size_t count, size_t len)
{
	union doca_data user = {0};

	memset(s, 0, sizeof(*s));
	s->dev = squeeze_open(caps, count);
	MUST(doca_pe_create(&s->pe));
	MUST(doca_compress_create(s->dev, &s->compress));
	s->ctx = doca_compress_as_ctx(s->compress);
	MUST_BE(s->ctx != NULL);
	MUST(doca_pe_connect_ctx(s->pe, s->ctx));
	user.ptr = s;
	MUST(doca_ctx_set_user_data(s->ctx, user));
	MUST(doca_buf_inventory_create(1024, &s->inv));
	MUST(doca_buf_inventory_start(s->inv));
	s->len = len;
	s->mem = (uint8_t *)calloc(1, len);
	MUST_BE(s->mem != NULL);
	s->map = squeeze_map(s, s->mem, len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
}

static inline struct doca_buf *squeeze_full(struct squeeze *s, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_data(s->inv, s->map, s->mem + at, len, &buf));
	return buf;
}

static inline struct doca_buf *squeeze_empty(struct squeeze *s, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_addr(s->inv, s->map, s->mem + at, len, &buf));
	return buf;
}

static inline size_t squeeze_len(const struct doca_buf *buf)
{
	size_t len = SIZE_MAX;

	CHECK_OK(doca_buf_get_data_len(buf, &len));
	return len;
}

static inline void squeeze_drain(struct squeeze *s)
{
	size_t flying = 1;

	while (flying != 0) {
		if (doca_pe_progress(s->pe) == 0)
			sched_yield();
		MUST(doca_ctx_get_num_inflight_tasks(s->ctx, &flying));
	}
}

static inline void squeeze_end(struct squeeze *s)
{
	uint32_t total = 0, left = 0;

	CHECK_OK(doca_ctx_stop(s->ctx));
	/* Once more, as cleaning-up code does. */
	CHECK_OK(doca_ctx_stop(s->ctx));
	CHECK_OK(doca_compress_destroy(s->compress));
	CHECK_OK(doca_pe_destroy(s->pe));
	CHECK_OK(doca_buf_inventory_get_num_elements(s->inv, &total));
	CHECK_OK(doca_buf_inventory_get_num_free_elements(s->inv, &left));
	CHECK_U64(left, total);
	CHECK_OK(doca_buf_inventory_destroy(s->inv));
	CHECK_OK(doca_mmap_destroy(s->map));
	CHECK_OK(doca_dev_close(s->dev));
	free(s->mem);
}

#endif
