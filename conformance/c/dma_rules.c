/*
 * The DMA context: creation, configuration and its limits, ordered completions, capabilities, several
 * contexts on several devices, handles that are NULL, of another kind, gone.
 *
 * clauses: dma Context, Capabilities
 * covers: @
 */
#include "rig.h"

static void configuration(struct doca_dev *dev)
{
	struct doca_dma *dma = NULL;
	struct doca_pe *pe = NULL;
	uint32_t most = 0;
	uint8_t ordered = 9;

	MUST(doca_pe_create(&pe));
	MUST(doca_dma_create(dev, &dma));
	CHECK_OK(doca_dma_cap_get_max_num_tasks(dma, &most));
	CHECK(most >= 255);
	CHECK_STATUS(doca_dma_task_memcpy_set_conf(dma, NULL, rig_bad_cb, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_task_memcpy_set_conf(dma, rig_good_cb, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_task_memcpy_set_conf(NULL, rig_good_cb, rig_bad_cb, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_task_memcpy_set_conf(dma, rig_good_cb, rig_bad_cb, most + 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
	/* A refused configuration is none. */
	CHECK_STATUS(doca_ctx_start(doca_dma_as_ctx(dma)), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_dma_task_memcpy_set_conf(dma, rig_good_cb, rig_bad_cb, most));
	CHECK_OK(doca_ctx_start(doca_dma_as_ctx(dma)));
	CHECK_OK(doca_ctx_stop(doca_dma_as_ctx(dma)));

	CHECK_OK(doca_dma_get_ordered_completions(dma, &ordered));
	CHECK_U64(ordered, 0);
	CHECK_OK(doca_dma_set_ordered_completions(dma, 1));
	CHECK_OK(doca_dma_get_ordered_completions(dma, &ordered));
	CHECK_U64(ordered, 1);
	CHECK_STATUS(doca_dma_set_ordered_completions(dma, 2), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_ctx_start(doca_dma_as_ctx(dma)));
	CHECK_OK(doca_dma_set_ordered_completions(dma, 0));
	CHECK_OK(doca_dma_get_ordered_completions(dma, &ordered));
	CHECK_U64(ordered, 0);
	CHECK_STATUS(doca_dma_set_ordered_completions(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_get_ordered_completions(dma, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_get_ordered_completions(NULL, &ordered), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_cap_get_max_num_tasks(dma, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_cap_get_max_num_tasks(NULL, &most), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_destroy(dma), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_ctx_stop(doca_dma_as_ctx(dma)));
	CHECK_OK(doca_dma_destroy(dma));
	CHECK_OK(doca_pe_destroy(pe));
}

static void refused(struct doca_dev *dev)
{
	struct doca_dma *dma = NULL;
	struct doca_dma_task_memcpy *task = NULL;
	struct doca_mmap *map = NULL;
	union doca_data user = {0};

	CHECK_STATUS(doca_dma_create(NULL, &dma), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_create(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_create(&map));
	CHECK_STATUS(doca_dma_create((struct doca_dev *)map, &dma), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_destroy((struct doca_dma *)map), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_dma_as_ctx((struct doca_dma *)map), NULL);
	CHECK_STATUS(doca_dma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_task_memcpy_alloc_init(NULL, NULL, NULL, user, &task), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_dma_create(dev, &dma));
	CHECK_STATUS2(doca_dma_task_memcpy_alloc_init(dma, NULL, NULL, user, NULL), DOCA_ERROR_INVALID_VALUE,
		      DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_dma_destroy(dma));
	CHECK_STATUS(doca_dma_destroy(dma), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_dma_task_memcpy_alloc_init(dma, NULL, NULL, user, &task), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_dma_as_ctx(dma), NULL);
	CHECK_OK(doca_mmap_destroy(map));
}

/* A context keeps its configuration over many lives and its device over many contexts. */
static void many(struct doca_dev *dev)
{
	struct doca_pe *pe = NULL;
	struct doca_dma *dma[100];
	int round, i;

	MUST(doca_pe_create(&pe));
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 100; i++) {
			MUST(doca_dma_create(dev, &dma[i]));
			MUST(doca_dma_task_memcpy_set_conf(dma[i], rig_good_cb, rig_bad_cb, 1));
			MUST(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma[i])));
			MUST(doca_ctx_start(doca_dma_as_ctx(dma[i])));
		}
		for (i = 0; i < 100; i++) {
			CHECK_OK(doca_ctx_stop(doca_dma_as_ctx(dma[(i * 37) % 100])));
			CHECK_OK(doca_dma_destroy(dma[(i * 37) % 100]));
		}
	}
	CHECK_OK(doca_pe_destroy(pe));
}

int main(void)
{
	struct doca_dev *dev = rig_open_dev("03:00.1");

	configuration(dev);
	refused(dev);
	many(dev);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
