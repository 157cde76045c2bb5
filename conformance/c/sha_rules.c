/*
 * The hash context: creation, configuration, capabilities, refused arguments, tasks that fail and
 * leave the context running, and which status they have.
 *
 * clauses: sha Context, Capabilities, Hash task
 * covers: @
 */
#include "sha_rig.h"

static void capabilities(void)
{
	struct doca_devinfo **list = NULL;
	enum doca_sha_algorithm wrong = (enum doca_sha_algorithm)3;
	uint32_t count = 0, i, able = 0;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count; i++) {
		uint32_t number = 0;
		uint64_t size = 0;
		int algorithm;

		for (algorithm = 0; algorithm < 3; algorithm++) {
			enum doca_sha_algorithm which = (enum doca_sha_algorithm)algorithm;

			CHECK_OK(doca_sha_cap_task_hash_get_supported(list[i], which));
			CHECK_OK(doca_sha_cap_task_partial_hash_get_supported(list[i], which));
			CHECK_OK(doca_sha_cap_get_min_dst_buf_size(list[i], which, &number));
			CHECK_U64(number, sha_digest_len[which]);
			CHECK_OK(doca_sha_cap_get_partial_hash_block_size(list[i], which, &number));
			CHECK_U64(number, sha_block_len[which]);
			able++;
		}
		CHECK_STATUS(doca_sha_cap_task_hash_get_supported(list[i], wrong), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_sha_cap_task_partial_hash_get_supported(list[i], wrong), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_sha_cap_get_min_dst_buf_size(list[i], wrong, &number), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_sha_cap_get_partial_hash_block_size(list[i], wrong, &number),
			     DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_sha_cap_get_min_dst_buf_size(list[i], DOCA_SHA_ALGORITHM_SHA1, NULL),
			     DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_sha_cap_get_partial_hash_block_size(list[i], DOCA_SHA_ALGORITHM_SHA1, NULL),
			     DOCA_ERROR_INVALID_VALUE);
		CHECK_OK(doca_sha_cap_get_max_list_buf_num_elem(list[i], &number));
		CHECK(number >= 2);
		CHECK_OK(doca_sha_cap_get_max_src_buf_size(list[i], &size));
		CHECK(size >= 1 << 20);
		CHECK_STATUS(doca_sha_cap_get_max_list_buf_num_elem(list[i], NULL), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_sha_cap_get_max_src_buf_size(list[i], NULL), DOCA_ERROR_INVALID_VALUE);
	}
	CHECK(able > 0);
	CHECK_STATUS(doca_sha_cap_task_hash_get_supported(NULL, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_cap_get_max_list_buf_num_elem(NULL, &count), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_devinfo_destroy_list(list));
}

static void configuration(struct doca_dev *dev)
{
	struct doca_sha *sha = NULL;
	struct doca_pe *pe = NULL;
	uint32_t most = 0;
	uint8_t log_most = 0;

	MUST(doca_pe_create(&pe));
	MUST(doca_sha_create(dev, &sha));
	CHECK_OK(doca_pe_connect_ctx(pe, doca_sha_as_ctx(sha)));
	CHECK_OK(doca_sha_cap_get_max_num_tasks(sha, &most));
	CHECK(most >= 64);
	while (log_most < 31 && 1u << (log_most + 1) <= most)
		log_most++;
	CHECK_STATUS(doca_sha_cap_get_max_num_tasks(sha, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_cap_get_max_num_tasks(NULL, &most), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_set_conf(NULL, sha_hash_good, sha_hash_bad, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_set_conf(sha, NULL, sha_hash_bad, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_set_conf(sha, sha_hash_good, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_set_conf(sha, sha_hash_good, sha_hash_bad, (uint8_t)(log_most + 1)),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_set_conf(sha, sha_hash_good, sha_hash_bad, 200), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_partial_hash_set_conf(sha, NULL, sha_piece_bad, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_partial_hash_set_conf(sha, sha_piece_good, sha_piece_bad, 255),
		     DOCA_ERROR_INVALID_VALUE);
	/* Neither kind is configured. */
	CHECK_REFUSED(doca_ctx_start(doca_sha_as_ctx(sha)));
	/* One kind is enough; the other one then has no tasks. */
	CHECK_OK(doca_sha_task_partial_hash_set_conf(sha, sha_piece_good, sha_piece_bad, log_most));
	CHECK_OK(doca_ctx_start(doca_sha_as_ctx(sha)));
	CHECK_STATUS(doca_sha_task_hash_set_conf(sha, sha_hash_good, sha_hash_bad, 0), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sha_task_partial_hash_set_conf(sha, sha_piece_good, sha_piece_bad, 0), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sha_destroy(sha), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_ctx_stop(doca_sha_as_ctx(sha)));
	CHECK_OK(doca_sha_destroy(sha));
	CHECK_STATUS(doca_sha_destroy(sha), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_sha_as_ctx(NULL), NULL);
	CHECK_STATUS(doca_sha_create(NULL, &sha), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_create(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_pe_destroy(pe));
}

static void arguments(struct sha_rig *rig)
{
	struct doca_buf *src = sha_src(rig, 0, 100), *dst = sha_dst(rig, 200, 64);
	struct doca_sha_task_hash *task = NULL;
	struct doca_sha_task_partial_hash *piece = NULL;
	enum doca_sha_algorithm which = DOCA_SHA_ALGORITHM_SHA256, wrong = (enum doca_sha_algorithm)3;
	union doca_data user = {0};

	CHECK_STATUS(doca_sha_task_hash_alloc_init(NULL, which, src, dst, user, &task), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_alloc_init(rig->sha, wrong, src, dst, user, &task), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_alloc_init(rig->sha, which, NULL, dst, user, &task), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_alloc_init(rig->sha, which, src, NULL, user, &task), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_alloc_init(rig->sha, which, src, dst, user, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_partial_hash_alloc_init(rig->sha, wrong, src, dst, user, &piece),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_partial_hash_alloc_init(rig->sha, which, src, NULL, user, &piece),
		     DOCA_ERROR_INVALID_VALUE);
	MUST(doca_sha_task_hash_alloc_init(rig->sha, which, src, dst, user, &task));
	CHECK_STATUS(doca_sha_task_hash_set_src(task, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_set_dst(task, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_set_algorithm(task, wrong), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_set_src(NULL, src), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_set_dst(NULL, dst), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_hash_set_algorithm(NULL, which), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_sha_task_hash_as_task(NULL), NULL);
	CHECK_PTR(doca_sha_task_hash_get_src(NULL), NULL);
	CHECK_PTR(doca_sha_task_hash_get_dst(NULL), NULL);
	/* A task of the other kind. */
	CHECK_STATUS(doca_sha_task_partial_hash_reset((struct doca_sha_task_partial_hash *)task),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_sha_task_partial_hash_as_task((struct doca_sha_task_partial_hash *)task), NULL);
	CHECK_STATUS(doca_sha_task_hash_set_src((struct doca_sha_task_hash *)rig->map, src), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_sha_task_hash_as_task(task));
	/* What a freed task says can still be read; changing it is refused. */
	CHECK_PTR(doca_sha_task_hash_get_src(task), src);
	CHECK_STATUS(doca_sha_task_hash_set_src(task, src), DOCA_ERROR_INVALID_VALUE);
	sha_drop(src);
	sha_drop(dst);
}

/* Each failure in its own task; the context goes on, so that the last task succeeds. */
static void failures(struct sha_rig *rig)
{
	struct doca_buf *src = sha_src(rig, 0, 100), *dst = sha_dst(rig, 200, 64), *bad, *head = NULL;
	struct doca_mmap *readable = NULL, *foreign = NULL;
	struct doca_sha_task_hash *task = NULL;
	struct doca_task *plain;
	struct doca_dev *other = NULL;
	struct doca_devinfo **list = NULL;
	union doca_data user = {0};
	uint32_t most = 0, count = 0, i;
	size_t len = 9;

	MUST(doca_sha_task_hash_alloc_init(rig->sha, DOCA_SHA_ALGORITHM_SHA512, src, dst, user, &task));
	plain = doca_sha_task_hash_as_task(task);

	/* No data. */
	bad = sha_src(rig, 0, 0);
	CHECK_OK(doca_sha_task_hash_set_src(task, bad));
	sha_fails(rig, plain, DOCA_ERROR_INVALID_VALUE);
	sha_drop(bad);
	CHECK_OK(doca_sha_task_hash_set_src(task, src));
	/* No room: too small, or full. */
	bad = sha_dst(rig, 300, 63);
	CHECK_OK(doca_sha_task_hash_set_dst(task, bad));
	sha_fails(rig, plain, DOCA_ERROR_INVALID_VALUE);
	sha_drop(bad);
	bad = sha_dst(rig, 300, 100);
	MUST(doca_buf_set_data_len(bad, 37));
	CHECK_OK(doca_sha_task_hash_set_dst(task, bad));
	sha_fails(rig, plain, DOCA_ERROR_INVALID_VALUE);
	MUST(doca_buf_get_data_len(bad, &len));
	CHECK_U64(len, 37);
	sha_drop(bad);
	/* A released buffer. */
	sha_fails(rig, plain, DOCA_ERROR_INVALID_VALUE);
	/* Memory that the device may not write. */
	MUST(doca_mmap_create(&readable));
	MUST(doca_mmap_add_dev(readable, rig->dev));
	MUST(doca_mmap_set_memrange(readable, rig->mem, 1000));
	MUST(doca_mmap_set_permissions(readable, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	MUST(doca_mmap_start(readable));
	MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, readable, rig->mem, 1000, &bad));
	CHECK_OK(doca_sha_task_hash_set_dst(task, bad));
	sha_fails(rig, plain, DOCA_ERROR_NOT_PERMITTED);
	sha_drop(bad);
	CHECK_OK(doca_sha_task_hash_set_dst(task, dst));
	/* As a source it will do. */
	MUST(doca_buf_inventory_buf_get_by_data(rig->inv, readable, rig->mem, 1000, &bad));
	CHECK_OK(doca_sha_task_hash_set_src(task, bad));
	CHECK_OK(sha_run(rig, plain));
	MUST(doca_buf_reset_data_len(dst));
	sha_drop(bad);
	CHECK_OK(doca_mmap_destroy(readable));
	/* Memory of another device. */
	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && other == NULL; i++) {
		uint8_t equal = 0;
		char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];

		MUST(doca_devinfo_get_pci_addr_str(list[i], pci));
		MUST(doca_devinfo_is_equal_pci_addr(doca_dev_as_devinfo(rig->dev), pci, &equal));
		if (!equal)
			MUST(doca_dev_open(list[i], &other));
	}
	MUST(doca_devinfo_destroy_list(list));
	if (other != NULL) {
		MUST(doca_mmap_create(&foreign));
		MUST(doca_mmap_add_dev(foreign, other));
		MUST(doca_mmap_set_memrange(foreign, rig->mem, 1000));
		MUST(doca_mmap_start(foreign));
		MUST(doca_buf_inventory_buf_get_by_data(rig->inv, foreign, rig->mem, 1000, &bad));
		CHECK_OK(doca_sha_task_hash_set_src(task, bad));
		sha_fails(rig, plain, DOCA_ERROR_INVALID_VALUE);
		sha_drop(bad);
		CHECK_OK(doca_mmap_destroy(foreign));
		CHECK_OK(doca_dev_close(other));
	}
	/* A list with one element too many. */
	MUST(doca_sha_cap_get_max_list_buf_num_elem(doca_dev_as_devinfo(rig->dev), &most));
	for (i = 0; i <= most; i++) {
		bad = sha_src(rig, i, 1);
		if (head == NULL)
			head = bad;
		else
			MUST(doca_buf_chain_list(head, bad));
	}
	CHECK_OK(doca_sha_task_hash_set_src(task, head));
	sha_fails(rig, plain, DOCA_ERROR_INVALID_VALUE);
	sha_drop(head);
	/* Nothing of this did any harm. */
	CHECK_OK(doca_sha_task_hash_set_src(task, src));
	CHECK_OK(sha_run(rig, plain));
	MUST(doca_buf_get_data_len(dst, &len));
	CHECK_U64(len, 64);
	doca_task_free(plain);
	sha_drop(src);
	sha_drop(dst);
}

/* Good tasks and bad ones in one queue: each has its own fate, in order. */
static void mixed(struct sha_rig *rig)
{
	struct doca_sha_task_hash *tasks[32];
	struct doca_buf *src[32], *dst[32];
	union doca_data user;
	unsigned i;

	for (i = 0; i < 32; i++) {
		user.u64 = i;
		src[i] = sha_src(rig, i, i % 5 == 3 ? 0 : 200 + i);
		dst[i] = sha_dst(rig, 1000 + i * 64, i % 7 == 2 ? 10 : 64);
		MUST(doca_sha_task_hash_alloc_init(rig->sha, DOCA_SHA_ALGORITHM_SHA1, src[i], dst[i], user, &tasks[i]));
		MUST(doca_task_submit(doca_sha_task_hash_as_task(tasks[i])));
	}
	for (i = 0; i < 32; i++) {
		size_t len = 9;
		int wrong = i % 5 == 3 || i % 7 == 2;

		sha_wait(rig, 1);
		CHECK_U64(rig->user, i);
		CHECK_STATUS(rig->status, wrong ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS);
		MUST(doca_buf_get_data_len(dst[i], &len));
		CHECK_U64(len, wrong ? 0 : 20);
	}
	for (i = 0; i < 32; i++) {
		doca_task_free(doca_sha_task_hash_as_task(tasks[i]));
		sha_drop(src[i]);
		sha_drop(dst[i]);
	}
}

int main(void)
{
	struct sha_rig rig;

	capabilities();
	sha_setup(&rig, 1 << 16, 6);
	configuration(rig.dev);
	arguments(&rig);
	failures(&rig);
	mixed(&rig);
	sha_teardown(&rig);
	return check_result();
}
