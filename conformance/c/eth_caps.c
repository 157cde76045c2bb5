/*
 * What devices say about their queues, and how much packet memory a managed queue is told to have.
 *
 * clauses: eth RXQ capabilities; TXQ capabilities; doca_eth_rxq_estimate_packet_buf_size
 * covers: doca_eth_rxq_cap_get_max_burst_size doca_eth_rxq_cap_get_max_metadata_num
 *   doca_eth_rxq_cap_get_max_packet_headroom doca_eth_rxq_cap_get_max_packet_tailroom
 *   doca_eth_rxq_cap_get_max_recv_buf_list_len doca_eth_rxq_cap_get_max_packet_size
 *   doca_eth_rxq_cap_is_type_supported doca_eth_rxq_estimate_packet_buf_size
 *   doca_eth_txq_cap_get_max_burst_size doca_eth_txq_cap_get_max_send_buf_list_len
 *   doca_eth_txq_cap_get_max_metadata_num doca_eth_txq_cap_get_max_lso_header_size
 *   doca_eth_txq_cap_get_max_lso_msg_size doca_eth_txq_cap_is_type_supported
 *   doca_eth_txq_cap_is_l3_chksum_offload_supported doca_eth_txq_cap_is_l4_chksum_offload_supported
 *   doca_eth_txq_cap_get_wait_on_time_offload_supported
 */
#include "eth_rig.h"

static void receive(const struct doca_devinfo *info)
{
	const int cpu = DOCA_ETH_RXQ_DATA_PATH_TYPE_CPU, gpu = DOCA_ETH_RXQ_DATA_PATH_TYPE_GPU;
	uint32_t burst = 0, packet = 0, list = 0;
	uint16_t head = 0, tail = 0;
	uint8_t words = 0;

	CHECK_OK(doca_eth_rxq_cap_get_max_burst_size(info, &burst));
	CHECK_OK(doca_eth_rxq_cap_get_max_packet_size(info, &packet));
	CHECK_OK(doca_eth_rxq_cap_get_max_recv_buf_list_len(info, &list));
	CHECK_OK(doca_eth_rxq_cap_get_max_packet_headroom(info, &head));
	CHECK_OK(doca_eth_rxq_cap_get_max_packet_tailroom(info, &tail));
	CHECK_OK(doca_eth_rxq_cap_get_max_metadata_num(info, &words));
	CHECK(burst >= 2048 && packet >= 1600 && list >= 1 && head > 0 && tail > 0 && words >= 1);
	CHECK_OK(doca_eth_rxq_cap_is_type_supported(info, DOCA_ETH_RXQ_TYPE_REGULAR, cpu));
	CHECK_OK(doca_eth_rxq_cap_is_type_supported(info, DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL, cpu));
	CHECK_STATUS(doca_eth_rxq_cap_is_type_supported(info, DOCA_ETH_RXQ_TYPE_CYCLIC, cpu), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_eth_rxq_cap_is_type_supported(info, DOCA_ETH_RXQ_TYPE_CYCLIC, gpu), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_eth_rxq_cap_is_type_supported(info, DOCA_ETH_RXQ_TYPE_REGULAR, gpu), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_eth_rxq_cap_is_type_supported(info, (enum doca_eth_rxq_type)3, cpu), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_cap_is_type_supported(info, DOCA_ETH_RXQ_TYPE_REGULAR,
							(enum doca_eth_rxq_data_path_type)2),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_cap_is_type_supported(NULL, DOCA_ETH_RXQ_TYPE_REGULAR, cpu), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_cap_get_max_burst_size(NULL, &burst), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_cap_get_max_burst_size(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_cap_get_max_packet_size(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_cap_get_max_metadata_num(NULL, &words), DOCA_ERROR_INVALID_VALUE);
}

static void sending(const struct doca_devinfo *info)
{
	const int cpu = DOCA_ETH_TXQ_DATA_PATH_TYPE_CPU, gpu = DOCA_ETH_TXQ_DATA_PATH_TYPE_GPU;
	uint32_t burst = 0, less = 0, list = 0, msg = 0;
	uint16_t header = 0;
	uint8_t words = 0;
	enum doca_eth_wait_on_time_type wait = DOCA_ETH_WAIT_ON_TIME_TYPE_DPDK;

	CHECK_OK(doca_eth_txq_cap_get_max_send_buf_list_len(info, &list));
	CHECK_OK(doca_eth_txq_cap_get_max_metadata_num(info, &words));
	CHECK_OK(doca_eth_txq_cap_get_max_lso_header_size(info, &header));
	CHECK_OK(doca_eth_txq_cap_get_max_lso_msg_size(info, &msg));
	CHECK(list >= 1 && words >= 1 && header >= 74 && msg >= 65536);
	CHECK_OK(doca_eth_txq_cap_get_max_burst_size(info, 1, 0, &burst));
	CHECK(burst >= 2048);
	/* Longer descriptors leave room for fewer packets. */
	CHECK_OK(doca_eth_txq_cap_get_max_burst_size(info, list, header, &less));
	CHECK(less >= 256 && less < burst);
	CHECK_STATUS(doca_eth_txq_cap_get_max_burst_size(info, list + 1, 0, &burst), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_txq_cap_get_max_burst_size(info, 1, header + 1, &burst), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_txq_cap_get_max_burst_size(info, 1, 0, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_txq_cap_get_max_burst_size(NULL, 1, 0, &burst), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_eth_txq_cap_is_type_supported(info, DOCA_ETH_TXQ_TYPE_REGULAR, cpu));
	CHECK_STATUS(doca_eth_txq_cap_is_type_supported(info, DOCA_ETH_TXQ_TYPE_REGULAR, gpu), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_eth_txq_cap_is_type_supported(info, (enum doca_eth_txq_type)1, cpu), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_eth_txq_cap_is_l3_chksum_offload_supported(info));
	CHECK_OK(doca_eth_txq_cap_is_l4_chksum_offload_supported(info));
	CHECK_STATUS(doca_eth_txq_cap_is_l3_chksum_offload_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_txq_cap_is_l4_chksum_offload_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_eth_txq_cap_get_wait_on_time_offload_supported(info, &wait));
	CHECK_U64(wait, DOCA_ETH_WAIT_ON_TIME_TYPE_NONE);
	CHECK_STATUS(doca_eth_txq_cap_get_wait_on_time_offload_supported(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_txq_cap_get_max_lso_msg_size(info, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void estimate(void)
{
	const int managed = DOCA_ETH_RXQ_TYPE_MANAGED_MEMPOOL;
	uint32_t bytes = 0, more = 0;

	CHECK_OK(doca_eth_rxq_estimate_packet_buf_size(managed, 10000, 10, 1600, 256, 0, 0, 0, &bytes));
	CHECK(bytes >= 256 * 1600);
	CHECK_OK(doca_eth_rxq_estimate_packet_buf_size(managed, 12500, 1, 1600, 2048, 15, 0, 0, &more));
	CHECK(more >= 2048 * 1600 && more > bytes);
	/* Room around packets counts, and so does time. */
	CHECK_OK(doca_eth_rxq_estimate_packet_buf_size(managed, 10000, 10, 1600, 256, 0, 128, 128, &more));
	CHECK(more > bytes);
	CHECK_OK(doca_eth_rxq_estimate_packet_buf_size(managed, 10000, 1000, 1600, 256, 0, 0, 0, &more));
	CHECK(more > bytes);
	CHECK_STATUS(doca_eth_rxq_estimate_packet_buf_size(DOCA_ETH_RXQ_TYPE_REGULAR, 1, 1, 1600, 256, 0, 0, 0, &more),
		     DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_eth_rxq_estimate_packet_buf_size((enum doca_eth_rxq_type)3, 1, 1, 1600, 256, 0, 0, 0, &more),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_estimate_packet_buf_size(managed, 1, 1, 0, 256, 0, 0, 0, &more),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_estimate_packet_buf_size(managed, 1, 1, 1600, 0, 0, 0, 0, &more),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_estimate_packet_buf_size(managed, 1, 1, 1600, 256, 0, 0, 0, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_eth_rxq_estimate_packet_buf_size(managed, UINT32_MAX, UINT16_MAX, 64, 256, 0, 0, 0, &more),
		     DOCA_ERROR_INVALID_VALUE);
}

int main(void)
{
	struct doca_devinfo **list = NULL;
	uint32_t count = 0, i;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST_BE(count > 0);
	for (i = 0; i < count; i++) {
		receive(list[i]);
		sending(list[i]);
	}
	MUST(doca_devinfo_destroy_list(list));
	estimate();
	return check_result();
}
