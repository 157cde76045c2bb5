/*
 * rule: double-destroy
 *
 * The program stops a port, with which its pipes end, and destroys one of them afterwards.
 */
#include "flow_misuse.h"

int main(void)
{
	flow_begin();
	MUST(doca_flow_port_stop(port));
	if (WRONG)
		doca_flow_pipe_destroy(pipe_of_port);
	doca_flow_destroy();
	MUST(doca_dev_close(dev));
	return check_result();
}
