/*
 * Hashes of memory on the other side: an exported map as source and as destination, one queue over
 * own and imported memory, and what happens when the exporter stops.
 *
 * clauses: sha Hash task; core-memory Export / import
 * covers: @
 */
#include "sha_rig.h"

#define BYTES 300000

int main(void)
{
	struct sha_rig rig;
	struct doca_devinfo **list = NULL;
	struct doca_dev *host = NULL;
	struct doca_mmap *origin = NULL, *remote = NULL;
	struct doca_buf *src[24], *dst[24], *far = NULL;
	struct doca_sha_task_hash *tasks[24], *task = NULL;
	uint8_t *mem, want[24][64], yes = 0;
	const void *desc = NULL;
	union doca_data user = {0};
	uint32_t count = 0, i;
	size_t len = 0;

	sha_setup(&rig, 1 << 20, 5);
	MUST(doca_mmap_cap_is_create_from_export_pci_supported(doca_dev_as_devinfo(rig.dev), &yes));
	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && host == NULL; i++) {
		uint8_t able = 0;

		MUST(doca_mmap_cap_is_export_pci_supported(list[i], &able));
		if (able)
			MUST(doca_dev_open(list[i], &host));
	}
	MUST(doca_devinfo_destroy_list(list));
	if (host == NULL || yes == 0)
		SKIP("no device pair that exports and imports");
	mem = (uint8_t *)malloc(BYTES);
	MUST_BE(mem != NULL);
	for (i = 0; i < BYTES; i++)
		mem[i] = rig.mem[i];
	MUST(doca_mmap_create(&origin));
	MUST(doca_mmap_add_dev(origin, host));
	MUST(doca_mmap_set_memrange(origin, mem, BYTES));
	MUST(doca_mmap_set_permissions(origin, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_start(origin));
	MUST(doca_mmap_export_pci(origin, host, &desc, &len));
	MUST(doca_mmap_create_from_export(NULL, desc, len, rig.dev, &remote));

	/* Own and imported memory in turn, short and long. */
	for (i = 0; i < 24; i++) {
		enum doca_sha_algorithm which = (enum doca_sha_algorithm)(i / 8);
		size_t n = 1 + i * i * 450;

		sha_one_shot(&rig, which, i, n, want[i]);
		if (i % 2 == 0)
			src[i] = sha_src(&rig, i, n);
		else
			MUST(doca_buf_inventory_buf_get_by_data(rig.inv, remote, mem + i, n, &src[i]));
		if (i % 3 == 0)
			dst[i] = sha_dst(&rig, 700000 + i * 64, 64);
		else
			MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, remote, mem + 290000 + i * 64, 64, &dst[i]));
	}
	for (i = 0; i < 24; i++) {
		MUST(doca_sha_task_hash_alloc_init(rig.sha, (enum doca_sha_algorithm)(i / 8), src[i], dst[i], user,
						   &tasks[i]));
		MUST(doca_task_submit(doca_sha_task_hash_as_task(tasks[i])));
	}
	sha_wait(&rig, 24);
	CHECK_U64(rig.bad, 0);
	for (i = 0; i < 24; i++) {
		const uint8_t *digest = i % 3 == 0 ? rig.mem + 700000 + i * 64 : mem + 290000 + i * 64;

		CHECK_BYTES(digest, want[i], sha_digest_len[i / 8]);
		doca_task_free(doca_sha_task_hash_as_task(tasks[i]));
		sha_drop(src[i]);
		sha_drop(dst[i]);
	}

	/* The exporter stops: the task fails and reads nothing. */
	MUST(doca_buf_inventory_buf_get_by_data(rig.inv, remote, mem, BYTES, &far));
	dst[0] = sha_dst(&rig, 0, 64);
	MUST(doca_sha_task_hash_alloc_init(rig.sha, DOCA_SHA_ALGORITHM_SHA256, far, dst[0], user, &task));
	CHECK_OK(doca_mmap_stop(origin));
	memset(mem, 0, BYTES);
	free(mem);
	sha_fails(&rig, doca_sha_task_hash_as_task(task), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_sha_task_hash_as_task(task));
	sha_drop(far);
	sha_drop(dst[0]);
	CHECK_OK(doca_mmap_destroy(remote));
	CHECK_OK(doca_mmap_destroy(origin));
	CHECK_OK(doca_dev_close(host));
	sha_teardown(&rig);
	return check_result();
}
