/*
 * A tool that prints every device with its properties, representors and capabilities, as people run
 * it first on a new machine. What it prints has to hold together.
 *
 * clauses: core-base Devices; capability calls of every family
 * covers: @
 */
#define _GNU_SOURCE

#include <doca_aes_gcm.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_compress.h>
#include <doca_dma.h>
#include <doca_erasure_coding.h>
#include <doca_rdma.h>
#include <doca_sha.h>

#include "app_common.h"

DOCA_LOG_REGISTER(CAPS);

static unsigned yes(doca_error_t status)
{
	CHECK(status == DOCA_SUCCESS || status == DOCA_ERROR_NOT_SUPPORTED);
	return status == DOCA_SUCCESS;
}

static void print_engines(struct doca_devinfo *info)
{
	uint64_t bytes = 0;
	uint32_t number = 0;

	if (yes(doca_dma_cap_task_memcpy_is_supported(info))) {
		MUST(doca_dma_cap_task_memcpy_get_max_buf_size(info, &bytes));
		MUST(doca_dma_cap_task_memcpy_get_max_buf_list_len(info, &number));
		CHECK(bytes > 0 && number > 0);
		DOCA_LOG_INFO("  dma: %" PRIu64 " bytes, lists of %" PRIu32, bytes, number);
	}
	if (yes(doca_sha_cap_task_hash_get_supported(info, DOCA_SHA_ALGORITHM_SHA256))) {
		MUST(doca_sha_cap_get_min_dst_buf_size(info, DOCA_SHA_ALGORITHM_SHA256, &number));
		CHECK_U64(number, 32);
		MUST(doca_sha_cap_get_min_dst_buf_size(info, DOCA_SHA_ALGORITHM_SHA512, &number));
		CHECK_U64(number, 64);
		MUST(doca_sha_cap_get_max_src_buf_size(info, &bytes));
		DOCA_LOG_INFO("  sha: %" PRIu64 " bytes", bytes);
	}
	if (yes(doca_compress_cap_task_compress_deflate_is_supported(info))) {
		MUST(doca_compress_cap_task_compress_deflate_get_max_buf_size(info, &bytes));
		DOCA_LOG_INFO("  deflate: %" PRIu64 " bytes", bytes);
	}
	if (yes(doca_compress_cap_task_decompress_deflate_is_supported(info)))
		MUST(doca_compress_cap_task_decompress_deflate_get_max_buf_size(info, &bytes));
	if (yes(doca_aes_gcm_cap_task_encrypt_is_supported(info))) {
		MUST(doca_aes_gcm_cap_task_encrypt_get_max_buf_size(info, &bytes));
		MUST(doca_aes_gcm_cap_task_encrypt_get_max_iv_len(info, &number));
		CHECK(number >= 12);
		CHECK(yes(doca_aes_gcm_cap_task_encrypt_is_key_type_supported(info, DOCA_AES_GCM_KEY_256)));
	}
	if (yes(doca_ec_cap_task_create_is_supported(info))) {
		MUST(doca_ec_cap_get_max_block_size(info, &bytes));
		CHECK(bytes >= 64);
	}
	if (yes(doca_rdma_cap_task_write_is_supported(info))) {
		MUST(doca_rdma_cap_get_max_message_size(info, &number));
		CHECK(number > 0);
	}
	if (yes(doca_comch_cap_server_is_supported(info)) || yes(doca_comch_cap_client_is_supported(info))) {
		MUST(doca_comch_cap_get_max_name_len(info, &number));
		MUST(doca_comch_cap_get_max_msg_size(info, &number));
		CHECK(number >= 4080);
		CHECK(yes(doca_comch_producer_cap_is_supported(info)));
		CHECK(yes(doca_comch_consumer_cap_is_supported(info)));
	}
}

static void print_representors(struct doca_devinfo *info)
{
	struct doca_devinfo_rep **reps;
	char pci[DOCA_DEVINFO_REP_PCI_ADDR_SIZE], vuid[DOCA_DEVINFO_REP_VUID_SIZE];
	struct doca_dev *dev;
	uint32_t count, i;
	uint8_t all = 0;

	MUST(doca_devinfo_rep_cap_is_filter_all_supported(info, &all));
	MUST(doca_dev_open(info, &dev));
	if (!all) {
		CHECK_STATUS(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &count),
			     DOCA_ERROR_NOT_SUPPORTED);
	} else {
		MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &count));
		for (i = 0; i < count; i++) {
			MUST(doca_devinfo_rep_get_pci_addr_str(reps[i], pci));
			MUST(doca_devinfo_rep_get_vuid(reps[i], vuid, sizeof(vuid)));
			CHECK(pci[0] != 0 && vuid[0] != 0);
			DOCA_LOG_INFO("  representor %s %s", pci, vuid);
		}
		MUST(doca_devinfo_rep_destroy_list(reps));
	}
	CHECK_OK(doca_dev_close(dev));
}

int main(void)
{
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE], name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE], ipv4[DOCA_DEVINFO_IPV4_ADDR_SIZE], equal;
	struct doca_devinfo **list;
	uint32_t count, i, j;

	app_log();
	MUST(doca_devinfo_create_list(&list, &count));
	CHECK(count >= 2);
	for (i = 0; i < count; i++) {
		MUST(doca_devinfo_get_pci_addr_str(list[i], pci));
		MUST(doca_devinfo_get_iface_name(list[i], name, sizeof(name)));
		MUST(doca_devinfo_get_ibdev_name(list[i], ibdev, sizeof(ibdev)));
		MUST(doca_devinfo_get_mac_addr(list[i], mac, sizeof(mac)));
		MUST(doca_devinfo_get_ipv4_addr(list[i], ipv4, sizeof(ipv4)));
		DOCA_LOG_INFO("%s %s %s", pci, name, ibdev);
		MUST(doca_devinfo_is_equal_pci_addr(list[i], pci, &equal));
		CHECK_U64(equal, 1);
		MUST(doca_devinfo_is_equal_pci_addr(list[i], pci + 5, &equal));
		CHECK_U64(equal, 1);
		for (j = 0; j < i; j++) {
			char other[DOCA_DEVINFO_IBDEV_NAME_SIZE];

			MUST(doca_devinfo_get_ibdev_name(list[j], other, sizeof(other)));
			CHECK(strcmp(ibdev, other) != 0);
		}
		print_engines(list[i]);
		print_representors(list[i]);
	}
	MUST(doca_devinfo_destroy_list(list));
	return check_result();
}
