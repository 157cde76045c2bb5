/*
 * What a host grants and what it takes back: the card may read a window that was exported for reading,
 * and not write it; the host stops the map while the card uses it, after which everything fails and
 * nothing crashes; descriptors that are cut, changed or stale are refused.
 *
 * clauses: core-memory Export, permissions; engine-dma-sha DMA
 * covers: @
 */
#define _GNU_SOURCE

#include <doca_dma.h>

#include "app_common.h"

#define BYTES 65536u

APP_CALLBACKS(doca_dma_task_memcpy, doca_dma_task_memcpy_as_task)

static struct app_core core;
static struct doca_dma *dma;

/* One copy between the window and the card's memory. */
static doca_error_t copy(struct doca_mmap *window, uint8_t *base, int to_host)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *far, *near;
	union doca_data user = {0};
	uint32_t before = core.done + core.failed;

	if (to_host) {
		MUST(doca_buf_inventory_buf_get_by_addr(core.inv, window, base, 4096, &far));
		near = app_data(&core, 0, 4096);
		MUST(doca_dma_task_memcpy_alloc_init(dma, near, far, user, &task));
	} else {
		MUST(doca_buf_inventory_buf_get_by_data(core.inv, window, base, 4096, &far));
		near = app_room(&core, 0, 4096);
		MUST(doca_dma_task_memcpy_alloc_init(dma, far, near, user, &task));
	}
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	app_wait(&core, before + 1);
	CHECK_OK(doca_buf_dec_refcount(far, NULL));
	CHECK_OK(doca_buf_dec_refcount(near, NULL));
	if (core.status != DOCA_SUCCESS) {
		/* A failed copy stops the context; it may be started again. */
		while (core.state != DOCA_CTX_STATE_IDLE)
			(void)doca_pe_progress(core.pe);
		MUST(doca_ctx_start(core.ctx));
	}
	return core.status;
}

static void card(void)
{
	static struct app_line line;
	struct doca_mmap *window, *none = NULL;
	static uint8_t desc[APP_MESSAGE];
	uint32_t len, i;
	size_t size;
	void *base;

	app_line_serve(&line, "windows");
	app_core_make_on(&core, APP_CARD, doca_dma_cap_task_memcpy_is_supported, BYTES, BYTES, 8);
	memset(core.src, 0x99, BYTES);
	MUST(doca_dma_create(core.dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, app_doca_dma_task_memcpy_done, app_doca_dma_task_memcpy_failed, 4));
	app_core_start(&core, doca_dma_as_ctx(dma));
	memcpy(desc, app_receive(&line, &len), APP_MESSAGE);

	/* Damaged in every place, and cut everywhere. */
	for (i = 0; i < len; i++) {
		desc[i] ^= 0x40;
		CHECK_REFUSED(doca_mmap_create_from_export(NULL, desc, len, core.dev, &none));
		desc[i] ^= 0x40;
		CHECK_REFUSED(doca_mmap_create_from_export(NULL, desc, i, core.dev, &none));
	}
	CHECK_PTR(none, NULL);
	MUST(doca_mmap_create_from_export(NULL, desc, len, core.dev, &window));
	MUST(doca_mmap_get_memrange(window, &base, &size));
	CHECK_U64(size, BYTES);
	CHECK_OK(copy(window, (uint8_t *)base, 0));
	CHECK_U64(core.dst[0] | core.dst[4095] << 8, 0x1717);
	CHECK_STATUS(copy(window, (uint8_t *)base, 1), DOCA_ERROR_IO_FAILED);
	CHECK_OK(copy(window, (uint8_t *)base + BYTES - 4096, 0));
	app_send(&line, "stop it", 8);
	/* From some moment on it fails. */
	for (i = 0; copy(window, (uint8_t *)base, 0) == DOCA_SUCCESS; i++)
		;
	CHECK_STATUS(core.status, DOCA_ERROR_IO_FAILED);
	CHECK_TEXT((const char *)app_receive(&line, NULL), "stopped");
	CHECK_REFUSED(doca_mmap_create_from_export(NULL, desc, len, core.dev, &none));
	CHECK_STATUS(copy(window, (uint8_t *)base, 0), DOCA_ERROR_IO_FAILED);
	CHECK_OK(doca_mmap_destroy(window));
	app_core_stop(&core);
	CHECK_OK(doca_dma_destroy(dma));
	app_core_free(&core);
	app_line_close(&line);
}

static void host(void)
{
	uint8_t *memory = (uint8_t *)malloc(BYTES);
	static struct app_line line;
	struct doca_mmap *map;
	const void *desc;
	size_t len;
	uint32_t i;

	memset(memory, 0x17, BYTES);
	app_line_reach(&line, "windows");
	map = app_map(line.dev, memory, BYTES, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	MUST(doca_mmap_export_pci(map, line.dev, &desc, &len));
	app_send(&line, desc, len);
	CHECK_TEXT((const char *)app_receive(&line, NULL), "stop it");
	for (i = 0; i < 20; i++)
		app_nap();
	CHECK_OK(doca_mmap_destroy(map));
	/* Nobody reads it any more: it may be anything now. */
	for (i = 0; i < BYTES; i++)
		CHECK_U64(memory[i], 0x17);
	free(memory);
	app_send(&line, "stopped", 8);
	app_line_close(&line);
}

int main(void)
{
	return app_two_roles(card, host);
}
