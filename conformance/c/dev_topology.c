/*
 * Machines described in a file: a card in nic mode, a port without IPv4 address, virtual and scalable
 * functions with their representors, a bond, limits of one function, an engine taken away.
 *
 * clauses: core-exec doca_dev.h, 10; device-profiles; topology file
 * covers: @
 */
#define _GNU_SOURCE
#include "on_machine.h"
#include "rig.h"

static struct doca_devinfo **list;
static uint32_t count;

static struct doca_devinfo *find(const char *ibdev)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	uint32_t i;

	for (i = 0; i < count; i++) {
		MUST(doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)));
		if (strcmp(name, ibdev) == 0)
			return list[i];
	}
	check_fail(__FILE__, __LINE__, "no device %s", ibdev);
	exit(1);
}

static void nic_mode(void)
{
	struct doca_devinfo_rep **reps = NULL;
	struct doca_dev *dev = NULL;
	uint32_t n = 99;

	MUST(doca_dev_open(find("mlx5_0"), &dev));
	CHECK_OK(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &n));
	CHECK_U64(n, 0);
	CHECK_OK(doca_devinfo_rep_destroy_list(reps));
	CHECK_OK(doca_dev_close(dev));
}

static void addresses(void)
{
	const struct doca_devinfo *with = find("with_v4"), *without = find("without_v4");
	uint8_t v4[4] = {0}, v6[16] = {0}, mac[6] = {0};
	uint64_t rate = 0;

	CHECK_OK(doca_devinfo_get_ipv4_addr(with, v4, 4));
	CHECK_BYTES(v4, "\xc0\x00\x02\x07", 4);
	CHECK_OK(doca_devinfo_get_ipv6_addr(with, v6, 16));
	CHECK_BYTES(v6, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x05", 16);
	CHECK_OK(doca_devinfo_get_mac_addr(with, mac, 6));
	CHECK_BYTES(mac, "\x02\x53\x44\x50\x01\x09", 6);
	CHECK_OK(doca_devinfo_get_active_rate(with, &rate));
	CHECK_U64(rate, UINT64_C(100000000000));
	CHECK_STATUS(doca_devinfo_get_ipv4_addr(without, v4, 4), DOCA_ERROR_NOT_FOUND);
	CHECK_OK(doca_devinfo_get_ipv6_addr(without, v6, 16));
}

static void functions(void)
{
	struct doca_devinfo_rep **reps = NULL;
	struct doca_dev *dev = NULL;
	enum doca_pci_func_type type;
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint32_t index = 0, n = 0;
	uint8_t equal = 0;

	CHECK_OK(doca_devinfo_get_pci_func_type(find("a_vf"), &type));
	CHECK_U64(type, DOCA_PCI_FUNC_TYPE_VF);
	CHECK_STATUS(doca_devinfo_get_sf_index(find("a_vf"), &index), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_OK(doca_devinfo_get_pci_func_type(find("an_sf"), &type));
	CHECK_U64(type, DOCA_PCI_FUNC_TYPE_SF);
	CHECK_OK(doca_devinfo_get_sf_index(find("an_sf"), &index));
	CHECK_U64(index, 88);
	/* A scalable function has its parent's address. */
	CHECK_OK(doca_devinfo_is_equal_pci_addr(find("an_sf"), "03:00.0", &equal));
	CHECK_U64(equal, 1);
	/* The card shows the host's functions. */
	MUST(doca_dev_open(find("mlx5_0"), &dev));
	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &n));
	MUST_BE(n == 2);
	CHECK_OK(doca_devinfo_rep_get_iface_name(reps[0], name, sizeof(name)));
	CHECK_TEXT(name, "pf0hpf");
	CHECK_OK(doca_devinfo_rep_get_iface_name(reps[1], name, sizeof(name)));
	CHECK_TEXT(name, "pf0vf0");
	CHECK_OK(doca_devinfo_rep_get_pci_func_type(reps[1], &type));
	CHECK_U64(type, DOCA_PCI_FUNC_TYPE_VF);
	CHECK_OK(doca_devinfo_rep_is_equal_pci_addr(reps[1], "b1:00.3", &equal));
	CHECK_U64(equal, 1);
	CHECK_OK(doca_devinfo_rep_destroy_list(reps));
	CHECK_OK(doca_dev_close(dev));
}

static void bond(void)
{
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint8_t v4[4], equal = 0;
	struct doca_devinfo *info = find("mlx5_bond_0");

	CHECK_U64(count, 3); /* bond and the two host functions */
	CHECK_OK(doca_devinfo_get_iface_name(info, name, sizeof(name)));
	CHECK_TEXT(name, "bond0");
	CHECK_STATUS(doca_devinfo_get_ipv4_addr(info, v4, 4), DOCA_ERROR_NOT_FOUND);
	CHECK_OK(doca_devinfo_is_equal_pci_addr(info, "03:00.0", &equal));
	CHECK_U64(equal, 1);
}

static void limits(void)
{
	uint32_t elements = 0;
	uint64_t bytes = 0;

	CHECK_OK(doca_dma_cap_task_memcpy_get_max_buf_size(find("mlx5_0"), &bytes));
	CHECK_U64(bytes, 1048576);
	CHECK_OK(doca_dma_cap_task_memcpy_get_max_buf_list_len(find("mlx5_1"), &elements));
	CHECK_U64(elements, 1);
	CHECK_STATUS(doca_dma_cap_task_memcpy_is_supported(find("mlx5_2")), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_OK(doca_dma_cap_task_memcpy_is_supported(find("mlx5_1")));
}

/* The list of a machine that is none. */
static void refused(void)
{
	CHECK_STATUS(doca_devinfo_create_list(&list, &count), DOCA_ERROR_NOT_FOUND);
}

static void (*looks)(void);

static void with_list(void)
{
	MUST(doca_devinfo_create_list(&list, &count));
	looks();
	CHECK_OK(doca_devinfo_destroy_list(list));
}

static void machine(const char *toml, void (*body)(void))
{
	looks = body;
	on_machine(toml, body == refused ? refused : with_list);
}

#define FUNCTION(side_, pci_, ibdev_) \
	"[[card.function]]\nside = \"" side_ "\"\npci = \"" pci_ "\"\nibdev = \"" ibdev_ "\"\n"

int main(void)
{
	machine("[[card]]\nmode = \"nic\"\n", nic_mode);
	machine("[[card]]\n" FUNCTION("dpu", "03:00.0", "with_v4") "ipv4 = \"192.0.2.7\"\nipv6 = \"2001:db8::5\"\n"
		"mac = \"02:53:44:50:01:09\"\nrate_gbps = 100\n" FUNCTION("dpu", "03:00.1", "without_v4")
		"ipv4 = \"none\"\n", addresses);
	machine("[[card]]\n" FUNCTION("dpu", "03:00.0", "mlx5_0") FUNCTION("dpu", "03:00.0", "an_sf")
		"kind = \"sf\"\nsf_index = 88\n" FUNCTION("host", "b1:00.0", "a_pf")
		FUNCTION("host", "b1:00.3", "a_vf") "kind = \"vf\"\n", functions);
	machine("[[card]]\n[[card.bond]]\nmembers = [\"03:00.0\", \"03:00.1\"]\nibdev = \"mlx5_bond_0\"\n"
		"iface = \"bond0\"\nipv4 = \"none\"\n", bond);
	machine("[[card]]\n[card.limits.dma]\nmax_buf_size = 1048576\n" FUNCTION("dpu", "03:00.0", "mlx5_0")
		FUNCTION("dpu", "03:00.1", "mlx5_1") "[card.function.limits.dma]\nmax_buf_list_len = 1\n"
		FUNCTION("host", "b1:00.0", "mlx5_2") "without = [\"dma\"]\n", limits);
	machine("[[card]]\nprofile = \"bf99\"\n", refused);
	machine("[[card]]\nsurprise = 1\n", refused);
	machine("[[card]]\n" FUNCTION("dpu", "03:00.0", "a") FUNCTION("dpu", "0000:03:00.0", "b"), refused);
	machine("[[card]]\n" FUNCTION("dpu", "03:00.0", "a") FUNCTION("dpu", "03:00.1", "a"), refused);
	return check_result();
}
