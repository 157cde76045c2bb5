/*
 * What `cargo xtask budget` counts: tasks of 64 bytes on the way through the C face, and progress without work.
 *
 *   dma_budget again N CONTEXTS DEPTH    N tasks, DEPTH in flight per context, submitted again in their callback
 *   dma_budget fresh N CONTEXTS DEPTH    the same, each freed in its callback and a new one allocated
 *   dma_budget idle N CONTEXTS DEPTH     N calls of progress after all contexts have worked and became quiet
 */
#define DOCA_ALLOW_EXPERIMENTAL_API
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 64

#define MUST(call)                                                                                              \
	do {                                                                                                    \
		doca_error_t status_ = (call);                                                                  \
		if (status_ != DOCA_SUCCESS) {                                                                  \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                           \
				doca_error_get_name(status_));                                                  \
			exit(1);                                                                                \
		}                                                                                               \
	} while (0)

struct lane {
	struct doca_dma *dma;
	int fresh;
};

static unsigned long reported;
static unsigned long to_submit;

static void copied(struct doca_dma_task_memcpy *memcpy_task, union doca_data task_user, union doca_data ctx_user)
{
	struct doca_task *task = doca_dma_task_memcpy_as_task(memcpy_task);
	struct doca_buf *dst = doca_dma_task_memcpy_get_dst(memcpy_task);

	reported++;
	doca_buf_reset_data_len(dst);
	if (to_submit == 0) {
		doca_task_free(task);
		return;
	}
	to_submit--;
	if (((struct lane *)ctx_user.ptr)->fresh) {
		struct doca_buf *src = (struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(memcpy_task);

		doca_task_free(task);
		MUST(doca_dma_task_memcpy_alloc_init(((struct lane *)ctx_user.ptr)->dma, src, dst, task_user,
						     &memcpy_task));
		task = doca_dma_task_memcpy_as_task(memcpy_task);
	}
	MUST(doca_task_submit(task));
}

static void failed(struct doca_dma_task_memcpy *memcpy_task, union doca_data task_user, union doca_data ctx_user)
{
	(void)task_user;
	(void)ctx_user;
	fprintf(stderr, "a task failed: %s\n",
		doca_error_get_name(doca_task_get_status(doca_dma_task_memcpy_as_task(memcpy_task))));
	exit(1);
}

static struct doca_dev *open_device(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count = 0;

	MUST(doca_devinfo_create_list(&list, &count));
	for (uint32_t i = 0; i < count && dev == NULL; i++)
		if (doca_dma_cap_task_memcpy_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_destroy_list(list));
	if (dev == NULL) {
		fprintf(stderr, "no device has a DMA engine\n");
		exit(1);
	}
	return dev;
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: dma_budget again|fresh|idle N CONTEXTS DEPTH\n");
		return 2;
	}
	const int idle = strcmp(argv[1], "idle") == 0;
	const unsigned long n = strtoul(argv[2], NULL, 10);
	const unsigned contexts = (unsigned)strtoul(argv[3], NULL, 10);
	const unsigned depth = (unsigned)strtoul(argv[4], NULL, 10);
	const size_t tasks = (size_t)contexts * depth;
	const size_t size = (2 * tasks * BYTES + 4095) / 4096 * 4096;
	struct lane *lanes = calloc(contexts, sizeof(*lanes));
	uint8_t *memory = aligned_alloc(4096, size);
	struct doca_dev *dev = open_device();
	struct doca_mmap *map;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;

	if (lanes == NULL || memory == NULL || tasks == 0 || (!idle && n < tasks))
		return 2;
	memset(memory, 0x5a, size);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, memory, size));
	MUST(doca_mmap_start(map));
	MUST(doca_buf_inventory_create(2 * tasks, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	MUST(doca_pe_create(&pe));
	for (unsigned c = 0; c < contexts; c++) {
		union doca_data user = {.ptr = &lanes[c]};

		lanes[c].fresh = strcmp(argv[1], "fresh") == 0;
		MUST(doca_dma_create(dev, &lanes[c].dma));
		MUST(doca_dma_task_memcpy_set_conf(lanes[c].dma, copied, failed, depth));
		MUST(doca_ctx_set_user_data(doca_dma_as_ctx(lanes[c].dma), user));
		MUST(doca_pe_connect_ctx(pe, doca_dma_as_ctx(lanes[c].dma)));
		MUST(doca_ctx_start(doca_dma_as_ctx(lanes[c].dma)));
	}
	to_submit = idle ? 0 : n - tasks;
	for (size_t t = 0; t < tasks; t++) {
		uint8_t *at = memory + 2 * t * BYTES;
		union doca_data user = {.u64 = t};
		struct doca_dma_task_memcpy *task;
		struct doca_buf *src, *dst;

		MUST(doca_buf_inventory_buf_get_by_data(inventory, map, at, BYTES, &src));
		MUST(doca_buf_inventory_buf_get_by_addr(inventory, map, at + BYTES, BYTES, &dst));
		MUST(doca_dma_task_memcpy_alloc_init(lanes[t % contexts].dma, src, dst, user, &task));
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	}
	while (reported < (idle ? tasks : n))
		doca_pe_progress(pe);
	if (idle) {
		/* Until contexts that became quiet are no longer looked at. */
		for (unsigned i = 0; i < 16 * contexts; i++)
			doca_pe_progress(pe);
		for (unsigned long i = 0; i < n; i++)
			doca_pe_progress(pe);
	}
	return reported == (idle ? tasks : n) ? 0 : 1;
}
