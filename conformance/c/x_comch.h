/*
 * What the message channel programs share: a server on the card's function for one host function's
 * representor, a client on that host function, callbacks that count and remember, sends whose task is
 * freed in both callbacks. Programs add their own steps through the hooks.
 *
 * Every call to progress goes through comch_progress(), which holds the library to its word: 0 means
 * that nothing was reported, anything else that one callback ran or a state changed.
 *
 * A program that includes this defines _GNU_SOURCE first.
 */
#ifndef CONFORMANCE_X_COMCH_H
#define CONFORMANCE_X_COMCH_H

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_types.h>

#include "check.h"
#include "x_two.h"

#define COMCH_HOST "b1:00.0"
#define COMCH_CARD "03:00.0"

struct comch_end {
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	struct doca_comch_server *server; /* one of the two */
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_comch_connection *peer; /* server: who connected last */
	/* What happened. */
	unsigned connects, disconnects, messages, sent, failed, newborn, expired;
	uint32_t consumer; /* the id that came last */
	uint32_t born[64], died[64]; /* ids of consumers, in order */
	doca_error_t status; /* of the send that ended last */
	uint8_t last[8192]; /* the message that came last */
	uint32_t last_len;
	unsigned changes;
	enum doca_ctx_states to[64];
	/* Called after the counting. */
	void (*on_connect)(struct comch_end *end, struct doca_comch_connection *peer);
	void (*on_disconnect)(struct comch_end *end, struct doca_comch_connection *peer);
	void (*on_message)(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len);
	void (*on_sent)(struct comch_end *end, struct doca_task *task);
	void (*on_state)(struct comch_end *end, enum doca_ctx_states prev, enum doca_ctx_states next);
	void *own;
};

/* Callbacks run by the progress call under way; state changes as well. */
static __thread unsigned comch_calls, comch_changes;
static __thread int comch_in_progress;

static inline struct comch_end *comch_end_of(const struct doca_comch_connection *peer)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(peer);
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(peer);
	union doca_data user = {0};

	MUST_BE((server == NULL) != (client == NULL));
	MUST(doca_ctx_get_user_data(server != NULL ? doca_comch_server_as_ctx(server) :
						     doca_comch_client_as_ctx(client),
				    &user));
	MUST_BE(user.ptr != NULL);
	return (struct comch_end *)user.ptr;
}

static inline void comch_called(void)
{
	CHECK(comch_in_progress); /* never in submit, start or stop */
	comch_calls++;
}

static inline void comch_connect_cb(struct doca_comch_event_connection_status_changed *event,
				    struct doca_comch_connection *peer, uint8_t good)
{
	struct comch_end *end;

	(void)event;
	comch_called();
	if (!good)
		return;
	end = comch_end_of(peer);
	end->connects++;
	end->peer = peer;
	if (end->on_connect != NULL)
		end->on_connect(end, peer);
}

static inline void comch_disconnect_cb(struct doca_comch_event_connection_status_changed *event,
				       struct doca_comch_connection *peer, uint8_t good)
{
	struct comch_end *end;

	(void)event;
	comch_called();
	if (!good)
		return;
	end = comch_end_of(peer);
	end->disconnects++;
	if (end->peer == peer)
		end->peer = NULL;
	if (end->on_disconnect != NULL)
		end->on_disconnect(end, peer);
}

static inline void comch_message_cb(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
				    struct doca_comch_connection *peer)
{
	struct comch_end *end = comch_end_of(peer);

	(void)event;
	comch_called();
	end->messages++;
	MUST_BE(len <= sizeof(end->last));
	memcpy(end->last, bytes, len);
	end->last_len = len;
	if (end->on_message != NULL)
		end->on_message(end, peer, bytes, len);
}

static inline void comch_newborn_cb(struct doca_comch_event_consumer *event, struct doca_comch_connection *peer,
				    uint32_t id)
{
	struct comch_end *end = comch_end_of(peer);

	(void)event;
	comch_called();
	if (end->newborn < 64)
		end->born[end->newborn] = id;
	end->newborn++;
	end->consumer = id;
}

static inline void comch_expired_cb(struct doca_comch_event_consumer *event, struct doca_comch_connection *peer,
				    uint32_t id)
{
	struct comch_end *end = comch_end_of(peer);

	(void)event;
	comch_called();
	if (end->expired < 64)
		end->died[end->expired] = id;
	end->expired++;
}

static inline void comch_send_done(struct doca_comch_task_send *task, struct comch_end *end)
{
	struct doca_task *plain = doca_comch_task_send_as_task(task);

	comch_called();
	end->status = doca_task_get_status(plain);
	if (end->on_sent != NULL)
		end->on_sent(end, plain);
	doca_task_free(plain);
}

static inline void comch_sent_cb(struct doca_comch_task_send *task, union doca_data task_user, union doca_data ctx_user)
{
	struct comch_end *end = (struct comch_end *)ctx_user.ptr;

	(void)task_user;
	end->sent++;
	comch_send_done(task, end);
	CHECK_STATUS(end->status, DOCA_SUCCESS);
}

static inline void comch_failed_cb(struct doca_comch_task_send *task, union doca_data task_user,
				   union doca_data ctx_user)
{
	struct comch_end *end = (struct comch_end *)ctx_user.ptr;

	(void)task_user;
	end->failed++;
	comch_send_done(task, end);
	CHECK(end->status != DOCA_SUCCESS);
}

static inline enum doca_ctx_states comch_state(const struct comch_end *end)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;

	CHECK_OK(doca_ctx_get_state(end->ctx, &state));
	return state;
}

static inline void comch_state_cb(const union doca_data user, struct doca_ctx *ctx, enum doca_ctx_states prev,
				  enum doca_ctx_states next)
{
	struct comch_end *end = (struct comch_end *)user.ptr;

	CHECK_PTR(ctx, end->ctx);
	CHECK_U64(comch_state(end), next);
	comch_changes++;
	if (end->changes < 64)
		end->to[end->changes] = next;
	end->changes++;
	if (end->on_state != NULL)
		end->on_state(end, prev, next);
}

static inline uint8_t comch_progress(struct doca_pe *pe)
{
	uint8_t moved;

	comch_calls = comch_changes = 0;
	comch_in_progress = 1;
	moved = doca_pe_progress(pe);
	comch_in_progress = 0;
	if (moved == 0) {
		CHECK_U64(comch_calls + comch_changes, 0);
		sched_yield();
	} else {
		CHECK(comch_calls <= 1);
		CHECK(comch_calls + comch_changes >= 1);
	}
	return moved;
}

/* Progress until something is so. */
#define COMCH_UNTIL(pe, condition) \
	do { \
		while (!(condition)) \
			comch_progress(pe); \
	} while (0)

/* Progress for a while, on the lookout for things that must not happen. */
static inline void comch_idle(struct doca_pe *pe, unsigned ms)
{
	struct timespec now, begin;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		comch_progress(pe);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < (long)ms);
}

/* The function with this address, which can be a client, or a server. */
static inline struct doca_dev *comch_open(const char *pci, int server)
{
	struct doca_devinfo **list = NULL;
	struct doca_dev *dev = NULL;
	uint32_t count = 0, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++) {
		uint8_t equal = 0;

		MUST(doca_devinfo_is_equal_pci_addr(list[i], pci, &equal));
		if (!equal)
			continue;
		MUST(server ? doca_comch_cap_server_is_supported(list[i]) : doca_comch_cap_client_is_supported(list[i]));
		MUST(doca_dev_open(list[i], &dev));
	}
	MUST(doca_devinfo_destroy_list(list));
	MUST_BE(dev != NULL);
	return dev;
}

static inline struct doca_dev_rep *comch_open_rep(struct doca_dev *dev, const char *pci)
{
	struct doca_devinfo_rep **list = NULL;
	struct doca_dev_rep *rep = NULL;
	uint32_t count = 0, i;

	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
	for (i = 0; i < count && rep == NULL; i++) {
		uint8_t equal = 0;

		MUST(doca_devinfo_rep_is_equal_pci_addr(list[i], pci, &equal));
		if (equal)
			MUST(doca_dev_rep_open(list[i], &rep));
	}
	MUST(doca_devinfo_rep_destroy_list(list));
	MUST_BE(rep != NULL);
	return rep;
}

static inline void comch_common(struct comch_end *end)
{
	union doca_data user = {0};

	user.ptr = end;
	MUST_BE(end->ctx != NULL);
	MUST(doca_pe_connect_ctx(end->pe, end->ctx));
	MUST(doca_ctx_set_user_data(end->ctx, user));
	MUST(doca_ctx_set_state_changed_cb(end->ctx, comch_state_cb));
}

/* A server, configured and idle; `end` is empty or carries hooks. */
static inline void comch_make_server(struct comch_end *end, struct doca_pe *pe, const char *name, uint32_t tasks)
{
	end->pe = pe;
	end->dev = comch_open(COMCH_CARD, 1);
	end->rep = comch_open_rep(end->dev, COMCH_HOST);
	MUST(doca_comch_server_create(end->dev, end->rep, name, &end->server));
	end->ctx = doca_comch_server_as_ctx(end->server);
	comch_common(end);
	MUST(doca_comch_server_task_send_set_conf(end->server, comch_sent_cb, comch_failed_cb, tasks));
	MUST(doca_comch_server_event_msg_recv_register(end->server, comch_message_cb));
	MUST(doca_comch_server_event_connection_status_changed_register(end->server, comch_connect_cb,
									comch_disconnect_cb));
	MUST(doca_comch_server_event_consumer_register(end->server, comch_newborn_cb, comch_expired_cb));
}

/* A client, configured and idle. */
static inline void comch_make_client(struct comch_end *end, struct doca_pe *pe, const char *name, uint32_t tasks)
{
	end->pe = pe;
	end->dev = comch_open(COMCH_HOST, 0);
	MUST(doca_comch_client_create(end->dev, name, &end->client));
	end->ctx = doca_comch_client_as_ctx(end->client);
	comch_common(end);
	MUST(doca_comch_client_task_send_set_conf(end->client, comch_sent_cb, comch_failed_cb, tasks));
	MUST(doca_comch_client_event_msg_recv_register(end->client, comch_message_cb));
	MUST(doca_comch_client_event_consumer_register(end->client, comch_newborn_cb, comch_expired_cb));
}

/* Starts and waits until it runs; the client finds its connection. */
static inline void comch_run(struct comch_end *end)
{
	if (end->server != NULL) {
		MUST(doca_ctx_start(end->ctx));
		CHECK_U64(comch_state(end), DOCA_CTX_STATE_RUNNING);
		return;
	}
	MUST_BE(doca_ctx_start(end->ctx) == DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(end->pe, comch_state(end) != DOCA_CTX_STATE_STARTING);
	MUST_BE(comch_state(end) == DOCA_CTX_STATE_RUNNING);
	MUST(doca_comch_client_get_connection(end->client, &end->peer));
}

/* One message, one task; the status of the first call that refused. */
static inline doca_error_t comch_try_send(struct comch_end *end, struct doca_comch_connection *peer, const void *bytes,
					  uint32_t len)
{
	struct doca_comch_task_send *task = NULL;
	doca_error_t status;

	if (end->server != NULL)
		status = doca_comch_server_task_send_alloc_init(end->server, peer, bytes, len, &task);
	else
		status = doca_comch_client_task_send_alloc_init(end->client, peer, bytes, len, &task);
	if (status != DOCA_SUCCESS)
		return status;
	status = doca_task_submit(doca_comch_task_send_as_task(task));
	if (status != DOCA_SUCCESS)
		doca_task_free(doca_comch_task_send_as_task(task));
	return status;
}

static inline void comch_send(struct comch_end *end, struct doca_comch_connection *peer, const void *bytes,
			      uint32_t len)
{
	doca_error_t status;

	/* An empty pool is no error: progress, and once more. */
	while ((status = comch_try_send(end, peer, bytes, len)) == DOCA_ERROR_NO_MEMORY ||
	       status == DOCA_ERROR_AGAIN)
		comch_progress(end->pe);
	MUST(status);
}

static inline void comch_stop(struct comch_end *end)
{
	CHECK_STATUS2(doca_ctx_stop(end->ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(end->pe, comch_state(end) == DOCA_CTX_STATE_IDLE);
}

/* Destroys what is idle; the progress engine is not this end's alone and stays. */
static inline void comch_destroy(struct comch_end *end)
{
	if (end->server != NULL) {
		CHECK_OK(doca_comch_server_destroy(end->server));
		CHECK_OK(doca_dev_rep_close(end->rep));
	} else {
		CHECK_OK(doca_comch_client_destroy(end->client));
	}
	CHECK_OK(doca_dev_close(end->dev));
	end->server = NULL;
	end->client = NULL;
	end->ctx = NULL;
}

#endif
