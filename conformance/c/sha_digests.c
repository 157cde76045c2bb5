/*
 * Digests of whole messages: the examples of the standard (FIPS 180-4), lists of any cut, destinations
 * with data and with more room than needed, tasks that are changed and submitted again, many at once.
 *
 * clauses: sha Hash task
 * covers: @
 */
#include "sha_rig.h"

static const char *const abc[] = {
	"a9993e364706816aba3e25717850c26c9cd0d89d",
	"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	"ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
	"2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
};

static const char *const million[] = {
	"34aa973cd4c4daa4f61eeb2bdbad27316534016f",
	"cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
	"e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
	"de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b",
};

static void examples(struct sha_rig *rig)
{
	int algorithm;

	for (algorithm = 0; algorithm < 3; algorithm++) {
		enum doca_sha_algorithm which = (enum doca_sha_algorithm)algorithm;
		struct doca_sha_task_hash *task = NULL;
		struct doca_buf *src, *dst;
		union doca_data user;

		user.u64 = 77;
		memcpy(rig->mem, "abc", 3);
		src = sha_src(rig, 0, 3);
		dst = sha_dst(rig, 100, 200);
		MUST(doca_sha_task_hash_alloc_init(rig->sha, which, src, dst, user, &task));
		CHECK_U64(doca_sha_task_hash_get_algorithm(task), which);
		CHECK_PTR(doca_sha_task_hash_get_src(task), src);
		CHECK_PTR(doca_sha_task_hash_get_dst(task), dst);
		CHECK_OK(sha_run(rig, doca_sha_task_hash_as_task(task)));
		CHECK_U64(rig->user, 77);
		CHECK_TEXT(sha_hex(dst), abc[algorithm]);

		/* Changed and submitted again; the digest goes behind what is there. */
		CHECK_OK(doca_buf_reset_data_len(dst));
		memset(rig->mem + 1000, 'a', 1000000);
		sha_drop(src);
		src = sha_src(rig, 1000, 1000000);
		CHECK_OK(doca_sha_task_hash_set_src(task, src));
		CHECK_OK(sha_run(rig, doca_sha_task_hash_as_task(task)));
		CHECK_TEXT(sha_hex(dst), million[algorithm]);
		sha_drop(dst);
		dst = sha_dst(rig, 500, 100);
		CHECK_OK(doca_buf_set_data_len(dst, 3));
		rig->mem[503 + sha_digest_len[algorithm]] = 0x5a;
		CHECK_OK(doca_sha_task_hash_set_dst(task, dst));
		CHECK_OK(sha_run(rig, doca_sha_task_hash_as_task(task)));
		CHECK_TEXT(sha_hex(dst) + 6, million[algorithm]);
		CHECK_U64(rig->mem[503 + sha_digest_len[algorithm]], 0x5a);

		/* Another function. */
		which = (enum doca_sha_algorithm)((algorithm + 1) % 3);
		CHECK_OK(doca_buf_reset_data_len(dst));
		CHECK_OK(doca_sha_task_hash_set_algorithm(task, which));
		CHECK_U64(doca_sha_task_hash_get_algorithm(task), which);
		CHECK_OK(sha_run(rig, doca_sha_task_hash_as_task(task)));
		CHECK_TEXT(sha_hex(dst), million[which]);
		doca_task_free(doca_sha_task_hash_as_task(task));
		sha_drop(src);
		sha_drop(dst);
	}
}

/* Any cut of a message gives the same digest; a list as destination is its first element. */
static void lists(struct sha_rig *rig)
{
	unsigned seed = 1, round;

	for (round = 0; round < 150; round++) {
		enum doca_sha_algorithm which = (enum doca_sha_algorithm)(round % 3);
		size_t len = 1 + (seed = seed * 1103515245 + 12345) / 7 % 5000, at = 0, digest = sha_digest_len[which];
		struct doca_buf *src = NULL, *dst = sha_dst(rig, 600000, digest), *more = sha_dst(rig, 601000, 10);
		struct doca_sha_task_hash *task = NULL;
		union doca_data user = {0};
		uint8_t want[64];
		void *data = NULL;

		sha_one_shot(rig, which, 0, len, want);
		/* The message is spread over the memory behind it, at odd places. */
		while (at < len) {
			size_t n = 1 + (seed = seed * 1103515245 + 12345) / 11 % 300, place = 100001 + 2 * at;
			struct doca_buf *piece;

			if (n > len - at)
				n = len - at;
			memcpy(rig->mem + place, rig->mem + at, n);
			piece = sha_src(rig, place, n);
			if (src == NULL)
				src = piece;
			else
				MUST(doca_buf_chain_list(src, piece));
			at += n;
		}
		MUST(doca_buf_chain_list(dst, more));
		MUST(doca_sha_task_hash_alloc_init(rig->sha, which, src, dst, user, &task));
		CHECK_OK(sha_run(rig, doca_sha_task_hash_as_task(task)));
		MUST(doca_buf_get_data(dst, &data));
		CHECK_BYTES(data, want, digest);
		MUST(doca_buf_get_data_len(dst, &at));
		CHECK_U64(at, digest);
		doca_task_free(doca_sha_task_hash_as_task(task));
		sha_drop(src);
		sha_drop(dst);
	}
}

#define MANY 64

/* All tasks of the pool at once, short and long, all functions. */
static void many(struct sha_rig *rig)
{
	struct doca_sha_task_hash *tasks[MANY], *extra = NULL;
	struct doca_buf *src[MANY], *dst[MANY];
	uint8_t want[MANY][64];
	union doca_data user;
	unsigned round, i;

	for (round = 0; round < 6; round++) {
		for (i = 0; i < MANY; i++) {
			enum doca_sha_algorithm which = (enum doca_sha_algorithm)((round & 1) ? round / 2 : i % 3);
			size_t len = round < 3 ? 64 + round * 1000 : 1 + i * i * 77 % 200000;

			sha_one_shot(rig, which, i * 13, len, want[i]);
			src[i] = sha_src(rig, i * 13, len);
			dst[i] = sha_dst(rig, 600000 + i * 100, sha_digest_len[which]);
		}
		for (i = 0; i < MANY; i++) {
			enum doca_sha_algorithm which = (enum doca_sha_algorithm)((round & 1) ? round / 2 : i % 3);

			user.u64 = i;
			MUST(doca_sha_task_hash_alloc_init(rig->sha, which, src[i], dst[i], user, &tasks[i]));
		}
		CHECK_STATUS(doca_sha_task_hash_alloc_init(rig->sha, DOCA_SHA_ALGORITHM_SHA1, src[0], dst[0], user,
							   &extra),
			     DOCA_ERROR_NO_MEMORY);
		for (i = 0; i < MANY; i++)
			MUST(doca_task_submit(doca_sha_task_hash_as_task(tasks[i])));
		/* While it flies nothing may be changed. */
		CHECK_STATUS(doca_sha_task_hash_set_src(tasks[3], src[0]), DOCA_ERROR_BAD_STATE);
		CHECK_PTR(doca_sha_task_hash_get_src(tasks[3]), src[3]);
		for (i = 0; i < MANY; i++) {
			sha_wait(rig, 1);
			CHECK_U64(rig->user, i);
			CHECK_STATUS(rig->status, DOCA_SUCCESS);
		}
		for (i = 0; i < MANY; i++) {
			size_t digest = sha_digest_len[doca_sha_task_hash_get_algorithm(tasks[i])];

			CHECK_BYTES(rig->mem + 600000 + i * 100, want[i], digest);
			doca_task_free(doca_sha_task_hash_as_task(tasks[i]));
			sha_drop(src[i]);
			sha_drop(dst[i]);
		}
	}
}

int main(void)
{
	struct sha_rig rig;

	sha_setup(&rig, 1 << 20, 6);
	examples(&rig);
	lists(&rig);
	many(&rig);
	sha_teardown(&rig);
	return check_result();
}
