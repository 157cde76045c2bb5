/* A mistake: the task is freed, and one of its buffers, but not the other. */
#include "tutorial.h"

#include <doca_dma.h>

static void copied(struct doca_dma_task_memcpy *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	landed(ctx, doca_dma_task_memcpy_as_task(task));
}

int main(void)
{
	struct rig rig = make_rig(doca_dma_cap_task_memcpy_is_supported, 8192, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *src = data(&rig, 0, 100), *dst = room(&rig, 4096, 100);
	struct doca_dma_task_memcpy *task;
	union doca_data none = {0};
	struct doca_dma *dma;

	MUST(doca_dma_create(rig.dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, copied, copied, 1));
	start(&rig, doca_dma_as_ctx(dma));
	MUST(doca_dma_task_memcpy_alloc_init(dma, src, dst, none, &task));
	MUST(carry_out(&rig, doca_dma_task_memcpy_as_task(task)));
	MUST(doca_buf_dec_refcount(src, NULL));
	stop(&rig, doca_dma_as_ctx(dma));
	MUST(doca_dma_destroy(dma));
	MUST(doca_pe_destroy(rig.pe));
	if (doca_mmap_destroy(rig.map) != DOCA_SUCCESS)
		printf("the map is still there\n");
	return 0;
}
