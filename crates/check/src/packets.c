/*
 * The functions of Ethernet queues: as in shim.c. Packets of events are the program's until it gives them back.
 */
#define _GNU_SOURCE
#include "shim.h"

#include <doca_eth_rxq.h>
#include <doca_eth_rxq_cpu_data_path.h>
#include <doca_eth_txq.h>
#include <doca_eth_txq_cpu_data_path.h>

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

/* Batches of sends */

/* One kind of batch: as one task with callbacks of its own shape. */
#define BATCH_CALLBACK(name_, good_, parameters_, arguments_) \
	static void name_ parameters_ \
	{ \
		struct mine *own = at_hand(); \
		struct pump *pump = inside(own); \
		void (*call) parameters_; \
		count(&pump->callbacks); \
		call = (void (*) parameters_)(uintptr_t)softdpu_check_done(batch, good_, own->number); \
		if (call != NULL) \
			call arguments_; \
		count(&pump->callbacks); \
	}

#define BATCHES(tag_, name_, task_, parameters_, arguments_) \
	BATCH_CALLBACK(name_##_good, 1, parameters_, arguments_) \
	BATCH_CALLBACK(name_##_bad, 0, parameters_, arguments_) \
	doca_error_t task_##_set_conf(struct doca_eth_txq *txq, enum doca_task_batch_max_tasks_number most, \
				      uint16_t batches, task_##_completion_cb_t good, task_##_completion_cb_t bad) \
	{ \
		doca_error_t result = REAL(task_##_set_conf)(txq, most, batches, good != NULL ? name_##_good : NULL, \
							     bad != NULL ? name_##_bad : NULL); \
		if (result == DOCA_SUCCESS) \
			softdpu_check_pool(txq, tag_, batches, (const void *)(uintptr_t)good, \
					   (const void *)(uintptr_t)bad); \
		TELL(#task_ "_set_conf", result, txq, NULL, NULL); \
		return result; \
	}

BATCHES("batch of packet sends", batch_send, doca_eth_txq_task_batch_send,
	(struct doca_task_batch *batch, uint16_t tasks, union doca_data ctx, union doca_data user, union doca_data *users,
	 struct doca_buf **packets, doca_error_t *status),
	(batch, tasks, ctx, user, users, packets, status))
BATCHES("batch of large sends", batch_lso, doca_eth_txq_task_batch_lso_send,
	(struct doca_task_batch *batch, uint16_t tasks, union doca_data ctx, union doca_data user, union doca_data *users,
	 struct doca_buf **payloads, struct doca_gather_list **headers, doca_error_t *status),
	(batch, tasks, ctx, user, users, payloads, headers, status))

ALLOCATED("batch of packet sends", doca_eth_txq_task_batch_send_allocate, txq, NULL, NULL,
	  (struct doca_eth_txq *txq, uint16_t tasks, union doca_data user, struct doca_buf ***packets,
	   union doca_data **users, struct doca_task_batch **task),
	  (txq, tasks, user, packets, users, task), (void)0)
ALLOCATED("batch of large sends", doca_eth_txq_task_batch_lso_send_allocate, txq, NULL, NULL,
	  (struct doca_eth_txq *txq, uint16_t tasks, union doca_data user, struct doca_buf ***payloads,
	   struct doca_gather_list ***headers, union doca_data **users, struct doca_task_batch **task),
	  (txq, tasks, user, payloads, headers, users, task), (void)0)

/* Receive events */

/* A packet comes with the progress call that this is in. */
static void packet(struct doca_buf *buf, const void *queue)
{
	if (buf == NULL)
		return;
	softdpu_check_packet(buf, queue, atomic_load_explicit(&inside(at_hand())->place, memory_order_relaxed));
	softdpu_check_new_buffer(buf);
}

static void packets(struct doca_buf **array, uint16_t count, const void *queue)
{
	uint16_t i;

	for (i = 0; array != NULL && i < count; i++)
		packet(array[i], queue);
	if (array != NULL)
		softdpu_check_packets(array, count);
}

#define QUEUE_OF(event_) REAL(doca_eth_rxq_event_managed_recv_get_ctx)(event_)
#define QUEUE_OF_BATCH(event_) REAL(doca_eth_rxq_event_batch_managed_recv_get_ctx)(event_)

EVENT(on_packet, PACKET,
      (struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *buf, union doca_data user), (event, buf, user),
      QUEUE_OF(event), packet(buf, QUEUE_OF(event)))
EVENT(on_packet_lost, PACKET_LOST,
      (struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *buf, union doca_data user), (event, buf, user),
      QUEUE_OF(event), packet(buf, QUEUE_OF(event)))
EVENT(on_packets, PACKETS,
      (struct doca_eth_rxq_event_batch_managed_recv *event, uint16_t count_of, union doca_data user, doca_error_t status,
       struct doca_buf **array),
      (event, count_of, user, status, array), QUEUE_OF_BATCH(event), packets(array, count_of, QUEUE_OF_BATCH(event)))
EVENT(on_packets_lost, PACKETS_LOST,
      (struct doca_eth_rxq_event_batch_managed_recv *event, uint16_t count_of, union doca_data user, doca_error_t status,
       struct doca_buf **array),
      (event, count_of, user, status, array), QUEUE_OF_BATCH(event), packets(array, count_of, QUEUE_OF_BATCH(event)))

doca_error_t doca_eth_rxq_event_managed_recv_register(struct doca_eth_rxq *rxq, union doca_data user,
						      doca_eth_rxq_event_managed_recv_handler_cb_t good,
						      doca_eth_rxq_event_managed_recv_handler_cb_t bad)
{
	doca_error_t result;

	result = REAL(doca_eth_rxq_event_managed_recv_register)(rxq, user, good != NULL ? on_packet : NULL,
								bad != NULL ? on_packet_lost : NULL);
	if (result == DOCA_SUCCESS) {
		LISTEN(rxq, PACKET, good);
		LISTEN(rxq, PACKET_LOST, bad);
	}
	TELL("doca_eth_rxq_event_managed_recv_register", result, rxq, NULL, NULL);
	return result;
}

doca_error_t doca_eth_rxq_event_batch_managed_recv_register(struct doca_eth_rxq *rxq,
							    enum doca_event_batch_events_number most,
							    enum doca_event_batch_events_number least,
							    union doca_data user,
							    doca_eth_rxq_event_batch_managed_recv_handler_cb_t good,
							    doca_eth_rxq_event_batch_managed_recv_handler_cb_t bad)
{
	doca_error_t result;

	result = REAL(doca_eth_rxq_event_batch_managed_recv_register)(rxq, most, least, user,
								      good != NULL ? on_packets : NULL,
								      bad != NULL ? on_packets_lost : NULL);
	if (result == DOCA_SUCCESS) {
		LISTEN(rxq, PACKETS, good);
		LISTEN(rxq, PACKETS_LOST, bad);
	}
	TELL("doca_eth_rxq_event_batch_managed_recv_register", result, rxq, NULL, NULL);
	return result;
}

void doca_eth_rxq_event_batch_managed_recv_pkt_array_free(struct doca_buf **array)
{
	softdpu_check_packets_freed(array, PLACE);
	REAL(doca_eth_rxq_event_batch_managed_recv_pkt_array_free)(array);
}
