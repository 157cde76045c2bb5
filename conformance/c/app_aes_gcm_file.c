/*
 * A file encrypted in records: a header of 5 bytes that is authenticated and stays readable, a number
 * per record as initialisation vector, tags of 16 and of 12 bytes, several records in flight; back
 * again; then a record changed, two swapped, one with the wrong key: none of them opens, the others do.
 *
 * clauses: engine-aes-gcm Behaviour
 * covers: @
 */
#define _GNU_SOURCE

#include <doca_aes_gcm.h>

#include "app_common.h"

#define RECORDS 40u
#define RECORD 4000u
#define HEADER 5u

static uint32_t tag;
static struct doca_aes_gcm *gcm;
static struct app_core core;
static doca_error_t status[RECORDS];
static size_t cell; /* bytes from one record to the next */

APP_CALLBACKS(doca_aes_gcm_task_encrypt, doca_aes_gcm_task_encrypt_as_task)

static void decrypt_done(struct doca_aes_gcm_task_decrypt *task, union doca_data user, union doca_data ctx)
{
	status[user.u64] = DOCA_SUCCESS;
	doca_task_free(doca_aes_gcm_task_decrypt_as_task(task));
	((struct app_core *)ctx.ptr)->done++;
}

static void decrypt_failed(struct doca_aes_gcm_task_decrypt *task, union doca_data user, union doca_data ctx)
{
	status[user.u64] = doca_task_get_status(doca_aes_gcm_task_decrypt_as_task(task));
	doca_task_free(doca_aes_gcm_task_decrypt_as_task(task));
	((struct app_core *)ctx.ptr)->failed++;
}

static void vector(uint8_t *iv, uint32_t record)
{
	memset(iv, 0xa5, 12);
	iv[11] = (uint8_t)record;
}

/* dst[0..] has the records, sealed; plain is where they are opened to. */
static void seal(struct doca_aes_gcm_key *key)
{
	struct doca_aes_gcm_task_encrypt *task;
	struct doca_buf *src[RECORDS], *dst[RECORDS];
	union doca_data user = {0};
	uint8_t iv[12];
	uint32_t i;

	core.done = 0;
	for (i = 0; i < RECORDS; i++) {
		vector(iv, i);
		src[i] = app_data(&core, i * RECORD, RECORD);
		dst[i] = app_room(&core, i * cell, cell);
		MUST(doca_aes_gcm_task_encrypt_alloc_init(gcm, src[i], dst[i], key, iv, 12, tag, HEADER, user, &task));
		memset(iv, 0, sizeof(iv)); /* the task has its own */
		MUST(doca_task_submit(doca_aes_gcm_task_encrypt_as_task(task)));
	}
	app_wait(&core, RECORDS);
	CHECK_U64(core.failed, 0);
	for (i = 0; i < RECORDS; i++) {
		CHECK_U64(app_length(dst[i]), RECORD + tag);
		CHECK_BYTES(core.dst + i * cell, core.src + i * RECORD, HEADER);
		CHECK(memcmp(core.dst + i * cell + HEADER, core.src + i * RECORD + HEADER, 64) != 0);
		CHECK_OK(doca_buf_dec_refcount(src[i], NULL));
		CHECK_OK(doca_buf_dec_refcount(dst[i], NULL));
	}
}

static void open_all(struct doca_aes_gcm_key *key, uint8_t *plain, struct doca_mmap *plain_map, uint32_t bad)
{
	struct doca_aes_gcm_task_decrypt *task;
	struct doca_buf *src[RECORDS], *dst[RECORDS];
	union doca_data user;
	uint8_t iv[12];
	uint32_t i;

	core.done = core.failed = 0;
	memset(plain, 0xee, RECORDS * RECORD);
	for (i = 0; i < RECORDS; i++) {
		status[i] = DOCA_ERROR_UNEXPECTED;
		vector(iv, i);
		MUST(doca_buf_inventory_buf_get_by_data(core.inv, core.dst_map, core.dst + i * cell, RECORD + tag,
							&src[i]));
		MUST(doca_buf_inventory_buf_get_by_addr(core.inv, plain_map, plain + i * RECORD, RECORD, &dst[i]));
		user.u64 = i;
		MUST(doca_aes_gcm_task_decrypt_alloc_init(gcm, src[i], dst[i], key, iv, 12, tag, HEADER, user, &task));
		MUST(doca_task_submit(doca_aes_gcm_task_decrypt_as_task(task)));
	}
	app_wait(&core, RECORDS);
	CHECK_U64(core.failed, bad);
	CHECK_U64(core.state, DOCA_CTX_STATE_RUNNING);
	for (i = 0; i < RECORDS; i++) {
		if (status[i] == DOCA_SUCCESS) {
			CHECK_BYTES(plain + i * RECORD, core.src + i * RECORD, RECORD);
			CHECK_U64(app_length(dst[i]), RECORD);
		} else {
			CHECK_STATUS(status[i], DOCA_ERROR_IO_FAILED);
			CHECK_U64(app_length(dst[i]), 0);
			/* nothing of the plain text is seen */
			CHECK(memcmp(plain + i * RECORD + HEADER, core.src + i * RECORD + HEADER, 16) != 0);
		}
		CHECK_OK(doca_buf_dec_refcount(src[i], NULL));
		CHECK_OK(doca_buf_dec_refcount(dst[i], NULL));
	}
}

static void file(enum doca_aes_gcm_key_type type, uint32_t tag_size)
{
	struct doca_aes_gcm_key *key, *other;
	struct doca_mmap *plain_map;
	uint8_t raw[32], *plain = (uint8_t *)malloc(RECORDS * RECORD), keep[RECORD + 16];
	uint32_t i;

	tag = tag_size;
	cell = RECORD + tag;
	app_core_make(&core, doca_aes_gcm_cap_task_encrypt_is_supported, RECORDS * RECORD, RECORDS * cell,
		      2 * RECORDS);
	app_text(core.src, RECORDS * RECORD, 11);
	plain_map = app_map(core.dev, plain, RECORDS * RECORD, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_aes_gcm_create(core.dev, &gcm));
	MUST(doca_aes_gcm_task_encrypt_set_conf(gcm, app_doca_aes_gcm_task_encrypt_done,
						app_doca_aes_gcm_task_encrypt_failed, RECORDS));
	MUST(doca_aes_gcm_task_decrypt_set_conf(gcm, decrypt_done, decrypt_failed, RECORDS));
	app_core_start(&core, doca_aes_gcm_as_ctx(gcm));
	for (i = 0; i < 32; i++)
		raw[i] = (uint8_t)(i * 17 + 3);
	MUST(doca_aes_gcm_key_create(gcm, raw, type, &key));
	raw[0] ^= 1;
	MUST(doca_aes_gcm_key_create(gcm, raw, type, &other));
	memset(raw, 0, sizeof(raw));
	seal(key);
	open_all(key, plain, plain_map, 0);
	core.dst[3 * cell + 100] ^= 1;		  /* text */
	core.dst[5 * cell] ^= 1;		  /* header */
	core.dst[7 * cell + RECORD + tag - 1] ^= 1; /* tag */
	memcpy(keep, core.dst + 9 * cell, cell);
	memcpy(core.dst + 9 * cell, core.dst + 10 * cell, cell);
	memcpy(core.dst + 10 * cell, keep, cell);
	open_all(key, plain, plain_map, 5);
	CHECK(status[3] && status[5] && status[7] && status[9] && status[10]);
	open_all(other, plain, plain_map, RECORDS);
	CHECK_OK(doca_aes_gcm_key_destroy(key));
	CHECK_OK(doca_aes_gcm_key_destroy(other));
	app_core_stop(&core);
	CHECK_OK(doca_aes_gcm_destroy(gcm));
	CHECK_OK(doca_mmap_destroy(plain_map));
	app_core_free(&core);
	free(plain);
}

int main(void)
{
	file(DOCA_AES_GCM_KEY_128, 16);
	file(DOCA_AES_GCM_KEY_256, 12);
	return check_result();
}
