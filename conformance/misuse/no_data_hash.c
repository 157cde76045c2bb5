/*
 * rule: no-data
 *
 * The source of a hash has no data.
 */
#include "misuse.h"

#include <doca_sha.h>

static unsigned done;

static void callback(struct doca_sha_task_hash *task, union doca_data user, union doca_data ctx_user)
{
	(void)user;
	(void)ctx_user;
	doca_task_free(doca_sha_task_hash_as_task(task));
	done++;
}

int main(void)
{
	struct rig rig;
	struct doca_sha *sha = NULL;
	struct doca_sha_task_hash *task = NULL;
	struct doca_buf *src, *dst;
	union doca_data user = {.u64 = 0};

	rig_setup(&rig, 4096, 4);
	MUST(doca_sha_create(rig.dev, &sha));
	MUST(doca_sha_task_hash_set_conf(sha, callback, callback, 2));
	MUST(doca_pe_connect_ctx(rig.pe, doca_sha_as_ctx(sha)));
	MUST(doca_ctx_start(doca_sha_as_ctx(sha)));
	src = WRONG ? rig_dst(&rig, 0, 64) : rig_src(&rig, 0, 64);
	dst = rig_dst(&rig, 1024, 64);
	MUST(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, user, &task));
	MUST(doca_task_submit(doca_sha_task_hash_as_task(task)));
	while (done == 0)
		(void)doca_pe_progress(rig.pe);
	MUST(doca_ctx_stop(doca_sha_as_ctx(sha)));
	MUST(doca_sha_destroy(sha));
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	rig_teardown(&rig);
	return check_result();
}
