/*
 * Hashes in pieces: the digest is that of all pieces in one, several hashes side by side, marks, reset,
 * and what is refused while a hash is under way or finished.
 *
 * clauses: sha Partial hash task
 * covers: @
 */
#include "sha_rig.h"

static struct doca_sha_task_partial_hash *start(struct sha_rig *rig, enum doca_sha_algorithm which,
						struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_sha_task_partial_hash *task = NULL;
	union doca_data user;

	user.u64 = 5;
	MUST(doca_sha_task_partial_hash_alloc_init(rig->sha, which, src, dst, user, &task));
	CHECK_U64(doca_sha_task_partial_hash_get_algorithm(task), which);
	CHECK_PTR(doca_sha_task_partial_hash_get_src(task), src);
	CHECK_PTR(doca_sha_task_partial_hash_get_dst(task), dst);
	CHECK_U64(doca_sha_task_partial_hash_get_is_final(task), 0);
	CHECK_U64(doca_sha_task_partial_hash_get_has_result(task), 0);
	return task;
}

/* One hash: `count` pieces of `piece` bytes, the last one shorter by `less`. */
static void in_pieces(struct sha_rig *rig, enum doca_sha_algorithm which, size_t piece, unsigned count, size_t less)
{
	struct doca_buf *dst = sha_dst(rig, rig->len - 200, 64), *src = sha_src(rig, 0, piece);
	struct doca_sha_task_partial_hash *task = start(rig, which, src, dst);
	struct doca_task *plain = doca_sha_task_partial_hash_as_task(task);
	uint8_t want[64];
	size_t len = 9;
	unsigned i;

	sha_one_shot(rig, which, 0, count * piece - less, want);
	for (i = 0; i < count; i++) {
		union doca_data user;

		sha_drop(src);
		src = sha_src(rig, i * piece, i == count - 1 ? piece - less : piece);
		CHECK_OK(doca_sha_task_partial_hash_set_src(task, src));
		if (i == count - 1)
			CHECK_OK(doca_sha_task_partial_hash_set_is_final_buf(task));
		user.u64 = i;
		doca_task_set_user_data(plain, user);
		CHECK_OK(sha_run(rig, plain));
		CHECK_U64(rig->user, i);
		MUST(doca_buf_get_data_len(dst, &len));
		CHECK_U64(len, i == count - 1 ? sha_digest_len[which] : 0);
		CHECK_U64(doca_sha_task_partial_hash_get_is_final(task), i == count - 1);
		CHECK_U64(doca_sha_task_partial_hash_get_has_result(task), i == count - 1);
	}
	CHECK_BYTES(rig->mem + rig->len - 200, want, sha_digest_len[which]);

	/* Finished: nothing more goes in until it is reset. */
	sha_fails(rig, plain, DOCA_ERROR_BAD_STATE);
	CHECK_U64(doca_sha_task_partial_hash_get_has_result(task), 1);
	CHECK_OK(doca_sha_task_partial_hash_reset(task));
	CHECK_U64(doca_sha_task_partial_hash_get_is_final(task), 0);
	CHECK_U64(doca_sha_task_partial_hash_get_has_result(task), 0);
	CHECK_U64(doca_sha_task_partial_hash_get_algorithm(task), which);
	CHECK_PTR(doca_sha_task_partial_hash_get_dst(task), dst);
	CHECK_PTR(doca_sha_task_partial_hash_get_src(task), src);

	/* The whole message as its only piece. */
	sha_drop(src);
	src = sha_src(rig, 0, count * piece - less);
	CHECK_OK(doca_sha_task_partial_hash_set_src(task, src));
	CHECK_OK(doca_sha_task_partial_hash_set_is_final_buf(task));
	MUST(doca_buf_reset_data_len(dst));
	memset(rig->mem + rig->len - 200, 0, 64);
	CHECK_OK(sha_run(rig, plain));
	CHECK_BYTES(rig->mem + rig->len - 200, want, sha_digest_len[which]);
	doca_task_free(plain);
	sha_drop(src);
	sha_drop(dst);
}

static void rules(struct sha_rig *rig, enum doca_sha_algorithm which)
{
	size_t block = sha_block_len[which];
	struct doca_buf *dst = sha_dst(rig, rig->len - 200, 64), *odd = sha_src(rig, 0, block + 1);
	struct doca_buf *src = sha_src(rig, 0, 2 * block), *other = sha_dst(rig, rig->len - 400, 64);
	struct doca_buf *none = sha_src(rig, 0, 0), *small = sha_dst(rig, 0, sha_digest_len[which] - 1);
	struct doca_sha_task_partial_hash *task = start(rig, which, odd, small);
	struct doca_task *plain = doca_sha_task_partial_hash_as_task(task);
	enum doca_sha_algorithm wrong = (enum doca_sha_algorithm)9;
	uint8_t want[64];

	/* Not a multiple of the block; empty. */
	sha_fails(rig, plain, DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sha_task_partial_hash_set_src(task, none));
	sha_fails(rig, plain, DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sha_task_partial_hash_set_src(task, src));
	CHECK_STATUS(doca_sha_task_partial_hash_set_src(task, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_partial_hash_set_dst(task, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_partial_hash_set_algorithm(task, wrong), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_partial_hash_set_src(NULL, src), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_partial_hash_set_dst(NULL, dst), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_partial_hash_set_algorithm(NULL, which), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_partial_hash_set_is_final_buf(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_sha_task_partial_hash_reset(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_sha_task_partial_hash_as_task(NULL), NULL);
	CHECK_PTR(doca_sha_task_partial_hash_get_src(NULL), NULL);
	CHECK_PTR(doca_sha_task_partial_hash_get_dst(NULL), NULL);
	CHECK_U64(doca_sha_task_partial_hash_get_is_final(NULL), 0);
	CHECK_U64(doca_sha_task_partial_hash_get_has_result(NULL), 0);
	/* Failed tasks left no trace: destination and function may be set, the hash starts from nothing. */
	CHECK_OK(doca_sha_task_partial_hash_set_dst(task, dst));
	CHECK_OK(doca_sha_task_partial_hash_set_algorithm(task, (enum doca_sha_algorithm)((which + 1) % 3)));
	CHECK_OK(doca_sha_task_partial_hash_set_algorithm(task, which));
	MUST(doca_task_submit(plain));
	CHECK_STATUS(doca_sha_task_partial_hash_set_src(task, src), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sha_task_partial_hash_set_is_final_buf(task), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sha_task_partial_hash_reset(task), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_task_submit(plain), DOCA_ERROR_BAD_STATE);
	CHECK_U64(doca_sha_task_partial_hash_get_has_result(task), 0);
	sha_wait(rig, 1);
	CHECK_STATUS(rig->status, DOCA_SUCCESS);
	/* Under way. */
	CHECK_STATUS(doca_sha_task_partial_hash_set_dst(task, other), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sha_task_partial_hash_set_algorithm(task, which), DOCA_ERROR_BAD_STATE);
	CHECK_PTR(doca_sha_task_partial_hash_get_dst(task), dst);
	/* A piece that is refused does not disturb it. */
	CHECK_OK(doca_sha_task_partial_hash_set_src(task, odd));
	sha_fails(rig, plain, DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_sha_task_partial_hash_set_is_final_buf(task));
	sha_drop(odd);
	odd = sha_src(rig, 2 * block, block + 1);
	CHECK_OK(doca_sha_task_partial_hash_set_src(task, odd));
	CHECK_OK(sha_run(rig, plain));
	sha_one_shot(rig, which, 0, 3 * block + 1, want);
	CHECK_BYTES(rig->mem + rig->len - 200, want, sha_digest_len[which]);

	/* Thrown away half way. */
	CHECK_OK(doca_sha_task_partial_hash_reset(task));
	CHECK_OK(doca_sha_task_partial_hash_set_src(task, src));
	CHECK_OK(sha_run(rig, plain));
	CHECK_OK(doca_sha_task_partial_hash_reset(task));
	CHECK_OK(doca_sha_task_partial_hash_set_dst(task, other));
	CHECK_OK(doca_sha_task_partial_hash_set_is_final_buf(task));
	CHECK_OK(sha_run(rig, plain));
	sha_one_shot(rig, which, 0, 2 * block, want);
	CHECK_BYTES(rig->mem + rig->len - 400, want, sha_digest_len[which]);
	doca_task_free(plain);
	sha_drop(src);
	sha_drop(dst);
	sha_drop(odd);
	sha_drop(other);
	sha_drop(none);
	sha_drop(small);
}

#define LINES 16

/* Sixteen hashes side by side, a piece of each in turn. */
static void side_by_side(struct sha_rig *rig)
{
	struct doca_sha_task_partial_hash *tasks[LINES];
	struct doca_buf *src[LINES], *dst[LINES];
	unsigned i, round;

	for (i = 0; i < LINES; i++) {
		enum doca_sha_algorithm which = (enum doca_sha_algorithm)(i % 3);

		src[i] = sha_src(rig, i * 7, 128);
		dst[i] = sha_dst(rig, rig->len - 4000 + i * 64, 64);
		tasks[i] = start(rig, which, src[i], dst[i]);
	}
	for (round = 0; round < 20; round++) {
		for (i = 0; i < LINES; i++) {
			sha_drop(src[i]);
			src[i] = sha_src(rig, i * 7 + round * 1280, round == 19 ? 1280 - i : 1280);
			CHECK_OK(doca_sha_task_partial_hash_set_src(tasks[i], src[i]));
			if (round == 19)
				CHECK_OK(doca_sha_task_partial_hash_set_is_final_buf(tasks[i]));
			MUST(doca_task_submit(doca_sha_task_partial_hash_as_task(tasks[i])));
		}
		sha_wait(rig, LINES);
	}
	CHECK_U64(rig->bad, 0);
	for (i = 0; i < LINES; i++) {
		enum doca_sha_algorithm which = (enum doca_sha_algorithm)(i % 3);
		uint8_t want[64];

		sha_one_shot(rig, which, i * 7, 20 * 1280 - i, want);
		CHECK_BYTES(rig->mem + rig->len - 4000 + i * 64, want, sha_digest_len[which]);
		doca_task_free(doca_sha_task_partial_hash_as_task(tasks[i]));
		sha_drop(src[i]);
		sha_drop(dst[i]);
	}
}

int main(void)
{
	struct sha_rig rig;
	int algorithm;

	sha_setup(&rig, 3 << 20, 5);
	side_by_side(&rig);
	for (algorithm = 0; algorithm < 3; algorithm++) {
		enum doca_sha_algorithm which = (enum doca_sha_algorithm)algorithm;

		in_pieces(&rig, which, sha_block_len[which], 9, 5);
		in_pieces(&rig, which, sha_block_len[which], 4, 0);
		in_pieces(&rig, which, 4096, 30, 4000);
		/* Pieces of a size that the card's own threads work at. */
		in_pieces(&rig, which, 600 << 10, 4, 1);
		rules(&rig, which);
	}
	sha_teardown(&rig);
	return check_result();
}
