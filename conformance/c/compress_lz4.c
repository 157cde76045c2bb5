/*
 * LZ4 streams and blocks: a frame of the usual kind with header, end mark and content checksum stripped by the
 * program, dependent blocks, block checksums, stored blocks; the XXH32 in the byte order programs compare with; the
 * flags read back and changed between submits.
 *
 * clauses: compress Formats, Checksums
 * covers: @
 * std: gnu11
 */
#include <endian.h>

#include "compress_rig.h"

static const char text[] = "Nobody inspects the spammish repetition";
#define TEXT (sizeof(text) - 1)

/* Twice the same text: a stored block, then a block that only refers back (39 bytes at distance 39). */
static size_t dependent(uint8_t *to, int checksums)
{
	/* A match of 34 bytes at distance 39, then the last five as literals, as the format demands. */
	static const uint8_t back[] = {0x0f, 39, 0, 34 - 19, 0x50, 't', 'i', 't', 'i', 'o'};
	/* XXH32 of the text, from the specification of xxHash, little endian; of `back` below. */
	static const uint8_t sum[] = {0x2f, 0x3b, 0x29, 0xe2};
	uint8_t *at = to;
	uint32_t word = htole32(TEXT | 0x80000000u);

	memcpy(at, &word, 4), at += 4;
	memcpy(at, text, TEXT), at += TEXT;
	if (checksums)
		memcpy(at, sum, 4), at += 4;
	word = htole32(sizeof(back));
	memcpy(at, &word, 4), at += 4;
	memcpy(at, back, sizeof(back)), at += sizeof(back);
	return (size_t)(at - to);
}

struct outcome {
	uint32_t crc, xxh;
	size_t len;
};

static struct outcome run_stream(struct squeeze *s, size_t len, size_t room, uint8_t checksums, uint8_t independent)
{
	struct doca_buf *src = squeeze_full(s, 0, len), *dst = squeeze_empty(s, 4096, room);
	struct doca_compress_task_decompress_lz4_stream *task = NULL;
	union doca_data user = {0};
	struct outcome outcome;

	/* Everything wrong at first, then set right. */
	MUST(doca_compress_task_decompress_lz4_stream_alloc_init(s->compress, !checksums, !independent, dst, src, user,
								 &task));
	CHECK_U64(doca_compress_task_decompress_lz4_stream_get_has_block_checksum(task), !checksums);
	CHECK_U64(doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(task), !independent);
	CHECK_PTR(doca_compress_task_decompress_lz4_stream_get_src(task), dst);
	CHECK_PTR(doca_compress_task_decompress_lz4_stream_get_dst(task), src);
	doca_compress_task_decompress_lz4_stream_set_has_block_checksum(task, checksums);
	doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(task, independent);
	doca_compress_task_decompress_lz4_stream_set_src(task, src);
	doca_compress_task_decompress_lz4_stream_set_dst(task, dst);
	CHECK_U64(doca_compress_task_decompress_lz4_stream_get_has_block_checksum(task), checksums);
	CHECK_U64(doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(task), independent);
	MUST(doca_task_submit(doca_compress_task_decompress_lz4_stream_as_task(task)));
	squeeze_drain(s);
	outcome = (struct outcome){s->crc, s->other, squeeze_len(dst)};
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	return outcome;
}

static void streams(struct squeeze *s)
{
	struct outcome got;
	size_t len = dependent(s->mem, 0);
	unsigned bad = s->bad;
	uint32_t content;

	/* Dependent blocks, with room for exactly the result. */
	got = run_stream(s, len, 2 * TEXT - 1, 0, 0);
	CHECK_U64(s->bad, bad + 1); /* one byte of room too little */
	CHECK_U64(got.len, 0);
	got = run_stream(s, len, 2 * TEXT, 0, 0);
	CHECK_U64(s->bad, bad + 1);
	CHECK_U64(got.len, 2 * TEXT);
	CHECK_BYTES(s->mem + 4096, text, TEXT);
	CHECK_BYTES(s->mem + 4096 + TEXT, text, 34);
	/* The same blocks declared independent: the second one refers to nothing. */
	got = run_stream(s, len, 2 * TEXT, 0, 1);
	CHECK_U64(s->bad, bad + 2);
	CHECK_STATUS(s->status, DOCA_ERROR_IO_FAILED);
	/* An end mark is no harm, anything behind it is. */
	memset(s->mem + len, 0, 8);
	(void)run_stream(s, len + 4, 2 * TEXT, 0, 0);
	CHECK_U64(s->bad, bad + 2);
	(void)run_stream(s, len + 8, 2 * TEXT, 0, 0);
	CHECK_U64(s->bad, bad + 3);
	/* A block checksum that is not there: the next block's bytes are taken for it. */
	(void)run_stream(s, len, 2 * TEXT, 1, 0);
	CHECK_U64(s->bad, bad + 4);

	/* One stored block with its checksum; the content checksum of the frame is the same number here. */
	(void)dependent(s->mem, 1);
	got = run_stream(s, 4 + TEXT + 4, TEXT, 1, 1);
	CHECK_U64(s->bad, bad + 4);
	CHECK_U64(got.len, TEXT);
	memcpy(&content, s->mem + 4 + TEXT, 4);
	CHECK_U64(got.xxh, htobe32(le32toh(content)));
	CHECK_U64(got.crc, 0xad4270ed);
	s->mem[4 + TEXT] ^= 1;
	(void)run_stream(s, 4 + TEXT + 4, TEXT, 1, 1);
	CHECK_U64(s->bad, bad + 5);
	CHECK_STATUS(s->status, DOCA_ERROR_IO_FAILED);
}

static void blocks(struct squeeze *s)
{
	/* "abc" and a run of it: 3 literals, 13 bytes at distance 3, then five literals. */
	static const uint8_t block[] = {0x39, 'a', 'b', 'c', 3, 0, 0x50, 'b', 'c', 'a', 'b', 'c'};
	static const char plain[] = "abcabcabcabcabcabcabc";
	struct doca_compress_task_decompress_lz4_block *task = NULL;
	struct doca_buf *src, *dst, *none = squeeze_empty(s, 0, 1);
	union doca_data user = {.u64 = 5};

	memcpy(s->mem, block, sizeof(block));
	src = squeeze_full(s, 0, sizeof(block));
	dst = squeeze_empty(s, 4096, 21);
	MUST(doca_compress_task_decompress_lz4_block_alloc_init(s->compress, none, none, user, &task));
	doca_compress_task_decompress_lz4_block_set_src(task, src);
	doca_compress_task_decompress_lz4_block_set_dst(task, dst);
	CHECK_PTR(doca_compress_task_decompress_lz4_block_get_src(task), src);
	CHECK_PTR(doca_compress_task_decompress_lz4_block_get_dst(task), dst);
	MUST(doca_task_try_submit(doca_compress_task_decompress_lz4_block_as_task(task)));
	squeeze_drain(s);
	CHECK_OK(s->status);
	CHECK_U64(squeeze_len(dst), 21);
	CHECK_BYTES(s->mem + 4096, plain, 21);
	CHECK_U64(doca_compress_task_decompress_lz4_block_get_crc_cs(task), s->crc);
	CHECK_U64(doca_compress_task_decompress_lz4_block_get_xxh_cs(task), s->other);
	/* Cut short. */
	MUST(doca_buf_set_data(src, s->mem, sizeof(block) - 1));
	MUST(doca_buf_reset_data_len(dst));
	MUST(doca_compress_task_decompress_lz4_block_alloc_init(s->compress, src, dst, user, &task));
	MUST(doca_task_submit(doca_compress_task_decompress_lz4_block_as_task(task)));
	squeeze_drain(s);
	CHECK_STATUS(s->status, DOCA_ERROR_IO_FAILED);
	CHECK_U64(squeeze_len(dst), 0);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	CHECK_OK(doca_buf_dec_refcount(none, NULL));
}

int main(void)
{
	static const squeeze_cap caps[] = {doca_compress_cap_task_decompress_lz4_stream_is_supported,
					   doca_compress_cap_task_decompress_lz4_block_is_supported};
	struct squeeze s;

	squeeze_make(&s, caps, 2, 8192);
	MUST(doca_compress_task_decompress_lz4_stream_set_conf(s.compress, decompress_lz4_stream_good,
							       decompress_lz4_stream_bad, 2));
	MUST(doca_compress_task_decompress_lz4_block_set_conf(s.compress, decompress_lz4_block_good,
							      decompress_lz4_block_bad, 2));
	MUST(doca_ctx_start(s.ctx));
	streams(&s);
	blocks(&s);
	/* Checksums of the types, by their names. */
	CHECK_U64(doca_compress_task_decompress_lz4_stream_get_crc_cs(NULL), 0);
	CHECK_U64(doca_compress_task_decompress_lz4_stream_get_xxh_cs(NULL), 0);
	squeeze_end(&s);
	return check_result();
}
