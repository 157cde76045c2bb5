/*
 * rule: tasks-not-freed
 *
 * The program makes the next task in the callback of the one before, which it frees after that: with a pool of one task
 * there is none to be had, and nothing goes on.
 */
#include "misuse.h"

#define COPIES 3

static unsigned made;

static void next(struct rig *rig, struct doca_dma_task_memcpy *done)
{
	struct doca_dma_task_memcpy *task = NULL;
	struct doca_buf *src, *dst;
	union doca_data user = {.u64 = made};

	(void)done;
	if (made == COPIES)
		return;
	made++;
	src = rig_src(rig, 0, 64);
	dst = rig_dst(rig, 1024 + 64 * made, 64);
	if (doca_dma_task_memcpy_alloc_init(rig->dma, src, dst, user, &task) == DOCA_SUCCESS) {
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
		return;
	}
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
}

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, WRONG ? 1 : 2);
	rig.on_done = next;
	made = 1;
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	rig_drain(&rig);
	CHECK_U64(rig.good, WRONG ? 1 : COPIES);
	rig_teardown(&rig);
	return check_result();
}
