/* SHA-256: a message at once, and the same in pieces. */
#include "tutorial.h"

#include <doca_sha.h>

static doca_error_t can_hash(const struct doca_devinfo *info)
{
	return doca_sha_cap_task_partial_hash_get_supported(info, DOCA_SHA_ALGORITHM_SHA256);
}

static void hashed(struct doca_sha_task_hash *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	landed(ctx, doca_sha_task_hash_as_task(task));
}

/* This task stays: it takes the next piece. */
static void piece_hashed(struct doca_sha_task_partial_hash *task, union doca_data user, union doca_data ctx)
{
	struct rig *rig = ctx.ptr;

	(void)user;
	rig->status = doca_task_get_status(doca_sha_task_partial_hash_as_task(task));
	rig->flying--;
}

static void show(const char *what, const char *digest)
{
	printf("%s ", what);
	for (int i = 0; i < 32; i++)
		printf("%02x", (unsigned char)digest[i]);
	printf("\n");
}

int main(void)
{
	struct rig rig = make_rig(can_hash, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_sha_task_partial_hash *pieces;
	struct doca_buf *src, *dst, *second;
	struct doca_sha_task_hash *task;
	union doca_data none = {0};
	struct doca_sha *sha;

	MUST(doca_sha_create(rig.dev, &sha));
	MUST(doca_sha_task_hash_set_conf(sha, hashed, hashed, 0)); /* pools of 2^0 tasks */
	MUST(doca_sha_task_partial_hash_set_conf(sha, piece_hashed, piece_hashed, 0));
	start(&rig, doca_sha_as_ctx(sha));

	memset(rig.memory, 'a', 1000);
	src = data(&rig, 0, 1000);
	dst = room(&rig, 2048, 32);
	MUST(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, none, &task));
	MUST(carry_out(&rig, doca_sha_task_hash_as_task(task)));
	show("whole ", rig.memory + 2048);

	/* Every piece but the last is a multiple of the block size, 64 bytes. */
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	src = data(&rig, 0, 640);
	second = data(&rig, 640, 360);
	dst = room(&rig, 2048, 32);
	MUST(doca_sha_task_partial_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, none, &pieces));
	MUST(carry_out(&rig, doca_sha_task_partial_hash_as_task(pieces)));
	MUST(doca_sha_task_partial_hash_set_src(pieces, second));
	MUST(doca_sha_task_partial_hash_set_is_final_buf(pieces));
	MUST(carry_out(&rig, doca_sha_task_partial_hash_as_task(pieces)));
	show("pieces", rig.memory + 2048);

	doca_task_free(doca_sha_task_partial_hash_as_task(pieces));
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(second, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	stop(&rig, doca_sha_as_ctx(sha));
	MUST(doca_sha_destroy(sha));
	free_rig(&rig);
	return 0;
}
