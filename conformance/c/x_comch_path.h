/*
 * The data path on top of a connection: memory with an inventory, a consumer that records what arrives and
 * posts the receive anew if asked to, a producer that counts what went out. Each has a progress engine of
 * the program's choice.
 *
 * A program that includes this defines _GNU_SOURCE first.
 */
#ifndef CONFORMANCE_X_COMCH_PATH_H
#define CONFORMANCE_X_COMCH_PATH_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_mmap.h>

#include "x_comch.h"

/* Memory on a device. */
struct path_memory {
	uint8_t *bytes;
	size_t len;
	struct doca_mmap *map;
	struct doca_buf_inventory *inv;
};

static inline void path_memory(struct path_memory *memory, struct doca_dev *dev, size_t len, uint32_t access)
{
	memory->len = len;
	memory->bytes = (uint8_t *)calloc(1, len);
	MUST_BE(memory->bytes != NULL);
	MUST(doca_mmap_create(&memory->map));
	MUST(doca_mmap_add_dev(memory->map, dev));
	MUST(doca_mmap_set_memrange(memory->map, memory->bytes, len));
	MUST(doca_mmap_set_permissions(memory->map, access));
	MUST(doca_mmap_start(memory->map));
	MUST(doca_buf_inventory_create(2048, &memory->inv));
	MUST(doca_buf_inventory_start(memory->inv));
}

static inline void path_forget(struct path_memory *memory)
{
	CHECK_OK(doca_buf_inventory_destroy(memory->inv));
	CHECK_OK(doca_mmap_destroy(memory->map));
	free(memory->bytes);
}

static inline struct doca_buf *path_full(struct path_memory *memory, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_data(memory->inv, memory->map, memory->bytes + at, len, &buf));
	return buf;
}

static inline struct doca_buf *path_empty(struct path_memory *memory, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_addr(memory->inv, memory->map, memory->bytes + at, len, &buf));
	return buf;
}

struct path_end {
	struct doca_pe *pe;
	struct doca_comch_consumer *consumer; /* one of the two */
	struct doca_comch_producer *producer;
	struct doca_ctx *ctx;
	unsigned good, bad, changes;
	enum doca_ctx_states to[16];
	doca_error_t status;
	/* Of the receive that ended last. */
	uint32_t producer_id, imm_len;
	uint8_t imm[64];
	size_t data_len;
	void *data;
	int keep;   /* callbacks leave task and buffer alone */
	int repost; /* received: the same receive once more */
	void (*on_done)(struct path_end *end, struct doca_task *task);
	void (*on_state)(struct path_end *end, enum doca_ctx_states next);
	void *own;
};

static inline void path_drop(struct path_end *end, struct doca_task *task, struct doca_buf *buf)
{
	if (end->keep)
		return;
	if (buf != NULL)
		CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	doca_task_free(task);
}

static inline void path_received_cb(struct doca_comch_consumer_task_post_recv *task, union doca_data task_user,
				    union doca_data ctx_user)
{
	struct path_end *end = (struct path_end *)ctx_user.ptr;
	struct doca_task *plain = doca_comch_consumer_task_post_recv_as_task(task);
	struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(task);
	const uint8_t *imm = doca_comch_consumer_task_post_recv_get_imm_data(task);

	(void)task_user;
	comch_called();
	end->good++;
	end->status = doca_task_get_status(plain);
	CHECK_STATUS(end->status, DOCA_SUCCESS);
	end->producer_id = doca_comch_consumer_task_post_recv_get_producer_id(task);
	end->imm_len = doca_comch_consumer_task_post_recv_get_imm_data_len(task);
	MUST_BE(end->imm_len <= sizeof(end->imm));
	if (end->imm_len != 0)
		memcpy(end->imm, imm, end->imm_len);
	end->data_len = 0;
	if (buf != NULL) {
		CHECK_OK(doca_buf_get_data(buf, &end->data));
		CHECK_OK(doca_buf_get_data_len(buf, &end->data_len));
	}
	if (end->on_done != NULL)
		end->on_done(end, plain);
	if (end->repost) {
		if (buf != NULL)
			CHECK_OK(doca_buf_reset_data_len(buf));
		CHECK_OK(doca_task_submit(plain));
		return;
	}
	path_drop(end, plain, buf);
}

static inline void path_not_received_cb(struct doca_comch_consumer_task_post_recv *task, union doca_data task_user,
					union doca_data ctx_user)
{
	struct path_end *end = (struct path_end *)ctx_user.ptr;
	struct doca_task *plain = doca_comch_consumer_task_post_recv_as_task(task);

	(void)task_user;
	comch_called();
	end->bad++;
	if (end->keep) /* it may have been freed in flight: nothing to be asked any more */
		return;
	end->status = doca_task_get_status(plain);
	CHECK(end->status != DOCA_SUCCESS);
	path_drop(end, plain, doca_comch_consumer_task_post_recv_get_buf(task));
}

static inline void path_sent(struct path_end *end, struct doca_comch_producer_task_send *task)
{
	struct doca_task *plain = doca_comch_producer_task_send_as_task(task);

	comch_called();
	end->status = doca_task_get_status(plain);
	if (end->on_done != NULL)
		end->on_done(end, plain);
	path_drop(end, plain, (struct doca_buf *)(uintptr_t)doca_comch_producer_task_send_get_buf(task));
}

static inline void path_sent_cb(struct doca_comch_producer_task_send *task, union doca_data task_user,
				union doca_data ctx_user)
{
	struct path_end *end = (struct path_end *)ctx_user.ptr;

	(void)task_user;
	end->good++;
	path_sent(end, task);
}

static inline void path_not_sent_cb(struct doca_comch_producer_task_send *task, union doca_data task_user,
				    union doca_data ctx_user)
{
	struct path_end *end = (struct path_end *)ctx_user.ptr;

	(void)task_user;
	end->bad++;
	path_sent(end, task);
	CHECK(end->status != DOCA_SUCCESS);
}

static inline enum doca_ctx_states path_state(const struct path_end *end)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;

	CHECK_OK(doca_ctx_get_state(end->ctx, &state));
	return state;
}

static inline void path_state_cb(const union doca_data user, struct doca_ctx *ctx, enum doca_ctx_states prev,
				 enum doca_ctx_states next)
{
	struct path_end *end = (struct path_end *)user.ptr;

	(void)prev;
	CHECK_PTR(ctx, end->ctx);
	comch_changes++;
	if (end->changes < 16)
		end->to[end->changes] = next;
	end->changes++;
	if (end->on_state != NULL)
		end->on_state(end, next);
}

static inline void path_common(struct path_end *end, struct doca_pe *pe)
{
	union doca_data user = {0};

	user.ptr = end;
	end->pe = pe;
	MUST_BE(end->ctx != NULL);
	MUST(doca_pe_connect_ctx(pe, end->ctx));
	MUST(doca_ctx_set_user_data(end->ctx, user));
	MUST(doca_ctx_set_state_changed_cb(end->ctx, path_state_cb));
}

/* A consumer, idle. */
static inline void path_consumer(struct path_end *end, struct doca_pe *pe, struct doca_comch_connection *peer,
				 struct doca_mmap *map, uint32_t tasks)
{
	MUST(doca_comch_consumer_create(peer, map, &end->consumer));
	end->ctx = doca_comch_consumer_as_ctx(end->consumer);
	path_common(end, pe);
	MUST(doca_comch_consumer_task_post_recv_set_conf(end->consumer, path_received_cb, path_not_received_cb, tasks));
}

/* A producer, idle. */
static inline void path_producer(struct path_end *end, struct doca_pe *pe, struct doca_comch_connection *peer,
				 uint32_t tasks)
{
	MUST(doca_comch_producer_create(peer, &end->producer));
	end->ctx = doca_comch_producer_as_ctx(end->producer);
	path_common(end, pe);
	MUST(doca_comch_producer_task_send_set_conf(end->producer, path_sent_cb, path_not_sent_cb, tasks));
}

static inline struct doca_task *path_post(struct path_end *end, struct doca_buf *buf)
{
	struct doca_comch_consumer_task_post_recv *task = NULL;

	MUST(doca_comch_consumer_task_post_recv_alloc_init(end->consumer, buf, &task));
	MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	return doca_comch_consumer_task_post_recv_as_task(task);
}

/* One submit; refused, task and buffer are given back. */
static inline doca_error_t path_try_send(struct path_end *end, struct doca_buf *buf, const void *imm, uint32_t imm_len,
					 uint32_t consumer)
{
	struct doca_comch_producer_task_send *task = NULL;
	doca_error_t status;

	MUST(doca_comch_producer_task_send_alloc_init(end->producer, buf, (uint8_t *)(uintptr_t)imm, imm_len, consumer,
						      &task));
	status = doca_task_submit(doca_comch_producer_task_send_as_task(task));
	if (status != DOCA_SUCCESS)
		path_drop(end, doca_comch_producer_task_send_as_task(task), buf);
	return status;
}

/* As programs do it: submit again and again while it says AGAIN, and nothing else meanwhile. */
static inline void path_send(struct path_end *end, struct doca_buf *buf, const void *imm, uint32_t imm_len,
			     uint32_t consumer)
{
	struct doca_comch_producer_task_send *task = NULL;
	doca_error_t status;

	MUST(doca_comch_producer_task_send_alloc_init(end->producer, buf, (uint8_t *)(uintptr_t)imm, imm_len, consumer,
						      &task));
	while ((status = doca_task_submit(doca_comch_producer_task_send_as_task(task))) == DOCA_ERROR_AGAIN)
		sched_yield();
	MUST(status);
}

/* Stops; `control` is the engine of server or client, which has its part in it. */
static inline void path_stop(struct path_end *end, struct doca_pe *control)
{
	CHECK_STATUS2(doca_ctx_stop(end->ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	while (path_state(end) != DOCA_CTX_STATE_IDLE) {
		comch_progress(end->pe);
		if (control != NULL && control != end->pe)
			comch_progress(control);
	}
	if (end->consumer != NULL)
		CHECK_OK(doca_comch_consumer_destroy(end->consumer));
	else
		CHECK_OK(doca_comch_producer_destroy(end->producer));
	end->consumer = NULL;
	end->producer = NULL;
}

#endif
