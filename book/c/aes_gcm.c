/* AES-GCM: seal a record with a readable header, open it, refuse a forged one. */
#include "tutorial.h"

#include <doca_aes_gcm.h>

#define HEADER 8u
#define TEXT 24u
#define TAG 16u

static void sealed(struct doca_aes_gcm_task_encrypt *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	landed(ctx, doca_aes_gcm_task_encrypt_as_task(task));
}

static void opened(struct doca_aes_gcm_task_decrypt *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	landed(ctx, doca_aes_gcm_task_decrypt_as_task(task));
}

int main(void)
{
	struct rig rig = make_rig(doca_aes_gcm_cap_task_encrypt_is_supported, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *plain, *sealed_record = room(&rig, 1024, HEADER + TEXT + TAG),
				*back = room(&rig, 2048, HEADER + TEXT);
	static const uint8_t raw_key[32] = "a key of thirty-two bytes, so..", iv[12] = "number 0001";
	struct doca_aes_gcm_task_encrypt *seal;
	struct doca_aes_gcm_task_decrypt *open;
	struct doca_aes_gcm_key *key;
	struct doca_aes_gcm *gcm;
	union doca_data none = {0};

	MUST(doca_aes_gcm_create(rig.dev, &gcm));
	MUST(doca_aes_gcm_task_encrypt_set_conf(gcm, sealed, sealed, 1));
	MUST(doca_aes_gcm_task_decrypt_set_conf(gcm, opened, opened, 1));
	start(&rig, doca_aes_gcm_as_ctx(gcm));
	MUST(doca_aes_gcm_key_create(gcm, raw_key, DOCA_AES_GCM_KEY_256, &key));

	/* The first 8 bytes are authenticated and stay readable; the tag goes behind the text. */
	memcpy(rig.memory, "to: card" "nobody but you reads it.", HEADER + TEXT);
	plain = data(&rig, 0, HEADER + TEXT);
	MUST(doca_aes_gcm_task_encrypt_alloc_init(gcm, plain, sealed_record, key, iv, 12, TAG, HEADER, none, &seal));
	MUST(carry_out(&rig, doca_aes_gcm_task_encrypt_as_task(seal)));
	printf("sealed: %zu bytes, header \"%.8s\", text %s\n", length_of(sealed_record), rig.memory + 1024,
	       memcmp(rig.memory + 1024 + HEADER, rig.memory + HEADER, TEXT) == 0 ? "readable" : "unreadable");

	MUST(doca_aes_gcm_task_decrypt_alloc_init(gcm, sealed_record, back, key, iv, 12, TAG, HEADER, none, &open));
	MUST(carry_out(&rig, doca_aes_gcm_task_decrypt_as_task(open)));
	printf("opened: \"%.24s\"\n", rig.memory + 2048 + HEADER);

	/* One bit of the header is changed: nothing of the text is shown. */
	rig.memory[1024] ^= 1;
	memset(rig.memory + 2048, '?', HEADER + TEXT);
	MUST(doca_buf_reset_data_len(back));
	MUST(doca_aes_gcm_task_decrypt_alloc_init(gcm, sealed_record, back, key, iv, 12, TAG, HEADER, none, &open));
	printf("forged: %s, ", doca_error_get_name(carry_out(&rig, doca_aes_gcm_task_decrypt_as_task(open))));
	printf("%zu bytes of data\n", length_of(back));

	MUST(doca_buf_dec_refcount(plain, NULL));
	MUST(doca_buf_dec_refcount(sealed_record, NULL));
	MUST(doca_buf_dec_refcount(back, NULL));
	MUST(doca_aes_gcm_key_destroy(key));
	stop(&rig, doca_aes_gcm_as_ctx(gcm));
	MUST(doca_aes_gcm_destroy(gcm));
	free_rig(&rig);
	return 0;
}
