/*
 * What AES-GCM tasks do to bytes: published vectors (McGrew and Viega, test cases 4, 5, 16 and 17), appended
 * destinations, lists cut anywhere, in place, overlap, long messages, neighbours untouched, fences at both ends.
 *
 * clauses: aes-gcm Data layout
 * covers: @
 */
#define _DEFAULT_SOURCE
#include <sys/mman.h>

#include "aes_gcm_rig.h"

#define AT_SRC ((size_t)4096)
#define AT_DST ((size_t)1 << 22)
#define BYTES ((size_t)9 << 20)

static uint32_t seed = 7;

static uint32_t next(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)seed * below) >> 32);
}

static const char plain_hex[] = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
				"1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
static const char aad_hex[] = "feedfacedeadbeeffeedfacedeadbeefabaddad2";

static const struct {
	enum doca_aes_gcm_key_type type;
	const char *key, *iv, *sealed;
} vectors[] = {
	{DOCA_AES_GCM_KEY_128, "feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
	 "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
	 "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e0915bc94fbc3221a5db94fae95ae7121a47"},
	{DOCA_AES_GCM_KEY_128, "feffe9928665731c6d6a8f9467308308", "cafebabefacedbad",
	 "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c7423"
	 "73806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f45983612d2e79e3b0785561be14aaca2fccb"},
	{DOCA_AES_GCM_KEY_256, "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
	 "cafebabefacedbaddecaf888",
	 "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
	 "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"},
	{DOCA_AES_GCM_KEY_256, "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbad",
	 "c3762df1ca787d32ae47c13bf19844cbaf1ae14d0b976afac52ff7d79bba9de0"
	 "feb582d33934a4f0954cc2363bc73f7862ac430e64abe499f47c9b1f3a337dbf46a792c45e454913fe2ea8f2"},
};

static void published(struct gcm *gcm)
{
	uint8_t key[32], iv[12], sealed[96], opened[96];
	size_t i, text, n;

	for (i = 0; i < 2 * sizeof(vectors) / sizeof(vectors[0]); i++) {
		struct gcm_message m = {NULL, iv, 0, i % 2 ? 12 : 16, 20};
		struct doca_buf *src, *dst;

		gcm_hex(key, vectors[i / 2].key);
		m.iv_len = (uint32_t)gcm_hex(iv, vectors[i / 2].iv);
		text = gcm_hex(opened, aad_hex);
		text += gcm_hex(opened + text, plain_hex);
		gcm_hex(sealed, aad_hex);
		n = 20 + gcm_hex(sealed + 20, vectors[i / 2].sealed) - (16 - m.tag);
		CHECK_OK(doca_aes_gcm_key_create(gcm->aes_gcm, key, vectors[i / 2].type, &m.key));
		memset(key, 0, sizeof(key)); /* it was copied */

		memset(gcm->mem + AT_DST, 0xa5, 256);
		memcpy(gcm->mem + AT_SRC, opened, text);
		src = gcm_src(gcm, AT_SRC, text);
		dst = gcm_dst(gcm, AT_DST + 8, 200);
		MUST(doca_buf_set_data(dst, gcm->mem + AT_DST + 8, 5)); /* five bytes are there already */
		CHECK_OK(gcm_run(gcm, 1, src, dst, &m));
		CHECK_U64(gcm_data_len(dst), 5 + n);
		CHECK_BYTES(gcm->mem + AT_DST + 13, sealed, n);
		CHECK_U64(gcm->mem[AT_DST + 12], 0xa5);
		CHECK_U64(gcm->mem[AT_DST + 13 + n], 0xa5);
		gcm_drop(src);
		gcm_drop(dst);

		src = gcm_src(gcm, AT_DST + 13, n);
		dst = gcm_dst(gcm, AT_SRC + 1000, text); /* not a byte more */
		memset(gcm->mem + AT_SRC + 990, 0xa5, text + 20);
		CHECK_OK(gcm_run(gcm, 0, src, dst, &m));
		CHECK_U64(gcm_data_len(dst), text);
		CHECK_BYTES(gcm->mem + AT_SRC + 1000, opened, text);
		CHECK_U64(gcm->mem[AT_SRC + 999], 0xa5);
		CHECK_U64(gcm->mem[AT_SRC + 1000 + text], 0xa5);
		gcm_drop(src);
		gcm_drop(dst);
		CHECK_OK(doca_aes_gcm_key_destroy(m.key));
	}
}

/* A list of up to ten elements over [at, at + len), full or empty. */
static struct doca_buf *scattered(struct gcm *gcm, size_t at, size_t len, int full)
{
	struct doca_buf *head = NULL, *piece;
	size_t left = len, parts = 1 + next(9);

	while (left > 0) {
		size_t n = parts-- <= 1 ? left : 1 + next((uint32_t)left);

		piece = full ? gcm_src(gcm, at, n) : gcm_dst(gcm, at, n);
		if (head == NULL)
			head = piece;
		else
			MUST(doca_buf_chain_list(head, piece));
		at += n;
		left -= n;
	}
	return head;
}

/* Everything against the same message in one piece; the way back is the identity. */
static void lists(struct gcm *gcm, struct doca_aes_gcm_key *key)
{
	static const size_t sizes[] = {1, 15, 16, 17, 31, 64, 255, 1000, 4096, 5001, 70000, 262144, 262145, 1500000};
	uint8_t iv[12] = {1, 2, 3};
	size_t i, k, len;
	int round;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct gcm_message m = {key, iv, (uint32_t)(i % 13), i % 3 ? 16 : 12, 0};
		struct doca_buf *src, *dst;
		uint8_t *whole = gcm->mem + AT_DST, *other = gcm->mem + AT_DST + (2 << 20);

		len = sizes[i];
		m.aad = next((uint32_t)(len < 300 ? len + 1 : 300));
		for (k = 0; k < len; k++)
			gcm->mem[AT_SRC + k] = (uint8_t)next(256);
		src = gcm_src(gcm, AT_SRC, len);
		dst = gcm_dst(gcm, AT_DST, len + m.tag);
		MUST(gcm_run(gcm, 1, src, dst, &m));
		CHECK_U64(gcm_data_len(dst), len + m.tag);
		CHECK_BYTES(whole, gcm->mem + AT_SRC, m.aad);
		gcm_drop(src);
		gcm_drop(dst);
		for (round = 0; round < 5; round++) {
			src = scattered(gcm, AT_SRC, len, 1);
			dst = scattered(gcm, AT_DST + (2 << 20), len + m.tag, 0);
			memset(other - 16, 0xa5, len + m.tag + 32);
			CHECK_OK(gcm_run(gcm, 1, src, dst, &m));
			CHECK_BYTES(other, whole, len + m.tag);
			CHECK(other[-1] == 0xa5 && other[len + m.tag] == 0xa5);
			gcm_drop(src);
			gcm_drop(dst);
			src = scattered(gcm, AT_DST, len + m.tag, 1);
			dst = scattered(gcm, AT_DST + (2 << 20), len, 0);
			memset(other, 0xa5, len + m.tag);
			CHECK_OK(gcm_run(gcm, 0, src, dst, &m));
			CHECK_BYTES(other, gcm->mem + AT_SRC, len);
			CHECK(other[len] == 0xa5);
			gcm_drop(src);
			gcm_drop(dst);
		}
	}
}

/* Source and destination on the same memory, at the same place or a little beside it. */
static void in_place(struct gcm *gcm, struct doca_aes_gcm_key *key)
{
	static const size_t sizes[] = {0, 5, 100, 4096, 100000, 300000, 1000000};
	static const int beside[] = {0, 1, -1, 16, 300};
	uint8_t iv[12] = {9};
	uint8_t *want = gcm->mem + AT_DST, *keep = gcm->mem + AT_DST + (2 << 20);
	size_t i, b, k;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (b = 0; b < sizeof(beside) / sizeof(beside[0]); b++) {
			struct gcm_message m = {key, iv, 12, 16, 7};
			size_t len = sizes[i] + 7, at = AT_SRC + 512, to = at + (size_t)(ptrdiff_t)beside[b];
			struct doca_buf *src, *dst;

			for (k = 0; k < len; k++)
				gcm->mem[at + k] = keep[k] = (uint8_t)(k * 5 + i);
			src = gcm_src(gcm, at, len);
			dst = gcm_dst(gcm, AT_DST, len + 16);
			MUST(gcm_run(gcm, 1, src, dst, &m));
			gcm_drop(dst);
			dst = gcm_dst(gcm, to, len + 16);
			CHECK_OK(gcm_run(gcm, 1, src, dst, &m));
			CHECK_BYTES(gcm->mem + to, want, len + 16);
			gcm_drop(src);
			gcm_drop(dst);
			/* Back, with the room for as many bytes as the source has. */
			src = gcm_src(gcm, to, len + 16);
			dst = gcm_dst(gcm, at, len + 16);
			CHECK_OK(gcm_run(gcm, 0, src, dst, &m));
			CHECK_U64(gcm_data_len(dst), len);
			CHECK_BYTES(gcm->mem + at, keep, len);
			gcm_drop(src);
			gcm_drop(dst);
		}
	}
}

/* Additional data alone, and nothing at all. */
static void nothing_to_encrypt(struct gcm *gcm, struct doca_aes_gcm_key *key)
{
	uint8_t iv[12] = {4};
	struct gcm_message m = {key, iv, 12, 12, 10};
	struct doca_buf *src = gcm_src(gcm, AT_SRC, 10), *dst = gcm_dst(gcm, AT_DST, 22), *back;

	CHECK_OK(gcm_run(gcm, 1, src, dst, &m));
	CHECK_U64(gcm_data_len(dst), 22);
	CHECK_BYTES(gcm->mem + AT_DST, gcm->mem + AT_SRC, 10);
	back = gcm_dst(gcm, AT_DST + 100, 10);
	CHECK_OK(gcm_run(gcm, 0, dst, back, &m));
	CHECK_U64(gcm_data_len(back), 10);
	gcm_drop(src);
	gcm_drop(dst);
	gcm_drop(back);

	m.aad = 0;
	m.iv = NULL; /* no vector is one of no bytes */
	m.iv_len = 0;
	src = gcm_dst(gcm, AT_SRC, 10); /* no data */
	dst = gcm_dst(gcm, AT_DST, 12);
	CHECK_OK(gcm_run(gcm, 1, src, dst, &m));
	CHECK_U64(gcm_data_len(dst), 12);
	back = gcm_dst(gcm, AT_DST + 100, 10);
	CHECK_OK(gcm_run(gcm, 0, dst, back, &m));
	CHECK_U64(gcm_data_len(back), 0);
	gcm_drop(src);
	gcm_drop(dst);
	gcm_drop(back);
}

/* A map over `pages` pages with an inaccessible one at each side. */
static struct doca_mmap *fenced(struct gcm *gcm, size_t pages, uint8_t **mem)
{
	struct doca_mmap *map = NULL;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *all = (uint8_t *)mmap(NULL, (pages + 2) * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST_BE(all != (uint8_t *)MAP_FAILED);
	MUST_BE(mprotect(all + page, pages * page, PROT_READ | PROT_WRITE) == 0);
	*mem = all + page;
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, gcm->dev));
	MUST(doca_mmap_set_memrange(map, *mem, pages * page));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	MUST(doca_mmap_start(map));
	return map;
}

static struct doca_buf *at(struct gcm *gcm, struct doca_mmap *map, uint8_t *where, size_t len, int full)
{
	struct doca_buf *buf = NULL;

	if (full)
		MUST(doca_buf_inventory_buf_get_by_data(gcm->inv, map, where, len, &buf));
	else
		MUST(doca_buf_inventory_buf_get_by_addr(gcm->inv, map, where, len, &buf));
	return buf;
}

/* Windows that begin or end where touching one more byte would be fatal. */
static void at_the_edge(struct gcm *gcm, struct doca_aes_gcm_key *key)
{
	uint8_t iv[12] = {6}, *from = NULL, *to = NULL;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = 2 * page, len;
	struct doca_mmap *from_map = fenced(gcm, 2, &from), *to_map = fenced(gcm, 2, &to);
	struct gcm_message m = {key, iv, 12, 16, 0};
	int ends;

	for (len = 1; len < room - 16; len = len < 300 ? len + 1 : len * 5 / 4) {
		for (ends = 0; ends < 4; ends++) {
			uint8_t *src_at = ends & 1 ? from + room - len : from;
			uint8_t *dst_at = ends & 2 ? to + room - len - 16 : to;
			struct doca_buf *src, *dst;

			m.aad = (uint32_t)(len % 5);
			memset(src_at, (int)len, len);
			src = at(gcm, from_map, src_at, len, 1);
			dst = at(gcm, to_map, dst_at, len + 16, 0);
			CHECK_OK(gcm_run(gcm, 1, src, dst, &m));
			gcm_drop(src);
			gcm_drop(dst);
			memset(src_at, 0, len);
			src = at(gcm, to_map, dst_at, len + 16, 1);
			dst = at(gcm, from_map, src_at, len, 0);
			CHECK_OK(gcm_run(gcm, 0, src, dst, &m));
			MUST_BE(src_at[0] == (uint8_t)len && src_at[len - 1] == (uint8_t)len);
			gcm_drop(src);
			gcm_drop(dst);
		}
	}
	CHECK_OK(doca_mmap_destroy(from_map));
	CHECK_OK(doca_mmap_destroy(to_map));
	CHECK(munmap(from - page, 4 * page) == 0);
	CHECK(munmap(to - page, 4 * page) == 0);
}

int main(void)
{
	static const uint8_t raw[32] = "thirty-two bytes of a good key!";
	struct doca_aes_gcm_key *key = NULL;
	struct gcm gcm;

	gcm_setup(&gcm, BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	published(&gcm);
	MUST(doca_aes_gcm_key_create(gcm.aes_gcm, raw, DOCA_AES_GCM_KEY_256, &key));
	lists(&gcm, key);
	in_place(&gcm, key);
	nothing_to_encrypt(&gcm, key);
	at_the_edge(&gcm, key);
	CHECK_U64(gcm.bad, 0);
	CHECK_OK(doca_aes_gcm_key_destroy(key));
	gcm_teardown(&gcm);
	return check_result();
}
