/*
 * The functions of RDMA: as in shim.c.
 */
#define _GNU_SOURCE
#include "shim.h"

#include <doca_rdma.h>
#include <doca_sync_event.h>

CONTEXT("rdma", doca_rdma, doca_rdma_create, doca_rdma_destroy)

#define NO_ID UINT32_MAX

/* The number of a connection, by which one of the same handle is told from it; NO_ID for what is none. */
static uint32_t id_of(const struct doca_rdma_connection *connection)
{
	uint32_t id;

	return connection != NULL && REAL(doca_rdma_connection_get_id)(connection, &id) == DOCA_SUCCESS ? id : NO_ID;
}

CALL(doca_rdma_export,
     (struct doca_rdma *rdma, const void **details, size_t *details_len, struct doca_rdma_connection **connection),
     (rdma, details, details_len, connection),
     softdpu_check_link(*connection, id_of(*connection), 1, "doca_rdma_export", PLACE), rdma, NULL, NULL)

CALL(doca_rdma_connect,
     (struct doca_rdma *rdma, const void *details, size_t details_len, struct doca_rdma_connection *connection),
     (rdma, details, details_len, connection), softdpu_check_joined(connection), rdma, connection, NULL)

CALL(doca_rdma_connection_accept, (struct doca_rdma_connection *connection, void *data, uint8_t len),
     (connection, data, len),
     (softdpu_check_link(connection, id_of(connection), 1, "doca_rdma_connection_accept", PLACE),
      softdpu_check_joined(connection)),
     connection, NULL, NULL)

doca_error_t doca_rdma_connection_disconnect(struct doca_rdma_connection *connection)
{
	static const char call[] = "doca_rdma_connection_disconnect";
	/* Asked before: afterwards it may be none any more. */
	uint32_t id = id_of(connection);
	doca_error_t result = REAL(doca_rdma_connection_disconnect)(connection);

	if (result == DOCA_SUCCESS)
		softdpu_check_link(connection, id, 0, call, PLACE);
	return result;
}

#define RDMA_TASKS(tag_, kind_) \
	CALLBACKS(rdma_##kind_, doca_rdma_task_##kind_) \
	POOL_OF(tag_, rdma_##kind_, doca_rdma_task_##kind_##_set_conf, doca_rdma, \
		doca_rdma_task_##kind_##_completion_cb_t)

/* To whom a task goes. */
#define PEER(call_) \
	do { \
		uint32_t id_ = id_of(connection); \
		softdpu_check_peer(connection, id_, result != DOCA_SUCCESS && id_ == NO_ID, call_, PLACE); \
		if (result == DOCA_SUCCESS) \
			softdpu_check_task_link(*task, connection); \
	} while (0)

#define RDMA_SIMPLE(tag_, kind_, src_, dst_, parameters_, arguments_) \
	RDMA_TASKS(tag_, kind_) \
	ALLOCATED(tag_, doca_rdma_task_##kind_##_allocate_init, rdma, src_, dst_, parameters_, arguments_, \
		  PEER("doca_rdma_task_" #kind_ "_allocate_init"))

RDMA_TASKS("receive", receive)
ALLOCATED("receive", doca_rdma_task_receive_allocate_init, rdma, NULL, dst,
	  (struct doca_rdma *rdma, struct doca_buf *dst, union doca_data user, struct doca_rdma_task_receive **task),
	  (rdma, dst, user, task), (void)0)

RDMA_SIMPLE("send", send, src, NULL,
	    (struct doca_rdma *rdma, struct doca_rdma_connection *connection, const struct doca_buf *src,
	     union doca_data user, struct doca_rdma_task_send **task),
	    (rdma, connection, src, user, task))

RDMA_SIMPLE("send with immediate data", send_imm, src, NULL,
	    (struct doca_rdma *rdma, struct doca_rdma_connection *connection, const struct doca_buf *src,
	     doca_be32_t immediate, union doca_data user, struct doca_rdma_task_send_imm **task),
	    (rdma, connection, src, immediate, user, task))

RDMA_SIMPLE("read", read, src, dst,
	    (struct doca_rdma *rdma, struct doca_rdma_connection *connection, const struct doca_buf *src,
	     struct doca_buf *dst, union doca_data user, struct doca_rdma_task_read **task),
	    (rdma, connection, src, dst, user, task))

RDMA_SIMPLE("write", write, src, dst,
	    (struct doca_rdma *rdma, struct doca_rdma_connection *connection, const struct doca_buf *src,
	     struct doca_buf *dst, union doca_data user, struct doca_rdma_task_write **task),
	    (rdma, connection, src, dst, user, task))

RDMA_SIMPLE("write with immediate data", write_imm, src, dst,
	    (struct doca_rdma *rdma, struct doca_rdma_connection *connection, const struct doca_buf *src,
	     struct doca_buf *dst, doca_be32_t immediate, union doca_data user, struct doca_rdma_task_write_imm **task),
	    (rdma, connection, src, dst, immediate, user, task))

RDMA_SIMPLE("compare and swap", atomic_cmp_swp, dst, result_buf,
	    (struct doca_rdma *rdma, struct doca_rdma_connection *connection, struct doca_buf *dst,
	     struct doca_buf *result_buf, uint64_t compare, uint64_t swap, union doca_data user,
	     struct doca_rdma_task_atomic_cmp_swp **task),
	    (rdma, connection, dst, result_buf, compare, swap, user, task))

RDMA_SIMPLE("fetch and add", atomic_fetch_add, dst, result_buf,
	    (struct doca_rdma *rdma, struct doca_rdma_connection *connection, struct doca_buf *dst,
	     struct doca_buf *result_buf, uint64_t add, union doca_data user,
	     struct doca_rdma_task_atomic_fetch_add **task),
	    (rdma, connection, dst, result_buf, add, user, task))

/* What is changed of a task before it is submitted again. */
#define SET_SRC(kind_, f_) \
	void doca_rdma_task_##kind_##_##f_(struct doca_rdma_task_##kind_ *task, const struct doca_buf *buf) \
	{ \
		softdpu_check_task_set(task, buf, NULL); \
		REAL(doca_rdma_task_##kind_##_##f_)(task, buf); \
	}
#define SET_OWN_SRC(kind_, f_) \
	void doca_rdma_task_##kind_##_##f_(struct doca_rdma_task_##kind_ *task, struct doca_buf *buf) \
	{ \
		softdpu_check_task_set(task, buf, NULL); \
		REAL(doca_rdma_task_##kind_##_##f_)(task, buf); \
	}
#define SET_DST(kind_, f_) \
	void doca_rdma_task_##kind_##_##f_(struct doca_rdma_task_##kind_ *task, struct doca_buf *buf) \
	{ \
		softdpu_check_task_set(task, NULL, buf); \
		REAL(doca_rdma_task_##kind_##_##f_)(task, buf); \
	}
#define SET_LINK(kind_) \
	void doca_rdma_task_##kind_##_set_rdma_connection(struct doca_rdma_task_##kind_ *task, \
							  struct doca_rdma_connection *connection) \
	{ \
		softdpu_check_task_link(task, connection); \
		REAL(doca_rdma_task_##kind_##_set_rdma_connection)(task, connection); \
	}

SET_DST(receive, set_dst_buf)
SET_SRC(send, set_src_buf)
SET_LINK(send)
SET_SRC(send_imm, set_src_buf)
SET_LINK(send_imm)
SET_SRC(read, set_src_buf)
SET_DST(read, set_dst_buf)
SET_LINK(read)
SET_SRC(write, set_src_buf)
SET_DST(write, set_dst_buf)
SET_LINK(write)
SET_SRC(write_imm, set_src_buf)
SET_DST(write_imm, set_dst_buf)
SET_LINK(write_imm)
SET_OWN_SRC(atomic_cmp_swp, set_dst_buf)
SET_DST(atomic_cmp_swp, set_result_buf)
SET_LINK(atomic_cmp_swp)
SET_OWN_SRC(atomic_fetch_add, set_dst_buf)
SET_DST(atomic_fetch_add, set_result_buf)
SET_LINK(atomic_fetch_add)

/* Sync events of peers */

doca_error_t doca_sync_event_remote_net_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t size,
							   struct doca_sync_event_remote_net **event)
{
	CREATE(REMOTE, "remote sync event", doca_sync_event_remote_net_create_from_export, event, dev, NULL, dev, data,
	       size, event);
}

doca_error_t doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event)
{
	DESTROY(doca_sync_event_remote_net_destroy, event);
}

#define RDMA_EVENT(tag_, kind_, const_, src_, dst_, parameters_, arguments_) \
	RDMA_TASKS(tag_, kind_) \
	SET_LINK(kind_) \
	ALLOCATED(tag_, doca_rdma_task_##kind_##_allocate_init, rdma, src_, dst_, parameters_, arguments_, { \
		static const char call[] = "doca_rdma_task_" #kind_ "_allocate_init"; \
		PEER(call); \
		softdpu_check_dead(event, call, PLACE); \
	}) \
	void doca_rdma_task_##kind_##_set_sync_event(struct doca_rdma_task_##kind_ *task, \
						     const_ struct doca_sync_event_remote_net *event) \
	{ \
		softdpu_check_dead(event, "doca_rdma_task_" #kind_ "_set_sync_event", PLACE); \
		REAL(doca_rdma_task_##kind_##_set_sync_event)(task, event); \
	}
#define MUTABLE

RDMA_EVENT("get of a remote event", remote_net_sync_event_get, const, NULL, dst,
	   (struct doca_rdma *rdma, struct doca_rdma_connection *connection,
	    const struct doca_sync_event_remote_net *event, struct doca_buf *dst, union doca_data user,
	    struct doca_rdma_task_remote_net_sync_event_get **task),
	   (rdma, connection, event, dst, user, task))
SET_DST(remote_net_sync_event_get, set_dst_buf)

RDMA_EVENT("set of a remote event", remote_net_sync_event_notify_set, MUTABLE, src, NULL,
	   (struct doca_rdma *rdma, struct doca_rdma_connection *connection, struct doca_sync_event_remote_net *event,
	    const struct doca_buf *src, union doca_data user,
	    struct doca_rdma_task_remote_net_sync_event_notify_set **task),
	   (rdma, connection, event, src, user, task))
SET_SRC(remote_net_sync_event_notify_set, set_src_buf)

RDMA_EVENT("addition to a remote event", remote_net_sync_event_notify_add, MUTABLE, NULL, result_buf,
	   (struct doca_rdma *rdma, struct doca_rdma_connection *connection, struct doca_sync_event_remote_net *event,
	    struct doca_buf *result_buf, uint64_t add, union doca_data user,
	    struct doca_rdma_task_remote_net_sync_event_notify_add **task),
	   (rdma, connection, event, result_buf, add, user, task))
SET_DST(remote_net_sync_event_notify_add, set_result_buf)
