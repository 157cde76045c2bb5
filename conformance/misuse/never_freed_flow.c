/*
 * rule: never-freed
 *
 * The program ends without having ended the flow library.
 */
#include "misuse.h"

#include "../c/eth_rig.h"

int main(void)
{
	struct doca_dev *dev = eth_open("p0");

	eth_flow_begin();
	if (!WRONG)
		doca_flow_destroy();
	MUST(doca_dev_close(dev));
	return check_result();
}
