/*
 * What an import may do is what the exporter allowed: over a map exported read-only a copy out works, a
 * copy in is accepted by submit and fails, and is refused by the checked submit; not one byte of the
 * exporter's changes. A map without a PCI right is not exported at all.
 *
 * clauses: core-memory Export / import (permissions); dma Behaviour (permission failures)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"

#define BYTES 70000

static void card(int line)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *dst = NULL;
	struct doca_mmap *remote;
	struct letter letter;
	struct rig rig;

	share_card(&rig, BYTES, 2);
	two_recv(line, &letter, sizeof(letter));
	remote = share_import(&letter, rig.dev);
	CHECK_STATUS(share_read(&rig, remote, share_at(&letter, 0), 0, BYTES), DOCA_SUCCESS);
	CHECK(two_is(rig.mem, BYTES, 2));
	memset(rig.mem, 0, BYTES);
	/* Unchecked: accepted, then failed. */
	CHECK_STATUS(share_write(&rig, remote, share_at(&letter, 0), 0, BYTES), DOCA_ERROR_IO_FAILED);
	CHECK_STATUS(share_write(&rig, remote, share_at(&letter, 5), 0, 1), DOCA_ERROR_IO_FAILED);
	/* Checked: refused, and the task is still the program's. */
	MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, remote, share_at(&letter, 0), 100, &dst));
	task = rig_task(&rig, rig_src(&rig, 0, 100), dst, 0);
	CHECK_STATUS(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)), DOCA_ERROR_NOT_PERMITTED);
	CHECK_U64(rig_inflight(&rig), 0);
	CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	/* Reading still works. */
	CHECK_STATUS(share_read(&rig, remote, share_at(&letter, 100), 0, 1000), DOCA_SUCCESS);
	/* The import gives no wider right away. */
	{
		const void *desc;
		size_t len;

		CHECK_STATUS(doca_mmap_export_pci(remote, rig.dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
		CHECK_STATUS(doca_mmap_export_rdma(remote, rig.dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	}
	CHECK_OK(doca_mmap_destroy(remote));
	rig_teardown(&rig);
	two_tell(line, 'd');
	close(line);
}

int main(void)
{
	static const uint32_t none[] = {DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
					DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ};
	struct doca_mmap *map;
	struct letter letter;
	struct doca_dev *dev;
	const void *desc;
	uint8_t *mem;
	size_t len, i;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	dev = rig_open_dev(SHARE_HOST);
	mem = malloc(BYTES);
	MUST_BE(mem != NULL);
	two_fill(mem, BYTES, 2);
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		map = rig_map(dev, mem, BYTES, none[i]);
		CHECK_STATUS(doca_mmap_export_pci(map, dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
		CHECK_OK(doca_mmap_destroy(map));
	}
	/* What the owner's own devices may do says nothing about the other side. */
	map = rig_map(dev, mem, BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	share_export(map, dev, &letter);
	two_send(line, &letter, sizeof(letter));
	two_await(line, 'd');
	CHECK(two_is(mem, BYTES, 2));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	free(mem);
	two_reap(pid);
	close(line);
	return check_result();
}
