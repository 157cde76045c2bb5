/*
 * File integrity: the host sends the digest, then the file in messages; the card hashes what comes in
 * pieces as it comes, compares, and tells the host. Once with the right digest, once with a byte
 * changed on the way.
 *
 * clauses: engine-dma-sha SHA partial; comch Control messages
 * covers: @
 */
#define _GNU_SOURCE

#include <doca_sha.h>

#include "app_common.h"

DOCA_LOG_REGISTER(FILE_INTEGRITY);

#define FILE_BYTES 150001u
#define DIGEST 32u

struct announce {
	uint32_t len, rounds;
	uint8_t digest[DIGEST];
};

APP_CALLBACKS(doca_sha_task_hash, doca_sha_task_hash_as_task)

/* The partial task stays: it goes back in with the next piece. */
static void partial_done(struct doca_sha_task_partial_hash *task, union doca_data user, union doca_data ctx)
{
	(void)task, (void)user;
	((struct app_core *)ctx.ptr)->done++;
}

static void partial_failed(struct doca_sha_task_partial_hash *task, union doca_data user, union doca_data ctx)
{
	(void)task, (void)user;
	((struct app_core *)ctx.ptr)->failed++;
}

static doca_error_t can_partial(const struct doca_devinfo *info)
{
	return doca_sha_cap_task_partial_hash_get_supported(info, DOCA_SHA_ALGORITHM_SHA256);
}

static doca_error_t can_hash(const struct doca_devinfo *info)
{
	return doca_sha_cap_task_hash_get_supported(info, DOCA_SHA_ALGORITHM_SHA256);
}

/* One file: gathers messages to whole blocks, hashes them, the rest as the final piece. */
static void check_one(struct app_line *line)
{
	struct announce announce;
	struct doca_sha_task_partial_hash *task = NULL;
	union doca_data user = {0};
	struct doca_buf *src, *dst;
	struct app_core core;
	struct doca_sha *sha;
	uint32_t block, got, come = 0, held = 0, pieces = 0;

	memcpy(&announce, app_receive(line, &got), sizeof(announce));
	CHECK_U64(got, sizeof(announce));
	app_core_make(&core, can_partial, APP_MESSAGE + 256, DIGEST, 4);
	MUST(doca_sha_cap_get_partial_hash_block_size(doca_dev_as_devinfo(core.dev), DOCA_SHA_ALGORITHM_SHA256,
						      &block));
	CHECK_U64(block, 64);
	MUST(doca_sha_create(core.dev, &sha));
	MUST(doca_sha_task_partial_hash_set_conf(sha, partial_done, partial_failed, 0));
	app_core_start(&core, doca_sha_as_ctx(sha));
	dst = app_room(&core, 0, DIGEST);
	while (come < announce.len) {
		uint8_t *bytes = app_receive(line, &got);
		uint32_t whole;

		memcpy(core.src + held, bytes, got);
		held += got;
		come += got;
		whole = come == announce.len ? held : held - held % block;
		src = app_data(&core, 0, whole);
		if (task == NULL)
			MUST(doca_sha_task_partial_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, user,
								   &task));
		else
			MUST(doca_sha_task_partial_hash_set_src(task, src));
		if (come == announce.len)
			MUST(doca_sha_task_partial_hash_set_is_final_buf(task));
		MUST(doca_task_submit(doca_sha_task_partial_hash_as_task(task)));
		app_wait(&core, ++pieces);
		CHECK_OK(doca_buf_dec_refcount(src, NULL));
		memmove(core.src, core.src + whole, held - whole);
		held -= whole;
	}
	CHECK_U64(core.failed, 0);
	CHECK_U64(doca_sha_task_partial_hash_get_has_result(task), 1);
	CHECK_U64(app_length(dst), DIGEST);
	app_send(line, memcmp(core.dst, announce.digest, DIGEST) == 0 ? "good" : "evil", 5);
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	app_core_stop(&core);
	CHECK_OK(doca_sha_destroy(sha));
	app_core_free(&core);
}

static void card(void)
{
	static struct app_line line;

	app_line_serve(&line, "file integrity");
	check_one(&line);
	check_one(&line);
	app_line_close(&line);
}

static void send_one(struct app_line *line, const struct announce *announce, const uint8_t *bytes, const char *answer)
{
	size_t at, now;

	app_send(line, announce, sizeof(*announce));
	for (at = 0; at < FILE_BYTES; at += now) {
		now = FILE_BYTES - at < APP_MESSAGE ? FILE_BYTES - at : APP_MESSAGE;
		app_send(line, bytes + at, now);
	}
	CHECK_TEXT((const char *)app_receive(line, NULL), answer);
}

static void host(void)
{
	static struct app_line line;
	struct doca_sha_task_hash *task;
	struct announce announce = {FILE_BYTES, 1, {0}};
	union doca_data user = {0};
	struct doca_buf *src, *dst;
	struct app_core core;
	struct doca_sha *sha;

	app_core_make(&core, can_hash, FILE_BYTES, DIGEST, 4);
	app_text(core.src, FILE_BYTES, 5);
	MUST(doca_sha_create(core.dev, &sha));
	MUST(doca_sha_task_hash_set_conf(sha, app_doca_sha_task_hash_done, app_doca_sha_task_hash_failed, 0));
	app_core_start(&core, doca_sha_as_ctx(sha));
	src = app_data(&core, 0, FILE_BYTES);
	dst = app_room(&core, 0, DIGEST);
	MUST(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, user, &task));
	MUST(doca_task_submit(doca_sha_task_hash_as_task(task)));
	app_wait(&core, 1);
	memcpy(announce.digest, core.dst, DIGEST);

	app_line_reach(&line, "file integrity");
	send_one(&line, &announce, core.src, "good");
	core.src[77777] ^= 0x20;
	send_one(&line, &announce, core.src, "evil");
	app_line_close(&line);

	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	app_core_stop(&core);
	CHECK_OK(doca_sha_destroy(sha));
	app_core_free(&core);
}

int main(void)
{
	return app_two_roles(card, host);
}
