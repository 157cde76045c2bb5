/*
 * The functions of the flow library: as in shim.c. Ports end with the library, and pipes with their port.
 */
#define _GNU_SOURCE
#include "shim.h"

#include <doca_flow.h>

/* Stands for the library, which has no handle. */
static char initialised;

/* What needs the library. */
#define REFUSED(call_, result_, object_) \
	do { \
		if ((result_) != DOCA_SUCCESS) { \
			softdpu_check_flow_refused(object_, (int)(result_), call_, PLACE); \
			if ((result_) == DOCA_ERROR_INVALID_VALUE) \
				softdpu_check_dead(object_, call_, PLACE); \
		} \
	} while (0)

doca_error_t doca_flow_cfg_create(struct doca_flow_cfg **cfg)
{
	CREATE(FLOW, "flow configuration", doca_flow_cfg_create, cfg, NULL, NULL, cfg);
}

doca_error_t doca_flow_cfg_destroy(struct doca_flow_cfg *cfg)
{
	DESTROY(doca_flow_cfg_destroy, cfg);
}

doca_error_t doca_flow_init(struct doca_flow_cfg *cfg)
{
	doca_error_t result = REAL(doca_flow_init)(cfg);

	if (result == DOCA_SUCCESS)
		softdpu_check_created(FLOW, "flow library", &initialised, NULL, NULL, PLACE);
	TELL("doca_flow_init", result, cfg, NULL, NULL);
	return result;
}

void doca_flow_destroy(void)
{
	REAL(doca_flow_destroy)();
	softdpu_check_flow_stopped(NULL, PLACE);
}

doca_error_t doca_flow_port_cfg_create(struct doca_flow_port_cfg **cfg)
{
	CREATE(FLOW, "flow port configuration", doca_flow_port_cfg_create, cfg, NULL, NULL, cfg);
}

CALL(doca_flow_port_cfg_set_dev, (struct doca_flow_port_cfg *cfg, struct doca_dev *dev), (cfg, dev),
     softdpu_check_attached(cfg, dev, 1), cfg, dev, NULL)

doca_error_t doca_flow_port_cfg_destroy(struct doca_flow_port_cfg *cfg)
{
	DESTROY(doca_flow_port_cfg_destroy, cfg);
}

doca_error_t doca_flow_port_start(const struct doca_flow_port_cfg *cfg, struct doca_flow_port **port)
{
	doca_error_t result = REAL(doca_flow_port_start)(cfg, port);

	if (result == DOCA_SUCCESS)
		softdpu_check_flow_made("flow port", *port, cfg, PLACE);
	REFUSED("doca_flow_port_start", result, cfg);
	return result;
}

doca_error_t doca_flow_port_stop(struct doca_flow_port *port)
{
	doca_error_t result = REAL(doca_flow_port_stop)(port);

	if (result == DOCA_SUCCESS)
		softdpu_check_flow_stopped(port, PLACE);
	REFUSED("doca_flow_port_stop", result, port);
	return result;
}

doca_error_t doca_flow_pipe_cfg_create(struct doca_flow_pipe_cfg **cfg, struct doca_flow_port *port)
{
	CREATE(FLOW, "flow pipe configuration", doca_flow_pipe_cfg_create, cfg, port, NULL, cfg, port);
}

doca_error_t doca_flow_pipe_cfg_destroy(struct doca_flow_pipe_cfg *cfg)
{
	DESTROY(doca_flow_pipe_cfg_destroy, cfg);
}

doca_error_t doca_flow_pipe_create(const struct doca_flow_pipe_cfg *cfg, const struct doca_flow_fwd *fwd,
				   const struct doca_flow_fwd *miss, struct doca_flow_pipe **pipe)
{
	doca_error_t result = REAL(doca_flow_pipe_create)(cfg, fwd, miss, pipe);

	if (result == DOCA_SUCCESS)
		softdpu_check_flow_made("flow pipe", *pipe, cfg, PLACE);
	REFUSED("doca_flow_pipe_create", result, cfg);
	return result;
}

void doca_flow_pipe_destroy(struct doca_flow_pipe *pipe)
{
	softdpu_check_flow_pipe_gone(pipe, PLACE);
	REAL(doca_flow_pipe_destroy)(pipe);
}

doca_error_t doca_flow_pipe_basic_add_entry(uint16_t queue, struct doca_flow_pipe *pipe,
					    const struct doca_flow_match *match, uint8_t action,
					    const struct doca_flow_actions *actions,
					    const struct doca_flow_monitor *monitor, const struct doca_flow_fwd *fwd,
					    uint32_t flags, void *user, struct doca_flow_pipe_entry **entry)
{
	doca_error_t result = REAL(doca_flow_pipe_basic_add_entry)(queue, pipe, match, action, actions, monitor, fwd,
								   flags, user, entry);

	if (result == DOCA_SUCCESS)
		softdpu_check_flow_entry(pipe, queue, PLACE);
	REFUSED("doca_flow_pipe_basic_add_entry", result, pipe);
	return result;
}

doca_error_t doca_flow_entries_process(struct doca_flow_port *port, uint16_t queue, uint64_t timeout,
				       uint32_t most)
{
	doca_error_t result = REAL(doca_flow_entries_process)(port, queue, timeout, most);

	if (result == DOCA_SUCCESS)
		softdpu_check_flow_processed(port, queue);
	REFUSED("doca_flow_entries_process", result, port);
	return result;
}
