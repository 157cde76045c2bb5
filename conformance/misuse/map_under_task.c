/*
 * rule: map-in-use
 *
 * A memory map is destroyed while a task on it is in flight.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_mmap *map;
	struct doca_buf *dst = NULL;
	struct doca_task *task;
	uint8_t *memory = calloc(1, 4096);

	MUST_BE(memory != NULL);
	rig_setup(&rig, 4096, 4);
	map = rig_map(rig.dev, memory, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, map, memory, 64, &dst));
	task = doca_dma_task_memcpy_as_task(rig_task(&rig, rig_src(&rig, 0, 64), dst, 0));
	MUST(doca_task_submit(task));
	if (WRONG)
		CHECK_REFUSED(doca_mmap_destroy(map));
	rig_drain(&rig);
	MUST(doca_mmap_destroy(map));
	free(memory);
	rig_teardown(&rig);
	return check_result();
}
