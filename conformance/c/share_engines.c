/*
 * An engine that looks at bytes, over memory of another process that is not mapped here: hashes of the host's memory
 * into the host's memory, next to tasks on own memory; after the host is gone its tasks fail, and only those.
 *
 * clauses: core-memory Export / import; sha Hash task
 * covers: @
 * env: SOFTDPU_REACH=kernel
 */
#define _GNU_SOURCE
#include "sha_rig.h"
#include "share_rig.h"

#define BYTES 400000
#define TASKS 24

static struct doca_sha_task_hash *hash(struct sha_rig *rig, unsigned i, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_sha_task_hash *task = NULL;
	union doca_data user = {.u64 = i};

	MUST(doca_sha_task_hash_alloc_init(rig->sha, (enum doca_sha_algorithm)(i % 3), src, dst, user, &task));
	MUST(doca_task_submit(doca_sha_task_hash_as_task(task)));
	return task;
}

int main(void)
{
	struct share_host host;
	struct sha_rig rig;
	struct doca_mmap *remote;
	struct doca_buf *src[TASKS], *dst[TASKS];
	struct doca_sha_task_hash *tasks[TASKS];
	uint8_t *theirs;
	size_t got = 9;
	unsigned i;

	share_start(&host, 0, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	sha_setup(&rig, BYTES, 6);
	share_hear(&host);
	remote = share_import(&host, rig.dev);
	theirs = (uint8_t *)(uintptr_t)host.letter.addr; /* a number, not to be looked at */
	/* Own memory holds the same bytes, so that hashes can be compared. */
	for (i = 0; i < BYTES; i++)
		rig.mem[i] = share_pattern(i);
	for (i = 0; i < TASKS; i++) {
		size_t n = 1 + (size_t)i * i * 300;

		if (i % 2 == 0)
			src[i] = sha_src(&rig, i / 2, n);
		else
			MUST(doca_buf_inventory_buf_get_by_data(rig.inv, remote, theirs + i / 2, n, &src[i]));
		if (i % 4 < 2)
			dst[i] = sha_dst(&rig, 300000 + i * 64, 64);
		else
			MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, remote, theirs + 300000 + i * 64, 64, &dst[i]));
	}
	for (i = 0; i < TASKS; i++)
		tasks[i] = hash(&rig, i, src[i], dst[i]);
	sha_wait(&rig, TASKS);
	CHECK_U64(rig.bad, 0);
	for (i = 0; i < TASKS; i++) {
		CHECK_OK(doca_buf_get_data_len(dst[i], &got));
		CHECK_U64(got, sha_digest_len[i % 3]);
		doca_task_free(doca_sha_task_hash_as_task(tasks[i]));
		sha_drop(src[i]);
		sha_drop(dst[i]);
	}
	/* The digests, those of the host fetched by a hash of a hash: both sides have to agree. */
	for (i = 0; i < TASKS; i++) {
		size_t n = 1 + (size_t)i * i * 300, len = sha_digest_len[i % 3];
		uint8_t want[64], want2[64], got2[64];

		sha_one_shot(&rig, (enum doca_sha_algorithm)(i % 3), i / 2, n, want);
		if (i % 4 < 2) {
			CHECK_BYTES(rig.mem + 300000 + i * 64, want, len);
			continue;
		}
		memcpy(rig.mem + 350000, want, len);
		sha_one_shot(&rig, DOCA_SHA_ALGORITHM_SHA256, 350000, len, want2);
		MUST(doca_buf_inventory_buf_get_by_data(rig.inv, remote, theirs + 300000 + i * 64, len, &src[0]));
		dst[0] = sha_dst(&rig, 360000, 64);
		{
			struct doca_sha_task_hash *task = NULL;
			union doca_data user = {0};

			MUST(doca_sha_task_hash_alloc_init(rig.sha, DOCA_SHA_ALGORITHM_SHA256, src[0], dst[0], user,
							   &task));
			CHECK_OK(sha_run(&rig, doca_sha_task_hash_as_task(task)));
			doca_task_free(doca_sha_task_hash_as_task(task));
		}
		memcpy(got2, rig.mem + 360000, 32);
		CHECK_BYTES(got2, want2, 32);
		sha_drop(src[0]);
		sha_drop(dst[0]);
	}

	/* The host is killed: its tasks fail and nothing grows, those on own memory in between go on. */
	share_end(&host, 1);
	rig.good = rig.bad = 0;
	for (i = 0; i < TASKS; i++) {
		if (i % 2 == 0)
			src[i] = sha_src(&rig, i, 100);
		else
			MUST(doca_buf_inventory_buf_get_by_data(rig.inv, remote, theirs + i, 100, &src[i]));
		dst[i] = sha_dst(&rig, 300000 + i * 64, 64);
	}
	for (i = 0; i < TASKS; i++)
		tasks[i] = hash(&rig, i, src[i], dst[i]);
	sha_wait(&rig, TASKS);
	CHECK_U64(rig.good, TASKS / 2);
	CHECK_U64(rig.bad, TASKS / 2);
	for (i = 0; i < TASKS; i++) {
		doca_error_t status = doca_task_get_status(doca_sha_task_hash_as_task(tasks[i]));

		CHECK_OK(doca_buf_get_data_len(dst[i], &got));
		if (i % 2 == 0) {
			CHECK_STATUS(status, DOCA_SUCCESS);
			CHECK_U64(got, sha_digest_len[i % 3]);
		} else {
			CHECK_STATUS2(status, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_IO_FAILED);
			CHECK_U64(got, 0);
		}
		doca_task_free(doca_sha_task_hash_as_task(tasks[i]));
		sha_drop(src[i]);
		sha_drop(dst[i]);
	}
	CHECK_OK(doca_mmap_destroy(remote));
	sha_teardown(&rig);
	return check_result();
}
