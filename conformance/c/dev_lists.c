/*
 * Device lists and open devices: snapshots that live side by side, one pointer per device, one close
 * per open, the last close refused while somebody uses the device, handles that are gone.
 *
 * clauses: core-exec doca_dev.h lists and opening; order of the default devices
 * covers: @
 */
#include "rig.h"

static const char *const expected[] = {"0000:03:00.0", "0000:03:00.1", "0000:b1:00.0", "0000:b1:00.1"};

static void lists(void)
{
	struct doca_devinfo **one = NULL, **two = NULL, *kept;
	struct doca_dev *dev = NULL, *same = NULL;
	uint32_t n = 0, m = 0, i;
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE] = "";
	uint8_t equal = 0;

	CHECK_STATUS(doca_devinfo_create_list(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_create_list(&one, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_destroy_list(NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_devinfo_create_list(&one, &n));
	MUST(doca_devinfo_create_list(&two, &m));
	CHECK(one != two);
	MUST_BE(n == 4 && m == 4);
	for (i = 0; i < n; i++) {
		CHECK_OK(doca_devinfo_get_pci_addr_str(one[i], pci));
		CHECK_TEXT(pci, expected[i]);
		CHECK_OK(doca_devinfo_is_equal_pci_addr(two[i], pci, &equal));
		CHECK_U64(equal, 1);
	}
	/* The same device from either list, and from its own devinfo. */
	MUST(doca_dev_open(one[0], &dev));
	MUST(doca_dev_open(two[0], &same));
	CHECK_PTR(same, dev);
	kept = one[1];
	CHECK_OK(doca_devinfo_destroy_list(one));
	CHECK_OK(doca_devinfo_destroy_list(two));
	MUST(doca_dev_open(doca_dev_as_devinfo(dev), &same));
	CHECK_PTR(same, dev);
	/* Elements die with their list. */
	CHECK_STATUS(doca_devinfo_get_pci_addr_str(kept, pci), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dev_open(kept, &same), DOCA_ERROR_INVALID_VALUE);
	/* Opened devices do not. */
	CHECK_OK(doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(dev), pci));
	CHECK_TEXT(pci, expected[0]);
	for (i = 0; i < 3; i++)
		CHECK_OK(doca_dev_close(dev));
	CHECK_STATUS(doca_dev_close(dev), DOCA_ERROR_INVALID_VALUE);
}

static void users(void)
{
	struct doca_dev *dev = rig_open_dev(NULL), *again = rig_open_dev(NULL);
	struct doca_mmap *map = NULL;
	struct doca_dma *dma = NULL;
	struct doca_pe *pe = NULL;

	CHECK_PTR(again, dev);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_dma_create(dev, &dma));
	CHECK_OK(doca_dev_close(dev));
	/* The last reference: a map and a context use it. */
	CHECK_STATUS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_dma_destroy(dma));
	CHECK_STATUS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_mmap_rm_dev(map, dev));
	/* A refused close left it open: still good for use. */
	CHECK_OK(doca_mmap_add_dev(map, dev));
	CHECK_OK(doca_mmap_destroy(map));
	/* A progress engine does not hold a device. */
	MUST(doca_pe_create(&pe));
	CHECK_OK(doca_dev_close(dev));
	CHECK_OK(doca_pe_destroy(pe));
	/* Open again after it was gone. */
	dev = rig_open_dev(NULL);
	CHECK_OK(doca_dev_close(dev));
}

static void refused(void)
{
	struct doca_dev *dev = rig_open_dev(NULL), *none = NULL;
	struct doca_mmap *map = NULL;
	uint8_t reclaim = 9;

	CHECK_STATUS(doca_dev_open(NULL, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dev_open(doca_dev_as_devinfo(dev), NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dev_close(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_dev_as_devinfo(NULL), NULL);
	/* Handles of another kind. */
	MUST(doca_mmap_create(&map));
	CHECK_STATUS(doca_dev_open((struct doca_devinfo *)map, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dev_close((struct doca_dev *)map), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_add_dev(map, (struct doca_dev *)map), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(none, NULL);
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_devinfo_cap_is_accelerate_resource_reclaim_supported(doca_dev_as_devinfo(dev), &reclaim));
	CHECK_U64(reclaim, 0);
	CHECK_STATUS(doca_dev_accelerate_resource_reclaim(dev), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_dev_accelerate_resource_reclaim(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_dev_close(dev));
}

int main(void)
{
	lists();
	users();
	refused();
	return check_result();
}
