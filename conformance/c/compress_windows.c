/*
 * Bytes outside of the windows are neither read nor written: sources and destinations that end at a page nobody may
 * touch, lists cut anywhere, output that fills its room to the last byte; damaged and cut input, too little room,
 * missing rights and limits: which status, and that neither data lengths nor the context suffer.
 *
 * clauses: compress Buffers, Completion
 * covers: @
 * std: gnu11
 */
#include "compress_rig.h"

static uint32_t seed = 5;

static uint32_t next(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)seed * below) >> 32);
}

/* The bytes [0, len) of a map as a list of up to eight pieces; empty ones when they are to be room. */
static struct doca_buf *list(struct squeeze *s, struct doca_mmap *map, uint8_t *at, size_t len, int full)
{
	uint32_t pieces = 1 + next(8), i;
	struct doca_buf *head = NULL, *buf = NULL;

	for (i = 0; i < pieces; i++) {
		size_t n = i + 1 == pieces ? len : next((uint32_t)len + 1);

		if (n == 0)
			continue;
		if (full)
			MUST(doca_buf_inventory_buf_get_by_data(s->inv, map, at, n, &buf));
		else
			MUST(doca_buf_inventory_buf_get_by_addr(s->inv, map, at, n, &buf));
		if (head == NULL)
			head = buf;
		else
			MUST(doca_buf_chain_list(head, buf));
		at += n;
		len -= n;
	}
	return head;
}

static size_t list_len(struct doca_buf *head)
{
	size_t sum = 0;

	for (; head != NULL; MUST(doca_buf_get_next_in_list(head, &head)))
		sum += squeeze_len(head);
	return sum;
}

static doca_error_t compress(struct squeeze *s, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_compress_task_compress_deflate *task = NULL;
	union doca_data user = {0};

	MUST(doca_compress_task_compress_deflate_alloc_init(s->compress, src, dst, user, &task));
	MUST(doca_task_submit(doca_compress_task_compress_deflate_as_task(task)));
	squeeze_drain(s);
	return s->status;
}

static doca_error_t decompress(struct squeeze *s, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_compress_task_decompress_deflate *task = NULL;
	union doca_data user = {0};

	MUST(doca_compress_task_decompress_deflate_alloc_init(s->compress, src, dst, user, &task));
	MUST(doca_task_submit(doca_compress_task_decompress_deflate_as_task(task)));
	squeeze_drain(s);
	return s->status;
}

/* Every window ends at the guard page; access flags decide whether the library may look at memory in place. */
static void guarded(struct squeeze *s, uint32_t access)
{
	size_t plain_mapped, packed_mapped, back_mapped, len = 1 + next(60000), most = len + len / 100 + 64, packed, i;
	uint8_t *plain = squeeze_guarded(len, &plain_mapped), *back = squeeze_guarded(len, &back_mapped), *tight;
	struct doca_mmap *plain_map = squeeze_map(s, plain, len, access), *back_map = squeeze_map(s, back, len, access);
	struct doca_mmap *tight_map;
	struct doca_buf *src, *dst;

	for (i = 0; i < len; i++)
		plain[i] = (uint8_t)(next(3) == 0 ? next(256) : (uint32_t)"windows"[i % 7]);
	src = list(s, plain_map, plain, len, 1);
	dst = squeeze_empty(s, 0, most);
	CHECK_OK(compress(s, src, dst));
	packed = squeeze_len(dst);

	/* Again, into exactly as much room as that took. The stream may be another one, or the compressor may want a
	 * little more room than it uses. */
	tight = squeeze_guarded(packed, &packed_mapped);
	tight_map = squeeze_map(s, tight, packed, access);
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	dst = list(s, tight_map, tight, packed, 0);
	if (compress(s, src, dst) == DOCA_SUCCESS) {
		struct doca_buf *out = list(s, back_map, back, len, 0);

		CHECK(list_len(dst) <= packed);
		CHECK_OK(decompress(s, dst, out));
		CHECK_U64(list_len(out), len);
		CHECK_BYTES(back, plain, len);
		memset(back, 0, len);
		CHECK_OK(doca_buf_dec_refcount(out, NULL));
	} else {
		CHECK_STATUS(s->status, DOCA_ERROR_IO_FAILED);
		CHECK_U64(list_len(dst), 0);
	}
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	CHECK_OK(doca_buf_dec_refcount(src, NULL));

	/* Back again: the stream ends at a guard page, and so does the room for its data. */
	memcpy(tight, s->mem, packed);
	src = list(s, tight_map, tight, packed, 1);
	dst = list(s, back_map, back, len, 0);
	CHECK_OK(decompress(s, src, dst));
	CHECK_U64(list_len(dst), len);
	CHECK_BYTES(back, plain, len);
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	CHECK_OK(doca_buf_dec_refcount(src, NULL));

	/* Cut and damaged, it never reads or writes further, and lengths stay. */
	for (i = 0; i < 20; i++) {
		size_t cut = 1 + next((uint32_t)packed), at = next((uint32_t)cut);
		uint8_t was = tight[at];

		tight[at] ^= (uint8_t)next(256);
		src = list(s, tight_map, tight, cut, 1);
		dst = list(s, back_map, back, len, 0);
		if (decompress(s, src, dst) != DOCA_SUCCESS) {
			CHECK_STATUS(s->status, DOCA_ERROR_IO_FAILED);
			CHECK_U64(list_len(dst), 0);
		}
		tight[at] = was;
		CHECK_OK(doca_buf_dec_refcount(dst, NULL));
		CHECK_OK(doca_buf_dec_refcount(src, NULL));
	}
	CHECK_OK(doca_mmap_destroy(plain_map));
	CHECK_OK(doca_mmap_destroy(back_map));
	CHECK_OK(doca_mmap_destroy(tight_map));
	munmap(plain - (plain_mapped - len), plain_mapped + 4096);
	munmap(back - (back_mapped - len), back_mapped + 4096);
	munmap(tight - (packed_mapped - packed), packed_mapped + 4096);
}

/* submit takes it and it fails; try_submit refuses it with the same status; the context goes on either way. */
static void refused(struct squeeze *s, struct doca_buf *src, struct doca_buf *dst, doca_error_t want)
{
	struct doca_compress_task_compress_deflate *task = NULL;
	union doca_data user = {0};
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;
	unsigned bad = s->bad;

	MUST(doca_compress_task_compress_deflate_alloc_init(s->compress, src, dst, user, &task));
	CHECK_STATUS(doca_task_try_submit(doca_compress_task_compress_deflate_as_task(task)), want);
	CHECK_OK(doca_task_submit(doca_compress_task_compress_deflate_as_task(task)));
	squeeze_drain(s);
	CHECK_U64(s->bad, bad + 1);
	CHECK_STATUS(s->status, want);
	CHECK_OK(doca_ctx_get_state(s->ctx, &state));
	CHECK_U64(state, DOCA_CTX_STATE_RUNNING);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
}

static void refusals(struct squeeze *s)
{
	struct doca_mmap *read_only = squeeze_map(s, s->mem, s->len, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *buf = NULL, *many;
	int i;

	refused(s, squeeze_empty(s, 0, 100), squeeze_empty(s, 1000, 100), DOCA_ERROR_INVALID_VALUE);
	refused(s, squeeze_full(s, 0, 100), squeeze_full(s, 1000, 100), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_buf_inventory_buf_get_by_addr(s->inv, read_only, s->mem + 1000, 100, &buf));
	refused(s, squeeze_full(s, 0, 100), buf, DOCA_ERROR_NOT_PERMITTED);
	for (many = squeeze_full(s, 0, 10), i = 1; i < 65; i++)
		MUST(doca_buf_chain_list(many, squeeze_full(s, (size_t)i * 10, 10)));
	refused(s, many, squeeze_empty(s, 10000, 1000), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_destroy(read_only));
	/* A destination that is too small is found while it is filled. */
	buf = squeeze_empty(s, 10000, 3);
	many = squeeze_full(s, 0, 5000);
	CHECK_STATUS(compress(s, many, buf), DOCA_ERROR_IO_FAILED);
	CHECK_U64(squeeze_len(buf), 0);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_OK(doca_buf_dec_refcount(many, NULL));
}

int main(void)
{
	static const squeeze_cap caps[] = {doca_compress_cap_task_compress_deflate_is_supported,
					   doca_compress_cap_task_decompress_deflate_is_supported};
	struct squeeze s;
	int i;

	squeeze_make(&s, caps, 2, 70000);
	MUST(doca_compress_task_compress_deflate_set_conf(s.compress, compress_deflate_good, compress_deflate_bad, 2));
	MUST(doca_compress_task_decompress_deflate_set_conf(s.compress, decompress_deflate_good, decompress_deflate_bad,
							    2));
	MUST(doca_ctx_start(s.ctx));
	for (i = 0; i < 30; i++)
		guarded(&s, i % 2 == 0 ? DOCA_ACCESS_FLAG_LOCAL_READ_WRITE :
					 DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	refusals(&s);
	squeeze_end(&s);
	return check_result();
}
