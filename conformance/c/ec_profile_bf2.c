/*
 * A card without the engine: every capability query says so, and no context can be made.
 *
 * clauses: erasure-coding Device models
 * env: SOFTDPU_PROFILE=bf2
 * covers: doca_ec_create doca_ec_cap_get_max_block_size doca_ec_cap_get_max_buf_list_len
 *   doca_ec_cap_task_galois_mul_is_supported doca_ec_cap_task_create_is_supported
 *   doca_ec_cap_task_update_is_supported doca_ec_cap_task_recover_is_supported
 */
#include <doca_dev.h>
#include <doca_erasure_coding.h>

#include "check.h"

int main(void)
{
	struct doca_devinfo **list = NULL;
	uint32_t count = 0, i;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST_BE(count > 0);
	for (i = 0; i < count; i++) {
		struct doca_dev *dev = NULL;
		struct doca_ec *ec = NULL;
		uint64_t block = 7;
		uint32_t len = 7;

		CHECK_STATUS(doca_ec_cap_task_galois_mul_is_supported(list[i]), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_STATUS(doca_ec_cap_task_create_is_supported(list[i]), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_STATUS(doca_ec_cap_task_update_is_supported(list[i]), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_STATUS(doca_ec_cap_task_recover_is_supported(list[i]), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_STATUS(doca_ec_cap_get_max_block_size(list[i], &block), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_STATUS(doca_ec_cap_get_max_buf_list_len(list[i], &len), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_U64(block, 7);
		CHECK_U64(len, 7);
		MUST(doca_dev_open(list[i], &dev));
		CHECK_STATUS(doca_ec_create(dev, &ec), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_PTR(ec, NULL);
		CHECK_OK(doca_dev_close(dev));
	}
	CHECK_OK(doca_devinfo_destroy_list(list));
	return check_result();
}
