/* Copies its argument with the DMA engine and prints the copy. */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 4096 };

static void must(doca_error_t status, const char *what)
{
	if (status != DOCA_SUCCESS) {
		fprintf(stderr, "%s: %s\n", what, doca_error_get_descr(status));
		exit(EXIT_FAILURE);
	}
}

static void ended(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	doca_error_t *status = ctx_data.ptr;

	(void)task_data;
	*status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static struct doca_dev *open_copier(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	must(doca_devinfo_create_list(&list, &count), "devices");
	for (uint32_t i = 0; i < count && dev == NULL; i++)
		if (doca_dma_cap_task_memcpy_is_supported(list[i]) == DOCA_SUCCESS)
			must(doca_dev_open(list[i], &dev), "open");
	must(doca_devinfo_destroy_list(list), "devices");
	if (dev == NULL) {
		fprintf(stderr, "no device can copy\n");
		exit(EXIT_FAILURE);
	}
	return dev;
}

int main(int argc, char **argv)
{
	char *memory = calloc(2, SIZE);
	const char *text = argc > 1 ? argv[1] : "nothing said";
	struct doca_dev *dev = open_copier();
	struct doca_mmap *map;
	struct doca_buf_inventory *inventory;
	struct doca_buf *src, *dst;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_dma_task_memcpy *task;
	doca_error_t status = DOCA_ERROR_IN_PROGRESS;
	union doca_data none = {0};

	if (memory == NULL || strlen(text) >= SIZE) {
		fprintf(stderr, "that is too much\n");
		return EXIT_FAILURE;
	}
	strcpy(memory, text);

	must(doca_mmap_create(&map), "map");
	must(doca_mmap_add_dev(map, dev), "map");
	must(doca_mmap_set_memrange(map, memory, 2 * SIZE), "map");
	must(doca_mmap_start(map), "map");
	must(doca_buf_inventory_create(2, &inventory), "inventory");
	must(doca_buf_inventory_start(inventory), "inventory");
	must(doca_buf_inventory_buf_get_by_data(inventory, map, memory, strlen(text), &src), "source");
	must(doca_buf_inventory_buf_get_by_addr(inventory, map, memory + SIZE, SIZE, &dst), "destination");

	must(doca_pe_create(&pe), "progress engine");
	must(doca_dma_create(dev, &dma), "engine");
	must(doca_dma_task_memcpy_set_conf(dma, ended, ended, 1), "engine");
	must(doca_ctx_set_user_data(doca_dma_as_ctx(dma), (union doca_data){.ptr = &status}), "engine");
	must(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)), "engine");
	must(doca_ctx_start(doca_dma_as_ctx(dma)), "engine");

	must(doca_dma_task_memcpy_alloc_init(dma, src, dst, none, &task), "task");
	must(doca_task_submit(doca_dma_task_memcpy_as_task(task)), "task");
	while (status == DOCA_ERROR_IN_PROGRESS)
		(void)doca_pe_progress(pe);
	must(status, "copy");
	puts(memory + SIZE);

	must(doca_ctx_stop(doca_dma_as_ctx(dma)), "engine");
	must(doca_dma_destroy(dma), "engine");
	must(doca_pe_destroy(pe), "progress engine");
	must(doca_buf_dec_refcount(src, NULL), "source");
	must(doca_buf_dec_refcount(dst, NULL), "destination");
	must(doca_buf_inventory_destroy(inventory), "inventory");
	must(doca_mmap_destroy(map), "map");
	must(doca_dev_close(dev), "device");
	free(memory);
	return EXIT_SUCCESS;
}
