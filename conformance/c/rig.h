/*
 * What most conformance programs need around the thing they test: one device, one memory map over
 * plain heap memory, an inventory, a progress engine and a DMA context whose callbacks are recorded.
 *
 * Every call to progress goes through rig_progress(), which holds the library to two promises:
 * a call that answers 0 ran nothing and changed no state; a call runs one completion at most.
 */
#ifndef CONFORMANCE_RIG_H
#define CONFORMANCE_RIG_H

#include <sched.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_types.h>

#include "check.h"

#define RIG_LOG 4096

struct rig {
	struct doca_dev *dev;
	struct doca_mmap *map;
	struct doca_buf_inventory *inv;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	uint8_t *mem;
	size_t len;
	int free_tasks; /* the callbacks free the task */
	int drop_bufs;	/* ... and give both buffers back */
	/* What happened. */
	unsigned good;			/* success callbacks */
	unsigned bad;			/* error callbacks */
	uint64_t order[RIG_LOG];	/* user data of completions, in order of delivery */
	doca_error_t status[RIG_LOG];	/* ... and the status found in the callback */
	unsigned changes;		/* state callbacks */
	enum doca_ctx_states from[64];
	enum doca_ctx_states to[64];
	/* Called after recording, when set. */
	void (*on_done)(struct rig *rig, struct doca_dma_task_memcpy *task);
	void (*on_state)(struct rig *rig, enum doca_ctx_states now);
};

/* Opens the device with this PCI address (NULL: the first that can copy). */
static inline struct doca_dev *rig_open_dev(const char *pci)
{
	struct doca_devinfo **list = NULL;
	struct doca_dev *dev = NULL;
	uint32_t count = 0, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++) {
		uint8_t equal = 1;

		if (doca_dma_cap_task_memcpy_is_supported(list[i]) != DOCA_SUCCESS)
			continue;
		if (pci != NULL)
			MUST(doca_devinfo_is_equal_pci_addr(list[i], pci, &equal));
		if (equal)
			MUST(doca_dev_open(list[i], &dev));
	}
	MUST(doca_devinfo_destroy_list(list));
	if (dev == NULL) {
		fprintf(stderr, "no device %s that can copy\n", pci == NULL ? "" : pci);
		exit(1);
	}
	return dev;
}

/* A started map over [addr, addr + len). */
static inline struct doca_mmap *rig_map(struct doca_dev *dev, void *addr, size_t len, uint32_t access)
{
	struct doca_mmap *map = NULL;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, addr, len));
	MUST(doca_mmap_set_permissions(map, access));
	MUST(doca_mmap_start(map));
	return map;
}

static inline void rig_record(struct rig *rig, struct doca_dma_task_memcpy *task, union doca_data user)
{
	struct doca_task *plain = doca_dma_task_memcpy_as_task(task);
	unsigned at = rig->good + rig->bad - 1;

	if (at < RIG_LOG) {
		rig->order[at] = user.u64;
		rig->status[at] = doca_task_get_status(plain);
	}
	if (rig->on_done != NULL)
		rig->on_done(rig, task);
	if (rig->drop_bufs) {
		CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
		CHECK_OK(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL));
	}
	if (rig->free_tasks)
		doca_task_free(plain);
}

static inline void rig_good_cb(struct doca_dma_task_memcpy *task, union doca_data task_user, union doca_data ctx_user)
{
	struct rig *rig = (struct rig *)ctx_user.ptr;

	rig->good++;
	rig_record(rig, task, task_user);
}

static inline void rig_bad_cb(struct doca_dma_task_memcpy *task, union doca_data task_user, union doca_data ctx_user)
{
	struct rig *rig = (struct rig *)ctx_user.ptr;

	rig->bad++;
	rig_record(rig, task, task_user);
}

static inline void rig_state_cb(const union doca_data user, struct doca_ctx *ctx, enum doca_ctx_states prev,
				enum doca_ctx_states next)
{
	struct rig *rig = (struct rig *)user.ptr;
	enum doca_ctx_states now = DOCA_CTX_STATE_STARTING;

	CHECK_PTR(ctx, rig->ctx);
	CHECK_OK(doca_ctx_get_state(ctx, &now));
	CHECK_U64(now, next);
	if (rig->changes < 64) {
		rig->from[rig->changes] = prev;
		rig->to[rig->changes] = next;
	}
	rig->changes++;
	if (rig->on_state != NULL)
		rig->on_state(rig, next);
}

/* Device, engine and a configured but idle context; no memory yet. */
static inline void rig_make_ctx(struct rig *rig, struct doca_dev *dev, struct doca_pe *pe, uint32_t tasks)
{
	union doca_data user;

	user.u64 = 0;
	user.ptr = rig;
	rig->dev = dev;
	rig->pe = pe;
	MUST(doca_dma_create(dev, &rig->dma));
	rig->ctx = doca_dma_as_ctx(rig->dma);
	MUST_BE(rig->ctx != NULL);
	MUST(doca_pe_connect_ctx(pe, rig->ctx));
	MUST(doca_dma_task_memcpy_set_conf(rig->dma, rig_good_cb, rig_bad_cb, tasks));
	MUST(doca_ctx_set_user_data(rig->ctx, user));
	MUST(doca_ctx_set_state_changed_cb(rig->ctx, rig_state_cb));
}

/* All of it, started; `bytes` of memory filled with a pattern. */
static inline void rig_setup(struct rig *rig, size_t bytes, uint32_t tasks)
{
	struct doca_pe *pe = NULL;
	size_t i;

	memset(rig, 0, sizeof(*rig));
	rig->free_tasks = 1;
	rig->drop_bufs = 1;
	MUST(doca_pe_create(&pe));
	rig_make_ctx(rig, rig_open_dev(NULL), pe, tasks);
	rig->len = bytes;
	rig->mem = (uint8_t *)malloc(bytes);
	MUST_BE(rig->mem != NULL);
	for (i = 0; i < bytes; i++)
		rig->mem[i] = (uint8_t)(i * 31 + (i >> 8) * 7 + 1);
	rig->map = rig_map(rig->dev, rig->mem, bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create((size_t)tasks * 2 + 512, &rig->inv));
	MUST(doca_buf_inventory_start(rig->inv));
	MUST(doca_ctx_start(rig->ctx));
}

/* A full buffer: `len` bytes at offset `at` as data. */
static inline struct doca_buf *rig_src(struct rig *rig, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_data(rig->inv, rig->map, rig->mem + at, len, &buf));
	return buf;
}

/* An empty buffer: room for `len` bytes at offset `at`. */
static inline struct doca_buf *rig_dst(struct rig *rig, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, rig->map, rig->mem + at, len, &buf));
	return buf;
}

static inline struct doca_dma_task_memcpy *rig_task(struct rig *rig, struct doca_buf *src, struct doca_buf *dst,
						    uint64_t user_value)
{
	struct doca_dma_task_memcpy *task = NULL;
	union doca_data user;

	user.u64 = user_value;
	MUST(doca_dma_task_memcpy_alloc_init(rig->dma, src, dst, user, &task));
	return task;
}

/* Submits a copy of `len` bytes from offset `from` to offset `to`. */
static inline struct doca_dma_task_memcpy *rig_copy(struct rig *rig, size_t from, size_t to, size_t len,
						    uint64_t user_value)
{
	struct doca_dma_task_memcpy *task =
		rig_task(rig, rig_src(rig, from, len), rig_dst(rig, to, len), user_value);

	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	return task;
}

static inline uint8_t rig_progress(struct rig *rig)
{
	unsigned done = rig->good + rig->bad, changes = rig->changes;
	uint8_t moved = doca_pe_progress(rig->pe);

	if (moved == 0) {
		CHECK_U64(rig->good + rig->bad, done);
		CHECK_U64(rig->changes, changes);
		sched_yield();
	} else {
		CHECK(rig->good + rig->bad <= done + 1);
	}
	return moved;
}

static inline size_t rig_inflight(const struct rig *rig)
{
	size_t count = SIZE_MAX;

	CHECK_OK(doca_ctx_get_num_inflight_tasks(rig->ctx, &count));
	return count;
}

static inline enum doca_ctx_states rig_state(const struct rig *rig)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;

	CHECK_OK(doca_ctx_get_state(rig->ctx, &state));
	return state;
}

/* Progress until nothing is in flight. */
static inline void rig_drain(struct rig *rig)
{
	while (rig_inflight(rig) != 0)
		rig_progress(rig);
}

static inline void rig_until_idle(struct rig *rig)
{
	while (rig_state(rig) != DOCA_CTX_STATE_IDLE)
		rig_progress(rig);
}

/* Stop by the usual loop, then everything goes in the order programs use. */
static inline void rig_teardown(struct rig *rig)
{
	uint32_t total = 0, free_now = 0;

	if (rig->dma != NULL) {
		CHECK_STATUS2(doca_ctx_stop(rig->ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
		rig_until_idle(rig);
		CHECK_OK(doca_dma_destroy(rig->dma));
	}
	CHECK_OK(doca_pe_destroy(rig->pe));
	if (rig->inv != NULL) {
		CHECK_OK(doca_buf_inventory_get_num_elements(rig->inv, &total));
		CHECK_OK(doca_buf_inventory_get_num_free_elements(rig->inv, &free_now));
		CHECK_U64(free_now, total);
		CHECK_OK(doca_buf_inventory_destroy(rig->inv));
	}
	if (rig->map != NULL)
		CHECK_OK(doca_mmap_destroy(rig->map));
	CHECK_OK(doca_dev_close(rig->dev));
	free(rig->mem);
}

#endif
