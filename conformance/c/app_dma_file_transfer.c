/*
 * A file from the host to the card by DMA: the host maps it and exports the map, the channel carries
 * size, address and descriptor, the card imports and copies in pieces, and says when the host may
 * unmap. Then the same from the card to the host.
 *
 * clauses: core-memory Export; engine-dma-sha DMA; comch Control messages
 * covers: @
 */
#define _GNU_SOURCE

#include <doca_dma.h>

#include "app_common.h"

DOCA_LOG_REGISTER(DMA_FILE);

#define FILE_BYTES (1000u * 1000u + 7)
#define PIECE (256u * 1024)

struct offer {
	uint64_t addr, len;
	uint32_t to_card, desc_len;
	uint8_t desc[3000];
};

APP_CALLBACKS(doca_dma_task_memcpy, doca_dma_task_memcpy_as_task)

/* The card's side of one transfer, whichever way. */
static void carry_out(struct app_line *line)
{
	struct offer *offer = (struct offer *)app_receive(line, NULL);
	uint64_t addr = offer->addr, at;
	uint32_t to_card = offer->to_card, tasks = 0;
	size_t len = (size_t)offer->len, got;
	struct doca_dma_task_memcpy *task;
	union doca_data user = {0};
	struct doca_mmap *remote;
	struct doca_buf *near, *far;
	struct app_core core;
	struct doca_dma *dma;
	char name[32];
	void *base;
	FILE *file;

	/* The importing device has to be the one of the channel. */
	app_core_make_on(&core, APP_CARD, doca_dma_cap_task_memcpy_is_supported, 64, len, 8);
	MUST(doca_mmap_create_from_export(NULL, offer->desc, offer->desc_len, core.dev, &remote));
	MUST(doca_mmap_get_memrange(remote, &base, &got));
	CHECK_U64((uintptr_t)base, addr);
	CHECK_U64(got, len);
	MUST(doca_dma_create(core.dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, app_doca_dma_task_memcpy_done, app_doca_dma_task_memcpy_failed, 4));
	app_core_start(&core, doca_dma_as_ctx(dma));
	if (!to_card)
		app_text(core.dst, len, 99);
	for (at = 0; at < len; at += PIECE) {
		size_t now = len - at < PIECE ? (size_t)(len - at) : PIECE;

		if (to_card) {
			MUST(doca_buf_inventory_buf_get_by_data(core.inv, remote, (uint8_t *)base + at, now, &far));
			MUST(doca_buf_inventory_buf_get_by_addr(core.inv, core.dst_map, core.dst + at, now, &near));
			MUST(doca_dma_task_memcpy_alloc_init(dma, far, near, user, &task));
		} else {
			MUST(doca_buf_inventory_buf_get_by_addr(core.inv, remote, (uint8_t *)base + at, now, &far));
			MUST(doca_buf_inventory_buf_get_by_data(core.inv, core.dst_map, core.dst + at, now, &near));
			MUST(doca_dma_task_memcpy_alloc_init(dma, near, far, user, &task));
		}
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
		app_wait(&core, ++tasks);
		CHECK_OK(doca_buf_dec_refcount(near, NULL));
		CHECK_OK(doca_buf_dec_refcount(far, NULL));
	}
	CHECK_U64(core.failed, 0);
	if (to_card) {
		snprintf(name, sizeof(name), "copied.%d", (int)getpid());
		file = fopen(name, "wb");
		MUST_BE(file != NULL && fwrite(core.dst, 1, len, file) == len && fclose(file) == 0);
		app_send(line, name, strlen(name) + 1);
	} else {
		app_send(line, "written", 8);
	}
	app_core_stop(&core);
	CHECK_OK(doca_dma_destroy(dma));
	CHECK_OK(doca_mmap_destroy(remote));
	app_core_free(&core);
}

static void card(void)
{
	static struct app_line line;

	app_line_serve(&line, "dma file");
	carry_out(&line);
	carry_out(&line);
	app_line_close(&line);
}

static struct doca_mmap *offer_memory(struct app_line *line, uint8_t *bytes, int to_card)
{
	struct doca_mmap *map = app_map(line->dev, bytes, FILE_BYTES,
					to_card ? DOCA_ACCESS_FLAG_PCI_READ_ONLY : DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	struct offer offer;
	const void *desc;
	size_t desc_len;

	MUST(doca_mmap_export_pci(map, line->dev, &desc, &desc_len));
	MUST_BE(desc_len <= sizeof(offer.desc));
	offer.addr = (uintptr_t)bytes;
	offer.len = FILE_BYTES;
	offer.to_card = (uint32_t)to_card;
	offer.desc_len = (uint32_t)desc_len;
	memcpy(offer.desc, desc, desc_len);
	app_send(line, &offer, sizeof(offer) - sizeof(offer.desc) + desc_len);
	return map;
}

static void host(void)
{
	uint8_t *bytes = (uint8_t *)malloc(FILE_BYTES), *other = (uint8_t *)malloc(FILE_BYTES);
	static struct app_line line;
	struct doca_mmap *map;
	const char *name;
	FILE *file;

	app_line_reach(&line, "dma file");
	app_text(bytes, FILE_BYTES, 1);
	map = offer_memory(&line, bytes, 1);
	name = (const char *)app_receive(&line, NULL);
	CHECK_OK(doca_mmap_destroy(map));
	file = fopen(name, "rb");
	MUST_BE(file != NULL);
	CHECK_U64(fread(other, 1, FILE_BYTES, file), FILE_BYTES);
	CHECK_U64(fgetc(file), EOF);
	fclose(file);
	CHECK_BYTES(other, bytes, FILE_BYTES);
	CHECK_U64(remove(name), 0);

	map = offer_memory(&line, bytes, 0);
	CHECK_TEXT((const char *)app_receive(&line, NULL), "written");
	CHECK_OK(doca_mmap_destroy(map));
	app_text(other, FILE_BYTES, 99);
	CHECK_BYTES(bytes, other, FILE_BYTES);
	app_line_close(&line);
	free(bytes), free(other);
}

int main(void)
{
	return app_two_roles(card, host);
}
