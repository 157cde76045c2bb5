/*
 * Flags that name devices: opened by the parser or by the program's own callback, with device
 * arguments, representors, several flags for one device, and names that lead nowhere.
 *
 * clauses: core-base DEVICE value syntax; register_dev_open_callback
 * covers: @
 */
#define _GNU_SOURCE
#include <doca_dev.h>

#include "argp_rig.h"

static struct doca_argp_device_ctx devices[4];
static struct doca_argp_device_rep_ctx reps[4];
static unsigned device_count, rep_count, own_opens;
static int cookie;

static doca_error_t take_device(void *value, void *config)
{
	CHECK_PTR(config, &cookie);
	devices[device_count++] = *(struct doca_argp_device_ctx *)value;
	return DOCA_SUCCESS;
}

static doca_error_t take_rep(void *value, void *config)
{
	CHECK_PTR(config, &cookie);
	reps[rep_count++] = *(struct doca_argp_device_rep_ctx *)value;
	return DOCA_SUCCESS;
}

static doca_error_t open_myself(struct doca_devinfo *devinfo, void *user, struct doca_dev **dev)
{
	CHECK_PTR(user, &own_opens);
	own_opens++;
	return doca_dev_open(devinfo, dev);
}

static void declare(void)
{
	struct doca_argp_param *param;

	MUST(doca_argp_init("prog", &cookie));
	param = argp_param("a", "device", DOCA_ARGP_TYPE_DEVICE);
	doca_argp_param_set_callback(param, take_device);
	doca_argp_param_set_multiplicity(param);
	MUST(doca_argp_register_param(param));
	param = argp_param("r", "rep", DOCA_ARGP_TYPE_DEVICE_REP);
	doca_argp_param_set_callback(param, take_rep);
	doca_argp_param_set_multiplicity(param);
	MUST(doca_argp_register_param(param));
}

static void check_pci(struct doca_dev *dev, const char *pci)
{
	char text[DOCA_DEVINFO_PCI_ADDR_SIZE] = "";

	MUST_BE(dev != NULL);
	CHECK_OK(doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(dev), text));
	CHECK_TEXT(text, pci);
}

static void good(int argc, char **argv)
{
	char text[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = "";
	unsigned i;

	declare();
	CHECK_OK(doca_argp_start(argc, argv));
	MUST_BE(device_count == 3 && rep_count == 1);
	check_pci(devices[0].dev, "0000:03:00.0");
	check_pci(devices[1].dev, "0000:b1:00.1");
	CHECK_PTR(devices[2].dev, devices[0].dev);
	CHECK_TEXT(devices[0].devargs, "dv_flow_en=2,more=1");
	CHECK_PTR(devices[1].devargs, NULL);
	check_pci(reps[0].dev_ctx.dev, "0000:03:00.0");
	CHECK_TEXT(reps[0].dev_ctx.devargs, "x=y");
	MUST_BE(reps[0].dev_rep != NULL);
	CHECK_OK(doca_devinfo_rep_get_pci_addr_str(doca_dev_rep_as_devinfo(reps[0].dev_rep), text));
	CHECK_TEXT(text, "0000:b1:00.0");
	/* The program closes what it got: one close per occurrence. */
	CHECK_OK(doca_dev_rep_close(reps[0].dev_rep));
	CHECK_OK(doca_dev_close(reps[0].dev_ctx.dev));
	for (i = 0; i < device_count; i++)
		CHECK_OK(doca_dev_close(devices[i].dev));
	CHECK_REFUSED(doca_dev_close(devices[0].dev));
	CHECK_OK(doca_argp_destroy());
}

static void own_open(int argc, char **argv)
{
	declare();
	CHECK_STATUS(doca_argp_register_dev_open_callback(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_argp_register_dev_open_callback(open_myself, &own_opens));
	CHECK_OK(doca_argp_start(argc, argv));
	CHECK_U64(own_opens, 1);
	MUST_BE(device_count == 1);
	check_pci(devices[0].dev, "0000:03:00.1");
	CHECK_OK(doca_dev_close(devices[0].dev));
	CHECK_OK(doca_argp_destroy());
}

static void not_found(int argc, char **argv)
{
	declare();
	CHECK_STATUS(doca_argp_start(argc, argv), DOCA_ERROR_NOT_FOUND);
	CHECK_U64(device_count + rep_count, 0);
	CHECK_OK(doca_argp_destroy());
}

static void malformed(int argc, char **argv)
{
	declare();
	CHECK_STATUS(doca_argp_start(argc, argv), DOCA_ERROR_INVALID_VALUE);
	CHECK_U64(device_count + rep_count, 0);
	CHECK_OK(doca_argp_destroy());
}

int main(void)
{
	CHECK_U64(ARGP_RUN(good, "-a", "pci/0000:03:00.0,dv_flow_en=2,more=1", "--device", "pci/b1:00.1", "-a",
			   "pci/03:00.0", "-r", "pci/0000:03:00.0,pf0hpf,x=y"), 0);
	CHECK_U64(ARGP_RUN(own_open, "-a", "pci/03:00.1"), 0);
	CHECK_U64(ARGP_RUN(not_found, "-a", "pci/0000:77:00.0"), 0);
	/* The list of those that exist is shown. */
	CHECK(strstr(argp_err, "03:00.0") || strstr(argp_out, "03:00.0"));
	CHECK_U64(ARGP_RUN(not_found, "-r", "pci/0000:03:00.0,pf7vf9"), 0);
	CHECK_U64(ARGP_RUN(malformed, "-a", "0000:03:00.0.1"), 0);
	CHECK_U64(ARGP_RUN(malformed, "-a", "pci/zz:00.0"), 0);
	CHECK_U64(ARGP_RUN(malformed, "-a", ""), 0);
	CHECK_U64(ARGP_RUN(malformed, "-r", "pci/0000:03:00.0"), 0);
	return check_result();
}
