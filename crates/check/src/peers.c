/*
 * The functions of engines that work with peers, and of graphs: as in shim.c.
 */
#define _GNU_SOURCE
#include "shim.h"

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_eth_rxq.h>
#include <doca_eth_rxq_cpu_data_path.h>
#include <doca_eth_txq.h>
#include <doca_eth_txq_cpu_data_path.h>
#include <doca_graph.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>

/* RDMA */

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
     (rdma, details, details_len, connection), (void)0, rdma, connection, NULL)

CALL(doca_rdma_connection_accept, (struct doca_rdma_connection *connection, void *data, uint8_t len),
     (connection, data, len),
     softdpu_check_link(connection, id_of(connection), 1, "doca_rdma_connection_accept", PLACE), connection, NULL, NULL)

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

/* Channel */

doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
				      struct doca_comch_server **server)
{
	CREATE(CTX, "comch server", doca_comch_server_create, server, dev, NULL, dev, repr, name, server);
}

END_CONTEXT(doca_comch_server, doca_comch_server_destroy)

doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name, struct doca_comch_client **client)
{
	CREATE(CTX, "comch client", doca_comch_client_create, client, dev, NULL, dev, name, client);
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

/* Ethernet */

doca_error_t doca_eth_rxq_create(struct doca_dev *dev, uint32_t max_burst_size, uint32_t max_packet_size,
				 struct doca_eth_rxq **rxq)
{
	CREATE(CTX, "eth_rxq context", doca_eth_rxq_create, rxq, dev, NULL, dev, max_burst_size, max_packet_size, rxq);
}

END_CONTEXT(doca_eth_rxq, doca_eth_rxq_destroy)

doca_error_t doca_eth_txq_create(struct doca_dev *dev, uint32_t max_burst_size, struct doca_eth_txq **txq)
{
	CREATE(CTX, "eth_txq context", doca_eth_txq_create, txq, dev, NULL, dev, max_burst_size, txq);
}

END_CONTEXT(doca_eth_txq, doca_eth_txq_destroy)

CALLBACKS(eth_recv, doca_eth_rxq_task_recv)
POOL_OF("packet receive", eth_recv, doca_eth_rxq_task_recv_set_conf, doca_eth_rxq, doca_eth_rxq_task_recv_completion_cb_t)
ALLOCATED("packet receive", doca_eth_rxq_task_recv_allocate_init, rxq, NULL, pkt,
	  (struct doca_eth_rxq *rxq, struct doca_buf *pkt, union doca_data user, struct doca_eth_rxq_task_recv **task),
	  (rxq, pkt, user, task), (void)0)

void doca_eth_rxq_task_recv_set_pkt(struct doca_eth_rxq_task_recv *task, struct doca_buf *pkt)
{
	softdpu_check_task_set(task, NULL, pkt);
	REAL(doca_eth_rxq_task_recv_set_pkt)(task, pkt);
}

CALLBACKS(eth_send, doca_eth_txq_task_send)
POOL_OF("packet send", eth_send, doca_eth_txq_task_send_set_conf, doca_eth_txq, doca_eth_txq_task_send_completion_cb_t)
ALLOCATED("packet send", doca_eth_txq_task_send_allocate_init, txq, pkt, NULL,
	  (struct doca_eth_txq *txq, struct doca_buf *pkt, union doca_data user, struct doca_eth_txq_task_send **task),
	  (txq, pkt, user, task), (void)0)

void doca_eth_txq_task_send_set_pkt(struct doca_eth_txq_task_send *task, struct doca_buf *pkt)
{
	softdpu_check_task_set(task, pkt, NULL);
	REAL(doca_eth_txq_task_send_set_pkt)(task, pkt);
}

CALLBACKS(eth_lso, doca_eth_txq_task_lso_send)
POOL_OF("large send", eth_lso, doca_eth_txq_task_lso_send_set_conf, doca_eth_txq,
	doca_eth_txq_task_lso_send_completion_cb_t)
ALLOCATED("large send", doca_eth_txq_task_lso_send_allocate_init, txq, payload, NULL,
	  (struct doca_eth_txq *txq, struct doca_buf *payload, struct doca_gather_list *headers, union doca_data user,
	   struct doca_eth_txq_task_lso_send **task),
	  (txq, payload, headers, user, task), (void)0)

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
		softdpu_check_destroyed(instance, (int)result, "doca_graph_instance_destroy", PLACE);
	return result;
}

doca_error_t doca_graph_instance_submit(struct doca_graph_instance *instance)
{
	doca_error_t result = REAL(doca_graph_instance_submit)(instance);

	softdpu_check_run(instance, 1, (int)result, "doca_graph_instance_submit", PLACE);
	return result;
}
