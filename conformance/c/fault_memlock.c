/*
 * A plan of faults that leaves little memory to lock: FAULT_EFFECT is "memlock" then. Without one, nothing happens to
 * anything.
 *
 * clauses: none; for plans of faults
 * covers: @
 */
#include "rig.h"

int main(void)
{
	int tight = getenv("FAULT_EFFECT") != NULL && strcmp(getenv("FAULT_EFFECT"), "memlock") == 0;
	struct doca_mmap *map = NULL;
	struct rig rig;
	uint8_t *more = (uint8_t *)malloc(1 << 20);

	MUST_BE(more != NULL);
	rig_setup(&rig, 4096, 2);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, rig.dev));
	MUST(doca_mmap_set_memrange(map, more, 1 << 20));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	if (tight)
		CHECK_STATUS(doca_mmap_start(map), DOCA_ERROR_DRIVER);
	else
		CHECK_OK(doca_mmap_start(map));
	CHECK_OK(doca_mmap_destroy(map));
	(void)rig_copy(&rig, 0, 1024, 64, 1);
	rig_drain(&rig);
	CHECK_U64(rig.good, 1);
	rig_teardown(&rig);
	free(more);
	return check_result();
}
