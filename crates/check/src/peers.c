/*
 * The functions of the channel, of sync events and of graphs: as in shim.c.
 */
#define _GNU_SOURCE
#include "shim.h"

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_msgq.h>
#include <doca_comch_producer.h>
#include <doca_graph.h>
#include <doca_sync_event.h>

/* Channel */

#define NO_ID UINT32_MAX

/* A server or client, for or on the function of this address. */
static void end_made(const void *end, int server, const char *name, doca_error_t result, const char *function)
{
	if (result == DOCA_SUCCESS)
		softdpu_check_end_made(end, server, name, function);
}

doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
				      struct doca_comch_server **server)
{
	static const char call[] = "doca_comch_server_create";
	doca_error_t result = REAL(doca_comch_server_create)(dev, repr, name, server);
	char pci[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = "";

	if (result == DOCA_SUCCESS) {
		softdpu_check_created(CTX, "comch server", *server, dev, repr, PLACE);
		end_made(*server, 1, name,
			 REAL(doca_devinfo_rep_get_pci_addr_str)(REAL(doca_dev_rep_as_devinfo)(repr), pci), pci);
	} else if (result == DOCA_ERROR_INVALID_VALUE) {
		softdpu_check_no_server(dev, repr, call, PLACE);
	}
	TELL(call, result, dev, repr, NULL);
	return result;
}

END_CONTEXT(doca_comch_server, doca_comch_server_destroy)

doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name, struct doca_comch_client **client)
{
	doca_error_t result = REAL(doca_comch_client_create)(dev, name, client);
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE] = "";

	if (result == DOCA_SUCCESS) {
		softdpu_check_created(CTX, "comch client", *client, dev, NULL, PLACE);
		end_made(*client, 0, name, REAL(doca_devinfo_get_pci_addr_str)(REAL(doca_dev_as_devinfo)(dev), pci), pci);
	}
	TELL("doca_comch_client_create", result, dev, NULL, NULL);
	return result;
}

END_CONTEXT(doca_comch_client, doca_comch_client_destroy)

/* The server or client of a connection. */
static const void *end_of(const struct doca_comch_connection *connection)
{
	const void *end = REAL(doca_comch_server_get_server_ctx)(connection);

	return end != NULL ? end : REAL(doca_comch_client_get_client_ctx)(connection);
}

doca_error_t doca_comch_producer_create(struct doca_comch_connection *connection,
					struct doca_comch_producer **producer)
{
	doca_error_t result = REAL(doca_comch_producer_create)(connection, producer);

	if (result == DOCA_SUCCESS)
		softdpu_check_created(CTX, "comch producer", *producer, end_of(connection), connection, PLACE);
	TELL("doca_comch_producer_create", result, connection, NULL, NULL);
	return result;
}

END_CONTEXT(doca_comch_producer, doca_comch_producer_destroy)

doca_error_t doca_comch_consumer_create(struct doca_comch_connection *connection, struct doca_mmap *mmap,
					struct doca_comch_consumer **consumer)
{
	doca_error_t result = REAL(doca_comch_consumer_create)(connection, mmap, consumer);

	if (result == DOCA_SUCCESS)
		softdpu_check_created(CTX, "comch consumer", *consumer, end_of(connection), mmap, PLACE);
	TELL("doca_comch_consumer_create", result, connection, mmap, NULL);
	return result;
}

END_CONTEXT(doca_comch_consumer, doca_comch_consumer_destroy)

CALL(doca_comch_server_disconnect, (struct doca_comch_server *server, struct doca_comch_connection *connection),
     (server, connection), softdpu_check_link(connection, 0, 0, "doca_comch_server_disconnect", PLACE), server, connection,
     NULL)

CALLBACKS(comch_send, doca_comch_task_send)
POOL_OF("send", comch_send, doca_comch_server_task_send_set_conf, doca_comch_server, doca_comch_task_send_completion_cb_t)
POOL_OF("send", comch_send, doca_comch_client_task_send_set_conf, doca_comch_client, doca_comch_task_send_completion_cb_t)

/* A connection that sends were made for is one; after that it can only have ended. */
#define COMCH_SEND(f_, end_) \
	ALLOCATED("send", f_, end, NULL, NULL, \
		  (struct end_ *end, struct doca_comch_connection *connection, const void *bytes, uint32_t len, \
		   struct doca_comch_task_send **task), \
		  (end, connection, bytes, len, task), { \
			  softdpu_check_peer(connection, NO_ID, \
					     result != DOCA_SUCCESS && end_of(connection) == NULL, #f_, PLACE); \
			  if (result == DOCA_SUCCESS) \
				  softdpu_check_link(connection, 0, 1, #f_, PLACE); \
		  })

COMCH_SEND(doca_comch_server_task_send_alloc_init, doca_comch_server)
COMCH_SEND(doca_comch_client_task_send_alloc_init, doca_comch_client)

CALLBACKS(comch_post_recv, doca_comch_consumer_task_post_recv)
POOL_OF("post receive", comch_post_recv, doca_comch_consumer_task_post_recv_set_conf, doca_comch_consumer,
	doca_comch_consumer_task_post_recv_completion_cb_t)
ALLOCATED("post receive", doca_comch_consumer_task_post_recv_alloc_init, consumer, NULL, buf,
	  (struct doca_comch_consumer *consumer, struct doca_buf *buf, struct doca_comch_consumer_task_post_recv **task),
	  (consumer, buf, task), (void)0)

CALLBACKS(comch_produce, doca_comch_producer_task_send)
POOL_OF("produce", comch_produce, doca_comch_producer_task_send_set_conf, doca_comch_producer,
	doca_comch_producer_task_send_completion_cb_t)
ALLOCATED("produce", doca_comch_producer_task_send_alloc_init, producer, buf, NULL,
	  (struct doca_comch_producer *producer, const struct doca_buf *buf, uint8_t *imm_data, uint32_t imm_data_len,
	   uint32_t consumer_id, struct doca_comch_producer_task_send **task),
	  (producer, buf, imm_data, imm_data_len, consumer_id, task), (void)0)

void doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task, struct doca_buf *buf)
{
	softdpu_check_task_set(task, NULL, buf);
	REAL(doca_comch_consumer_task_post_recv_set_buf)(task, buf);
}

void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task, const struct doca_buf *buf)
{
	softdpu_check_task_set(task, buf, NULL);
	REAL(doca_comch_producer_task_send_set_buf)(task, buf);
}

/* Events of the channel, told by the connection that they are about. */

EVENT(on_message, MESSAGE,
      (struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len, struct doca_comch_connection *connection),
      (event, bytes, len, connection), end_of(connection), (void)0)

#define CONNECTION_EVENT(name_, kind_) \
	EVENT(name_, kind_, \
	      (struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection, \
	       uint8_t good), \
	      (event, connection, good), end_of(connection), (void)0)

#define CONSUMER_EVENT(name_, kind_) \
	EVENT(name_, kind_, \
	      (struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id), \
	      (event, connection, id), end_of(connection), (void)0)

CONNECTION_EVENT(on_connected, CONNECTED)
CONNECTION_EVENT(on_disconnected, DISCONNECTED)
CONSUMER_EVENT(on_new_consumer, NEW_CONSUMER)
CONSUMER_EVENT(on_expired_consumer, EXPIRED_CONSUMER)

/* Functions for two events, which go together. */
#define REGISTER(f_, end_, cb_, one_, on_one_, other_, on_other_) \
	doca_error_t f_(struct end_ *end, cb_ one, cb_ other) \
	{ \
		doca_error_t result = REAL(f_)(end, one != NULL ? on_one_ : NULL, other != NULL ? on_other_ : NULL); \
		if (result == DOCA_SUCCESS) { \
			LISTEN(end, one_, one); \
			LISTEN(end, other_, other); \
		} \
		TELL(#f_, result, end, NULL, NULL); \
		return result; \
	}

#define REGISTER_MESSAGE(f_, end_) \
	doca_error_t f_(struct end_ *end, doca_comch_event_msg_recv_cb_t call) \
	{ \
		doca_error_t result = REAL(f_)(end, call != NULL ? on_message : NULL); \
		if (result == DOCA_SUCCESS) \
			LISTEN(end, MESSAGE, call); \
		TELL(#f_, result, end, NULL, NULL); \
		return result; \
	}

REGISTER_MESSAGE(doca_comch_server_event_msg_recv_register, doca_comch_server)
REGISTER_MESSAGE(doca_comch_client_event_msg_recv_register, doca_comch_client)
REGISTER(doca_comch_server_event_connection_status_changed_register, doca_comch_server,
	 doca_comch_event_connection_status_changed_cb_t, CONNECTED, on_connected, DISCONNECTED, on_disconnected)
REGISTER(doca_comch_server_event_consumer_register, doca_comch_server, doca_comch_event_consumer_cb_t, NEW_CONSUMER,
	 on_new_consumer, EXPIRED_CONSUMER, on_expired_consumer)
REGISTER(doca_comch_client_event_consumer_register, doca_comch_client, doca_comch_event_consumer_cb_t, NEW_CONSUMER,
	 on_new_consumer, EXPIRED_CONSUMER, on_expired_consumer)

/* Message queues */

doca_error_t doca_comch_msgq_create(struct doca_dev *dev, struct doca_comch_msgq **queue)
{
	CREATE(QUEUE, "message queue", doca_comch_msgq_create, queue, dev, NULL, dev, queue);
}

doca_error_t doca_comch_msgq_destroy(struct doca_comch_msgq *queue)
{
	DESTROY(doca_comch_msgq_destroy, queue);
}

CALL(doca_comch_msgq_start, (struct doca_comch_msgq *queue), (queue), softdpu_check_started(queue, 1), queue, NULL, NULL)

doca_error_t doca_comch_msgq_stop(struct doca_comch_msgq *queue)
{
	doca_error_t result = REAL(doca_comch_msgq_stop)(queue);

	softdpu_check_children(queue, (int)result, "doca_comch_msgq_stop", PLACE);
	TELL("doca_comch_msgq_stop", result, queue, NULL, NULL);
	return result;
}

/* A producer or consumer, which needs a started queue. */
#define OF_QUEUE(what_, f_, type_) \
	doca_error_t f_(struct doca_comch_msgq *queue, struct type_ **made) \
	{ \
		doca_error_t result = REAL(f_)(queue, made); \
		if (result == DOCA_SUCCESS) \
			softdpu_check_created(CTX, what_, *made, queue, NULL, PLACE); \
		softdpu_check_event(queue, (int)result, #f_, PLACE); \
		return result; \
	}

OF_QUEUE("comch producer", doca_comch_msgq_producer_create, doca_comch_producer)
OF_QUEUE("comch consumer", doca_comch_msgq_consumer_create, doca_comch_consumer)

/* Sync events */

doca_error_t doca_sync_event_create(struct doca_sync_event **event)
{
	CREATE(CTX, "sync event", doca_sync_event_create, event, NULL, NULL, event);
}

doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t size,
						struct doca_sync_event **event)
{
	CREATE(CTX, "imported sync event", doca_sync_event_create_from_export, event, dev, NULL, dev, data, size, event);
}

doca_error_t doca_sync_event_destroy(struct doca_sync_event *event)
{
	DESTROY(doca_sync_event_destroy, event);
}

struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event)
{
	struct doca_ctx *ctx = REAL(doca_sync_event_as_ctx)(event);

	if (ctx != NULL)
		softdpu_check_ctx_of(event, ctx);
	return ctx;
}

CALL(doca_sync_event_start, (struct doca_sync_event *event), (event), softdpu_check_started(event, 1), event, NULL, NULL)
CALL(doca_sync_event_stop, (struct doca_sync_event *event), (event), softdpu_check_started(event, 0), event, NULL, NULL)

/* What needs a started event. */
#define EVENT_CALL(f_, parameters_, arguments_) \
	doca_error_t f_ parameters_ \
	{ \
		doca_error_t result = REAL(f_) arguments_; \
		softdpu_check_event(event, (int)result, #f_, PLACE); \
		return result; \
	}

EVENT_CALL(doca_sync_event_get, (struct doca_sync_event *event, uint64_t *value), (event, value))
EVENT_CALL(doca_sync_event_update_set, (struct doca_sync_event *event, uint64_t value), (event, value))
EVENT_CALL(doca_sync_event_update_add, (struct doca_sync_event *event, uint64_t add, uint64_t *fetched),
	   (event, add, fetched))
EVENT_CALL(doca_sync_event_wait_eq, (struct doca_sync_event *event, uint64_t value, uint64_t mask), (event, value, mask))
EVENT_CALL(doca_sync_event_wait_neq, (struct doca_sync_event *event, uint64_t value, uint64_t mask), (event, value, mask))

#define EVENT_TASKS(tag_, kind_, parameters_, arguments_) \
	CALLBACKS(event_##kind_, doca_sync_event_task_##kind_) \
	POOL_OF(tag_, event_##kind_, doca_sync_event_task_##kind_##_set_conf, doca_sync_event, \
		doca_sync_event_task_##kind_##_completion_cb_t) \
	ALLOCATED(tag_, doca_sync_event_task_##kind_##_alloc_init, event, NULL, NULL, parameters_, arguments_, (void)0)

EVENT_TASKS("get", get,
	    (struct doca_sync_event *event, uint64_t *value, union doca_data user, struct doca_sync_event_task_get **task),
	    (event, value, user, task))
EVENT_TASKS("notify by set", notify_set,
	    (struct doca_sync_event *event, uint64_t value, union doca_data user,
	     struct doca_sync_event_task_notify_set **task),
	    (event, value, user, task))
EVENT_TASKS("notify by add", notify_add,
	    (struct doca_sync_event *event, uint64_t add, uint64_t *fetched, union doca_data user,
	     struct doca_sync_event_task_notify_add **task),
	    (event, add, fetched, user, task))
EVENT_TASKS("wait", wait_eq,
	    (struct doca_sync_event *event, uint64_t value, uint64_t mask, union doca_data user,
	     struct doca_sync_event_task_wait_eq **task),
	    (event, value, mask, user, task))
EVENT_TASKS("wait not", wait_neq,
	    (struct doca_sync_event *event, uint64_t value, uint64_t mask, union doca_data user,
	     struct doca_sync_event_task_wait_neq **task),
	    (event, value, mask, user, task))

/* Graphs */

doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph)
{
	CREATE(GRAPH, "graph", doca_graph_create, graph, pe, NULL, pe, graph);
}

doca_error_t doca_graph_destroy(struct doca_graph *graph)
{
	DESTROY(doca_graph_destroy, graph);
}

doca_error_t doca_graph_stop(struct doca_graph *graph)
{
	doca_error_t result = REAL(doca_graph_stop)(graph);

	softdpu_check_children(graph, (int)result, "doca_graph_stop", PLACE);
	TELL("doca_graph_stop", result, graph, NULL, NULL);
	return result;
}

doca_error_t doca_graph_instance_create(const struct doca_graph *graph, struct doca_graph_instance **instance)
{
	CREATE(RUN, "graph instance", doca_graph_instance_create, instance, graph, NULL, graph, instance);
}

doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *instance)
{
	doca_error_t result = REAL(doca_graph_instance_destroy)(instance);

	softdpu_check_run(instance, 0, (int)result, "doca_graph_instance_destroy", PLACE);
	if (result != DOCA_ERROR_IN_USE)
		softdpu_check_destroyed(instance, 0, (int)result, "doca_graph_instance_destroy", PLACE);
	return result;
}

doca_error_t doca_graph_instance_submit(struct doca_graph_instance *instance)
{
	doca_error_t result = REAL(doca_graph_instance_submit)(instance);

	softdpu_check_run(instance, 1, (int)result, "doca_graph_instance_submit", PLACE);
	return result;
}
