/* Lists the devices and says for which side it was compiled. */
#include "engines.h"

#include <doca_error.h>
#include <stdio.h>

int main(void)
{
	struct doca_devinfo **list;
	uint32_t count;
	char address[DOCA_DEVINFO_PCI_ADDR_SIZE];
	doca_error_t status = doca_devinfo_create_list(&list, &count);

	if (status != DOCA_SUCCESS) {
		fprintf(stderr, "no list of devices: %s\n", doca_error_get_descr(status));
		return 1;
	}
#ifdef DOCA_ARCH_DPU
	puts("a program of the card");
#else
	puts("a program of the host");
#endif
	for (uint32_t i = 0; i < count; i++)
		if (doca_devinfo_get_pci_addr_str(list[i], address) == DOCA_SUCCESS)
			printf("%s: %s\n", address, engines_of(list[i]));
	return doca_devinfo_destroy_list(list) == DOCA_SUCCESS ? 0 : 1;
}
