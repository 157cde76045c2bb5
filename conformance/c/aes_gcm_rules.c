/*
 * The AES-GCM context, its keys and its tasks: creation, configuration, limits, life times, what alloc_init and the
 * checked submit refuse, getters and setters, handles that are NULL, of another kind, gone.
 *
 * clauses: aes-gcm Instance, Keys, Task, Context life, Key and IV memory
 * covers: @
 */
#include "aes_gcm_rig.h"

static const uint8_t raw[32] = "not the best of keys";
static const uint8_t iv[12] = "twelve bytes";

static void configuration(struct doca_dev *dev)
{
	struct doca_aes_gcm *gcm = NULL;
	struct doca_pe *pe = NULL;
	uint32_t most = 0;

	CHECK_STATUS(doca_aes_gcm_create(NULL, &gcm), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_create(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_aes_gcm_as_ctx(NULL), NULL);
	MUST(doca_pe_create(&pe));
	CHECK_STATUS(doca_aes_gcm_destroy((struct doca_aes_gcm *)pe), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_aes_gcm_create(dev, &gcm));
	CHECK_OK(doca_aes_gcm_cap_get_max_num_tasks(gcm, &most));
	CHECK(most >= 255);
	CHECK_STATUS(doca_aes_gcm_cap_get_max_num_tasks(gcm, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_cap_get_max_num_tasks(NULL, &most), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_pe_connect_ctx(pe, doca_aes_gcm_as_ctx(gcm)));
	CHECK_REFUSED(doca_ctx_start(doca_aes_gcm_as_ctx(gcm))); /* no task type is on */
	CHECK_STATUS(doca_aes_gcm_task_encrypt_set_conf(gcm, NULL, gcm_not_encrypted, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_task_encrypt_set_conf(gcm, gcm_encrypted, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_task_encrypt_set_conf(NULL, gcm_encrypted, gcm_not_encrypted, 1),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_task_encrypt_set_conf(gcm, gcm_encrypted, gcm_not_encrypted, 0),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_task_encrypt_set_conf(gcm, gcm_encrypted, gcm_not_encrypted, most + 1),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_task_decrypt_set_conf(gcm, NULL, gcm_not_decrypted, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_task_decrypt_set_conf(gcm, gcm_decrypted, gcm_not_decrypted, most + 1),
		     DOCA_ERROR_INVALID_VALUE);
	/* Both types share the limit. */
	CHECK_OK(doca_aes_gcm_task_encrypt_set_conf(gcm, gcm_encrypted, gcm_not_encrypted, most - 1));
	CHECK_STATUS(doca_aes_gcm_task_decrypt_set_conf(gcm, gcm_decrypted, gcm_not_decrypted, 2),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_aes_gcm_task_decrypt_set_conf(gcm, gcm_decrypted, gcm_not_decrypted, 1));
	CHECK_OK(doca_aes_gcm_task_encrypt_set_conf(gcm, gcm_encrypted, gcm_not_encrypted, 4));
	CHECK_OK(doca_ctx_start(doca_aes_gcm_as_ctx(gcm)));
	CHECK_STATUS(doca_aes_gcm_task_encrypt_set_conf(gcm, gcm_encrypted, gcm_not_encrypted, 4),
		     DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_aes_gcm_task_decrypt_set_conf(gcm, gcm_decrypted, gcm_not_decrypted, 4),
		     DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_aes_gcm_destroy(gcm), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_ctx_stop(doca_aes_gcm_as_ctx(gcm)));
	CHECK_OK(doca_ctx_stop(doca_aes_gcm_as_ctx(gcm))); /* the customary second one */
	CHECK_OK(doca_aes_gcm_destroy(gcm));
	CHECK_STATUS(doca_aes_gcm_destroy(gcm), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_aes_gcm_as_ctx(gcm), NULL);
	CHECK_OK(doca_pe_destroy(pe));
}

static void keys(struct doca_dev *dev)
{
	struct doca_aes_gcm *gcm = NULL;
	struct doca_aes_gcm_key *key = NULL, *other = NULL;

	MUST(doca_aes_gcm_create(dev, &gcm));
	CHECK_STATUS(doca_aes_gcm_key_create(NULL, raw, DOCA_AES_GCM_KEY_256, &key), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_key_create(gcm, NULL, DOCA_AES_GCM_KEY_256, &key), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_key_create(gcm, raw, DOCA_AES_GCM_KEY_256, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_key_create(gcm, raw, (enum doca_aes_gcm_key_type)0, &key), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_key_create(gcm, raw, (enum doca_aes_gcm_key_type)3, &key), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(key, NULL);
	CHECK_OK(doca_aes_gcm_key_create(gcm, raw, DOCA_AES_GCM_KEY_256, &key));
	CHECK_OK(doca_aes_gcm_key_create(gcm, raw, DOCA_AES_GCM_KEY_128, &other));
	CHECK(key != other);
	CHECK_STATUS(doca_aes_gcm_destroy(gcm), DOCA_ERROR_IN_USE);
	CHECK_STATUS(doca_aes_gcm_key_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_key_destroy((struct doca_aes_gcm_key *)gcm), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_aes_gcm_key_destroy(key));
	CHECK_STATUS(doca_aes_gcm_key_destroy(key), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_aes_gcm_destroy(gcm), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_aes_gcm_key_destroy(other));
	CHECK_OK(doca_aes_gcm_destroy(gcm));
}

/* What alloc_init refuses, and that a refused one takes no task. */
static void allocation(struct gcm *gcm, struct doca_aes_gcm_key *key)
{
	struct doca_buf *src = gcm_src(gcm, 0, 64), *dst = gcm_dst(gcm, 1024, 128);
	struct doca_aes_gcm_task_encrypt *task[9] = {NULL};
	struct doca_aes_gcm_task_decrypt *back = NULL;
	struct doca_aes_gcm *idle = NULL;
	struct doca_aes_gcm_key *foreign = NULL;
	union doca_data user = {0};
	int i;

#define ALLOC(gcm_, src_, dst_, key_, iv_, iv_len_, tag_, out_) \
	doca_aes_gcm_task_encrypt_alloc_init(gcm_, src_, dst_, key_, iv_, iv_len_, tag_, 0, user, out_)
	CHECK_STATUS(ALLOC(NULL, src, dst, key, iv, 12, 16, &task[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(ALLOC(gcm->aes_gcm, NULL, dst, key, iv, 12, 16, &task[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(ALLOC(gcm->aes_gcm, src, NULL, key, iv, 12, 16, &task[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(ALLOC(gcm->aes_gcm, src, dst, NULL, iv, 12, 16, &task[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(ALLOC(gcm->aes_gcm, src, dst, key, NULL, 12, 16, &task[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(ALLOC(gcm->aes_gcm, src, dst, key, iv, 12, 16, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(ALLOC(gcm->aes_gcm, src, dst, key, iv, 13, 16, &task[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(ALLOC(gcm->aes_gcm, src, dst, key, iv, UINT32_MAX, 16, &task[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(ALLOC(gcm->aes_gcm, src, dst, key, iv, 12, 0, &task[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(ALLOC(gcm->aes_gcm, src, dst, key, iv, 12, 13, &task[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(ALLOC(gcm->aes_gcm, src, dst, key, iv, 12, 17, &task[0]), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_aes_gcm_create(gcm->dev, &idle));
	MUST(doca_aes_gcm_key_create(idle, raw, DOCA_AES_GCM_KEY_128, &foreign));
	CHECK_STATUS(ALLOC(gcm->aes_gcm, src, dst, foreign, iv, 12, 16, &task[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(ALLOC(idle, src, dst, foreign, iv, 12, 16, &task[0]), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_aes_gcm_key_destroy(foreign));
	CHECK_OK(doca_aes_gcm_destroy(idle));
	CHECK_PTR(task[0], NULL);
	for (i = 0; i < 8; i++)
		MUST(ALLOC(gcm->aes_gcm, src, dst, key, iv, 12, 16, &task[i]));
	CHECK_STATUS(ALLOC(gcm->aes_gcm, src, dst, key, iv, 12, 16, &task[8]), DOCA_ERROR_NO_MEMORY);
	/* The pools are apart. */
	CHECK_OK(doca_aes_gcm_task_decrypt_alloc_init(gcm->aes_gcm, src, dst, key, iv, 12, 16, 0, user, &back));
	doca_task_free(doca_aes_gcm_task_decrypt_as_task(back));
	for (i = 0; i < 8; i++)
		doca_task_free(doca_aes_gcm_task_encrypt_as_task(task[i]));
	CHECK_PTR(doca_aes_gcm_task_encrypt_as_task(NULL), NULL);
	CHECK_PTR(doca_aes_gcm_task_decrypt_as_task(NULL), NULL);
	gcm_drop(src);
	gcm_drop(dst);
}

#define FIELDS(kind_) \
	static void kind_##_fields(struct gcm *gcm, struct doca_aes_gcm_key *key) \
	{ \
		struct doca_buf *src = gcm_src(gcm, 0, 64), *dst = gcm_dst(gcm, 1024, 128); \
		struct doca_aes_gcm_task_##kind_ *task = NULL; \
		struct doca_aes_gcm_key *other = NULL; \
		union doca_data user = {0}; \
		uint8_t mine[12] = {3}; \
		uint32_t len = 0; \
\
		MUST(doca_aes_gcm_key_create(gcm->aes_gcm, raw, DOCA_AES_GCM_KEY_128, &other)); \
		MUST(doca_aes_gcm_task_##kind_##_alloc_init(gcm->aes_gcm, src, dst, key, iv, 12, 16, 5, user, &task)); \
		CHECK_PTR(doca_aes_gcm_task_##kind_##_get_src(task), src); \
		CHECK_PTR(doca_aes_gcm_task_##kind_##_get_dst(task), dst); \
		CHECK_PTR(doca_aes_gcm_task_##kind_##_get_key(task), key); \
		CHECK_PTR(doca_aes_gcm_task_##kind_##_get_iv(task, &len), iv); \
		CHECK_U64(len, 12); \
		CHECK_U64(doca_aes_gcm_task_##kind_##_get_tag_size(task), 16); \
		CHECK_U64(doca_aes_gcm_task_##kind_##_get_aad_size(task), 5); \
		doca_aes_gcm_task_##kind_##_set_src(task, dst); \
		doca_aes_gcm_task_##kind_##_set_dst(task, src); \
		doca_aes_gcm_task_##kind_##_set_key(task, other); \
		doca_aes_gcm_task_##kind_##_set_iv(task, mine, 7); \
		doca_aes_gcm_task_##kind_##_set_tag_size(task, 12); \
		doca_aes_gcm_task_##kind_##_set_aad_size(task, 6); \
		CHECK_PTR(doca_aes_gcm_task_##kind_##_get_src(task), dst); \
		CHECK_PTR(doca_aes_gcm_task_##kind_##_get_dst(task), src); \
		CHECK_PTR(doca_aes_gcm_task_##kind_##_get_key(task), other); \
		CHECK_PTR(doca_aes_gcm_task_##kind_##_get_iv(task, &len), mine); \
		CHECK_U64(len, 7); \
		CHECK_U64(doca_aes_gcm_task_##kind_##_get_tag_size(task), 12); \
		CHECK_U64(doca_aes_gcm_task_##kind_##_get_aad_size(task), 6); \
		doca_task_free(doca_aes_gcm_task_##kind_##_as_task(task)); \
		CHECK_OK(doca_aes_gcm_key_destroy(other)); \
		gcm_drop(src); \
		gcm_drop(dst); \
	}
FIELDS(encrypt)
FIELDS(decrypt)

/* What the checked submit refuses, the plain one accepts and reports with the same code. */
static void refused_or_failed(struct gcm *gcm, struct doca_aes_gcm_task_encrypt *task, doca_error_t want)
{
	struct doca_task *plain = doca_aes_gcm_task_encrypt_as_task(task);
	struct doca_buf *dst = doca_aes_gcm_task_encrypt_get_dst(task);
	unsigned bad = gcm->bad, good = gcm->good;
	size_t before = gcm_data_len(dst);

	CHECK_STATUS(doca_task_try_submit(plain), want);
	CHECK_U64(doca_pe_progress(gcm->pe), 0);
	CHECK_OK(doca_task_submit(plain));
	while (gcm->bad == bad && gcm->good == good)
		(void)doca_pe_progress(gcm->pe);
	CHECK_U64(gcm->good, good);
	CHECK_STATUS(gcm->status, want);
	CHECK_U64(gcm_data_len(dst), before);
}

static void failures(struct gcm *gcm, struct doca_aes_gcm_key *key)
{
	struct doca_buf *src = gcm_src(gcm, 0, 64), *dst = gcm_dst(gcm, 1024, 80), *small = gcm_dst(gcm, 2048, 79);
	struct doca_aes_gcm_task_encrypt *task = NULL;
	struct doca_aes_gcm_key *gone = NULL;
	union doca_data user = {0};
	int i;

	MUST(doca_aes_gcm_key_create(gcm->aes_gcm, raw, DOCA_AES_GCM_KEY_128, &gone));
	for (i = 0; i < 7; i++) {
		struct doca_aes_gcm_key *use = i == 6 ? gone : key;

		MUST(doca_aes_gcm_task_encrypt_alloc_init(gcm->aes_gcm, src, i == 0 ? small : dst, use, iv, 12, 16, 0,
							  user, &task));
		switch (i) {
		case 1:
			doca_aes_gcm_task_encrypt_set_aad_size(task, 65); /* more than there is */
			break;
		case 2:
			doca_aes_gcm_task_encrypt_set_tag_size(task, 8);
			break;
		case 3:
			doca_aes_gcm_task_encrypt_set_iv(task, iv, 16);
			break;
		case 4:
			doca_aes_gcm_task_encrypt_set_iv(task, NULL, 4);
			break;
		case 5:
			doca_aes_gcm_task_encrypt_set_key(task, NULL);
			break;
		case 6:
			CHECK_OK(doca_aes_gcm_key_destroy(gone)); /* no task in flight uses it */
			break;
		default:
			break;
		}
		refused_or_failed(gcm, task, DOCA_ERROR_INVALID_VALUE);
	}
	/* None of it stopped the context. */
	MUST(doca_aes_gcm_task_encrypt_alloc_init(gcm->aes_gcm, src, dst, key, iv, 12, 16, 0, user, &task));
	CHECK_OK(doca_task_try_submit(doca_aes_gcm_task_encrypt_as_task(task)));
	while (gcm->good == 0)
		(void)doca_pe_progress(gcm->pe);
	CHECK_U64(gcm_data_len(dst), 80);
	gcm_drop(src);
	gcm_drop(dst);
	gcm_drop(small);
}

static void no_right_to_write(struct gcm *gcm, struct doca_aes_gcm_key *key)
{
	struct doca_mmap *map = NULL;
	struct doca_aes_gcm_task_encrypt *task = NULL;
	struct doca_buf *src = gcm_src(gcm, 0, 64), *dst = NULL;
	union doca_data user = {0};
	static uint8_t bytes[4096];

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, gcm->dev));
	MUST(doca_mmap_set_memrange(map, bytes, sizeof(bytes)));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	MUST(doca_mmap_start(map));
	MUST(doca_buf_inventory_buf_get_by_addr(gcm->inv, map, bytes, sizeof(bytes), &dst));
	MUST(doca_aes_gcm_task_encrypt_alloc_init(gcm->aes_gcm, src, dst, key, iv, 12, 16, 0, user, &task));
	refused_or_failed(gcm, task, DOCA_ERROR_NOT_PERMITTED);
	gcm_drop(src);
	gcm_drop(dst);
	CHECK_OK(doca_mmap_destroy(map));
}

/* A key in flight stays; another one may go. The vector is the program's again after alloc_init. */
static void in_flight(struct gcm *gcm, struct doca_aes_gcm_key *key)
{
	struct doca_buf *src = gcm_src(gcm, 0, 64), *dst = gcm_dst(gcm, 1024, 80), *twin = gcm_dst(gcm, 2048, 80);
	struct doca_aes_gcm_task_encrypt *task = NULL;
	struct doca_aes_gcm_key *used = NULL, *idle = NULL;
	uint8_t mine[12] = {8, 8, 8};
	struct gcm_message m = {NULL, mine, 12, 16, 0};
	union doca_data user = {0};
	unsigned good;

	(void)key;
	MUST(doca_aes_gcm_key_create(gcm->aes_gcm, raw, DOCA_AES_GCM_KEY_256, &used));
	MUST(doca_aes_gcm_key_create(gcm->aes_gcm, raw, DOCA_AES_GCM_KEY_256, &idle));
	m.key = used;
	CHECK_OK(gcm_run(gcm, 1, src, twin, &m));
	good = gcm->good;
	MUST(doca_aes_gcm_task_encrypt_alloc_init(gcm->aes_gcm, src, dst, used, mine, 12, 16, 0, user, &task));
	memset(mine, 0xff, sizeof(mine));
	CHECK_OK(doca_task_submit(doca_aes_gcm_task_encrypt_as_task(task)));
	CHECK_STATUS(doca_aes_gcm_key_destroy(used), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_aes_gcm_key_destroy(idle));
	while (gcm->good == good)
		(void)doca_pe_progress(gcm->pe);
	CHECK_BYTES(gcm->mem + 1024, gcm->mem + 2048, 80);
	CHECK_OK(doca_aes_gcm_key_destroy(used));
	gcm_drop(src);
	gcm_drop(dst);
	gcm_drop(twin);
}

/* A task whose completion submits it again, with another vector and new buffers, many times. */
static void again(struct gcm *gcm, struct doca_aes_gcm_key *key)
{
	uint8_t mine[12] = {0};
	struct gcm_message m = {key, mine, 12, 12, 4};
	int i;

	for (i = 0; i < 300; i++) {
		struct doca_buf *src = gcm_src(gcm, 0, 64), *dst = gcm_dst(gcm, 1024, 76), *back = gcm_dst(gcm, 2048, 64);

		mine[i % 12]++;
		CHECK_OK(gcm_run(gcm, 1, src, dst, &m));
		CHECK_OK(gcm_run(gcm, 0, dst, back, &m));
		CHECK_BYTES(gcm->mem + 2048, gcm->mem, 64);
		gcm_drop(src);
		gcm_drop(dst);
		gcm_drop(back);
	}
}

int main(void)
{
	struct doca_aes_gcm_key *key = NULL;
	struct gcm gcm;

	gcm_setup(&gcm, 1 << 16, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	configuration(gcm.dev);
	keys(gcm.dev);
	MUST(doca_aes_gcm_key_create(gcm.aes_gcm, raw, DOCA_AES_GCM_KEY_256, &key));
	allocation(&gcm, key);
	encrypt_fields(&gcm, key);
	decrypt_fields(&gcm, key);
	failures(&gcm, key);
	no_right_to_write(&gcm, key);
	in_flight(&gcm, key);
	again(&gcm, key);
	CHECK_OK(doca_aes_gcm_key_destroy(key));
	gcm_teardown(&gcm);
	return check_result();
}
