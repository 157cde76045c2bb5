/*
 * File compression: the host compresses a file and sends it; the card decompresses and sends the
 * checksum of what came out back. The source is a chain of buffers of odd sizes, the destination too.
 *
 * clauses: engine-compress deflate; comch Control messages
 * covers: @
 */
#define _GNU_SOURCE

#include <doca_compress.h>

#include "app_common.h"

DOCA_LOG_REGISTER(FILE_COMPRESSION);

#define FILE_BYTES 300000u
#define PARTS 7

struct result {
	uint32_t bytes, crc, adler;
};

static struct result last;

static void compress_done(struct doca_compress_task_compress_deflate *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	last.crc = doca_compress_task_compress_deflate_get_crc_cs(task);
	last.adler = doca_compress_task_compress_deflate_get_adler_cs(task);
	doca_task_free(doca_compress_task_compress_deflate_as_task(task));
	((struct app_core *)ctx.ptr)->done++;
}

static void compress_failed(struct doca_compress_task_compress_deflate *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	((struct app_core *)ctx.ptr)->status =
		doca_task_get_status(doca_compress_task_compress_deflate_as_task(task));
	doca_task_free(doca_compress_task_compress_deflate_as_task(task));
	((struct app_core *)ctx.ptr)->failed++;
}

static void decompress_done(struct doca_compress_task_decompress_deflate *task, union doca_data user,
			    union doca_data ctx)
{
	(void)user;
	last.crc = doca_compress_task_decompress_deflate_get_crc_cs(task);
	last.adler = doca_compress_task_decompress_deflate_get_adler_cs(task);
	doca_task_free(doca_compress_task_decompress_deflate_as_task(task));
	((struct app_core *)ctx.ptr)->done++;
}

static void decompress_failed(struct doca_compress_task_decompress_deflate *task, union doca_data user,
			      union doca_data ctx)
{
	(void)user;
	((struct app_core *)ctx.ptr)->status =
		doca_task_get_status(doca_compress_task_decompress_deflate_as_task(task));
	doca_task_free(doca_compress_task_decompress_deflate_as_task(task));
	((struct app_core *)ctx.ptr)->failed++;
}

static void card(void)
{
	static struct app_line line;
	struct doca_compress_task_decompress_deflate *task;
	union doca_data user = {0};
	struct doca_buf *src, *dst, *next;
	struct doca_compress *compress;
	struct app_core core;
	uint32_t total, got, come = 0, i;
	uint8_t *bytes;

	app_line_serve(&line, "file compression");
	memcpy(&total, app_receive(&line, NULL), sizeof(total));
	app_core_make(&core, doca_compress_cap_task_decompress_deflate_is_supported, total, FILE_BYTES + 1000, 16);
	while (come < total) {
		bytes = app_receive(&line, &got);
		memcpy(core.src + come, bytes, got);
		come += got;
	}
	MUST(doca_compress_create(core.dev, &compress));
	MUST(doca_compress_task_decompress_deflate_set_conf(compress, decompress_done, decompress_failed, 2));
	app_core_start(&core, doca_compress_as_ctx(compress));
	src = app_data(&core, 0, total);
	/* Room in pieces that follow each other. */
	dst = app_room(&core, 0, 1001);
	for (i = 1; i < 4; i++) {
		next = app_room(&core, i * 1001, i < 3 ? 1001 : FILE_BYTES + 1000 - 3 * 1001);
		MUST(doca_buf_chain_list(dst, next));
	}
	MUST(doca_compress_task_decompress_deflate_alloc_init(compress, src, dst, user, &task));
	MUST(doca_task_submit(doca_compress_task_decompress_deflate_as_task(task)));
	app_wait(&core, 1);
	CHECK_U64(core.done, 1);
	last.bytes = (uint32_t)app_length(dst);
	app_send(&line, &last, sizeof(last));
	app_send(&line, core.dst + 123456, 100);

	/* Damaged: it fails as a task, the context goes on. */
	core.src[total / 2] ^= 0xff;
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	dst = app_room(&core, 0, FILE_BYTES + 1000);
	core.src[0] = 0xff; /* a reserved block type */
	MUST(doca_compress_task_decompress_deflate_alloc_init(compress, src, dst, user, &task));
	MUST(doca_task_submit(doca_compress_task_decompress_deflate_as_task(task)));
	app_wait(&core, 2);
	CHECK_U64(core.failed, 1);
	CHECK(core.status != DOCA_SUCCESS);
	CHECK_U64(core.state, DOCA_CTX_STATE_RUNNING);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	app_core_stop(&core);
	CHECK_OK(doca_compress_destroy(compress));
	app_core_free(&core);
	app_line_close(&line);
}

static void host(void)
{
	static struct app_line line;
	struct doca_compress_task_compress_deflate *task;
	union doca_data user = {0};
	struct doca_buf *src = NULL, *dst, *part;
	struct doca_compress *compress;
	struct app_core core;
	struct result theirs;
	uint32_t total, most, i;
	size_t at = 0, now;

	app_core_make(&core, doca_compress_cap_task_compress_deflate_is_supported, FILE_BYTES, FILE_BYTES, 16);
	app_text(core.src, FILE_BYTES, 3);
	MUST(doca_compress_cap_task_compress_deflate_get_max_buf_list_len(doca_dev_as_devinfo(core.dev), &most));
	MUST_BE(most >= PARTS);
	MUST(doca_compress_create(core.dev, &compress));
	MUST(doca_compress_task_compress_deflate_set_conf(compress, compress_done, compress_failed, 2));
	app_core_start(&core, doca_compress_as_ctx(compress));
	for (i = 0; i < PARTS; i++) {
		now = i + 1 < PARTS ? 12345 + i : FILE_BYTES - at;
		part = app_data(&core, at, now);
		at += now;
		if (src == NULL)
			src = part;
		else
			MUST(doca_buf_chain_list(src, part));
	}
	dst = app_room(&core, 0, FILE_BYTES);
	MUST(doca_compress_task_compress_deflate_alloc_init(compress, src, dst, user, &task));
	MUST(doca_task_submit(doca_compress_task_compress_deflate_as_task(task)));
	app_wait(&core, 1);
	CHECK_U64(core.done, 1);
	total = (uint32_t)app_length(dst);
	CHECK(total < FILE_BYTES / 2);
	DOCA_LOG_INFO("%u bytes became %u", FILE_BYTES, total);

	app_line_reach(&line, "file compression");
	app_send(&line, &total, sizeof(total));
	for (at = 0; at < total; at += now) {
		now = total - at < APP_MESSAGE ? total - at : APP_MESSAGE;
		app_send(&line, core.dst + at, now);
	}
	memcpy(&theirs, app_receive(&line, NULL), sizeof(theirs));
	CHECK_U64(theirs.bytes, FILE_BYTES);
	CHECK_U64(theirs.crc, last.crc);
	CHECK_U64(theirs.adler, last.adler);
	CHECK_BYTES(app_receive(&line, NULL), core.src + 123456, 100);
	app_line_close(&line);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));

	/* No room: the task fails, the next one does not. */
	src = app_data(&core, 0, FILE_BYTES);
	dst = app_room(&core, 0, 10);
	MUST(doca_compress_task_compress_deflate_alloc_init(compress, src, dst, user, &task));
	MUST(doca_task_submit(doca_compress_task_compress_deflate_as_task(task)));
	app_wait(&core, 2);
	CHECK_U64(core.failed, 1);
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	dst = app_room(&core, 0, FILE_BYTES);
	MUST(doca_compress_task_compress_deflate_alloc_init(compress, src, dst, user, &task));
	MUST(doca_task_submit(doca_compress_task_compress_deflate_as_task(task)));
	app_wait(&core, 3);
	CHECK_U64(core.done, 2);
	CHECK_U64(app_length(dst), total);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	app_core_stop(&core);
	CHECK_OK(doca_compress_destroy(compress));
	app_core_free(&core);
}

int main(void)
{
	app_log();
	return app_two_roles(card, host);
}
