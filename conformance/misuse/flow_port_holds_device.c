/*
 * rule: device-in-use
 *
 * The program closes the device of a flow port that is started.
 */
#include "flow_misuse.h"

int main(void)
{
	flow_begin();
	if (WRONG)
		CHECK_REFUSED(doca_dev_close(dev));
	MUST(doca_flow_port_stop(port));
	doca_flow_destroy();
	MUST(doca_dev_close(dev));
	return check_result();
}
