/*
 * What the programs about sync events share: a device, an event with the usual locations, a context
 * on it whose completions are recorded, and a second process to play the other side.
 */
#ifndef CONFORMANCE_SYNC_EVENT_RIG_H
#define CONFORMANCE_SYNC_EVENT_RIG_H

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#include "check.h"

#define SE_LOG 256

static inline struct doca_dev *se_open_dev(void)
{
	struct doca_devinfo **list = NULL;
	struct doca_dev *dev = NULL;
	uint32_t count = 0, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++) {
		if (doca_sync_event_cap_is_export_to_remote_pci_supported(list[i]) == DOCA_SUCCESS &&
		    doca_sync_event_cap_is_create_from_export_supported(list[i]) == DOCA_SUCCESS &&
		    doca_sync_event_cap_task_wait_eq_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	}
	MUST(doca_devinfo_destroy_list(list));
	MUST_BE(dev != NULL);
	return dev;
}

/* The usual event: the other side changes it, this one waits. */
static inline struct doca_sync_event *se_make(struct doca_dev *dev)
{
	struct doca_sync_event *event = NULL;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_remote_pci(event));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	return event;
}

/* A context on an event. */
struct se_ctx {
	struct doca_sync_event *event;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	unsigned good, bad;
	uint64_t order[SE_LOG];
	doca_error_t status[SE_LOG];
};

static inline void se_record(struct se_ctx *se, struct doca_task *task, uint64_t user, int good)
{
	unsigned at = se->good + se->bad;

	if (at < SE_LOG) {
		se->order[at] = user;
		se->status[at] = doca_task_get_status(task);
	}
	if (good)
		se->good++;
	else
		se->bad++;
}

#define SE_CALLBACKS(kind_) \
	static inline void se_##kind_##_good(struct doca_sync_event_task_##kind_ *task, \
					     union doca_data user, union doca_data ctx) \
	{ \
		se_record((struct se_ctx *)ctx.ptr, doca_sync_event_task_##kind_##_as_doca_task(task), user.u64, 1); \
	} \
	static inline void se_##kind_##_bad(struct doca_sync_event_task_##kind_ *task, \
					    union doca_data user, union doca_data ctx) \
	{ \
		se_record((struct se_ctx *)ctx.ptr, doca_sync_event_task_##kind_##_as_doca_task(task), user.u64, 0); \
	}

SE_CALLBACKS(get)
SE_CALLBACKS(notify_set)
SE_CALLBACKS(notify_add)
SE_CALLBACKS(wait_eq)
SE_CALLBACKS(wait_neq)

/* Chooses the asynchronous mode and starts; `tasks` of each kind. */
static inline void se_start(struct se_ctx *se, struct doca_sync_event *event, uint32_t tasks)
{
	union doca_data user;

	memset(se, 0, sizeof(*se));
	se->event = event;
	user.u64 = 0;
	user.ptr = se;
	MUST(doca_pe_create(&se->pe));
	se->ctx = doca_sync_event_as_ctx(event);
	MUST_BE(se->ctx != NULL);
	CHECK_PTR(doca_sync_event_as_ctx(event), se->ctx);
	MUST(doca_pe_connect_ctx(se->pe, se->ctx));
	MUST(doca_ctx_set_user_data(se->ctx, user));
	MUST(doca_sync_event_task_get_set_conf(event, se_get_good, se_get_bad, tasks));
	MUST(doca_sync_event_task_notify_set_set_conf(event, se_notify_set_good, se_notify_set_bad, tasks));
	MUST(doca_sync_event_task_notify_add_set_conf(event, se_notify_add_good, se_notify_add_bad, tasks));
	MUST(doca_sync_event_task_wait_eq_set_conf(event, se_wait_eq_good, se_wait_eq_bad, tasks));
	MUST(doca_sync_event_task_wait_neq_set_conf(event, se_wait_neq_good, se_wait_neq_bad, tasks));
	MUST(doca_ctx_start(se->ctx));
}

/* Each call that answers non-zero has run one completion, no other has run any. */
static inline uint8_t se_progress(struct se_ctx *se)
{
	unsigned before = se->good + se->bad;
	uint8_t moved = doca_pe_progress(se->pe);

	CHECK_U64(se->good + se->bad - before, moved != 0);
	if (moved == 0)
		sched_yield();
	return moved;
}

/* As programs do: one task, then progress until it answers non-zero. */
static inline void se_carry_out(struct se_ctx *se, struct doca_task *task)
{
	MUST(doca_task_submit(task));
	while (se_progress(se) == 0)
		;
}

static inline enum doca_ctx_states se_state(const struct se_ctx *se)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;

	CHECK_OK(doca_ctx_get_state(se->ctx, &state));
	return state;
}

/* Stops as programs do: progress until nothing is in flight, then the context is idle. Every task was freed. */
static inline void se_stop(struct se_ctx *se)
{
	size_t inflight = 1;

	CHECK_STATUS2(doca_ctx_stop(se->ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	while (inflight != 0) {
		(void)doca_pe_progress(se->pe);
		CHECK_OK(doca_ctx_get_num_inflight_tasks(se->ctx, &inflight));
	}
	while (se_state(se) != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(se->pe);
}

static inline void se_end(struct se_ctx *se)
{
	se_stop(se);
	CHECK_OK(doca_sync_event_destroy(se->event));
	CHECK_OK(doca_pe_destroy(se->pe));
}

/* Two processes and a pipe from the first to the second; forked before the first call of the library. */
struct se_peer {
	pid_t pid; /* 0 in the child */
	int to_child[2];
};

static inline void se_fork(struct se_peer *peer)
{
	MUST_BE(pipe(peer->to_child) == 0);
	fflush(stdout);
	fflush(stderr);
	peer->pid = fork();
	MUST_BE(peer->pid >= 0);
	if (peer->pid == 0)
		alarm(60);
}

static inline void se_send(struct se_peer *peer, const uint8_t *data, size_t size)
{
	uint32_t n = (uint32_t)size;

	MUST_BE(write(peer->to_child[1], &n, sizeof(n)) == (ssize_t)sizeof(n));
	MUST_BE(write(peer->to_child[1], data, size) == (ssize_t)size);
}

static inline size_t se_receive(struct se_peer *peer, uint8_t *data, size_t room)
{
	uint32_t n = 0;

	MUST_BE(read(peer->to_child[0], &n, sizeof(n)) == (ssize_t)sizeof(n));
	MUST_BE(n <= room);
	MUST_BE(read(peer->to_child[0], data, n) == (ssize_t)n);
	return n;
}

/* The child ended well. */
static inline void se_join(struct se_peer *peer)
{
	int status = -1;

	MUST_BE(waitpid(peer->pid, &status, 0) == peer->pid);
	CHECK(WIFEXITED(status));
	CHECK_U64(WEXITSTATUS(status), 0);
}

#endif
