/*
 * Buffer arrays: made, configured, taken down; start has no target here and says so.
 *
 * clauses: core-memory Buffer array
 * covers: @
 */
#include <doca_buf_array.h>

#include "rig.h"

int main(void)
{
	struct rig rig;
	struct doca_buf_arr *array = NULL;

	rig_setup(&rig, 4096, 1);
	CHECK_STATUS(doca_buf_arr_create(0, &array), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_arr_create(4, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(array, NULL);
	MUST(doca_buf_arr_create(4, &array));
	CHECK_STATUS(doca_buf_arr_start(array), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_buf_arr_set_params(array, NULL, 64, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_arr_set_params(array, rig.map, 0, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_arr_set_params(NULL, rig.map, 64, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_arr_set_params(array, rig.map, 64, 128));
	CHECK_STATUS(doca_buf_arr_start(array), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_buf_arr_stop(array));
	CHECK_OK(doca_buf_arr_destroy(array));
	CHECK_STATUS(doca_buf_arr_destroy(array), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_arr_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_arr_start(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_arr_stop((struct doca_buf_arr *)rig.map), DOCA_ERROR_INVALID_VALUE);
	rig_teardown(&rig);
	return check_result();
}
