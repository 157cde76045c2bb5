/*
 * What a device says about itself: addresses and names that tell devices apart, size rules of the
 * getters, PCI address texts in all spellings, capability answers.
 *
 * clauses: core-exec doca_dev.h properties of local devices; core-memory capability flags
 * covers: @
 */
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>

#include "check.h"

struct facts {
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	uint8_t v4[DOCA_DEVINFO_IPV4_ADDR_SIZE], v6[DOCA_DEVINFO_IPV6_ADDR_SIZE], mac[DOCA_DEVINFO_MAC_ADDR_SIZE];
	uint16_t vhca;
	uint32_t index;
};

static void read_facts(const struct doca_devinfo *info, struct facts *f)
{
	enum doca_pci_func_type type = DOCA_PCI_FUNC_TYPE_SF;
	uint64_t rate = 0;
	uint16_t lid = 0;
	uint32_t sf = 0;

	memset(f, 0, sizeof(*f));
	CHECK_OK(doca_devinfo_get_pci_addr_str(info, f->pci));
	CHECK_OK(doca_devinfo_get_iface_name(info, f->iface, sizeof(f->iface)));
	CHECK_OK(doca_devinfo_get_ibdev_name(info, f->ibdev, sizeof(f->ibdev)));
	CHECK_OK(doca_devinfo_get_ipv4_addr(info, f->v4, sizeof(f->v4)));
	CHECK_OK(doca_devinfo_get_ipv6_addr(info, f->v6, sizeof(f->v6)));
	CHECK_OK(doca_devinfo_get_mac_addr(info, f->mac, sizeof(f->mac)));
	CHECK_OK(doca_devinfo_get_vhca_id(info, &f->vhca));
	CHECK_OK(doca_devinfo_get_iface_index(info, &f->index));
	CHECK_OK(doca_devinfo_get_pci_func_type(info, &type));
	CHECK_U64(type, DOCA_PCI_FUNC_TYPE_PF);
	CHECK_OK(doca_devinfo_get_active_rate(info, &rate));
	CHECK(rate >= 1000000000u);
	/* Ethernet, and no sub-function. */
	CHECK_STATUS(doca_devinfo_get_lid(info, &lid), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_devinfo_get_sf_index(info, &sf), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_U64(f->mac[0] & 1, 0); /* unicast */
	CHECK(strlen(f->pci) == 12 && strlen(f->iface) > 0 && strlen(f->ibdev) > 0);
}

static void size_rules(const struct doca_devinfo *info)
{
	char text[300];
	uint8_t bytes[300];
	uint32_t number = 0;
	uint64_t rate = 0;

	CHECK_STATUS(doca_devinfo_get_iface_name(info, text, DOCA_DEVINFO_IFACE_NAME_SIZE - 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_devinfo_get_iface_name(info, text, sizeof(text)));
	CHECK_STATUS(doca_devinfo_get_ibdev_name(info, text, DOCA_DEVINFO_IBDEV_NAME_SIZE - 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_devinfo_get_ibdev_name(info, text, 256));
	CHECK_STATUS(doca_devinfo_get_ipv4_addr(info, bytes, 3), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_devinfo_get_ipv4_addr(info, bytes, sizeof(bytes)));
	CHECK_STATUS(doca_devinfo_get_ipv6_addr(info, bytes, 15), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_devinfo_get_ipv6_addr(info, bytes, sizeof(bytes)));
	CHECK_STATUS(doca_devinfo_get_mac_addr(info, bytes, 5), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_devinfo_get_mac_addr(info, bytes, sizeof(bytes)));

	CHECK_STATUS(doca_devinfo_get_pci_addr_str(NULL, text), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_get_pci_addr_str(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_get_iface_name(NULL, text, sizeof(text)), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_get_iface_name(info, NULL, sizeof(text)), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_get_ibdev_name(info, NULL, sizeof(text)), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_get_ipv4_addr(info, NULL, 4), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_get_mac_addr(NULL, bytes, 6), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_get_vhca_id(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_get_active_rate(NULL, &rate), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_get_pci_func_type(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_get_sf_index(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_get_lid(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_get_iface_index(NULL, &number), DOCA_ERROR_INVALID_VALUE);
}

static void spellings(const struct doca_devinfo *host_1)
{
	static const char *const same[] = {"0000:b1:00.1", "b1:00.1", "0000:B1:00.1", "B1:00.1"};
	static const char *const other[] = {"0000:b1:00.0", "b1:01.1", "0001:b1:00.1", "1b:00.1"};
	static const char *const broken[] = {"", "b1", "b1:00", "b1:00.1 ", "0000:b1:00.12", "b1.00:1", "g1:00.1",
					     "000:b1:00.1", "0000-b1-00-1", "0000:b1:00.1:"};
	uint8_t equal;
	size_t i;

	for (i = 0; i < 4; i++) {
		equal = 7;
		CHECK_OK(doca_devinfo_is_equal_pci_addr(host_1, same[i], &equal));
		CHECK_U64(equal, 1);
		CHECK_OK(doca_devinfo_is_equal_pci_addr(host_1, other[i], &equal));
		CHECK_U64(equal, 0);
	}
	for (i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		CHECK_STATUS(doca_devinfo_is_equal_pci_addr(host_1, broken[i], &equal), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_is_equal_pci_addr(host_1, NULL, &equal), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_is_equal_pci_addr(host_1, "b1:00.1", NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_is_equal_pci_addr(NULL, "b1:00.1", &equal), DOCA_ERROR_INVALID_VALUE);
}

static void capabilities(const struct doca_devinfo *info)
{
	uint8_t answer = 9;
	uint32_t vectors = 0, elements = 0;
	uint64_t bytes = 0;
	size_t token = 0;

	CHECK_OK(doca_devinfo_cap_is_hotplug_manager_supported(info, &answer));
	CHECK(answer <= 1);
	answer = 9;
	CHECK_OK(doca_devinfo_cap_is_notification_moderation_supported(info, &answer));
	CHECK(answer <= 1);
	answer = 9;
	CHECK_OK(doca_devinfo_cap_is_accelerate_resource_reclaim_supported(info, &answer));
	CHECK_U64(answer, 0);
	CHECK_STATUS(doca_devinfo_cap_is_notification_moderation_supported(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_cap_is_notification_moderation_supported(NULL, &answer), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_cap_is_accelerate_resource_reclaim_supported(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_cap_is_accelerate_resource_reclaim_supported(NULL, &answer), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_cap_is_hotplug_manager_supported(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_ctx_cap_get_num_completion_vectors(info, &vectors));
	CHECK(vectors >= 1);
	CHECK_OK(doca_mmap_cap_is_export_pci_supported(info, &answer));
	CHECK_U64(answer, 1);
	CHECK_OK(doca_mmap_cap_is_create_from_export_pci_supported(info, &answer));
	CHECK_U64(answer, 1);
	CHECK_OK(doca_mmap_cap_get_max_export_access_token_size(info, &token));
	CHECK_STATUS(doca_mmap_cap_is_export_pci_supported(NULL, &answer), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_cap_is_export_pci_supported(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_cap_is_create_from_export_pci_supported(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_cap_is_create_from_export_pci_supported(NULL, &answer), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_cap_get_max_export_access_token_size(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_dma_cap_task_memcpy_is_supported(info));
	CHECK_OK(doca_dma_cap_task_memcpy_get_max_buf_size(info, &bytes));
	CHECK_OK(doca_dma_cap_task_memcpy_get_max_buf_list_len(info, &elements));
	CHECK(bytes >= 2u << 20 && elements >= 64);
	CHECK_STATUS(doca_dma_cap_task_memcpy_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_cap_task_memcpy_get_max_buf_size(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_cap_task_memcpy_get_max_buf_list_len(NULL, &elements), DOCA_ERROR_INVALID_VALUE);
}

int main(void)
{
	struct doca_devinfo **list = NULL;
	struct facts facts[4];
	uint32_t count = 0, i, j;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST_BE(count == 4);
	for (i = 0; i < count; i++) {
		read_facts(list[i], &facts[i]);
		size_rules(list[i]);
		capabilities(list[i]);
		for (j = 0; j < i; j++) {
			CHECK(strcmp(facts[i].pci, facts[j].pci) != 0 && strcmp(facts[i].iface, facts[j].iface) != 0);
			CHECK(strcmp(facts[i].ibdev, facts[j].ibdev) != 0);
			CHECK(memcmp(facts[i].v4, facts[j].v4, 4) != 0 && memcmp(facts[i].v6, facts[j].v6, 16) != 0);
			CHECK(memcmp(facts[i].mac, facts[j].mac, 6) != 0 && facts[i].vhca != facts[j].vhca);
		}
	}
	CHECK_TEXT(facts[0].iface, "p0");
	CHECK_TEXT(facts[1].ibdev, "mlx5_1");
	CHECK_TEXT(facts[2].iface, "enp177s0f0np0");
	CHECK_TEXT(facts[3].ibdev, "mlx5_3");
	spellings(list[3]);
	CHECK_OK(doca_devinfo_destroy_list(list));
	return check_result();
}
