/*
 * Rules of the flow calls: before initialising, twice, NULL, a port without device, a number taken, matches
 * that are not known, forwards that make no sense, what a port that has a pipe answers to a stop, and the
 * whole begun again.
 *
 * clauses: eth DOCA Flow calls (errors)
 * covers: @
 */
#include "eth_rig.h"

#define BAD DOCA_ERROR_INVALID_VALUE

static struct eth eth;

static doca_error_t port_start(struct doca_dev *dev, uint16_t id, struct doca_flow_port **port)
{
	struct doca_flow_port_cfg *cfg = NULL;
	doca_error_t result;

	MUST(doca_flow_port_cfg_create(&cfg));
	MUST(doca_flow_port_cfg_set_port_id(cfg, id));
	if (dev != NULL)
		MUST(doca_flow_port_cfg_set_dev(cfg, dev));
	result = doca_flow_port_start(cfg, port);
	MUST(doca_flow_port_cfg_destroy(cfg));
	return result;
}

static doca_error_t pipe_create(struct doca_flow_port *port, const struct doca_flow_match *match,
				const struct doca_flow_fwd *fwd, struct doca_flow_pipe **pipe)
{
	struct doca_flow_pipe_cfg *cfg = NULL;
	struct doca_flow_fwd miss;
	doca_error_t result;

	memset(&miss, 0, sizeof(miss));
	miss.type = DOCA_FLOW_FWD_DROP;
	MUST(doca_flow_pipe_cfg_create(&cfg, port));
	MUST(doca_flow_pipe_cfg_set_name(cfg, "P"));
	MUST(doca_flow_pipe_cfg_set_type(cfg, DOCA_FLOW_PIPE_BASIC));
	MUST(doca_flow_pipe_cfg_set_is_root(cfg, true));
	result = doca_flow_pipe_cfg_set_match(cfg, match, NULL);
	if (result == DOCA_SUCCESS)
		result = doca_flow_pipe_create(cfg, fwd, &miss, pipe);
	MUST(doca_flow_pipe_cfg_destroy(cfg));
	return result;
}

static void nothing_there(void)
{
	struct doca_flow_cfg *cfg = NULL;
	struct doca_flow_port_cfg *port_cfg = NULL;
	struct doca_flow_pipe_cfg *pipe_cfg = NULL;
	struct doca_flow_port *port = NULL;
	struct doca_flow_pipe *pipe = NULL;

	doca_flow_destroy(); /* harmless */
	doca_flow_pipe_destroy(NULL);
	CHECK_STATUS(doca_flow_cfg_create(NULL), BAD);
	CHECK_STATUS(doca_flow_cfg_destroy(NULL), BAD);
	CHECK_STATUS(doca_flow_init(NULL), BAD);
	CHECK_STATUS(doca_flow_port_cfg_create(NULL), BAD);
	CHECK_STATUS(doca_flow_port_start(NULL, &port), BAD);
	CHECK_STATUS(doca_flow_port_stop(NULL), BAD);
	CHECK_STATUS(doca_flow_pipe_cfg_create(&pipe_cfg, NULL), BAD);
	CHECK_STATUS(doca_flow_pipe_cfg_create(NULL, NULL), BAD);
	CHECK_STATUS(doca_flow_pipe_create(NULL, NULL, NULL, &pipe), BAD);
	CHECK_STATUS(doca_flow_entries_process(NULL, 0, 10, 1), BAD);
	MUST(doca_flow_cfg_create(&cfg));
	CHECK_STATUS(doca_flow_cfg_set_mode_args(cfg, NULL), BAD);
	CHECK_STATUS(doca_flow_cfg_set_pipe_queues(NULL, 1), BAD);
	CHECK_STATUS(doca_flow_cfg_set_nr_counters(NULL, 1), BAD);
	CHECK_OK(doca_flow_cfg_destroy(cfg));
	/* A configuration that is gone, and one of another kind. */
	CHECK_STATUS(doca_flow_init(cfg), BAD);
	MUST(doca_flow_port_cfg_create(&port_cfg));
	CHECK_STATUS(doca_flow_port_cfg_set_dev(port_cfg, NULL), BAD);
	CHECK_STATUS(doca_flow_cfg_destroy((struct doca_flow_cfg *)port_cfg), BAD);
	MUST(doca_flow_port_cfg_set_dev(port_cfg, eth.dev[1]));
	/* Not initialised. */
	CHECK_REFUSED(doca_flow_port_start(port_cfg, &port));
	CHECK_OK(doca_flow_port_cfg_destroy(port_cfg));
}

static void ports(void)
{
	struct doca_flow_port *port = NULL, *other = NULL;
	struct doca_flow_cfg *cfg = NULL;

	MUST(doca_flow_cfg_create(&cfg));
	CHECK_STATUS(doca_flow_cfg_set_mode_args(cfg, "switch"), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_STATUS(doca_flow_cfg_set_mode_args(cfg, ""), DOCA_ERROR_NOT_SUPPORTED);
	MUST(doca_flow_cfg_set_mode_args(cfg, "vnf,hws"));
	MUST(doca_flow_cfg_set_mode_args(cfg, "vnf"));
	CHECK_REFUSED(doca_flow_init(cfg)); /* once is enough */
	CHECK_OK(doca_flow_cfg_destroy(cfg));
	CHECK_STATUS(port_start(NULL, 0, &port), BAD);
	CHECK_STATUS(port_start(eth.dev[1], 0, NULL), BAD);
	CHECK_OK(port_start(eth.dev[1], 3, &port));
	CHECK_STATUS(port_start(eth.dev[0], 3, &other), DOCA_ERROR_ALREADY_EXIST);
	CHECK_STATUS(port_start(eth.dev[1], 4, &other), DOCA_ERROR_ALREADY_EXIST);
	CHECK_OK(port_start(eth.dev[0], 4, &other));
	CHECK_OK(doca_flow_port_stop(other));
	CHECK_STATUS(doca_flow_port_stop(other), BAD);
	CHECK_OK(port_start(eth.dev[0], 4, &other));
	CHECK_OK(doca_flow_port_stop(other));
	CHECK_OK(doca_flow_port_stop(port));
}

static void pipes(void)
{
	struct doca_flow_port *port = NULL;
	struct doca_flow_pipe *pipe = NULL, *second = NULL;
	struct doca_flow_pipe_entry *entry = NULL;
	struct doca_flow_match match;
	struct doca_flow_fwd fwd;
	uint16_t queues[2] = {0, 1};

	CHECK_OK(port_start(eth.dev[1], 0, &port));
	memset(&match, 0, sizeof(match));
	memset(&fwd, 0, sizeof(fwd));
	fwd.type = DOCA_FLOW_FWD_RSS;
	fwd.rss_type = DOCA_FLOW_RESOURCE_TYPE_NON_SHARED;
	fwd.rss.queues_array = queues;
	fwd.rss.nr_queues = 0;
	CHECK_STATUS(pipe_create(port, &match, &fwd, &pipe), BAD);
	fwd.rss.nr_queues = -1;
	CHECK_STATUS(pipe_create(port, &match, &fwd, &pipe), BAD);
	fwd.rss.nr_queues = 1;
	fwd.rss.queues_array = NULL;
	CHECK_STATUS(pipe_create(port, &match, &fwd, &pipe), BAD);
	fwd.rss.queues_array = queues;
	CHECK_STATUS(pipe_create(port, &match, &fwd, NULL), BAD);
	CHECK_STATUS(pipe_create(port, NULL, &fwd, &pipe), BAD);
	/* Something in a match that is not known. */
	memset(&match, 0xA5, sizeof(match));
	CHECK_STATUS(pipe_create(port, &match, &fwd, &pipe), DOCA_ERROR_NOT_SUPPORTED);
	memset(&match, 0, sizeof(match));
	fwd.rss_type = DOCA_FLOW_RESOURCE_TYPE_SHARED;
	CHECK_REFUSED(pipe_create(port, &match, &fwd, &pipe));
	fwd.rss_type = DOCA_FLOW_RESOURCE_TYPE_NON_SHARED;
	fwd.type = (enum doca_flow_fwd_type)55;
	CHECK_REFUSED(pipe_create(port, &match, &fwd, &pipe));
	fwd.type = DOCA_FLOW_FWD_RSS;
	CHECK_OK(pipe_create(port, &match, &fwd, &pipe));
	/* Of no pipe, of a queue the pipe has not; then two of the same. */
	CHECK_STATUS(doca_flow_pipe_basic_add_entry(0, NULL, &match, 0, NULL, NULL, NULL, 0, NULL, &entry), BAD);
	CHECK_REFUSED(doca_flow_pipe_basic_add_entry(7, pipe, &match, 0, NULL, NULL, NULL, 0, NULL, &entry));
	memset(&match, 0xA5, sizeof(match));
	CHECK_STATUS(doca_flow_pipe_basic_add_entry(0, pipe, &match, 0, NULL, NULL, NULL, 0, NULL, &entry),
		     DOCA_ERROR_NOT_SUPPORTED);
	memset(&match, 0, sizeof(match));
	CHECK_OK(doca_flow_pipe_basic_add_entry(0, pipe, &match, 0, NULL, NULL, NULL, 0, NULL, &entry));
	CHECK_OK(doca_flow_entries_process(port, 0, 10000, 4));
	CHECK_OK(doca_flow_entries_process(port, 0, 0, 0));
	CHECK_REFUSED(doca_flow_entries_process(port, 9, 10000, 4));
	doca_flow_pipe_destroy(pipe);
	doca_flow_pipe_destroy(pipe); /* gone: nothing happens */
	CHECK_STATUS(doca_flow_pipe_basic_add_entry(0, pipe, &match, 0, NULL, NULL, NULL, 0, NULL, &entry), BAD);
	/* With its pipe a port stops, as far as the cleanup of programs goes, or says that it is in use. */
	CHECK_OK(pipe_create(port, &match, &fwd, &second));
	CHECK_STATUS2(doca_flow_port_stop(port), DOCA_SUCCESS, DOCA_ERROR_IN_USE);
	doca_flow_pipe_destroy(second);
	doca_flow_port_stop(port);
}

/* Everything goes with the library. */
static void sloppy(void)
{
	struct doca_flow_port *port = NULL;
	struct doca_flow_pipe *pipe = NULL;
	struct doca_flow_match match;
	struct doca_flow_fwd fwd;
	uint16_t queue = 0;

	memset(&match, 0, sizeof(match));
	memset(&fwd, 0, sizeof(fwd));
	fwd.type = DOCA_FLOW_FWD_RSS;
	fwd.rss_type = DOCA_FLOW_RESOURCE_TYPE_NON_SHARED;
	fwd.rss.queues_array = &queue;
	fwd.rss.nr_queues = 1;
	CHECK_OK(port_start(eth.dev[1], 0, &port));
	CHECK_OK(pipe_create(port, &match, &fwd, &pipe));
	doca_flow_destroy();
	doca_flow_pipe_destroy(pipe);
	CHECK_STATUS(doca_flow_port_stop(port), BAD);
	doca_flow_destroy();
}

int main(void)
{
	unsigned i;

	eth_setup(&eth);
	nothing_there();
	for (i = 0; i < 3; i++) {
		eth_flow_begin();
		ports();
		pipes();
		sloppy();
	}
	eth_teardown(&eth);
	return check_result();
}
