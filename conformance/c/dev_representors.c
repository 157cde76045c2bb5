/*
 * Representors: what a card function represents, the filters and their capability answers, a host
 * function without any, opening and closing, holders.
 *
 * clauses: core-exec doca_dev.h representors, 10
 * covers: @
 */
#include "rig.h"

static void filter_agrees(struct doca_dev *dev, int filter, doca_error_t asked, uint8_t supported)
{
	struct doca_devinfo_rep **list = NULL;
	uint32_t count = 77;
	doca_error_t result = doca_devinfo_rep_create_list(dev, filter, &list, &count);

	CHECK_STATUS2(asked, DOCA_SUCCESS, DOCA_ERROR_NOT_SUPPORTED);
	if (asked == DOCA_SUCCESS)
		CHECK(supported <= 1);
	if (asked == DOCA_SUCCESS && supported != 0) {
		CHECK_STATUS(result, DOCA_SUCCESS);
		CHECK_OK(doca_devinfo_rep_destroy_list(list));
	} else {
		CHECK_STATUS(result, DOCA_ERROR_NOT_SUPPORTED);
	}
}

static void filters(struct doca_dev *dev)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint8_t all = 9, net = 9, emulated = 9;
	doca_error_t asked;

	asked = doca_devinfo_rep_cap_is_filter_all_supported(info, &all);
	filter_agrees(dev, DOCA_DEVINFO_REP_FILTER_ALL, asked, all);
	asked = doca_devinfo_rep_cap_is_filter_net_supported(info, &net);
	filter_agrees(dev, DOCA_DEVINFO_REP_FILTER_NET, asked, net);
	asked = doca_devinfo_rep_cap_is_filter_emulated_supported(info, &emulated);
	filter_agrees(dev, DOCA_DEVINFO_REP_FILTER_EMULATED, asked, emulated);
	CHECK_STATUS(doca_devinfo_rep_cap_is_filter_all_supported(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_cap_is_filter_all_supported(NULL, &all), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_cap_is_filter_emulated_supported(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_cap_is_filter_emulated_supported(NULL, &all), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_cap_is_filter_net_supported(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_cap_is_filter_net_supported(NULL, &net), DOCA_ERROR_INVALID_VALUE);
}

static void properties(const struct doca_devinfo_rep *info, const char *pci, const char *iface)
{
	char text[DOCA_DEVINFO_IFACE_NAME_SIZE] = "", vuid[DOCA_DEVINFO_REP_VUID_SIZE] = "";
	enum doca_pci_func_type type = DOCA_PCI_FUNC_TYPE_SF;
	uint8_t flag = 9;
	uint16_t vhca = 0xfff0, host_vhca = 0;
	struct doca_dev *host;

	CHECK_OK(doca_devinfo_rep_get_pci_addr_str(info, text));
	CHECK_TEXT(text, pci);
	CHECK_OK(doca_devinfo_rep_is_equal_pci_addr(info, pci + 5, &flag));
	CHECK_U64(flag, 1);
	CHECK_OK(doca_devinfo_rep_is_equal_pci_addr(info, "c1:00.0", &flag));
	CHECK_U64(flag, 0);
	CHECK_STATUS(doca_devinfo_rep_is_equal_pci_addr(info, "nonsense", &flag), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_devinfo_rep_get_iface_name(info, text, sizeof(text)));
	CHECK_TEXT(text, iface);
	CHECK_STATUS(doca_devinfo_rep_get_iface_name(info, text, 255), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_devinfo_rep_get_vuid(info, vuid, sizeof(vuid)));
	CHECK(strlen(vuid) > 0 && strlen(vuid) < sizeof(vuid));
	CHECK_STATUS(doca_devinfo_rep_get_vuid(info, vuid, sizeof(vuid) - 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_devinfo_rep_get_pci_func_type(info, &type));
	CHECK_U64(type, DOCA_PCI_FUNC_TYPE_PF);
	flag = 9;
	CHECK_OK(doca_devinfo_rep_get_is_hotplug(info, &flag));
	CHECK_U64(flag, 0);
	/* It is the host's function that is meant. */
	CHECK_OK(doca_devinfo_rep_get_vhca_id(info, &vhca));
	host = rig_open_dev(pci);
	CHECK_OK(doca_devinfo_get_vhca_id(doca_dev_as_devinfo(host), &host_vhca));
	CHECK_U64(vhca, host_vhca);
	CHECK_OK(doca_dev_close(host));
	CHECK_STATUS(doca_devinfo_rep_get_is_hotplug(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_get_is_hotplug(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_get_vhca_id(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_get_vhca_id(NULL, &vhca), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_get_pci_addr_str(NULL, text), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_get_pci_func_type(info, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void card_side(const char *card, const char *host, const char *iface)
{
	struct doca_dev *dev = rig_open_dev(card);
	struct doca_devinfo_rep **list = NULL, **other = NULL, *gone;
	struct doca_dev_rep *one = NULL, *two = NULL;
	uint32_t count = 0;
	uint8_t net = 0;

	filters(dev);
	CHECK_OK(doca_devinfo_rep_cap_is_filter_net_supported(doca_dev_as_devinfo(dev), &net));
	CHECK_U64(net, 1);
	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &other, &count));
	MUST_BE(count == 1);
	properties(list[0], host, iface);
	MUST(doca_dev_rep_open(list[0], &one));
	MUST(doca_dev_rep_open(other[0], &two));
	CHECK(one != two);
	gone = list[0];
	CHECK_OK(doca_devinfo_rep_destroy_list(list));
	CHECK_OK(doca_devinfo_rep_destroy_list(other));
	/* Opened representors survive the list; its elements do not. */
	properties(doca_dev_rep_as_devinfo(one), host, iface);
	CHECK_STATUS(doca_dev_rep_open(gone, &two), DOCA_ERROR_INVALID_VALUE);
	/* They hold the device. */
	CHECK_STATUS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_dev_rep_close(one));
	CHECK_STATUS(doca_dev_rep_close(one), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_dev_rep_close(two));
	CHECK_OK(doca_dev_close(dev));
}

static void host_side(void)
{
	struct doca_dev *dev = rig_open_dev("b1:00.0");
	struct doca_devinfo_rep **list = NULL;
	uint32_t count = 0;

	filters(dev);
	CHECK_STATUS(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count),
		     DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &list, &count),
		     DOCA_ERROR_NOT_SUPPORTED);
	CHECK_OK(doca_dev_close(dev));
}

static void refused(void)
{
	struct doca_dev *dev = rig_open_dev("03:00.0");
	struct doca_devinfo_rep **list = NULL;
	struct doca_dev_rep *rep = NULL;
	uint32_t count = 0;

	CHECK_STATUS(doca_devinfo_rep_create_list(NULL, 0, &list, &count), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_create_list(dev, 0, NULL, &count), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_create_list(dev, 0, &list, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_create_list(dev, 1 << 12, &list, &count), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_rep_destroy_list(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dev_rep_open(NULL, &rep), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dev_rep_close(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dev_rep_close((struct doca_dev_rep *)dev), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_dev_rep_as_devinfo(NULL), NULL);
	CHECK_OK(doca_dev_close(dev));
}

int main(void)
{
	card_side("0000:03:00.0", "0000:b1:00.0", "pf0hpf");
	card_side("0000:03:00.1", "0000:b1:00.1", "pf1hpf");
	host_side();
	refused();
	return check_result();
}
