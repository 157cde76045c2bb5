/*
 * What the clock refuses: NULL anywhere, no clock, two at once, unknown bits, a second clock that is none of
 * the NIC's; a device is kept open by its clock. The constants serve in a switch.
 *
 * clauses: core-sync-graph Clock
 * covers: @
 */
#define _GNU_SOURCE
#include <doca_clock.h>
#include <doca_dev.h>

#include "check.h"

#define INVALID DOCA_ERROR_INVALID_VALUE
#define UNSUPPORTED DOCA_ERROR_NOT_SUPPORTED

static const char *name_of(uint64_t type)
{
	switch (type) {
	case DOCA_CLOCK_NIC_FREE_RUNNING:
		return "free running";
	case DOCA_CLOCK_NIC_REAL_TIME:
		return "NIC real time";
	case DOCA_CLOCK_NIC_DPA_TIMER:
		return "DPA timer";
	case DOCA_CLOCK_HOST_COUNTER_CYCLES:
		return "cycles";
	case DOCA_CLOCK_HOST_REAL_TIME:
		return "host real time";
	case DOCA_CLOCK_HOST_MONOTONIC:
		return "monotonic";
	case DOCA_CLOCK_HOST_MONOTONIC_RAW:
		return "raw";
	default:
		return "none";
	}
}

int main(void)
{
	static const uint64_t bad[] = {0, 0x4, 0x200, 0x100000, 1ull << 63, 0x3, 0x10001, UINT64_MAX};
	union doca_clock_timespec_t one = {.counter = 0}, two = {.counter = 0};
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct doca_devinfo **list = NULL;
	struct doca_clock *clock = NULL;
	struct doca_dev *dev = NULL;
	uint64_t margin = 0;
	uint32_t count = 0;
	size_t i;

	CHECK_TEXT(name_of(0x80000), "raw");
	CHECK_TEXT(name_of(0x100), "DPA timer");
	CHECK_TEXT(name_of(3), "none");
	MUST(doca_devinfo_create_list(&list, &count));
	MUST_BE(count > 0);
	MUST(doca_devinfo_get_pci_addr_str(list[0], pci));
	CHECK_STATUS(doca_clock_cap_nic_free_running_is_supported(NULL), INVALID);
	CHECK_STATUS(doca_clock_cap_nic_real_time_is_supported(NULL), INVALID);
	CHECK_STATUS(doca_clock_cap_nic_dpa_timer_is_supported(NULL), INVALID);
	MUST(doca_dev_open(list[0], &dev));
	MUST(doca_devinfo_destroy_list(list));
	CHECK_STATUS(doca_clock_create(NULL, &clock), INVALID);
	CHECK_STATUS(doca_clock_create(dev, NULL), INVALID);
	CHECK_STATUS(doca_clock_destroy(NULL), INVALID);
	MUST(doca_clock_create(dev, &clock));
	CHECK_STATUS(doca_clock_get_timestamp(NULL, DOCA_CLOCK_HOST_MONOTONIC, &one), INVALID);
	CHECK_STATUS(doca_clock_get_timestamp(clock, DOCA_CLOCK_HOST_MONOTONIC, NULL), INVALID);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_STATUS(doca_clock_get_timestamp(clock, bad[i], &one), UNSUPPORTED);
		CHECK_STATUS(doca_clock_get_crosstimestamp(clock, bad[i], DOCA_CLOCK_NIC_REAL_TIME, &one, &two, &margin),
			     UNSUPPORTED);
		CHECK_STATUS(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_MONOTONIC, bad[i], &one, &two, &margin),
			     UNSUPPORTED);
	}
	CHECK_STATUS(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_MONOTONIC, DOCA_CLOCK_HOST_REAL_TIME, &one,
						   &two, &margin),
		     UNSUPPORTED);
	CHECK_STATUS(doca_clock_get_crosstimestamp(NULL, DOCA_CLOCK_HOST_MONOTONIC, DOCA_CLOCK_NIC_REAL_TIME, &one, &two,
						   &margin),
		     INVALID);
	CHECK_STATUS(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_MONOTONIC, DOCA_CLOCK_NIC_REAL_TIME, NULL,
						   &two, &margin),
		     INVALID);
	CHECK_STATUS(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_MONOTONIC, DOCA_CLOCK_NIC_REAL_TIME, &one,
						   NULL, &margin),
		     INVALID);
	CHECK_STATUS(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_MONOTONIC, DOCA_CLOCK_NIC_REAL_TIME, &one,
						   &two, NULL),
		     INVALID);
	CHECK_STATUS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_clock_destroy(clock));
	CHECK_STATUS(doca_clock_destroy(clock), INVALID);
	CHECK_STATUS(doca_clock_get_timestamp(clock, DOCA_CLOCK_HOST_MONOTONIC, &one), INVALID);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
