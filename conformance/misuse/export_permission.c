/*
 * rule: export-permission
 *
 * A map is exported that the other side may not access.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_mmap *map;
	const void *desc = NULL;
	size_t len = 0;

	rig_setup(&rig, 4096, 4);
	map = rig_map(rig.dev, rig.mem, rig.len,
		      WRONG ? DOCA_ACCESS_FLAG_LOCAL_READ_WRITE : DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	CHECK((doca_mmap_export_pci(map, rig.dev, &desc, &len) != DOCA_SUCCESS) == WRONG);
	MUST(doca_mmap_destroy(map));
	rig_teardown(&rig);
	return check_result();
}
