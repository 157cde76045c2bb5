/*
 * What the sync event programs share: devices, events with the usual pair of locations, the descriptor as
 * plain bytes, and asynchronous mode with callbacks that count.
 *
 * A program that includes this defines _GNU_SOURCE first.
 */
#ifndef CONFORMANCE_X_SYNC_H
#define CONFORMANCE_X_SYNC_H

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_sync_event.h>
#include <doca_types.h>

#include "check.h"
#include "x_two.h"

#define SYNC_HOST "b1:00.0"
#define SYNC_CARD "03:00.0"

struct sync_blob {
	uint64_t len;
	uint8_t bytes[1024];
};

/* The function with this address. */
static inline struct doca_dev *sync_open(const char *pci)
{
	struct doca_devinfo **list = NULL;
	struct doca_dev *dev = NULL;
	uint32_t count = 0, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++) {
		uint8_t equal = 0;

		MUST(doca_devinfo_is_equal_pci_addr(list[i], pci, &equal));
		if (equal)
			MUST(doca_dev_open(list[i], &dev));
	}
	MUST(doca_devinfo_destroy_list(list));
	MUST_BE(dev != NULL);
	return dev;
}

/* An event whose two sides are this processor. */
static inline struct doca_sync_event *sync_local(struct doca_dev *dev)
{
	struct doca_sync_event *event = NULL;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_cpu(event, dev));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	return event;
}

/* An event for the other side of the PCIe, as the pair of samples declares it. */
static inline struct doca_sync_event *sync_remote_pci(struct doca_dev *dev)
{
	struct doca_sync_event *event = NULL;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_remote_pci(event));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	return event;
}

static inline void sync_export(struct doca_sync_event *event, struct doca_dev *dev, struct sync_blob *blob)
{
	const uint8_t *data = NULL;
	size_t len = 0;

	memset(blob, 0, sizeof(*blob));
	MUST(doca_sync_event_export_to_remote_pci(event, dev, &data, &len));
	MUST_BE(data != NULL && len > 0 && len <= sizeof(blob->bytes));
	memcpy(blob->bytes, data, len);
	blob->len = len;
}

static inline struct doca_sync_event *sync_import(struct sync_blob *blob, struct doca_dev *dev)
{
	struct doca_sync_event *event = NULL;

	MUST(doca_sync_event_create_from_export(dev, blob->bytes, (size_t)blob->len, &event));
	memset(blob->bytes, 0x99, sizeof(blob->bytes)); /* not needed any more */
	return event;
}

static inline uint64_t sync_value(struct doca_sync_event *event)
{
	uint64_t value = UINT64_MAX;

	CHECK_OK(doca_sync_event_get(event, &value));
	return value;
}

static inline void sync_end(struct doca_sync_event *event)
{
	CHECK_OK(doca_sync_event_stop(event));
	CHECK_OK(doca_sync_event_destroy(event));
}

/* Asynchronous mode. */
struct sync_rig {
	struct doca_pe *pe;
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	unsigned good, bad, changes;
	doca_error_t status;
	uint64_t user;		/* of the task that ended last */
	struct doca_task *task; /* ... and the task */
};

static inline void sync_done(struct sync_rig *rig, struct doca_task *task, union doca_data user)
{
	rig->status = doca_task_get_status(task);
	rig->user = user.u64;
	rig->task = task;
}

#define SYNC_CALLBACKS(kind) \
	static inline void sync_##kind##_good(struct doca_sync_event_task_##kind *task, union doca_data user, \
					      union doca_data ctx) \
	{ \
		struct sync_rig *rig = (struct sync_rig *)ctx.ptr; \
\
		rig->good++; \
		sync_done(rig, doca_sync_event_task_##kind##_as_doca_task(task), user); \
		CHECK_STATUS(rig->status, DOCA_SUCCESS); \
	} \
	static inline void sync_##kind##_bad(struct doca_sync_event_task_##kind *task, union doca_data user, \
					     union doca_data ctx) \
	{ \
		struct sync_rig *rig = (struct sync_rig *)ctx.ptr; \
\
		rig->bad++; \
		sync_done(rig, doca_sync_event_task_##kind##_as_doca_task(task), user); \
		CHECK(rig->status != DOCA_SUCCESS); \
	}

SYNC_CALLBACKS(get)
SYNC_CALLBACKS(notify_set)
SYNC_CALLBACKS(notify_add)
SYNC_CALLBACKS(wait_eq)
SYNC_CALLBACKS(wait_neq)

static inline void sync_state_cb(const union doca_data user, struct doca_ctx *ctx, enum doca_ctx_states prev,
				 enum doca_ctx_states next)
{
	struct sync_rig *rig = (struct sync_rig *)user.ptr;

	(void)prev, (void)next;
	CHECK_PTR(ctx, rig->ctx);
	rig->changes++;
}

static inline enum doca_ctx_states sync_state(const struct sync_rig *rig)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;

	CHECK_OK(doca_ctx_get_state(rig->ctx, &state));
	return state;
}

static inline size_t sync_inflight(const struct sync_rig *rig)
{
	size_t count = SIZE_MAX;

	CHECK_OK(doca_ctx_get_num_inflight_tasks(rig->ctx, &count));
	return count;
}

/* Turns an event into a context with `tasks` of each kind, connected and idle. */
static inline void sync_make(struct sync_rig *rig, struct doca_sync_event *event, uint32_t tasks)
{
	union doca_data user = {0};

	memset(rig, 0, sizeof(*rig));
	user.ptr = rig;
	rig->event = event;
	rig->ctx = doca_sync_event_as_ctx(event);
	MUST_BE(rig->ctx != NULL);
	MUST(doca_pe_create(&rig->pe));
	MUST(doca_pe_connect_ctx(rig->pe, rig->ctx));
	MUST(doca_ctx_set_user_data(rig->ctx, user));
	MUST(doca_ctx_set_state_changed_cb(rig->ctx, sync_state_cb));
	MUST(doca_sync_event_task_get_set_conf(event, sync_get_good, sync_get_bad, tasks));
	MUST(doca_sync_event_task_notify_set_set_conf(event, sync_notify_set_good, sync_notify_set_bad, tasks));
	MUST(doca_sync_event_task_notify_add_set_conf(event, sync_notify_add_good, sync_notify_add_bad, tasks));
	MUST(doca_sync_event_task_wait_eq_set_conf(event, sync_wait_eq_good, sync_wait_eq_bad, tasks));
	MUST(doca_sync_event_task_wait_neq_set_conf(event, sync_wait_neq_good, sync_wait_neq_bad, tasks));
}

/* One call; it is non-zero only when one task ended or the state changed. */
static inline uint8_t sync_progress(struct sync_rig *rig)
{
	unsigned done = rig->good + rig->bad, changes = rig->changes;
	uint8_t moved = doca_pe_progress(rig->pe);

	if (moved == 0) {
		CHECK_U64(rig->good + rig->bad, done);
		CHECK_U64(rig->changes, changes);
		sched_yield();
	} else {
		CHECK(rig->good + rig->bad <= done + 1);
		CHECK(rig->good + rig->bad + rig->changes > done + changes);
	}
	return moved;
}

/* As sample programs do it: progress until it says something, which must have been this task. */
static inline void sync_run(struct sync_rig *rig, struct doca_task *task)
{
	unsigned before = rig->good;

	MUST(doca_task_submit(task));
	while (sync_progress(rig) == 0)
		;
	CHECK_U64(rig->good, before + 1);
	CHECK_PTR(rig->task, task);
}

/* Stop, progress until nothing is in flight, and it is idle; then all goes. */
static inline void sync_unmake(struct sync_rig *rig)
{
	CHECK_STATUS2(doca_ctx_stop(rig->ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	while (sync_inflight(rig) != 0)
		sync_progress(rig);
	CHECK_U64(sync_state(rig), DOCA_CTX_STATE_IDLE);
	CHECK_OK(doca_sync_event_destroy(rig->event));
	CHECK_OK(doca_pe_destroy(rig->pe));
}

#endif
