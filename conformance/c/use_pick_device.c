/*
 * A device chosen the ways programs do it: by either form of the PCI address, by RDMA device name, by
 * interface name, or as the one with the largest copy; a scan that an unfit device does not end; and
 * the last device of the list taken when several are equal.
 *
 * clauses: core-exec 10; dma Capabilities
 * covers: @
 */
#include <doca_dev.h>
#include <doca_dma.h>

#include "check.h"

struct wish {
	const char *pci, *ibdev, *iface;
};

static int fits(struct doca_devinfo *info, const struct wish *wish)
{
	char text[DOCA_DEVINFO_IFACE_NAME_SIZE] = "";
	uint8_t equal = 0;

	if (wish->pci != NULL)
		return doca_devinfo_is_equal_pci_addr(info, wish->pci, &equal) == DOCA_SUCCESS && equal;
	if (wish->ibdev != NULL)
		/* A larger buffer than needed is fine. */
		return doca_devinfo_get_ibdev_name(info, text, sizeof(text)) == DOCA_SUCCESS &&
		       strcmp(text, wish->ibdev) == 0;
	return doca_devinfo_get_iface_name(info, text, sizeof(text)) == DOCA_SUCCESS && strcmp(text, wish->iface) == 0;
}

static doca_error_t open_wished(const struct wish *wish, struct doca_dev **dev)
{
	struct doca_devinfo **list;
	doca_error_t result = DOCA_ERROR_NOT_FOUND;
	uint32_t count, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count; i++) {
		if (!fits(list[i], wish))
			continue;
		result = doca_dev_open(list[i], dev);
		break;
	}
	MUST(doca_devinfo_destroy_list(list));
	return result;
}

static void open_largest(struct doca_dev **dev)
{
	struct doca_devinfo **list;
	uint64_t best = 0;
	uint32_t count, i, elements;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST_BE(count > 0);
	for (i = 0; i < count; i++) {
		uint64_t size = 0;

		if (doca_dma_cap_task_memcpy_is_supported(list[i]) != DOCA_SUCCESS)
			continue;
		CHECK_OK(doca_dma_cap_task_memcpy_get_max_buf_size(list[i], &size));
		CHECK_OK(doca_dma_cap_task_memcpy_get_max_buf_list_len(list[i], &elements));
		CHECK(size >= 2u << 20);
		CHECK(elements >= 1);
		if (size < best)
			continue;
		if (*dev != NULL)
			CHECK_OK(doca_dev_close(*dev));
		best = size;
		MUST(doca_dev_open(list[i], dev));
	}
	MUST(doca_devinfo_destroy_list(list));
}

int main(void)
{
	static const struct wish same[] = {
		{.pci = "0000:03:00.0"}, {.pci = "03:00.0"}, {.ibdev = "mlx5_0"}, {.iface = "p0"}};
	static const struct wish host[] = {
		{.pci = "0000:b1:00.1"}, {.pci = "B1:00.1"}, {.ibdev = "mlx5_3"}, {.iface = "enp177s0f1np1"}};
	static const struct wish nowhere[] = {{.pci = "0000:07:00.0"}, {.ibdev = "mlx5_77"}, {.iface = "eth77"}};
	struct doca_dev *devs[4] = {NULL}, *dev = NULL;
	size_t i;

	for (i = 0; i < 4; i++) {
		CHECK_OK(open_wished(&same[i], &devs[i]));
		CHECK_PTR(devs[i], devs[0]);
	}
	for (i = 0; i < 4; i++)
		CHECK_OK(doca_dev_close(devs[i]));
	for (i = 0; i < 4; i++) {
		CHECK_OK(open_wished(&host[i], &devs[i]));
		CHECK_PTR(devs[i], devs[0]);
	}
	for (i = 0; i < 4; i++)
		CHECK_OK(doca_dev_close(devs[i]));
	for (i = 0; i < 3; i++)
		CHECK_STATUS(open_wished(&nowhere[i], &dev), DOCA_ERROR_NOT_FOUND);
	open_largest(&dev);
	MUST_BE(dev != NULL);
	/* The opened device answers the same questions as its list entry did. */
	CHECK_OK(doca_dma_cap_task_memcpy_is_supported(doca_dev_as_devinfo(dev)));
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
