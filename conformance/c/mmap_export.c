/*
 * Exported and imported maps: descriptors as plain bytes, every refusal, stale and forged ones, what
 * an import allows, life after the exporter stopped, start again after an export.
 *
 * clauses: core-memory Export / import
 * covers: @
 */
#include "rig.h"

#define BYTES 3000

static void copy_status(struct rig *rig, struct doca_mmap *remote, uint8_t *mem, doca_error_t want)
{
	struct doca_buf *src = NULL;

	/* Over a map whose exporter is gone, refusing the buffer is as good as failing the task. */
	if (doca_buf_inventory_buf_get_by_data(rig->inv, remote, mem, BYTES, &src) != DOCA_SUCCESS) {
		CHECK(want != DOCA_SUCCESS);
		return;
	}
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(rig, src, rig_dst(rig, 0, BYTES), 0))));
	rig_drain(rig);
	CHECK_STATUS(rig->status[rig->good + rig->bad - 1], want);
	if (want != DOCA_SUCCESS) {
		rig_until_idle(rig);
		MUST(doca_ctx_start(rig->ctx));
	}
}

static void export_rules(struct rig *rig, struct doca_dev *host, uint8_t *mem)
{
	struct doca_mmap *map = NULL;
	const void *desc = NULL, *again = NULL;
	size_t len = 0, len_again = 0;
	uint8_t flag = 9;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, host));
	MUST(doca_mmap_set_memrange(map, mem, BYTES));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ));
	CHECK_STATUS2(doca_mmap_export_pci(map, host, &desc, &len), DOCA_ERROR_NOT_PERMITTED, DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_mmap_get_exported(map, &flag));
	CHECK_U64(flag, 0);
	MUST(doca_mmap_start(map));
	CHECK_STATUS(doca_mmap_export_pci(map, rig->dev, &desc, &len), DOCA_ERROR_NOT_FOUND);
	CHECK_STATUS(doca_mmap_export_pci(map, NULL, &desc, &len), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_export_pci(map, host, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_export_pci(map, host, &desc, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_export_pci(NULL, host, &desc, &len), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_export_pci(map, host, &desc, &len));
	CHECK(len > 0 && len <= 384);
	CHECK_OK(doca_mmap_export_pci(map, host, &again, &len_again));
	CHECK_OK(doca_mmap_export_rdma(map, host, &again, &len_again));
	CHECK(len_again > 0 && len_again <= 384);
	CHECK_OK(doca_mmap_get_exported(map, &flag));
	CHECK_U64(flag, 1);
	CHECK_OK(doca_mmap_get_from_export(map, &flag));
	CHECK_U64(flag, 0);
	/* An exported map stays as it is. */
	CHECK_STATUS(doca_mmap_add_dev(map, rig->dev), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_mmap_rm_dev(map, host), DOCA_ERROR_NOT_PERMITTED);
	CHECK_REFUSED(doca_mmap_set_permissions(map, 1));
	CHECK_OK(doca_mmap_destroy(map));
	/* No RDMA right, no RDMA export. */
	map = rig_map(host, mem, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	CHECK_STATUS(doca_mmap_export_rdma(map, host, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	/* The descriptor itself is memory like any other. */
	MUST(doca_mmap_export_pci(map, host, &desc, &len));
	{
		struct doca_mmap *over = rig_map(host, (void *)(uintptr_t)desc, len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

		CHECK_OK(doca_mmap_destroy(over));
	}
	CHECK_OK(doca_mmap_destroy(map));
}

static void import_rules(struct rig *rig, struct doca_dev *host, uint8_t *mem)
{
	struct doca_mmap *map = rig_map(host, mem, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE), *remote = NULL;
	union doca_data user = {.u64 = 77}, got = {0};
	uint8_t letter[512], bent[512];
	const void *desc;
	void *addr = NULL;
	size_t len, letter_len, range = 0, i;

	MUST(doca_mmap_export_pci(map, host, &desc, &len));
	memcpy(letter, desc, len);
	letter_len = len;
	/* Truncated, lengthened, bent in any byte, foreign. */
	for (i = 0; i < len; i++)
		CHECK_STATUS(doca_mmap_create_from_export(NULL, letter, i, rig->dev, &remote), DOCA_ERROR_INVALID_VALUE);
	for (i = 0; i < len; i++) {
		memcpy(bent, letter, len);
		bent[i] ^= (uint8_t)(1u << (i % 8));
		CHECK_STATUS(doca_mmap_create_from_export(NULL, bent, len, rig->dev, &remote), DOCA_ERROR_INVALID_VALUE);
	}
	for (i = 0; i < sizeof(bent); i++)
		bent[i] = (uint8_t)(i * 77 + 5);
	CHECK_STATUS(doca_mmap_create_from_export(NULL, bent, sizeof(bent), rig->dev, &remote), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_create_from_export(NULL, NULL, len, rig->dev, &remote), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_create_from_export(NULL, letter, len, NULL, &remote), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_create_from_export(NULL, letter, len, rig->dev, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(remote, NULL);

	MUST(doca_mmap_create_from_export(&user, letter, len, rig->dev, &remote));
	CHECK_OK(doca_mmap_get_user_data(remote, &got));
	CHECK_U64(got.u64, 77);
	CHECK_OK(doca_mmap_get_memrange(remote, &addr, &range));
	CHECK_PTR(addr, mem);
	CHECK_U64(range, BYTES);
	CHECK_STATUS(doca_mmap_start(remote), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_mmap_add_dev(remote, host), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_mmap_rm_dev(remote, rig->dev), DOCA_ERROR_NOT_PERMITTED);
	CHECK_REFUSED(doca_mmap_set_memrange(remote, mem, 10));
	CHECK_REFUSED(doca_mmap_set_permissions(remote, 1));
	CHECK_REFUSED(doca_mmap_set_free_cb(remote, NULL, NULL));
	CHECK_STATUS(doca_mmap_export_pci(remote, rig->dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_mmap_enable_thread_safety(remote));
	copy_status(rig, remote, mem, DOCA_SUCCESS);
	CHECK_BYTES(rig->mem, mem, BYTES);

	/* The exporter stops: tasks fail, and its descriptor is dead for good. */
	CHECK_OK(doca_mmap_stop(map));
	copy_status(rig, remote, mem, DOCA_ERROR_IO_FAILED);
	CHECK_OK(doca_mmap_destroy(remote));
	remote = NULL;
	CHECK_STATUS(doca_mmap_create_from_export(NULL, letter, letter_len, rig->dev, &remote),
		     DOCA_ERROR_INVALID_VALUE);
	/* It may start again, with a new descriptor. */
	CHECK_OK(doca_mmap_start(map));
	CHECK_STATUS(doca_mmap_create_from_export(NULL, letter, letter_len, rig->dev, &remote),
		     DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_export_pci(map, host, &desc, &len));
	MUST(doca_mmap_create_from_export(NULL, desc, len, rig->dev, &remote));
	copy_status(rig, remote, mem, DOCA_SUCCESS);
	/* Exporter gone altogether, while the import lives. */
	CHECK_OK(doca_mmap_destroy(map));
	copy_status(rig, remote, mem, DOCA_ERROR_IO_FAILED);
	CHECK_OK(doca_mmap_stop(remote));
	CHECK_STATUS2(doca_mmap_start(remote), DOCA_ERROR_NOT_PERMITTED, DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_mmap_destroy(remote));
}

int main(void)
{
	struct doca_dev *host = rig_open_dev("b1:00.1");
	struct rig rig;
	uint8_t *mem = malloc(BYTES);
	size_t i;

	MUST_BE(mem != NULL);
	for (i = 0; i < BYTES; i++)
		mem[i] = (uint8_t)(i ^ 0xa5);
	rig_setup(&rig, BYTES, 4);
	export_rules(&rig, host, mem);
	import_rules(&rig, host, mem);
	rig_teardown(&rig);
	CHECK_OK(doca_dev_close(host));
	free(mem);
	return check_result();
}
