/*
 * A small storage target on the card: the host offers one memory window and asks for blocks to be
 * written and read; the card fetches them by DMA, compresses them, keeps them in a file with an index,
 * and the way back. Requests overlap; every block is checked by the host.
 *
 * clauses: comch; core-memory Export; engine-dma-sha DMA; engine-compress deflate
 * covers: @
 */
#define _GNU_SOURCE

#include <doca_compress.h>
#include <doca_dma.h>

#include "app_common.h"

#define BLOCK 16384u
#define SLOTS 8u
#define BLOCKS 64u

enum op { WRITE_BLOCK = 1, READ_BLOCK = 2, GOOD_BYE = 3 };

struct request {
	uint32_t op, block, slot, crc;
};

/* The card's slot: a request goes through its engines one after the other. */
struct slot {
	struct request request;
	uint8_t *plain, *packed;
	struct doca_buf *host, *plain_buf, *packed_buf;
	size_t packed_len;
};

static struct app_core core; /* dst: plain blocks, then packed blocks, one per slot */
static struct app_line line;
static struct doca_dma *dma;
static struct doca_compress *compress;
static struct doca_mmap *window;
static uint8_t *window_base;
static struct slot slots[SLOTS];
static FILE *disk;
static struct {
	long at;
	uint32_t len, crc;
} entries[BLOCKS];

static struct doca_buf *buf_of(struct doca_mmap *map, uint8_t *at, size_t len, int data)
{
	struct doca_buf *buf;

	if (data)
		MUST(doca_buf_inventory_buf_get_by_data(core.inv, map, at, len, &buf));
	else
		MUST(doca_buf_inventory_buf_get_by_addr(core.inv, map, at, len, &buf));
	return buf;
}

static void answer(struct slot *slot)
{
	CHECK_OK(doca_buf_dec_refcount(slot->host, NULL));
	CHECK_OK(doca_buf_dec_refcount(slot->plain_buf, NULL));
	CHECK_OK(doca_buf_dec_refcount(slot->packed_buf, NULL));
	app_send(&line, &slot->request, sizeof(slot->request));
}

static void copy(struct slot *slot, struct doca_buf *from, struct doca_buf *to)
{
	struct doca_dma_task_memcpy *task;
	union doca_data user;

	user.ptr = slot;
	MUST(doca_dma_task_memcpy_alloc_init(dma, from, to, user, &task));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
}

/* Write: host -> plain -> packed -> disk. Read: disk -> packed -> plain -> host. */
static void copied(struct doca_dma_task_memcpy *task, union doca_data user, union doca_data ctx)
{
	struct slot *slot = (struct slot *)user.ptr;

	(void)ctx;
	CHECK_OK(doca_task_get_status(doca_dma_task_memcpy_as_task(task)));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	if (slot->request.op == WRITE_BLOCK) {
		struct doca_compress_task_compress_deflate *next;

		MUST(doca_compress_task_compress_deflate_alloc_init(compress, slot->plain_buf, slot->packed_buf, user,
								    &next));
		MUST(doca_task_submit(doca_compress_task_compress_deflate_as_task(next)));
	} else {
		answer(slot);
	}
}

static void packed(struct doca_compress_task_compress_deflate *task, union doca_data user, union doca_data ctx)
{
	struct slot *slot = (struct slot *)user.ptr;
	uint32_t block = slot->request.block;

	(void)ctx;
	CHECK_OK(doca_task_get_status(doca_compress_task_compress_deflate_as_task(task)));
	slot->request.crc = doca_compress_task_compress_deflate_get_crc_cs(task);
	doca_task_free(doca_compress_task_compress_deflate_as_task(task));
	fseek(disk, 0, SEEK_END);
	entries[block].at = ftell(disk);
	entries[block].len = (uint32_t)app_length(slot->packed_buf);
	entries[block].crc = slot->request.crc;
	CHECK(entries[block].len < BLOCK);
	MUST_BE(fwrite(slot->packed, 1, entries[block].len, disk) == entries[block].len);
	answer(slot);
}

static void unpacked(struct doca_compress_task_decompress_deflate *task, union doca_data user, union doca_data ctx)
{
	struct slot *slot = (struct slot *)user.ptr;

	(void)ctx;
	CHECK_OK(doca_task_get_status(doca_compress_task_decompress_deflate_as_task(task)));
	slot->request.crc = doca_compress_task_decompress_deflate_get_crc_cs(task);
	CHECK_U64(slot->request.crc, entries[slot->request.block].crc);
	CHECK_U64(app_length(slot->plain_buf), BLOCK);
	doca_task_free(doca_compress_task_decompress_deflate_as_task(task));
	copy(slot, slot->plain_buf, slot->host);
}

static void begin(const struct request *request)
{
	struct slot *slot = &slots[request->slot];
	uint8_t *host = window_base + request->slot * BLOCK;

	slot->request = *request;
	slot->plain = core.dst + request->slot * BLOCK;
	slot->packed = core.dst + (SLOTS + request->slot) * BLOCK;
	slot->plain_buf = buf_of(core.dst_map, slot->plain, BLOCK, 0);
	if (request->op == WRITE_BLOCK) {
		slot->packed_buf = buf_of(core.dst_map, slot->packed, BLOCK, 0);
		slot->host = buf_of(window, host, BLOCK, 1);
		copy(slot, slot->host, slot->plain_buf);
	} else {
		struct doca_compress_task_decompress_deflate *task;
		uint32_t len = entries[request->block].len;
		union doca_data user;

		MUST_BE(fseek(disk, entries[request->block].at, SEEK_SET) == 0 &&
			fread(slot->packed, 1, len, disk) == len);
		slot->packed_buf = buf_of(core.dst_map, slot->packed, len, 1);
		slot->host = buf_of(window, host, BLOCK, 0);
		user.ptr = slot;
		MUST(doca_compress_task_decompress_deflate_alloc_init(compress, slot->packed_buf, slot->plain_buf,
								      user, &task));
		MUST(doca_task_submit(doca_compress_task_decompress_deflate_as_task(task)));
	}
}

static void card(void)
{
	struct doca_ctx *compress_ctx;
	struct request request;
	uint32_t len;
	size_t size;
	void *base;

	app_line_serve(&line, "storage");
	/* One progress engine for everything. */
	app_core_make_on(&core, APP_CARD, doca_dma_cap_task_memcpy_is_supported, 64, 2 * SLOTS * BLOCK, 64);
	CHECK_OK(doca_pe_destroy(core.pe));
	core.pe = line.pe;
	MUST(doca_dma_create(core.dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, copied, copied, SLOTS));
	app_core_start(&core, doca_dma_as_ctx(dma));
	MUST(doca_compress_create(core.dev, &compress));
	compress_ctx = doca_compress_as_ctx(compress);
	MUST(doca_compress_task_compress_deflate_set_conf(compress, packed, packed, SLOTS));
	MUST(doca_compress_task_decompress_deflate_set_conf(compress, unpacked, unpacked, SLOTS));
	MUST(doca_pe_connect_ctx(core.pe, compress_ctx));
	MUST(doca_ctx_start(compress_ctx));
	disk = tmpfile();
	MUST_BE(disk != NULL);
	{
		uint8_t *desc = app_receive(&line, &len);

		MUST(doca_mmap_create_from_export(NULL, desc, len, core.dev, &window));
		MUST(doca_mmap_get_memrange(window, &base, &size));
		CHECK_U64(size, SLOTS * BLOCK);
		window_base = (uint8_t *)base;
	}
	for (;;) {
		memcpy(&request, app_receive(&line, NULL), sizeof(request));
		if (request.op == GOOD_BYE)
			break;
		begin(&request);
	}
	CHECK_OK(doca_mmap_destroy(window));
	CHECK_OK(doca_ctx_stop(compress_ctx));
	CHECK_OK(doca_compress_destroy(compress));
	app_core_stop(&core);
	CHECK_OK(doca_dma_destroy(dma));
	MUST(doca_pe_create(&core.pe)); /* its own again, for the common end */
	app_core_free(&core);
	fclose(disk);
	app_line_close(&line);
}

static void host(void)
{
	uint8_t *memory = (uint8_t *)malloc(SLOTS * BLOCK), *want = (uint8_t *)malloc(BLOCK);
	static uint32_t crcs[BLOCKS];
	struct request request;
	struct doca_mmap *map;
	uint32_t pass, next, done;
	const void *desc;
	size_t len;

	app_line_reach(&line, "storage");
	map = app_map(line.dev, memory, SLOTS * BLOCK, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	MUST(doca_mmap_export_pci(map, line.dev, &desc, &len));
	app_send(&line, desc, len);
	/* Written, read back; overwritten in another order, read back. */
	for (pass = 0; pass < 4; pass++) {
		uint32_t op = pass % 2 == 0 ? WRITE_BLOCK : READ_BLOCK, generation = pass / 2;

		for (next = done = 0; done < BLOCKS;) {
			while (next < BLOCKS && next < done + SLOTS) {
				request.op = op;
				request.block = generation ? BLOCKS - 1 - next : next;
				request.slot = next % SLOTS;
				request.crc = 0;
				if (op == WRITE_BLOCK)
					app_text(memory + request.slot * BLOCK, BLOCK,
						 request.block + 1000 * generation);
				else
					memset(memory + request.slot * BLOCK, 0, BLOCK);
				app_send(&line, &request, sizeof(request));
				next++;
			}
			memcpy(&request, app_receive(&line, NULL), sizeof(request));
			if (op == WRITE_BLOCK) {
				crcs[request.block] = request.crc;
			} else {
				CHECK_U64(request.crc, crcs[request.block]);
				app_text(want, BLOCK, request.block + 1000 * generation);
				CHECK_BYTES(memory + request.slot * BLOCK, want, BLOCK);
			}
			/* Slots are taken in turn, so that answers are waited for in turn, too. */
			CHECK_U64(request.slot, done % SLOTS);
			done++;
		}
	}
	request.op = GOOD_BYE;
	app_send(&line, &request, sizeof(request));
	CHECK_OK(doca_mmap_destroy(map));
	app_line_close(&line);
	free(memory), free(want);
}

int main(void)
{
	return app_two_roles(card, host);
}
