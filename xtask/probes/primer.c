/*
 * Compiled, never run: names of doca_primer.h that mean two things, in every form, as C and as C++.
 */
#include <doca_primer.h>

struct doca_ctx *sessions(struct doca_ctx **ctx);
doca_error_t overloads(struct doca_ctx *ctx, struct doca_task *task, struct doca_buf *buf,
		       struct doca_mmap *mmap, struct doca_dev *dev, struct doca_rdma *rdma,
		       uint64_t number, void *pointer);

struct doca_ctx *sessions(struct doca_ctx **ctx)
{
	if (doca_ctx_create(ctx) != DOCA_SUCCESS || doca_ctx_create((ctx)) != DOCA_SUCCESS)
		return NULL;
	return doca_ctx_create();
}

doca_error_t overloads(struct doca_ctx *ctx, struct doca_task *task, struct doca_buf *buf,
		       struct doca_mmap *mmap, struct doca_dev *dev, struct doca_rdma *rdma,
		       uint64_t number, void *pointer)
{
	doca_error_t (*contract)(struct doca_task *) = doca_task_submit;
	struct doca_event_channel *channel = NULL;
	struct doca_rdma_task_write *write = NULL;
	doca_error_t result = contract(task);
	uint32_t key = 0;

	DOCA_ERROR_PROPAGATE(result, doca_task_submit(task));
	DOCA_ERROR_PROPAGATE(result, doca_task_submit(ctx, buf));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_get_mkey(mmap, &key));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_get_mkey(mmap, dev, &key));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_create_event_channel(&channel));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_create_event_channel(rdma, &channel));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_task_write(ctx, pointer, key, number, &write));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_task_write(NULL, pointer, key, pointer, &task));
	return result;
}
