/* DMA: three pieces gathered into one, and a copy that fails. */
#include "tutorial.h"

#include <doca_dma.h>

static void copied(struct doca_dma_task_memcpy *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	landed(ctx, doca_dma_task_memcpy_as_task(task));
}

static doca_error_t copy(struct rig *rig, struct doca_dma *dma, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_dma_task_memcpy *task;
	union doca_data none = {0};

	MUST(doca_dma_task_memcpy_alloc_init(dma, src, dst, none, &task));
	return carry_out(rig, doca_dma_task_memcpy_as_task(task));
}

int main(void)
{
	struct rig rig = make_rig(doca_dma_cap_task_memcpy_is_supported, 8192, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *src, *dst;
	enum doca_ctx_states state;
	struct doca_dma *dma;

	MUST(doca_dma_create(rig.dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, copied, copied, 8));
	start(&rig, doca_dma_as_ctx(dma));

	memcpy(rig.memory, "headers ", 8);
	memcpy(rig.memory + 1000, "and ", 4);
	memcpy(rig.memory + 2000, "payload", 7);
	src = data(&rig, 0, 8);
	MUST(doca_buf_chain_list(src, data(&rig, 1000, 4)));
	MUST(doca_buf_chain_list(src, data(&rig, 2000, 7)));
	dst = room(&rig, 4096, 100);
	MUST(copy(&rig, dma, src, dst));
	printf("%zu bytes: %s\n", length_of(dst), rig.memory + 4096);

	/* The rest of the destination is too small: the task fails, and a failed copy stops its context. */
	MUST(doca_buf_dec_refcount(dst, NULL));
	dst = room(&rig, 4096, 10);
	printf("too small: %s\n", doca_error_get_name(copy(&rig, dma, src, dst)));
	MUST(doca_ctx_get_state(doca_dma_as_ctx(dma), &state));
	printf("state: %s\n", state == DOCA_CTX_STATE_IDLE ? "idle" : "not idle");

	/* Start it again, and it goes on. */
	if (state == DOCA_CTX_STATE_IDLE)
		MUST(doca_ctx_start(doca_dma_as_ctx(dma)));
	MUST(doca_buf_dec_refcount(dst, NULL));
	dst = room(&rig, 4096, 19);
	MUST(copy(&rig, dma, src, dst));
	printf("again: %zu bytes\n", length_of(dst));

	MUST(doca_buf_dec_refcount(src, NULL)); /* the whole list */
	MUST(doca_buf_dec_refcount(dst, NULL));
	stop(&rig, doca_dma_as_ctx(dma));
	MUST(doca_dma_destroy(dma));
	free_rig(&rig);
	return 0;
}
