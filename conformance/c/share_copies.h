/*
 * What every reach has to do: copies both ways with lists and in large pieces, rights, stop and end of the host.
 */
#include "share_rig.h"

#define BYTES 6000007u

static void *at(struct share_host *host, size_t offset)
{
	return (void *)(uintptr_t)(host->letter.addr + offset);
}

/* Bytes [from, from + len) of the host's memory into the card's at the same offset, or back. */
static void copy(struct rig *rig, struct share_host *host, struct doca_mmap *remote, size_t from, size_t len, int store)
{
	struct doca_buf *src = NULL, *dst = NULL, *tail = NULL;
	size_t half = len / 3;

	if (store) {
		src = rig_src(rig, from, len);
		MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, remote, at(host, from), half, &dst));
		MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, remote, at(host, from + half), len - half, &tail));
		MUST(doca_buf_chain_list(dst, tail));
	} else {
		MUST(doca_buf_inventory_buf_get_by_data(rig->inv, remote, at(host, from), half, &src));
		MUST(doca_buf_inventory_buf_get_by_data(rig->inv, remote, at(host, from + half), len - half, &tail));
		MUST(doca_buf_chain_list(src, tail));
		dst = rig_dst(rig, from, len);
	}
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(rig, src, dst, 0))));
}

static void both_ways(struct rig *rig, struct share_host *host)
{
	static const size_t cuts[] = {0, 3, 64, 4096, 70000, 400000, BYTES};
	struct doca_mmap *remote;
	size_t i;

	memset(rig->mem, 0, rig->len);
	share_hear(host);
	remote = share_import(host, rig->dev);
	for (i = 0; i + 1 < sizeof(cuts) / sizeof(cuts[0]); i++)
		copy(rig, host, remote, cuts[i], cuts[i + 1] - cuts[i], 0);
	rig_drain(rig);
	CHECK_U64(rig->bad, 0);
	for (i = 0; i < BYTES; i++) {
		if (rig->mem[i] != share_pattern(i)) {
			check_fail(__FILE__, __LINE__, "card: byte %zu is wrong", i);
			break;
		}
	}
	for (i = 0; i < BYTES; i++)
		rig->mem[i] = share_changed(i);
	for (i = 0; i + 1 < sizeof(cuts) / sizeof(cuts[0]); i++)
		copy(rig, host, remote, cuts[i], cuts[i + 1] - cuts[i], 1);
	rig_drain(rig);
	CHECK_U64(rig->bad, 0);
	share_tell(host, 'c');
	/* The host stops its map: the task fails, and what it does then with its memory is its own affair. */
	share_tell(host, 's');
	copy(rig, host, remote, 0, 1000, 1);
	rig_drain(rig);
	CHECK_U64(rig->bad, 1);
	CHECK_STATUS(rig->status[rig->good + rig->bad - 1], DOCA_ERROR_IO_FAILED);
	rig_until_idle(rig);
	MUST(doca_ctx_start(rig->ctx));
	CHECK_OK(doca_mmap_destroy(remote));
	remote = NULL;
	CHECK_STATUS(doca_mmap_create_from_export(NULL, host->letter.desc, host->letter.desc_len, rig->dev, &remote),
		     DOCA_ERROR_INVALID_VALUE);
	share_end(host, 0);
}

static void read_only(struct rig *rig, struct share_host *host)
{
	struct doca_dma_task_memcpy *task;
	struct doca_mmap *remote;
	struct doca_buf *src, *dst;
	unsigned bad = rig->bad;

	share_hear(host);
	remote = share_import(host, rig->dev);
	copy(rig, host, remote, 0, 5000, 0);
	rig_drain(rig);
	CHECK_U64(rig->bad, bad);
	CHECK_U64(rig->mem[4999], share_pattern(4999));
	/* A checked submit refuses to write, an unchecked one fails as a task. */
	src = rig_src(rig, 0, 100);
	MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, remote, at(host, 0), 100, &dst));
	task = rig_task(rig, src, dst, 0);
	CHECK_STATUS(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)), DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	rig_drain(rig);
	CHECK_U64(rig->bad, bad + 1);
	CHECK_STATUS(rig->status[rig->good + rig->bad - 1], DOCA_ERROR_IO_FAILED);
	rig_until_idle(rig);
	MUST(doca_ctx_start(rig->ctx));
	/* The host is killed: tasks fail, nothing crashes, and no new import is possible. */
	share_end(host, 1);
	do {
		bad = rig->bad;
		copy(rig, host, remote, 0, 5000, 0);
		rig_drain(rig);
	} while (rig->bad == bad); /* mapped memory stays until the news is here */
	CHECK_STATUS(rig->status[rig->good + rig->bad - 1], DOCA_ERROR_IO_FAILED);
	rig_until_idle(rig);
	MUST(doca_ctx_start(rig->ctx));
	CHECK_OK(doca_mmap_stop(remote));
	CHECK_OK(doca_mmap_destroy(remote));
	remote = NULL;
	CHECK_STATUS(doca_mmap_create_from_export(NULL, host->letter.desc, host->letter.desc_len, rig->dev, &remote),
		     DOCA_ERROR_INVALID_VALUE);
}

static int share_copies(int as_memfd)
{
	struct share_host writes, reads;
	struct rig rig;

	share_start(&writes, as_memfd, BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	share_start(&reads, as_memfd, BYTES, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	rig_setup(&rig, BYTES, 16);
	both_ways(&rig, &writes);
	read_only(&rig, &reads);
	rig_teardown(&rig);
	return check_result();
}
