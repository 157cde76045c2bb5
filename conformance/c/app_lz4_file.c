/*
 * LZ4 back: blocks as a small encoder of this program makes them (literals and matches), one by one
 * and as a stream of a frame with sizes; the checksums; damaged blocks fail alone.
 *
 * clauses: engine-compress LZ4
 * covers: @
 */
#define _GNU_SOURCE

#include <doca_compress.h>

#include "app_common.h"

#define PLAIN 40000u

static struct app_core core;
static struct doca_compress *compress;
static uint32_t crc, xxh;

/* Greedy, with a table of the last place of each four bytes. */
static size_t lz4(const uint8_t *in, size_t len, uint8_t *out)
{
	static uint32_t places[4096];
	size_t at = 0, from = 0, to = 0;

	memset(places, 0, sizeof(places));
	while (len > 12 && at < len - 12) {
		uint32_t word, slot, before, match = 0;
		size_t literals, code;

		memcpy(&word, in + at, 4);
		slot = word * 2654435761u >> 20;
		before = places[slot];
		places[slot] = (uint32_t)at + 1;
		if (before == 0 || at + 1 - before > 65535 || memcmp(in + before - 1, in + at, 4) != 0) {
			at++;
			continue;
		}
		while (at + match < len - 5 && in[before - 1 + match] == in[at + match])
			match++;
		literals = at - from;
		code = to++;
		out[code] = (uint8_t)((literals < 15 ? literals : 15) << 4 | (match - 4 < 15 ? match - 4 : 15));
		if (literals >= 15) {
			size_t more = literals - 15;

			for (; more >= 255; more -= 255)
				out[to++] = 255;
			out[to++] = (uint8_t)more;
		}
		memcpy(out + to, in + from, literals);
		to += literals;
		out[to++] = (uint8_t)(at + 1 - before);
		out[to++] = (uint8_t)((at + 1 - before) >> 8);
		if (match - 4 >= 15) {
			size_t more = match - 19;

			for (; more >= 255; more -= 255)
				out[to++] = 255;
			out[to++] = (uint8_t)more;
		}
		at += match;
		from = at;
	}
	{
		size_t literals = len - from, code = to++;

		out[code] = (uint8_t)((literals < 15 ? literals : 15) << 4);
		if (literals >= 15) {
			size_t more = literals - 15;

			for (; more >= 255; more -= 255)
				out[to++] = 255;
			out[to++] = (uint8_t)more;
		}
		memcpy(out + to, in + from, literals);
		to += literals;
	}
	return to;
}

static void done(struct doca_compress_task_decompress_lz4_block *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	CHECK_OK(doca_task_get_status(doca_compress_task_decompress_lz4_block_as_task(task)));
	crc = doca_compress_task_decompress_lz4_block_get_crc_cs(task);
	xxh = doca_compress_task_decompress_lz4_block_get_xxh_cs(task);
	doca_task_free(doca_compress_task_decompress_lz4_block_as_task(task));
	((struct app_core *)ctx.ptr)->done++;
}

static void failed(struct doca_compress_task_decompress_lz4_block *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	((struct app_core *)ctx.ptr)->status =
		doca_task_get_status(doca_compress_task_decompress_lz4_block_as_task(task));
	doca_task_free(doca_compress_task_decompress_lz4_block_as_task(task));
	((struct app_core *)ctx.ptr)->failed++;
}

static uint32_t crc32_of(const uint8_t *bytes, size_t len)
{
	uint32_t sum = ~0u;
	size_t i;
	int bit;

	for (i = 0; i < len; i++)
		for (sum ^= bytes[i], bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (0xedb88320u & -(sum & 1));
	return ~sum;
}

/* Gives back the bytes that came out, SIZE_MAX for a failed task. */
static size_t unpack(size_t len, size_t room)
{
	struct doca_compress_task_decompress_lz4_block *task;
	struct doca_buf *src = app_data(&core, 0, len), *dst = app_room(&core, 0, room);
	uint32_t before = core.done + core.failed, failures = core.failed;
	union doca_data user = {0};
	size_t out;

	memset(core.dst, 0, PLAIN);
	MUST(doca_compress_task_decompress_lz4_block_alloc_init(compress, src, dst, user, &task));
	MUST(doca_task_submit(doca_compress_task_decompress_lz4_block_as_task(task)));
	app_wait(&core, before + 1);
	out = core.failed > failures ? SIZE_MAX : app_length(dst);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	CHECK_U64(core.state, DOCA_CTX_STATE_RUNNING);
	return out;
}

int main(void)
{
	const size_t sizes[] = {1, 12, 13, 20, 300, 4096, 39999, PLAIN};
	uint8_t *plain = (uint8_t *)malloc(PLAIN);
	size_t i, len;

	app_text(plain, PLAIN, 12);
	app_core_make(&core, doca_compress_cap_task_decompress_lz4_block_is_supported, 2 * PLAIN, PLAIN, 8);
	MUST(doca_compress_create(core.dev, &compress));
	MUST(doca_compress_task_decompress_lz4_block_set_conf(compress, done, failed, 2));
	app_core_start(&core, doca_compress_as_ctx(compress));
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		len = lz4(plain, sizes[i], core.src);
		CHECK_U64(unpack(len, PLAIN), sizes[i]);
		CHECK_BYTES(core.dst, plain, sizes[i]);
		CHECK_U64(crc, crc32_of(plain, sizes[i]));
		CHECK(xxh != 0);
		/* Just enough room; one byte too little. */
		CHECK_U64(unpack(len, sizes[i]), sizes[i]);
		if (sizes[i] > 1)
			CHECK_U64(unpack(len, sizes[i] - 1), SIZE_MAX);
		CHECK(core.status != DOCA_SUCCESS || core.failed == 0);
	}
	/* Cut short; a distance before the beginning. */
	CHECK_U64(unpack(len - 1, PLAIN), SIZE_MAX);
	memcpy(core.src, "\x14" "a" "\x09\x00" "\x50" "bcdef", 10);
	CHECK_U64(unpack(10, PLAIN), SIZE_MAX);
	memcpy(core.src, "\x14" "a" "\x01\x00" "\x50" "bcdef", 10);
	CHECK_U64(unpack(10, PLAIN), 14);
	CHECK_BYTES(core.dst, "aaaaaaaaabcdef", 14);
	app_core_stop(&core);
	CHECK_OK(doca_compress_destroy(compress));
	app_core_free(&core);
	free(plain);
	return check_result();
}
