/*
 * The rules of every setter of both queues: NULL, ranges, states; starts that lack something; numbers;
 * what a queue that runs refuses.
 *
 * clauses: eth RXQ object and properties; TXQ object and properties; Functions (general)
 * covers: doca_eth_rxq_create doca_eth_rxq_destroy doca_eth_rxq_as_doca_ctx doca_eth_rxq_set_type
 *   doca_eth_rxq_set_max_burst_size doca_eth_rxq_set_max_packet_size doca_eth_rxq_set_metadata_num
 *   doca_eth_rxq_set_flow_tag doca_eth_rxq_set_rx_hash doca_eth_rxq_set_timestamp
 *   doca_eth_rxq_set_packet_headroom doca_eth_rxq_set_packet_tailroom
 *   doca_eth_rxq_set_max_recv_buf_list_len doca_eth_rxq_set_pkt_buf
 *   doca_eth_rxq_set_notification_moderation doca_eth_rxq_apply_queue_id doca_eth_rxq_get_flow_queue_id
 *   doca_eth_rxq_get_hw_queue_num doca_eth_rxq_task_recv_set_conf doca_eth_rxq_event_managed_recv_register
 *   doca_eth_rxq_event_batch_managed_recv_register doca_eth_rxq_task_recv_allocate_init
 *   doca_eth_txq_create doca_eth_txq_destroy doca_eth_txq_as_doca_ctx doca_eth_txq_set_type
 *   doca_eth_txq_set_max_burst_size doca_eth_txq_set_max_send_buf_list_len doca_eth_txq_set_metadata_num
 *   doca_eth_txq_set_mss doca_eth_txq_set_max_lso_header_size doca_eth_txq_set_l3_chksum_offload
 *   doca_eth_txq_set_l4_chksum_offload doca_eth_txq_set_wait_on_time_offload doca_eth_txq_apply_queue_id
 *   doca_eth_txq_get_flow_queue_id doca_eth_txq_calculate_timestamp doca_eth_txq_task_send_set_conf
 *   doca_eth_txq_task_lso_send_set_conf doca_eth_txq_task_batch_send_set_conf
 *   doca_eth_txq_task_batch_lso_send_set_conf doca_eth_txq_task_send_num_expand
 *   doca_eth_txq_task_lso_send_num_expand doca_eth_txq_task_batch_send_num_expand
 *   doca_eth_txq_task_batch_lso_send_num_expand
 */
#include "eth_rig.h"

#define BAD DOCA_ERROR_INVALID_VALUE

static struct eth eth;
static const union doca_data nothing;

static void recv_cb(struct doca_eth_rxq_task_recv *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	(void)ctx;
	eth.calls++;
	doca_task_free(doca_eth_rxq_task_recv_as_doca_task(task));
}

static void packet_cb(struct doca_eth_rxq_event_managed_recv *event, struct doca_buf *pkt, union doca_data user)
{
	(void)event;
	(void)pkt;
	(void)user;
}

static void packets_cb(struct doca_eth_rxq_event_batch_managed_recv *event, uint16_t count, union doca_data user,
		       doca_error_t status, struct doca_buf **packets)
{
	(void)event;
	(void)count;
	(void)user;
	(void)status;
	(void)packets;
}

static void send_cb(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	(void)ctx;
	eth.calls++;
	doca_task_free(doca_eth_txq_task_send_as_doca_task(task));
}

static void lso_cb(struct doca_eth_txq_task_lso_send *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	(void)ctx;
	eth.calls++;
	doca_task_free(doca_eth_txq_task_lso_send_as_doca_task(task));
}

static void batch_cb(struct doca_task_batch *batch, uint16_t count, union doca_data ctx, union doca_data user,
		     union doca_data *users, struct doca_buf **packets, doca_error_t *status)
{
	(void)count;
	(void)ctx;
	(void)user;
	(void)users;
	(void)packets;
	(void)status;
	eth.calls++;
	doca_task_batch_free(batch);
}

static void lso_batch_cb(struct doca_task_batch *batch, uint16_t count, union doca_data ctx, union doca_data user,
			 union doca_data *users, struct doca_buf **packets, struct doca_gather_list **headers,
			 doca_error_t *status)
{
	(void)headers;
	batch_cb(batch, count, ctx, user, users, packets, status);
}

static void receive_setters(struct doca_eth_rxq *rxq)
{
	uint16_t number = 0;
	uint32_t hw = 0;

	CHECK_STATUS(doca_eth_rxq_set_type(rxq, (enum doca_eth_rxq_type)3), BAD);
	CHECK_STATUS(doca_eth_rxq_set_type(NULL, DOCA_ETH_RXQ_TYPE_REGULAR), BAD);
	CHECK_STATUS(doca_eth_rxq_set_type(rxq, DOCA_ETH_RXQ_TYPE_CYCLIC), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_eth_rxq_set_max_burst_size(rxq, 0), BAD);
	CHECK_STATUS(doca_eth_rxq_set_max_burst_size(rxq, 1u << 30), BAD);
	CHECK_OK(doca_eth_rxq_set_max_burst_size(rxq, 256));
	CHECK_STATUS(doca_eth_rxq_set_max_packet_size(rxq, 0), BAD);
	CHECK_STATUS(doca_eth_rxq_set_max_packet_size(rxq, 1u << 20), BAD);
	CHECK_OK(doca_eth_rxq_set_max_packet_size(rxq, 1600));
	CHECK_STATUS(doca_eth_rxq_set_metadata_num(rxq, 255), BAD);
	CHECK_OK(doca_eth_rxq_set_metadata_num(rxq, 1));
	CHECK_OK(doca_eth_rxq_set_flow_tag(rxq, 1));
	CHECK_OK(doca_eth_rxq_set_rx_hash(rxq, 7));
	CHECK_OK(doca_eth_rxq_set_timestamp(rxq, 1));
	CHECK_STATUS(doca_eth_rxq_set_timestamp(NULL, 1), BAD);
	CHECK_STATUS(doca_eth_rxq_set_packet_headroom(rxq, UINT16_MAX), BAD);
	CHECK_STATUS(doca_eth_rxq_set_packet_tailroom(rxq, UINT16_MAX), BAD);
	CHECK_OK(doca_eth_rxq_set_packet_headroom(rxq, 0));
	CHECK_OK(doca_eth_rxq_set_packet_tailroom(rxq, 0));
	CHECK_STATUS(doca_eth_rxq_set_max_recv_buf_list_len(rxq, 0), BAD);
	CHECK_STATUS(doca_eth_rxq_set_max_recv_buf_list_len(rxq, 100000), BAD);
	CHECK_OK(doca_eth_rxq_set_max_recv_buf_list_len(rxq, 2));
	CHECK_STATUS(doca_eth_rxq_set_pkt_buf(rxq, NULL, 0, 4096), BAD);
	CHECK_STATUS(doca_eth_rxq_set_pkt_buf(rxq, eth.map, 0, 0), BAD);
	CHECK_STATUS(doca_eth_rxq_set_pkt_buf(rxq, eth.map, ETH_BYTES - 10, 11), BAD);
	CHECK_STATUS(doca_eth_rxq_task_recv_set_conf(rxq, NULL, recv_cb, 1), BAD);
	CHECK_STATUS(doca_eth_rxq_task_recv_set_conf(rxq, recv_cb, NULL, 1), BAD);
	CHECK_STATUS(doca_eth_rxq_task_recv_set_conf(rxq, recv_cb, recv_cb, 0), BAD);
	CHECK_STATUS(doca_eth_rxq_event_managed_recv_register(rxq, nothing, NULL, packet_cb), BAD);
	/* In this order: most, fewest. */
	CHECK_STATUS(doca_eth_rxq_event_batch_managed_recv_register(rxq, DOCA_EVENT_BATCH_EVENTS_NUMBER_2,
								    DOCA_EVENT_BATCH_EVENTS_NUMBER_4, nothing,
								    packets_cb, packets_cb),
		     BAD);
	CHECK_STATUS(doca_eth_rxq_event_batch_managed_recv_register(rxq, (enum doca_event_batch_events_number)8,
								    DOCA_EVENT_BATCH_EVENTS_NUMBER_4, nothing,
								    packets_cb, packets_cb),
		     BAD);
	/* Before the start there is no queue to give a number to. */
	CHECK_STATUS(doca_eth_rxq_apply_queue_id(rxq, 0), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_eth_rxq_get_flow_queue_id(rxq, &number), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_eth_rxq_get_hw_queue_num(rxq, &hw), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_eth_rxq_set_notification_moderation(rxq, 1, 1), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_eth_rxq_set_notification_moderation(NULL, 1, 1), BAD);
}

static void receive_runs(struct doca_eth_rxq *rxq, struct doca_eth_rxq *other)
{
	struct doca_eth_rxq_task_recv *task = NULL;
	struct doca_buf *buf = eth_buf(&eth, 0, 100, 0);
	uint16_t number = 0, its = 0;
	uint32_t hw = 0, its_hw = 0;

	CHECK_STATUS(doca_eth_rxq_destroy(rxq), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_eth_rxq_set_max_burst_size(rxq, 256), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_eth_rxq_set_type(rxq, DOCA_ETH_RXQ_TYPE_REGULAR), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_eth_rxq_task_recv_set_conf(rxq, recv_cb, recv_cb, 4), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_eth_rxq_get_flow_queue_id(rxq, &number));
	CHECK_OK(doca_eth_rxq_get_flow_queue_id(other, &its));
	CHECK(number != its);
	CHECK_STATUS(doca_eth_rxq_get_flow_queue_id(rxq, NULL), BAD);
	CHECK_OK(doca_eth_rxq_get_hw_queue_num(rxq, &hw));
	CHECK_OK(doca_eth_rxq_get_hw_queue_num(other, &its_hw));
	CHECK(hw != its_hw);
	CHECK_STATUS(doca_eth_rxq_get_hw_queue_num(rxq, NULL), BAD);
	CHECK_OK(doca_eth_rxq_apply_queue_id(rxq, 5));
	CHECK_OK(doca_eth_rxq_get_flow_queue_id(rxq, &number));
	CHECK_U64(number, 5);
	CHECK_STATUS(doca_eth_rxq_apply_queue_id(other, 5), DOCA_ERROR_ALREADY_EXIST);
	CHECK_OK(doca_eth_rxq_apply_queue_id(other, 6));
	CHECK_STATUS(doca_eth_rxq_apply_queue_id(NULL, 5), BAD);
	CHECK_STATUS(doca_eth_rxq_set_notification_moderation(rxq, 10, 10), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_eth_rxq_task_recv_allocate_init(rxq, NULL, nothing, &task), BAD);
	CHECK_STATUS(doca_eth_rxq_task_recv_allocate_init(rxq, buf, nothing, NULL), BAD);
	CHECK_STATUS(doca_eth_rxq_task_recv_allocate_init(NULL, buf, nothing, &task), BAD);
	CHECK_OK(doca_eth_rxq_task_recv_allocate_init(rxq, buf, nothing, &task));
	CHECK_STATUS(doca_eth_rxq_task_recv_allocate_init(rxq, buf, nothing, &task), DOCA_ERROR_NO_MEMORY);
	doca_task_free(doca_eth_rxq_task_recv_as_doca_task(task));
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
}

static void receive(void)
{
	struct doca_eth_rxq *rxq = NULL, *other = NULL;
	struct doca_eth_rxq_task_recv *task = NULL;
	struct doca_buf *buf;

	CHECK_STATUS(doca_eth_rxq_create(NULL, 256, 1600, &rxq), BAD);
	CHECK_STATUS(doca_eth_rxq_create(eth.dev[0], 256, 1600, NULL), BAD);
	CHECK_STATUS(doca_eth_rxq_create(eth.dev[0], 0, 1600, &rxq), BAD);
	CHECK_STATUS(doca_eth_rxq_create(eth.dev[0], 256, 0, &rxq), BAD);
	CHECK_STATUS(doca_eth_rxq_create(eth.dev[0], 256, 1u << 30, &rxq), BAD);
	CHECK_STATUS(doca_eth_rxq_create(eth.dev[0], 1u << 30, 1600, &rxq), BAD);
	CHECK_STATUS(doca_eth_rxq_destroy(NULL), BAD);
	CHECK_PTR(doca_eth_rxq_as_doca_ctx(NULL), NULL);
	MUST(doca_eth_rxq_create(eth.dev[0], 256, 1600, &rxq));
	MUST(doca_eth_rxq_create(eth.dev[0], 256, 1600, &other));
	receive_setters(rxq);
	/* A start without progress engine, and without what the type needs. */
	CHECK_REFUSED(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_rxq_as_doca_ctx(other)));
	CHECK_STATUS(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)), BAD);
	MUST(doca_eth_rxq_set_type(rxq, DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL));
	CHECK_STATUS(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)), BAD);
	MUST(doca_eth_rxq_set_pkt_buf(rxq, eth.map, 0, 16 * 1664));
	CHECK_STATUS(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)), BAD);
	MUST(doca_eth_rxq_event_batch_managed_recv_register(rxq, DOCA_EVENT_BATCH_EVENTS_NUMBER_128,
							    DOCA_EVENT_BATCH_EVENTS_NUMBER_32, nothing, packets_cb,
							    packets_cb));
	/* One kind of handlers only. */
	CHECK_STATUS(doca_eth_rxq_event_managed_recv_register(rxq, nothing, packet_cb, packet_cb), BAD);
	/* Memory for 16 packets, events of 32. */
	CHECK_STATUS(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)), BAD);
	/* Headroom, packet and tailroom have 8 KiB together. */
	MUST(doca_eth_rxq_set_max_packet_size(rxq, 8000));
	MUST(doca_eth_rxq_set_packet_headroom(rxq, 128));
	MUST(doca_eth_rxq_set_packet_tailroom(rxq, 65));
	MUST(doca_eth_rxq_set_pkt_buf(rxq, eth.map, 0, ETH_BYTES));
	CHECK_STATUS(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)), BAD);
	MUST(doca_eth_rxq_set_packet_tailroom(rxq, 64));
	CHECK_OK(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)));
	CHECK_OK(doca_ctx_stop(doca_eth_rxq_as_doca_ctx(rxq)));
	MUST(doca_eth_rxq_set_type(rxq, DOCA_ETH_RXQ_TYPE_REGULAR));
	MUST(doca_eth_rxq_task_recv_set_conf(rxq, recv_cb, recv_cb, 1));
	MUST(doca_eth_rxq_task_recv_set_conf(other, recv_cb, recv_cb, 1));
	buf = eth_buf(&eth, 0, 100, 0);
	CHECK_STATUS(doca_eth_rxq_task_recv_allocate_init(rxq, buf, nothing, &task), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_OK(doca_ctx_start(doca_eth_rxq_as_doca_ctx(rxq)));
	CHECK_OK(doca_ctx_start(doca_eth_rxq_as_doca_ctx(other)));
	receive_runs(rxq, other);
	CHECK_OK(doca_ctx_stop(doca_eth_rxq_as_doca_ctx(rxq)));
	CHECK_OK(doca_ctx_stop(doca_eth_rxq_as_doca_ctx(other)));
	CHECK_OK(doca_eth_rxq_destroy(rxq));
	CHECK_OK(doca_eth_rxq_destroy(other));
	CHECK_STATUS(doca_eth_rxq_destroy(other), BAD);
}

static void send_setters(struct doca_eth_txq *txq)
{
	const int most = DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16;
	uint16_t number = 0;
	uint64_t value = 0;

	CHECK_OK(doca_eth_txq_set_type(txq, DOCA_ETH_TXQ_TYPE_REGULAR));
	CHECK_STATUS(doca_eth_txq_set_type(txq, (enum doca_eth_txq_type)1), BAD);
	CHECK_STATUS(doca_eth_txq_set_max_burst_size(txq, 0), BAD);
	CHECK_OK(doca_eth_txq_set_max_burst_size(txq, 256));
	CHECK_STATUS(doca_eth_txq_set_max_send_buf_list_len(txq, 0), BAD);
	CHECK_STATUS(doca_eth_txq_set_max_send_buf_list_len(txq, 100000), BAD);
	CHECK_OK(doca_eth_txq_set_max_send_buf_list_len(txq, 2));
	CHECK_STATUS(doca_eth_txq_set_metadata_num(txq, 255), BAD);
	CHECK_OK(doca_eth_txq_set_metadata_num(txq, 1));
	CHECK_STATUS(doca_eth_txq_set_mss(txq, 0), BAD);
	CHECK_OK(doca_eth_txq_set_mss(txq, 1400));
	CHECK_STATUS(doca_eth_txq_set_max_lso_header_size(txq, 0), BAD);
	CHECK_STATUS(doca_eth_txq_set_max_lso_header_size(txq, UINT16_MAX), BAD);
	CHECK_OK(doca_eth_txq_set_max_lso_header_size(txq, 64));
	CHECK_OK(doca_eth_txq_set_l3_chksum_offload(txq, 1));
	CHECK_OK(doca_eth_txq_set_l4_chksum_offload(txq, 1));
	CHECK_OK(doca_eth_txq_set_l4_chksum_offload(txq, 0));
	CHECK_STATUS(doca_eth_txq_set_l3_chksum_offload(NULL, 1), BAD);
	CHECK_STATUS(doca_eth_txq_set_wait_on_time_offload(txq), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_eth_txq_set_wait_on_time_offload(NULL), BAD);
	CHECK_STATUS(doca_eth_txq_calculate_timestamp(txq, 1, &value), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_eth_txq_calculate_timestamp(txq, 1, NULL), BAD);
	CHECK_STATUS(doca_eth_txq_task_send_set_conf(txq, NULL, send_cb, 1), BAD);
	CHECK_STATUS(doca_eth_txq_task_send_set_conf(txq, send_cb, send_cb, 0), BAD);
	CHECK_STATUS(doca_eth_txq_task_lso_send_set_conf(txq, lso_cb, NULL, 1), BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_send_set_conf(txq, most, 0, batch_cb, batch_cb), BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_send_set_conf(txq, most, 1, NULL, batch_cb), BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_send_set_conf(txq, (enum doca_task_batch_max_tasks_number)4, 1, batch_cb,
							   batch_cb),
		     BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_lso_send_set_conf(txq, most, 1, lso_batch_cb, NULL), BAD);
	CHECK_STATUS(doca_eth_txq_apply_queue_id(txq, 0), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_eth_txq_get_flow_queue_id(txq, &number), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_eth_txq_task_send_num_expand(txq, 1), DOCA_ERROR_BAD_STATE);
}

static void send_runs(struct doca_eth_txq *txq, struct doca_eth_txq *other)
{
	struct doca_eth_txq_task_send *tasks[12];
	struct doca_buf *buf = eth_buf(&eth, 0, 100, 60);
	uint16_t number = 0, its = 0;
	uint64_t value = 0;
	unsigned i;

	CHECK_STATUS(doca_eth_txq_destroy(txq), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_eth_txq_set_mss(txq, 1400), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_eth_txq_set_wait_on_time_offload(txq), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_eth_txq_calculate_timestamp(txq, 1, &value), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_eth_txq_get_flow_queue_id(txq, &number));
	CHECK_OK(doca_eth_txq_get_flow_queue_id(other, &its));
	CHECK(number != its);
	CHECK_STATUS(doca_eth_txq_get_flow_queue_id(txq, NULL), BAD);
	CHECK_OK(doca_eth_txq_apply_queue_id(txq, 0));
	CHECK_STATUS(doca_eth_txq_apply_queue_id(other, 0), DOCA_ERROR_ALREADY_EXIST);
	CHECK_OK(doca_eth_txq_apply_queue_id(other, 1));
	/* Four tasks, then as many as were added. */
	for (i = 0; i < 4; i++)
		MUST(doca_eth_txq_task_send_allocate_init(txq, buf, nothing, &tasks[i]));
	CHECK_STATUS(doca_eth_txq_task_send_allocate_init(txq, buf, nothing, &tasks[4]), DOCA_ERROR_NO_MEMORY);
	CHECK_STATUS(doca_eth_txq_task_send_num_expand(txq, 0), BAD);
	CHECK_STATUS(doca_eth_txq_task_send_num_expand(NULL, 8), BAD);
	CHECK_OK(doca_eth_txq_task_send_num_expand(txq, 8));
	for (; i < 12; i++)
		MUST(doca_eth_txq_task_send_allocate_init(txq, buf, nothing, &tasks[i]));
	CHECK_STATUS(doca_eth_txq_task_send_num_expand(txq, UINT32_MAX), DOCA_ERROR_NO_MEMORY);
	for (i = 0; i < 12; i++)
		CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(tasks[i])));
	ETH_UNTIL(&eth, eth.calls == 12);
	CHECK_OK(doca_eth_txq_task_lso_send_num_expand(txq, 3));
	CHECK_OK(doca_eth_txq_task_batch_send_num_expand(txq, 3));
	CHECK_OK(doca_eth_txq_task_batch_lso_send_num_expand(txq, 3));
	/* Not set up for these. */
	CHECK_STATUS(doca_eth_txq_task_lso_send_num_expand(other, 3), BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_send_num_expand(other, 3), BAD);
	CHECK_STATUS(doca_eth_txq_task_send_allocate_init(txq, NULL, nothing, &tasks[0]), BAD);
	CHECK_STATUS(doca_eth_txq_task_send_allocate_init(txq, buf, nothing, NULL), BAD);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
}

static void sending(void)
{
	const int most = DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16;
	struct doca_eth_txq *txq = NULL, *other = NULL;

	CHECK_STATUS(doca_eth_txq_create(NULL, 256, &txq), BAD);
	CHECK_STATUS(doca_eth_txq_create(eth.dev[0], 0, &txq), BAD);
	CHECK_STATUS(doca_eth_txq_create(eth.dev[0], 1u << 30, &txq), BAD);
	CHECK_STATUS(doca_eth_txq_create(eth.dev[0], 256, NULL), BAD);
	CHECK_STATUS(doca_eth_txq_destroy(NULL), BAD);
	CHECK_PTR(doca_eth_txq_as_doca_ctx(NULL), NULL);
	MUST(doca_eth_txq_create(eth.dev[0], 256, &txq));
	MUST(doca_eth_txq_create(eth.dev[0], 256, &other));
	/* A send queue is no receive queue. */
	CHECK_STATUS(doca_eth_rxq_destroy((struct doca_eth_rxq *)txq), BAD);
	send_setters(txq);
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_txq_as_doca_ctx(txq)));
	MUST(doca_pe_connect_ctx(eth.pe, doca_eth_txq_as_doca_ctx(other)));
	CHECK_STATUS(doca_ctx_start(doca_eth_txq_as_doca_ctx(txq)), BAD);
	MUST(doca_eth_txq_task_send_set_conf(txq, send_cb, send_cb, 4));
	MUST(doca_eth_txq_task_lso_send_set_conf(txq, lso_cb, lso_cb, 4));
	MUST(doca_eth_txq_task_batch_send_set_conf(txq, most, 2, batch_cb, batch_cb));
	MUST(doca_eth_txq_task_batch_lso_send_set_conf(txq, most, 2, lso_batch_cb, lso_batch_cb));
	MUST(doca_eth_txq_task_send_set_conf(other, send_cb, send_cb, 4));
	CHECK_OK(doca_ctx_start(doca_eth_txq_as_doca_ctx(txq)));
	CHECK_OK(doca_ctx_start(doca_eth_txq_as_doca_ctx(other)));
	send_runs(txq, other);
	CHECK_OK(doca_ctx_stop(doca_eth_txq_as_doca_ctx(txq)));
	CHECK_OK(doca_ctx_stop(doca_eth_txq_as_doca_ctx(other)));
	/* And once more, with what was added gone. */
	CHECK_OK(doca_ctx_start(doca_eth_txq_as_doca_ctx(txq)));
	CHECK_OK(doca_ctx_stop(doca_eth_txq_as_doca_ctx(txq)));
	CHECK_OK(doca_eth_txq_destroy(txq));
	CHECK_OK(doca_eth_txq_destroy(other));
}

int main(void)
{
	eth_setup(&eth);
	receive();
	sending();
	eth_teardown(&eth);
	return check_result();
}
