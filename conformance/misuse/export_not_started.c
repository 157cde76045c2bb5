/*
 * rule: export-not-started
 *
 * A map is exported before it was started.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_mmap *map = NULL;
	const void *desc = NULL;
	size_t len = 0;

	rig_setup(&rig, 4096, 4);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, rig.dev));
	MUST(doca_mmap_set_memrange(map, rig.mem, rig.len));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	if (!WRONG)
		MUST(doca_mmap_start(map));
	CHECK((doca_mmap_export_pci(map, rig.dev, &desc, &len) != DOCA_SUCCESS) == WRONG);
	MUST(doca_mmap_destroy(map));
	rig_teardown(&rig);
	return check_result();
}
