/*
 * The host side and the card side of one copy, played in one process: the host function exports a
 * map, the descriptor travels as plain bytes, the card function imports it and copies both ways while
 * the exporting side does nothing at all.
 *
 * clauses: core-memory Export / import; dma Behaviour (directions)
 * covers: @
 */
#include "rig.h"

#define BYTES 300000

struct letter { /* what the host writes into the file that the card reads */
	uint64_t addr;
	uint64_t len;
	size_t desc_len;
	uint8_t desc[512];
};

static void host_side(struct doca_dev *host, uint8_t *mem, struct doca_mmap **map, struct letter *letter)
{
	const void *desc;
	uint8_t can = 0;

	CHECK_OK(doca_mmap_cap_is_export_pci_supported(doca_dev_as_devinfo(host), &can));
	CHECK_U64(can, 1);
	MUST(doca_mmap_create(map));
	MUST(doca_mmap_add_dev(*map, host));
	MUST(doca_mmap_set_permissions(*map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_set_memrange(*map, mem, BYTES));
	MUST(doca_mmap_start(*map));
	MUST(doca_mmap_export_pci(*map, host, &desc, &letter->desc_len));
	MUST_BE(letter->desc_len <= sizeof(letter->desc));
	memcpy(letter->desc, desc, letter->desc_len);
	letter->addr = (uint64_t)(uintptr_t)mem;
	letter->len = BYTES;
}

/* Card memory to host memory or back; the whole of it. */
static void copy(struct rig *rig, struct doca_mmap *from_map, void *from, struct doca_mmap *to_map, void *to)
{
	struct doca_buf *src, *dst;
	unsigned before = rig->good;
	void *data = NULL;
	size_t len = 0;

	MUST(doca_buf_inventory_buf_get_by_data(rig->inv, from_map, from, BYTES, &src));
	MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, to_map, to, BYTES, &dst));
	rig->drop_bufs = 0;
	MUST(doca_task_try_submit(doca_dma_task_memcpy_as_task(rig_task(rig, src, dst, 0))));
	rig_drain(rig);
	CHECK_U64(rig->good, before + 1);
	/* Buffers of an import speak in the exporter's addresses. */
	CHECK_OK(doca_buf_get_data(dst, &data));
	CHECK_PTR(data, to);
	CHECK_OK(doca_buf_get_data_len(dst, &len));
	CHECK_U64(len, BYTES);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
}

int main(void)
{
	struct doca_dev *host = rig_open_dev("b1:00.0");
	struct doca_mmap *host_map = NULL, *remote = NULL;
	struct letter letter;
	struct rig card;
	uint8_t *host_mem = malloc(BYTES), can = 0, flag = 0;
	void *addr = NULL;
	size_t len = 0, i;

	MUST_BE(host_mem != NULL);
	for (i = 0; i < BYTES; i++)
		host_mem[i] = (uint8_t)(i % 251);
	host_side(host, host_mem, &host_map, &letter);

	/* The card side: first device that can copy is the card's own function. */
	rig_setup(&card, BYTES, 2);
	CHECK_OK(doca_mmap_cap_is_create_from_export_pci_supported(doca_dev_as_devinfo(card.dev), &can));
	CHECK_U64(can, 1);
	MUST(doca_mmap_create_from_export(NULL, letter.desc, letter.desc_len, card.dev, &remote));
	memset(letter.desc, 0, sizeof(letter.desc)); /* the copy is not needed any more */
	CHECK_OK(doca_mmap_get_memrange(remote, &addr, &len));
	CHECK_U64((uintptr_t)addr, letter.addr);
	CHECK_U64(len, letter.len);
	CHECK_OK(doca_mmap_get_from_export(remote, &flag));
	CHECK_U64(flag, 1);
	CHECK_OK(doca_mmap_get_exported(host_map, &flag));
	CHECK_U64(flag, 1);

	copy(&card, remote, addr, card.map, card.mem);
	CHECK_BYTES(card.mem, host_mem, BYTES);
	for (i = 0; i < BYTES; i++)
		card.mem[i] ^= 0x5a;
	copy(&card, card.map, card.mem, remote, addr);
	CHECK_BYTES(host_mem, card.mem, BYTES);

	CHECK_OK(doca_mmap_stop(remote));
	CHECK_OK(doca_mmap_destroy(remote));
	CHECK_OK(doca_mmap_stop(host_map));
	CHECK_OK(doca_mmap_destroy(host_map));
	CHECK_OK(doca_dev_close(host));
	rig_teardown(&card);
	free(host_mem);
	return check_result();
}
