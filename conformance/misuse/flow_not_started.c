/*
 * rule: flow-not-started
 *
 * The program starts a port before it has initialised the flow library.
 */
#include "misuse.h"

#include "../c/eth_rig.h"

int main(void)
{
	struct doca_dev *dev = eth_open("p0");
	struct doca_flow_port_cfg *cfg = NULL;
	struct doca_flow_port *port = NULL;

	MUST(doca_flow_port_cfg_create(&cfg));
	MUST(doca_flow_port_cfg_set_port_id(cfg, 0));
	MUST(doca_flow_port_cfg_set_dev(cfg, dev));
	if (WRONG)
		CHECK_REFUSED(doca_flow_port_start(cfg, &port));
	eth_flow_begin();
	MUST(doca_flow_port_start(cfg, &port));
	MUST(doca_flow_port_cfg_destroy(cfg));
	MUST(doca_flow_port_stop(port));
	doca_flow_destroy();
	MUST(doca_dev_close(dev));
	return check_result();
}
