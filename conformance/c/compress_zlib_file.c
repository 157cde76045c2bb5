/*
 * A zlib file made and read by the card, as programs do it: the stream is compressed behind room for the two
 * header bytes, header and Adler-32 are put around it by the program; reading strips both. Tasks are kept and
 * submitted again with other buffers; many sizes; memory maps come while the context runs.
 *
 * clauses: compress Context life, Completion, Buffers, Formats, Checksums
 * covers: @
 * std: gnu11
 * env: SOFTDPU_ISAL=off
 */
#include <endian.h>

#include "compress_rig.h"

#define AREA ((size_t)1 << 20)
#define PLAIN 0
#define FILE_AT AREA
#define BACK (3 * AREA)

/* Adler-32 and CRC-32 by the book. */
static uint32_t adler32_of(const uint8_t *p, size_t n)
{
	uint32_t a = 1, b = 0;

	for (; n > 0; n--, p++) {
		a = (a + *p) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

static uint32_t crc32_of(const uint8_t *p, size_t n)
{
	uint32_t crc = 0xffffffff;
	int bit;

	for (; n > 0; n--, p++)
		for (crc ^= *p, bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	return ~crc;
}

static void round_trip(struct squeeze *s, size_t len)
{
	struct doca_compress_task_compress_deflate *pack = NULL;
	struct doca_compress_task_decompress_deflate *unpack = NULL;
	struct doca_buf *plain = squeeze_full(s, PLAIN, len), *file = squeeze_empty(s, FILE_AT, len + len / 100 + 64);
	struct doca_buf *body, *back = squeeze_empty(s, BACK, len);
	uint32_t adler = adler32_of(s->mem + PLAIN, len), crc = crc32_of(s->mem + PLAIN, len);
	union doca_data user = {.u64 = len};
	unsigned good = s->good;
	uint32_t trailer = htobe32(adler);
	uint8_t *at;
	void *data = NULL;
	size_t packed;

	/* The stream goes behind the header, which is not there yet. */
	MUST(doca_buf_set_data(file, s->mem + FILE_AT + 2, 0));
	MUST(doca_compress_task_compress_deflate_alloc_init(s->compress, plain, file, user, &pack));
	CHECK_PTR(doca_compress_task_compress_deflate_get_src(pack), plain);
	CHECK_PTR(doca_compress_task_compress_deflate_get_dst(pack), file);
	MUST(doca_task_submit(doca_compress_task_compress_deflate_as_task(pack)));
	/* It never completes inside the submit. */
	CHECK_U64(s->good, good);
	squeeze_drain(s);
	CHECK_U64(s->good, good + 1);
	CHECK_U64(s->crc, crc);
	CHECK_U64(s->other, adler);
	CHECK_OK(doca_buf_get_data(file, &data));
	CHECK_PTR(data, s->mem + FILE_AT + 2);
	packed = squeeze_len(file);
	CHECK(packed > 0 && packed <= len + len / 100 + 62);
	at = s->mem + FILE_AT;
	at[0] = 0x78;
	at[1] = 0x01;
	MUST(doca_buf_set_data(file, at, packed + 6));
	memcpy(at + 2 + packed, &trailer, 4);

	/* And back: header and trailer stripped. */
	body = squeeze_full(s, FILE_AT + 2, packed);
	MUST(doca_compress_task_decompress_deflate_alloc_init(s->compress, body, back, user, &unpack));
	CHECK_PTR(doca_compress_task_decompress_deflate_get_src(unpack), body);
	CHECK_PTR(doca_compress_task_decompress_deflate_get_dst(unpack), back);
	MUST(doca_task_try_submit(doca_compress_task_decompress_deflate_as_task(unpack)));
	squeeze_drain(s);
	CHECK_U64(s->good, good + 2);
	CHECK_U64(s->crc, crc);
	CHECK_U64(s->other, be32toh(trailer));
	CHECK_U64(squeeze_len(back), len);
	CHECK_BYTES(s->mem + BACK, s->mem + PLAIN, len);
	CHECK_OK(doca_buf_dec_refcount(plain, NULL));
	CHECK_OK(doca_buf_dec_refcount(file, NULL));
	CHECK_OK(doca_buf_dec_refcount(body, NULL));
	CHECK_OK(doca_buf_dec_refcount(back, NULL));
}

static struct doca_compress_task_compress_deflate *kept;
static unsigned landed;

static void keep_good(struct doca_compress_task_compress_deflate *task, union doca_data user, union doca_data ctx)
{
	(void)ctx;
	CHECK_PTR(task, kept);
	CHECK_U64(user.u64, 77);
	CHECK_OK(doca_task_get_status(doca_compress_task_compress_deflate_as_task(task)));
	landed++;
}

static void keep_bad(struct doca_compress_task_compress_deflate *task, union doca_data user, union doca_data ctx)
{
	(void)task, (void)user, (void)ctx;
	CHECK(0);
}

/* A task made with placeholder buffers, which are aimed before each submit; the task is never freed in between. */
static void kept_task(struct squeeze *s)
{
	struct doca_buf *src = squeeze_empty(s, 0, 1), *dst = squeeze_empty(s, 1, 1), *other = squeeze_empty(s, 2, 1);
	union doca_data user = {.u64 = 77};
	unsigned i;

	MUST(doca_ctx_stop(s->ctx));
	MUST(doca_compress_task_compress_deflate_set_conf(s->compress, keep_good, keep_bad, 1));
	MUST(doca_ctx_start(s->ctx));
	MUST(doca_compress_task_compress_deflate_alloc_init(s->compress, src, other, user, &kept));
	doca_compress_task_compress_deflate_set_dst(kept, dst);
	doca_compress_task_compress_deflate_set_src(kept, src);
	for (i = 1; i <= 20; i++) {
		MUST(doca_buf_inventory_buf_reuse_by_data(src, s->mem + i, i * 100));
		MUST(doca_buf_inventory_buf_reuse_by_addr(dst, s->mem + FILE_AT, AREA));
		MUST(doca_task_submit(doca_compress_task_compress_deflate_as_task(kept)));
		squeeze_drain(s);
		CHECK_U64(landed, i);
		CHECK_U64(doca_compress_task_compress_deflate_get_crc_cs(kept), crc32_of(s->mem + i, i * 100));
		CHECK_U64(doca_compress_task_compress_deflate_get_adler_cs(kept), adler32_of(s->mem + i, i * 100));
		CHECK(squeeze_len(dst) > 0);
	}
	CHECK_U64(squeeze_len(other), 0);
	doca_task_free(doca_compress_task_compress_deflate_as_task(kept));
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	CHECK_OK(doca_buf_dec_refcount(other, NULL));
}

int main(void)
{
	static const squeeze_cap caps[] = {doca_compress_cap_task_compress_deflate_is_supported,
					   doca_compress_cap_task_decompress_deflate_is_supported};
	static const size_t sizes[] = {1, 2, 100, 4096, 65535, 65536, 70000, 300000, 1000000};
	struct squeeze s;
	size_t i;

	squeeze_make(&s, caps, 2, 4 * AREA);
	for (i = 0; i < AREA; i++)
		s.mem[i] = (uint8_t)(i % 7 == 0 ? i * 2654435761u >> 13 : (size_t)"compression "[i % 12]);
	MUST(doca_compress_task_compress_deflate_set_conf(s.compress, compress_deflate_good, compress_deflate_bad, 4));
	MUST(doca_compress_task_decompress_deflate_set_conf(s.compress, decompress_deflate_good, decompress_deflate_bad,
							    4));
	MUST(doca_ctx_start(s.ctx));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		round_trip(&s, sizes[i]);
	kept_task(&s);
	squeeze_end(&s);
	return check_result();
}
