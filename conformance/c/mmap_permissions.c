/*
 * Who may read and write what: local copies against every access mask, copies over an import against
 * every mask of the exporter. A forbidden copy is refused by the checked submit and accepted, then
 * failed, by the plain one; nothing is written.
 *
 * clauses: core-memory Behaviour (permissions), Export / import; core-exec submit, try_submit
 * covers: @
 */
#include "rig.h"

#define BYTES 500

static const uint32_t masks[] = {
	DOCA_ACCESS_FLAG_LOCAL_READ_ONLY,
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
	DOCA_ACCESS_FLAG_PCI_READ_ONLY,
	DOCA_ACCESS_FLAG_PCI_READ_WRITE,
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_ONLY,
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE,
	DOCA_ACCESS_FLAG_RDMA_READ,
	DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC,
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE,
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
		DOCA_ACCESS_FLAG_RDMA_WRITE,
};

static void attempt(struct rig *rig, uint32_t mask, const char *what, struct doca_buf *src, struct doca_buf *dst,
		    int allowed)
{
	struct doca_dma_task_memcpy *task = rig_task(rig, src, dst, mask);
	struct doca_task *plain = doca_dma_task_memcpy_as_task(task);
	unsigned good = rig->good, bad = rig->bad;
	doca_error_t tried = doca_task_try_submit(plain);

	if (tried != (allowed ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED))
		check_fail(__FILE__, __LINE__, "mask 0x%x, %s: try_submit answers %s", mask, what,
			   doca_error_get_name(tried));
	if (tried != DOCA_SUCCESS)
		CHECK_OK(doca_task_submit(plain));
	if (allowed) {
		rig_drain(rig);
		if (rig->good != good + 1)
			check_fail(__FILE__, __LINE__, "mask 0x%x, %s: should succeed", mask, what);
	} else {
		rig_drain(rig);
		if (rig->bad != bad + 1 || rig->status[rig->good + rig->bad - 1] != DOCA_ERROR_IO_FAILED)
			check_fail(__FILE__, __LINE__, "mask 0x%x, %s: should fail with IO_FAILED", mask, what);
		if (rig->bad != bad)
			rig_until_idle(rig);
	}
	if (rig_state(rig) == DOCA_CTX_STATE_IDLE)
		MUST(doca_ctx_start(rig->ctx));
}

static struct doca_buf *full(struct rig *rig, struct doca_mmap *map, uint8_t *mem)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_data(rig->inv, map, mem, BYTES, &buf));
	return buf;
}

static struct doca_buf *empty(struct rig *rig, struct doca_mmap *map, uint8_t *mem)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, map, mem, BYTES, &buf));
	return buf;
}

int main(void)
{
	struct rig rig;
	struct doca_dev *host = rig_open_dev("b1:00.0");
	uint8_t mem[BYTES], before[BYTES];
	size_t i;

	rig_setup(&rig, 2 * BYTES, 2);
	for (i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		const uint32_t mask = masks[i];
		const int local_write = (mask & DOCA_ACCESS_FLAG_LOCAL_READ_WRITE) != 0;
		const int pci_write = (mask & DOCA_ACCESS_FLAG_PCI_READ_WRITE) != 0;
		const int pci_read = pci_write || (mask & DOCA_ACCESS_FLAG_PCI_READ_ONLY) != 0;
		struct doca_mmap *map = rig_map(rig.dev, mem, BYTES, mask), *remote = NULL;
		const void *desc = NULL;
		size_t desc_len = 0;

		memset(mem, (int)i + 1, BYTES);
		memcpy(before, mem, BYTES);
		/* A local device may always read. */
		attempt(&rig, mask, "local read", full(&rig, map, mem), rig_dst(&rig, BYTES, BYTES), 1);
		CHECK_BYTES(rig.mem + BYTES, mem, BYTES);
		attempt(&rig, mask, "local write", rig_src(&rig, 0, BYTES), empty(&rig, map, mem), local_write);
		CHECK_BYTES(mem, local_write ? rig.mem : before, BYTES);
		CHECK_OK(doca_mmap_destroy(map));

		memset(mem, (int)i + 100, BYTES);
		memcpy(before, mem, BYTES);
		map = rig_map(host, mem, BYTES, mask);
		if (!pci_read) {
			CHECK_STATUS(doca_mmap_export_pci(map, host, &desc, &desc_len), DOCA_ERROR_NOT_PERMITTED);
		} else {
			MUST(doca_mmap_export_pci(map, host, &desc, &desc_len));
			MUST(doca_mmap_create_from_export(NULL, desc, desc_len, rig.dev, &remote));
			attempt(&rig, mask, "remote read", full(&rig, remote, mem), rig_dst(&rig, BYTES, BYTES), 1);
			CHECK_BYTES(rig.mem + BYTES, mem, BYTES);
			attempt(&rig, mask, "remote write", rig_src(&rig, 0, BYTES), empty(&rig, remote, mem),
				pci_write);
			CHECK_BYTES(mem, pci_write ? rig.mem : before, BYTES);
			CHECK_OK(doca_mmap_destroy(remote));
		}
		CHECK_OK(doca_mmap_destroy(map));
	}
	/* A map without the context's device is out of its reach. */
	{
		struct doca_mmap *foreign = rig_map(host, mem, BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
		struct doca_buf *src = full(&rig, foreign, mem), *dst = rig_dst(&rig, 0, BYTES);
		struct doca_dma_task_memcpy *task = rig_task(&rig, src, dst, 0);

		CHECK_STATUS2(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)), DOCA_ERROR_NOT_PERMITTED,
			      DOCA_ERROR_INVALID_VALUE);
		CHECK_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
		rig_until_idle(&rig);
		CHECK_STATUS(rig.status[rig.good + rig.bad - 1], DOCA_ERROR_IO_FAILED);
		CHECK_OK(doca_mmap_destroy(foreign));
	}
	rig_teardown(&rig);
	CHECK_OK(doca_dev_close(host));
	return check_result();
}
