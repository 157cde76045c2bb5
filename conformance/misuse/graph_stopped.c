/*
 * rule: graph-in-use
 *
 * The program stops a graph that has an instance.
 */
#include "graph_misuse.h"

int main(void)
{
	graph_setup();
	MUST(doca_graph_instance_submit(instance));
	graph_until(1);
	if (WRONG)
		CHECK_REFUSED(doca_graph_stop(graph));
	MUST(doca_graph_instance_destroy(instance));
	MUST(doca_graph_stop(graph));
	MUST(doca_graph_destroy(graph));
	graph_teardown();
	return check_result();
}
