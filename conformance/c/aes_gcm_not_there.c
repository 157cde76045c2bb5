/*
 * A card without the engine: every query and the creation answer NOT_SUPPORTED.
 *
 * env: SOFTDPU_PROFILE=bf2
 * clauses: aes-gcm Device models
 * covers: doca_aes_gcm_create
 */
#include "aes_gcm_rig.h"

int main(void)
{
	struct doca_devinfo **list = NULL;
	struct doca_aes_gcm *gcm = NULL;
	struct doca_dev *dev = NULL;
	uint32_t count = 0, n = 0;
	uint64_t bytes = 0;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST_BE(count > 0);
	CHECK_STATUS(doca_aes_gcm_cap_task_encrypt_is_supported(list[0]), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_aes_gcm_cap_task_decrypt_is_supported(list[0]), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_aes_gcm_cap_task_encrypt_is_tag_96_supported(list[0]), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_aes_gcm_cap_task_decrypt_is_tag_128_supported(list[0]), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_aes_gcm_cap_task_encrypt_get_max_iv_len(list[0], &n), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_aes_gcm_cap_task_decrypt_get_max_buf_size(list[0], &bytes), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem(list[0], &n), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_aes_gcm_cap_task_encrypt_is_key_type_supported(list[0], DOCA_AES_GCM_KEY_128),
		     DOCA_ERROR_NOT_SUPPORTED);
	MUST(doca_dev_open(list[0], &dev));
	CHECK_STATUS(doca_aes_gcm_create(dev, &gcm), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_PTR(gcm, NULL);
	CHECK_OK(doca_dev_close(dev));
	CHECK_OK(doca_devinfo_destroy_list(list));
	return check_result();
}
