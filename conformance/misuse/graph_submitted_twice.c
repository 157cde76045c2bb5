/*
 * rule: instance-in-flight
 *
 * The program submits an instance of a graph again before it has ended.
 */
#include "graph_misuse.h"

int main(void)
{
	graph_setup();
	MUST(doca_graph_instance_submit(instance));
	if (WRONG)
		CHECK_REFUSED(doca_graph_instance_submit(instance));
	graph_until(1);
	MUST(doca_buf_reset_data_len(dst));
	MUST(doca_graph_instance_submit(instance));
	graph_until(2);
	MUST(doca_graph_instance_destroy(instance));
	MUST(doca_graph_stop(graph));
	MUST(doca_graph_destroy(graph));
	graph_teardown();
	return check_result();
}
