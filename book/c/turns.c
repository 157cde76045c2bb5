/* Which call of the program does what: six copies, one of them large, and a line for every call that shows something. */
#include "tutorial.h"

#include <doca_dma.h>

#define TASKS 6

static const size_t bytes[TASKS] = {64, 64, 8u << 20, 64, 64, 64};

static int last; /* task that came back */

static void copied(struct doca_dma_task_memcpy *task, union doca_data user, union doca_data ctx)
{
	last = (int)user.u64;
	landed(ctx, doca_dma_task_memcpy_as_task(task));
}

int main(void)
{
	struct rig rig = make_rig(doca_dma_cap_task_memcpy_is_supported, 32u << 20, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *src[TASKS], *dst[TASKS];
	struct doca_dma_task_memcpy *task[TASKS];
	struct doca_dma *dma;
	unsigned nothing = 0;
	size_t at = 0;

	MUST(doca_dma_create(rig.dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, copied, copied, TASKS));
	start(&rig, doca_dma_as_ctx(dma));
	for (int i = 0; i < TASKS; i++) {
		union doca_data number = {.u64 = (uint64_t)i};

		src[i] = data(&rig, at, bytes[i]);
		dst[i] = room(&rig, at + bytes[i], bytes[i]);
		at += 2 * bytes[i];
		MUST(doca_dma_task_memcpy_alloc_init(dma, src[i], dst[i], number, &task[i]));
	}
	for (int i = 0; i < TASKS; i++) {
		printf("submit %d %zu\n", i, bytes[i]);
		rig.flying++;
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task[i])));
	}
	while (rig.flying > 0) {
		int before = rig.flying;

		doca_pe_progress(rig.pe);
		if (rig.flying == before) {
			nothing++;
			continue;
		}
		if (nothing > 0)
			printf("nothing %u\n", nothing);
		printf("callback %d\n", last);
		nothing = 0;
	}
	for (int i = 0; i < TASKS; i++) {
		MUST(doca_buf_dec_refcount(src[i], NULL));
		MUST(doca_buf_dec_refcount(dst[i], NULL));
	}
	stop(&rig, doca_dma_as_ctx(dma));
	MUST(doca_dma_destroy(dma));
	free_rig(&rig);
	return 0;
}
