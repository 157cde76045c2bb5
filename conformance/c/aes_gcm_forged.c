/*
 * Messages that are not authentic: the error callback with IO_FAILED, no plain text anywhere, the destination's data
 * length as before, and a context that goes on. In memory of one's own, in imported memory, in place, in lists.
 *
 * clauses: aes-gcm Checks and failures
 * covers: doca_aes_gcm_task_decrypt_alloc_init doca_aes_gcm_task_decrypt_as_task
 */
#include "aes_gcm_rig.h"

#define AT_SEALED ((size_t)1 << 20)
#define AT_DST ((size_t)2 << 20)
#define BYTES ((size_t)4 << 20)

static const uint8_t iv[12] = {1, 1, 2, 3, 5, 8, 13};

/* Is a piece of the plain text still there? The pattern has no repetition of 8 bytes. */
static int shows(const uint8_t *where, const uint8_t *plain, size_t len)
{
	size_t i;

	for (i = 0; i + 8 <= len; i++)
		if (memcmp(where + i, plain + i, 8) == 0)
			return 1;
	return 0;
}

/* Room in this map. */
static struct doca_buf *room(struct gcm *gcm, struct doca_mmap *map, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_addr(gcm->inv, map, gcm->mem + at, len, &buf));
	return buf;
}

static void forge(struct gcm *gcm, struct doca_mmap *map, struct doca_aes_gcm_key *key, size_t len, size_t flip,
		  int in_place, int list, int exported)
{
	struct gcm_message m = {key, iv, 12, 16, 3};
	size_t to = in_place ? AT_SEALED : AT_DST, k;
	struct doca_buf *src, *dst, *tail;

	for (k = 0; k < len; k++)
		gcm->mem[k] = (uint8_t)((k * 2654435761u) >> 13);
	memset(gcm->mem + AT_DST, 0xa5, len + 64);
	src = gcm_src(gcm, 0, len);
	dst = gcm_dst(gcm, AT_SEALED, len + 16);
	MUST(gcm_run(gcm, 1, src, dst, &m));
	gcm_drop(src);
	gcm_drop(dst);
	gcm->mem[AT_SEALED + flip] ^= 0x40;

	src = gcm_src(gcm, AT_SEALED, len + 16);
	dst = room(gcm, map, to, list ? len / 2 : len + 16);
	if (list) {
		tail = room(gcm, map, to + len / 2, len + 16 - len / 2);
		MUST(doca_buf_chain_list(dst, tail));
	}
	CHECK_STATUS(gcm_run(gcm, 0, src, dst, &m), DOCA_ERROR_IO_FAILED);
	CHECK_U64(gcm_data_len(dst), 0);
	CHECK(!shows(gcm->mem + to + 3, gcm->mem + 3, len - 3));
	for (k = 3; !in_place && k < len + 64; k++)
		MUST_BE(gcm->mem[to + k] == (k < len && !exported ? 0 : 0xa5));
	gcm->mem[AT_SEALED + flip] ^= 0x40;
	if (!in_place) {
		CHECK_OK(gcm_run(gcm, 0, src, dst, &m));
		CHECK_BYTES(gcm->mem + to, gcm->mem, len);
	}
	gcm_drop(src);
	gcm_drop(dst);
}

int main(void)
{
	static const size_t sizes[] = {11, 64, 1000, 20000, 262144, 900000};
	static const uint8_t raw[16] = "a 128-bit secret";
	struct doca_aes_gcm_key *key = NULL;
	struct doca_mmap *imported = NULL;
	const void *desc = NULL;
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;
	struct gcm gcm;
	size_t desc_len = 0, i;
	int way;

	gcm_setup(&gcm, BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	MUST(doca_aes_gcm_key_create(gcm.aes_gcm, raw, DOCA_AES_GCM_KEY_128, &key));
	/* First memory that nobody else can look at, then the same memory once it was exported: through the owner's map
	 * and through the import. */
	for (way = 0; way < 12; way++) {
		struct doca_mmap *map = gcm.map;

		if (way == 4) {
			MUST(doca_mmap_export_pci(gcm.map, gcm.dev, &desc, &desc_len));
			MUST(doca_mmap_create_from_export(NULL, desc, desc_len, gcm.dev, &imported));
		}
		if (way >= 8)
			map = imported;
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			size_t len = sizes[i];

			forge(&gcm, map, key, len, 0, way & 1, way >> 1 & 1, way >= 4);
			forge(&gcm, map, key, len, len / 2 + 1, way & 1, way >> 1 & 1, way >= 4);
			forge(&gcm, map, key, len, len + 15, way & 1, way >> 1 & 1, way >= 4);
		}
	}
	CHECK_OK(doca_ctx_get_state(gcm.ctx, &state));
	CHECK_U64(state, DOCA_CTX_STATE_RUNNING);
	CHECK_OK(doca_aes_gcm_key_destroy(key));
	CHECK_OK(doca_mmap_destroy(imported));
	gcm_teardown(&gcm);
	return check_result();
}
