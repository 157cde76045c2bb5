/*
 * A card without the hash engine: every capability call says so, and no context can be made.
 *
 * clauses: sha Capabilities, Context
 * covers: @
 * env: SOFTDPU_PROFILE=bf3
 */
#include <doca_dev.h>
#include <doca_sha.h>

#include "check.h"

int main(void)
{
	struct doca_devinfo **list = NULL;
	struct doca_dev *dev = NULL;
	struct doca_sha *sha = NULL;
	uint32_t count = 0, i, number = 0;
	uint64_t size = 0;
	int algorithm;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST_BE(count > 0);
	for (i = 0; i < count; i++) {
		for (algorithm = 0; algorithm < 3; algorithm++) {
			enum doca_sha_algorithm which = (enum doca_sha_algorithm)algorithm;

			CHECK_STATUS(doca_sha_cap_task_hash_get_supported(list[i], which), DOCA_ERROR_NOT_SUPPORTED);
			CHECK_STATUS(doca_sha_cap_task_partial_hash_get_supported(list[i], which),
				     DOCA_ERROR_NOT_SUPPORTED);
			CHECK_STATUS(doca_sha_cap_get_min_dst_buf_size(list[i], which, &number),
				     DOCA_ERROR_NOT_SUPPORTED);
			CHECK_STATUS(doca_sha_cap_get_partial_hash_block_size(list[i], which, &number),
				     DOCA_ERROR_NOT_SUPPORTED);
		}
		CHECK_STATUS(doca_sha_cap_get_max_list_buf_num_elem(list[i], &number), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_STATUS(doca_sha_cap_get_max_src_buf_size(list[i], &size), DOCA_ERROR_NOT_SUPPORTED);
	}
	MUST(doca_dev_open(list[0], &dev));
	MUST(doca_devinfo_destroy_list(list));
	CHECK_STATUS(doca_sha_create(dev, &sha), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
