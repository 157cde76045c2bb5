/*
 * Capability queries on devices that were never opened, of a card that has the engine.
 *
 * env: SOFTDPU_PROFILE=bf3
 * clauses: aes-gcm Task, Device models
 * covers: @
 */
#include "aes_gcm_rig.h"

#define QUERIES(kind_) \
	static void kind_##_queries(const struct doca_devinfo *info) \
	{ \
		uint32_t n = 0; \
		uint64_t bytes = 0; \
\
		CHECK_OK(doca_aes_gcm_cap_task_##kind_##_is_supported(info)); \
		CHECK_OK(doca_aes_gcm_cap_task_##kind_##_get_max_iv_len(info, &n)); \
		CHECK_U64(n, 12); \
		CHECK_OK(doca_aes_gcm_cap_task_##kind_##_is_tag_96_supported(info)); \
		CHECK_OK(doca_aes_gcm_cap_task_##kind_##_is_tag_128_supported(info)); \
		CHECK_OK(doca_aes_gcm_cap_task_##kind_##_is_key_type_supported(info, DOCA_AES_GCM_KEY_128)); \
		CHECK_OK(doca_aes_gcm_cap_task_##kind_##_is_key_type_supported(info, DOCA_AES_GCM_KEY_256)); \
		CHECK_STATUS(doca_aes_gcm_cap_task_##kind_##_is_key_type_supported(info, \
										   (enum doca_aes_gcm_key_type)7), \
			     DOCA_ERROR_INVALID_VALUE); \
		CHECK_OK(doca_aes_gcm_cap_task_##kind_##_get_max_buf_size(info, &bytes)); \
		CHECK(bytes >= 16384); \
		CHECK_OK(doca_aes_gcm_cap_task_##kind_##_get_max_list_buf_num_elem(info, &n)); \
		CHECK(n >= 1); \
		CHECK_STATUS(doca_aes_gcm_cap_task_##kind_##_is_supported(NULL), DOCA_ERROR_INVALID_VALUE); \
		CHECK_STATUS(doca_aes_gcm_cap_task_##kind_##_is_tag_96_supported(NULL), DOCA_ERROR_INVALID_VALUE); \
		CHECK_STATUS(doca_aes_gcm_cap_task_##kind_##_is_tag_128_supported(NULL), DOCA_ERROR_INVALID_VALUE); \
		CHECK_STATUS(doca_aes_gcm_cap_task_##kind_##_get_max_iv_len(NULL, &n), DOCA_ERROR_INVALID_VALUE); \
		CHECK_STATUS(doca_aes_gcm_cap_task_##kind_##_get_max_iv_len(info, NULL), DOCA_ERROR_INVALID_VALUE); \
		CHECK_STATUS(doca_aes_gcm_cap_task_##kind_##_get_max_buf_size(info, NULL), DOCA_ERROR_INVALID_VALUE); \
		CHECK_STATUS(doca_aes_gcm_cap_task_##kind_##_get_max_buf_size(NULL, &bytes), DOCA_ERROR_INVALID_VALUE); \
		CHECK_STATUS(doca_aes_gcm_cap_task_##kind_##_get_max_list_buf_num_elem(info, NULL), \
			     DOCA_ERROR_INVALID_VALUE); \
		CHECK_STATUS(doca_aes_gcm_cap_task_##kind_##_is_key_type_supported(NULL, DOCA_AES_GCM_KEY_128), \
			     DOCA_ERROR_INVALID_VALUE); \
	}
QUERIES(encrypt)
QUERIES(decrypt)

int main(void)
{
	struct doca_devinfo **list = NULL;
	uint32_t count = 0, i;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST_BE(count > 0);
	for (i = 0; i < count; i++) {
		encrypt_queries(list[i]);
		decrypt_queries(list[i]);
	}
	CHECK_OK(doca_devinfo_destroy_list(list));
	return check_result();
}
