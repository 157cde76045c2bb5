/*
 * Calls of engines that are not there yet: each answers that it is not supported and leaves one line
 * naming itself.
 *
 * clauses: functions without an engine
 * covers: doca_flow_cfg_create
 */
#include <doca_flow.h>

#include "capture.h"
#include "rig.h"

int main(void)
{
	struct doca_dev *dev = rig_open_dev(NULL);
	struct doca_flow_cfg *config = NULL;

	capture_sdk(DOCA_LOG_LEVEL_WARNING);
	if (doca_flow_cfg_create(&config) == DOCA_ERROR_NOT_SUPPORTED) {
		CHECK(strstr(capture_text, "doca_flow_cfg_create") != NULL);
		CHECK_U64(capture_count, 1);
		CHECK_PTR(config, NULL);
	} else {
		printf("flow rules are there: nothing to see\n");
		if (config != NULL)
			(void)doca_flow_cfg_destroy(config);
	}
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
