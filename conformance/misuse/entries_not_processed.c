/*
 * rule: entries-not-processed
 *
 * The program adds an entry and does not process it.
 */
#include "flow_misuse.h"

int main(void)
{
	flow_begin();
	flow_entry();
	if (!WRONG)
		MUST(doca_flow_entries_process(port, 0, 10000, 4));
	doca_flow_pipe_destroy(pipe_of_port);
	MUST(doca_flow_port_stop(port));
	doca_flow_destroy();
	MUST(doca_dev_close(dev));
	return check_result();
}
