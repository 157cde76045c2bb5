/*
 * What the programs about memory between two processes share: the letter that travels (descriptor,
 * address, length), the exporting side on the host function, the importing side on the card's own
 * function, and one copy each way with the status it ended with.
 */
#ifndef CONFORMANCE_X_SHARE_H
#define CONFORMANCE_X_SHARE_H

#include "rig.h"
#include "x_two.h"

#define SHARE_HOST "b1:00.0"
#define SHARE_CARD "03:00.0"

struct letter {
	uint64_t addr;
	uint64_t len;
	uint64_t desc_len;
	uint8_t desc[512];
};

/* Exports a started map; programs give a descriptor 512 bytes at most. */
static inline void share_export(struct doca_mmap *map, struct doca_dev *dev, struct letter *letter)
{
	const void *desc = NULL;
	void *addr = NULL;
	size_t len = 0, desc_len = 0;

	memset(letter, 0, sizeof(*letter));
	MUST(doca_mmap_get_memrange(map, &addr, &len));
	MUST(doca_mmap_export_pci(map, dev, &desc, &desc_len));
	MUST_BE(desc != NULL && desc_len > 0 && desc_len <= sizeof(letter->desc));
	memcpy(letter->desc, desc, desc_len);
	letter->addr = (uint64_t)(uintptr_t)addr;
	letter->len = len;
	letter->desc_len = desc_len;
}

/* A map over the letter's memory; the letter is not needed afterwards. */
static inline struct doca_mmap *share_import(struct letter *letter, struct doca_dev *dev)
{
	struct doca_mmap *remote = NULL;
	void *addr = NULL;
	size_t len = 0;

	MUST(doca_mmap_create_from_export(NULL, letter->desc, letter->desc_len, dev, &remote));
	memset(letter->desc, 0xee, sizeof(letter->desc));
	CHECK_OK(doca_mmap_get_memrange(remote, &addr, &len));
	CHECK_U64((uintptr_t)addr, letter->addr);
	CHECK_U64(len, letter->len);
	return remote;
}

static inline void *share_at(const struct letter *letter, uint64_t offset)
{
	return (void *)(uintptr_t)(letter->addr + offset);
}

/* The card side: a DMA context on the card's own function and `bytes` of local memory. */
static inline void share_card(struct rig *rig, size_t bytes, uint32_t tasks)
{
	struct doca_pe *pe = NULL;

	memset(rig, 0, sizeof(*rig));
	MUST(doca_pe_create(&pe));
	rig_make_ctx(rig, rig_open_dev(SHARE_CARD), pe, tasks);
	rig->free_tasks = 1;
	rig->drop_bufs = 1;
	rig->len = bytes;
	rig->mem = (uint8_t *)calloc(1, bytes);
	MUST_BE(rig->mem != NULL);
	rig->map = rig_map(rig->dev, rig->mem, bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create((size_t)tasks * 2 + 64, &rig->inv));
	MUST(doca_buf_inventory_start(rig->inv));
	MUST(doca_ctx_start(rig->ctx));
}

/* A failed copy takes the context down; this brings it back. */
static inline void share_restart(struct rig *rig)
{
	if (rig_state(rig) == DOCA_CTX_STATE_RUNNING)
		return;
	rig_until_idle(rig);
	MUST(doca_ctx_start(rig->ctx));
}

/* One copy between two windows; the status it was delivered with. */
static inline doca_error_t share_copy(struct rig *rig, struct doca_mmap *from_map, void *from,
				      struct doca_mmap *to_map, void *to, size_t len)
{
	struct doca_buf *src = NULL, *dst = NULL;
	unsigned before;
	doca_error_t status;

	if (rig->good + rig->bad >= RIG_LOG)
		rig->good = rig->bad = 0;
	before = rig->good + rig->bad;
	MUST(doca_buf_inventory_buf_get_by_data(rig->inv, from_map, from, len, &src));
	MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, to_map, to, len, &dst));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(rig, src, dst, 0))));
	while (rig->good + rig->bad == before)
		rig_progress(rig);
	status = rig->status[before];
	share_restart(rig);
	return status;
}

/* Reads the exporter's memory: remote to local. */
static inline doca_error_t share_read(struct rig *rig, struct doca_mmap *remote, void *from, size_t to, size_t len)
{
	return share_copy(rig, remote, from, rig->map, rig->mem + to, len);
}

/* Writes the exporter's memory: local to remote. */
static inline doca_error_t share_write(struct rig *rig, struct doca_mmap *remote, void *to, size_t from, size_t len)
{
	return share_copy(rig, rig->map, rig->mem + from, remote, to, len);
}

/* A task over a remote map that is gone: either the buffer is refused or the task fails, by IO_FAILED. */
static inline void share_expect_gone(struct rig *rig, struct doca_mmap *remote, void *from, size_t len)
{
	struct doca_buf *src = NULL;
	unsigned before = rig->good + rig->bad;

	if (doca_buf_inventory_buf_get_by_data(rig->inv, remote, from, len, &src) != DOCA_SUCCESS)
		return;
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(rig, src, rig_dst(rig, 0, len), 0))));
	while (rig->good + rig->bad == before)
		rig_progress(rig);
	CHECK_STATUS(rig->status[before], DOCA_ERROR_IO_FAILED);
	share_restart(rig);
}

#endif
