/*
 * The context state machine: what each state allows and refuses, the order of state callbacks, user
 * data, configuration frozen while running, start and stop repeated.
 *
 * clauses: core-exec doca_ctx.h, 1, 2
 * covers: @
 */
#include "rig.h"

static unsigned seen_user;

static void count_user(const union doca_data user, struct doca_ctx *ctx, enum doca_ctx_states prev,
		       enum doca_ctx_states next)
{
	(void)ctx;
	(void)prev;
	(void)next;
	seen_user = (unsigned)user.u64;
}

static void idle_rules(struct doca_dev *dev)
{
	struct rig rig = {0};
	struct doca_dma_task_memcpy *task = NULL;
	struct doca_pe *pe = NULL;
	union doca_data data = {.u64 = 9};
	size_t inflight = 9;

	MUST(doca_pe_create(&pe));
	MUST(doca_dma_create(dev, &rig.dma));
	rig.ctx = doca_dma_as_ctx(rig.dma);
	CHECK_PTR(doca_dma_as_ctx(rig.dma), rig.ctx);
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_IDLE);
	CHECK_OK(doca_ctx_get_user_data(rig.ctx, &data));
	CHECK_U64(data.u64, 0);
	CHECK_OK(doca_ctx_get_num_inflight_tasks(rig.ctx, &inflight));
	CHECK_U64(inflight, 0);
	/* Stop of an idle context: nothing to do, even unconnected and unconfigured. */
	CHECK_OK(doca_ctx_stop(rig.ctx));
	CHECK_OK(doca_ctx_stop(rig.ctx));
	/* Start wants a configuration and an engine. */
	CHECK_REFUSED(doca_ctx_start(rig.ctx));
	CHECK_OK(doca_dma_task_memcpy_set_conf(rig.dma, rig_good_cb, rig_bad_cb, 4));
	CHECK_STATUS(doca_ctx_start(rig.ctx), DOCA_ERROR_NOT_CONNECTED);
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_IDLE);
	CHECK_OK(doca_pe_connect_ctx(pe, rig.ctx));
	CHECK_STATUS(doca_pe_connect_ctx(pe, rig.ctx), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_ctx_stop(rig.ctx));
	/* No work yet. */
	CHECK_STATUS(doca_dma_task_memcpy_alloc_init(rig.dma, NULL, NULL, data, &task), DOCA_ERROR_BAD_STATE);
	CHECK_PTR(task, NULL);
	/* The callback may be changed and cleared; the latest user data counts. */
	CHECK_OK(doca_ctx_set_state_changed_cb(rig.ctx, count_user));
	data.u64 = 4;
	CHECK_OK(doca_ctx_set_user_data(rig.ctx, data));
	data.u64 = 5;
	CHECK_OK(doca_ctx_set_user_data(rig.ctx, data));
	CHECK_OK(doca_ctx_get_user_data(rig.ctx, &data));
	CHECK_U64(data.u64, 5);
	MUST(doca_ctx_start(rig.ctx));
	CHECK_U64(seen_user, 5);
	data.u64 = 6;
	CHECK_OK(doca_ctx_set_user_data(rig.ctx, data));
	CHECK_OK(doca_ctx_stop(rig.ctx));
	CHECK_U64(seen_user, 6);
	CHECK_OK(doca_ctx_set_state_changed_cb(rig.ctx, NULL));
	seen_user = 0;
	MUST(doca_ctx_start(rig.ctx));
	CHECK_OK(doca_ctx_stop(rig.ctx));
	CHECK_U64(seen_user, 0);
	CHECK_OK(doca_dma_destroy(rig.dma));
	CHECK_OK(doca_pe_destroy(pe));
}

static void running_rules(void)
{
	struct rig rig;
	struct doca_pe *other = NULL;
	uint32_t vectors = 0;
	int i;

	rig_setup(&rig, 4096, 2);
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_RUNNING);
	CHECK_U64(rig.changes, 1);
	CHECK_U64(rig.to[0], DOCA_CTX_STATE_RUNNING);
	CHECK_STATUS(doca_ctx_start(rig.ctx), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_dma_task_memcpy_set_conf(rig.dma, rig_good_cb, rig_bad_cb, 4), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_dma_destroy(rig.dma), DOCA_ERROR_IN_USE);
	MUST(doca_pe_create(&other));
	CHECK_STATUS2(doca_pe_connect_ctx(other, rig.ctx), DOCA_ERROR_BAD_STATE, DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_ctx_cap_get_num_completion_vectors(doca_dev_as_devinfo(rig.dev), &vectors));
	CHECK_STATUS(doca_ctx_set_completion_vector(rig.ctx, 0), DOCA_ERROR_BAD_STATE);
	/* Nothing of this moved it. */
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_RUNNING);
	CHECK_U64(rig.changes, 1);
	/* A full stop in one call: two transitions, both reported inside. */
	CHECK_OK(doca_ctx_stop(rig.ctx));
	CHECK_U64(rig.changes, 3);
	CHECK_U64(rig.to[1], DOCA_CTX_STATE_STOPPING);
	CHECK_U64(rig.to[2], DOCA_CTX_STATE_IDLE);
	/* Idle again: everything may be set, and it starts as often as you like. */
	CHECK_OK(doca_ctx_set_completion_vector(rig.ctx, vectors - 1));
	CHECK_STATUS(doca_ctx_set_completion_vector(rig.ctx, vectors), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_pe_connect_ctx(other, rig.ctx), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_pe_destroy(other));
	for (i = 0; i < 20; i++) {
		CHECK_OK(doca_dma_task_memcpy_set_conf(rig.dma, rig_good_cb, rig_bad_cb, 1 + (uint32_t)i % 7));
		MUST(doca_ctx_start(rig.ctx));
		(void)rig_copy(&rig, 0, 2048, 100, (uint64_t)i);
		rig_drain(&rig);
		CHECK_U64(rig.good, i + 1);
		CHECK_OK(doca_ctx_stop(rig.ctx));
		CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_IDLE);
	}
	CHECK_U64(rig.changes, 3 + 20 * 3);
	rig_teardown(&rig);
}

static void refused(struct doca_dev *dev)
{
	struct doca_dma *dma = NULL;
	struct doca_ctx *ctx, *wrong = (struct doca_ctx *)dev, *list[3];
	union doca_data data = {0};
	enum doca_ctx_states state;
	size_t count;
	int i;

	MUST(doca_dma_create(dev, &dma));
	ctx = doca_dma_as_ctx(dma);
	CHECK_STATUS(doca_ctx_get_state(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ctx_get_user_data(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ctx_get_num_inflight_tasks(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ctx_cap_get_num_completion_vectors(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_dma_destroy(dma));
	CHECK_PTR(doca_dma_as_ctx(NULL), NULL);
	list[0] = NULL;
	list[1] = wrong;
	list[2] = ctx; /* gone */
	for (i = 0; i < 3; i++) {
		CHECK_STATUS(doca_ctx_start(list[i]), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_ctx_stop(list[i]), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_ctx_get_state(list[i], &state), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_ctx_set_user_data(list[i], data), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_ctx_get_user_data(list[i], &data), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_ctx_set_state_changed_cb(list[i], count_user), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_ctx_get_num_inflight_tasks(list[i], &count), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_ctx_set_completion_vector(list[i], 0), DOCA_ERROR_INVALID_VALUE);
		doca_ctx_flush_tasks(list[i]);
	}
}

int main(void)
{
	struct doca_dev *dev = rig_open_dev(NULL);

	idle_rules(dev);
	running_rules();
	refused(dev);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
