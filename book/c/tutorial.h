/*
 * What the programs of the manual share: a device that can do what is wanted, memory with buffers, a
 * progress engine, and the way from start to stop of one context.
 */
#ifndef TUTORIAL_H
#define TUTORIAL_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call that the program cannot do without. */
#define MUST(call) must(#call, call)

static inline void must(const char *call, doca_error_t status)
{
	if (status != DOCA_SUCCESS) {
		fprintf(stderr, "%s: %s\n", call, doca_error_get_descr(status));
		exit(1);
	}
}

/* One device, one map, one engine. */
struct rig {
	struct doca_dev *dev;
	struct doca_mmap *map;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	char *memory;
	int flying;          /* tasks that have not come back */
	doca_error_t status; /* of the last one that has */
};

/* The first device for which a capability call says yes. */
static inline struct doca_dev *device_that(doca_error_t (*can)(const struct doca_devinfo *))
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++)
		if (can(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_destroy_list(list));
	if (dev == NULL) {
		fprintf(stderr, "no device can do that\n");
		exit(1);
	}
	return dev;
}

static inline struct rig make_rig(doca_error_t (*can)(const struct doca_devinfo *), size_t bytes, uint32_t rights)
{
	struct rig rig = {0};

	rig.dev = device_that(can);
	rig.memory = calloc(1, bytes);
	MUST(doca_mmap_create(&rig.map));
	MUST(doca_mmap_add_dev(rig.map, rig.dev));
	MUST(doca_mmap_set_permissions(rig.map, rights));
	MUST(doca_mmap_set_memrange(rig.map, rig.memory, bytes));
	MUST(doca_mmap_start(rig.map));
	MUST(doca_buf_inventory_create(64, &rig.inventory));
	MUST(doca_buf_inventory_start(rig.inventory));
	MUST(doca_pe_create(&rig.pe));
	return rig;
}

/* A source: `length` bytes of data at `at`. */
static inline struct doca_buf *data(struct rig *rig, size_t at, size_t length)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_data(rig->inventory, rig->map, rig->memory + at, length, &buf));
	return buf;
}

/* A destination: room for `length` bytes at `at`, and no data in it yet. */
static inline struct doca_buf *room(struct rig *rig, size_t at, size_t length)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_addr(rig->inventory, rig->map, rig->memory + at, length, &buf));
	return buf;
}

static inline size_t length_of(struct doca_buf *buf)
{
	size_t length;

	MUST(doca_buf_get_data_len(buf, &length));
	return length;
}

/* The context is configured; the callbacks find the rig in its user data. */
static inline void start(struct rig *rig, struct doca_ctx *ctx)
{
	union doca_data user = {.ptr = rig};

	MUST(doca_ctx_set_user_data(ctx, user));
	MUST(doca_pe_connect_ctx(rig->pe, ctx));
	MUST(doca_ctx_start(ctx));
}

/* What every callback does: remember the status, give the task back. */
static inline void landed(union doca_data ctx, struct doca_task *task)
{
	struct rig *rig = ctx.ptr;

	rig->status = doca_task_get_status(task);
	rig->flying--;
	doca_task_free(task);
}

/* Submits a task and waits for it; the status is the task's. */
static inline doca_error_t carry_out(struct rig *rig, struct doca_task *task)
{
	rig->flying++;
	MUST(doca_task_submit(task));
	while (rig->flying > 0)
		doca_pe_progress(rig->pe);
	return rig->status;
}

static inline void stop(struct rig *rig, struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	if (doca_ctx_stop(ctx) == DOCA_ERROR_IN_PROGRESS)
		do
			doca_pe_progress(rig->pe);
		while (doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE);
}

/* The contexts are destroyed and the buffers given back. */
static inline void free_rig(struct rig *rig)
{
	MUST(doca_pe_destroy(rig->pe));
	MUST(doca_buf_inventory_destroy(rig->inventory));
	MUST(doca_mmap_destroy(rig->map));
	MUST(doca_dev_close(rig->dev));
	free(rig->memory);
}

#endif
