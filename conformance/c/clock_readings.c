/*
 * Clocks: each of them, pairs with their margins, and what is refused.
 *
 * clauses: core-sync-graph Clock
 * covers: @
 */
#define _GNU_SOURCE
#include <doca_argp.h>
#include <doca_clock.h>
#include <doca_error.h>
#include <doca_log.h>

#include "check.h"

static const uint64_t all[] = {DOCA_CLOCK_NIC_FREE_RUNNING, DOCA_CLOCK_NIC_REAL_TIME,	 DOCA_CLOCK_NIC_DPA_TIMER,
			       DOCA_CLOCK_HOST_COUNTER_CYCLES, DOCA_CLOCK_HOST_REAL_TIME, DOCA_CLOCK_HOST_MONOTONIC,
			       DOCA_CLOCK_HOST_MONOTONIC_RAW};

static uint64_t number(uint64_t type, const union doca_clock_timespec_t *reading)
{
	if (type == DOCA_CLOCK_HOST_COUNTER_CYCLES)
		return reading->counter;
	CHECK(reading->ts.tv_nsec >= 0 && reading->ts.tv_nsec < 1000000000);
	return (uint64_t)reading->ts.tv_sec * 1000000000u + (uint64_t)reading->ts.tv_nsec;
}

static int is_wall(uint64_t type)
{
	return type == DOCA_CLOCK_NIC_REAL_TIME || type == DOCA_CLOCK_HOST_REAL_TIME;
}

int main(void)
{
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE] = "";
	struct doca_devinfo **list = NULL;
	struct doca_clock *clock = NULL;
	struct doca_dev *dev = NULL;
	uint32_t count = 0;
	unsigned i, j;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST_BE(count > 0);
	CHECK_OK(doca_devinfo_get_pci_addr_str(list[0], pci));
	CHECK_OK(doca_clock_cap_nic_free_running_is_supported(list[0]));
	CHECK_OK(doca_clock_cap_nic_real_time_is_supported(list[0]));
	CHECK_OK(doca_clock_cap_nic_dpa_timer_is_supported(list[0]));
	CHECK_STATUS(doca_clock_cap_nic_real_time_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_dev_open(list[0], &dev));
	MUST(doca_devinfo_destroy_list(list));
	CHECK_STATUS(doca_clock_create(NULL, &clock), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_clock_create(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_clock_create(dev, &clock));

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		union doca_clock_timespec_t before = {0}, after = {0};

		CHECK_OK(doca_clock_get_timestamp(clock, all[i], &before));
		usleep(2000);
		CHECK_OK(doca_clock_get_timestamp(clock, all[i], &after));
		if (!is_wall(all[i]))
			CHECK(number(all[i], &after) > number(all[i], &before));
		if (all[i] != DOCA_CLOCK_HOST_COUNTER_CYCLES && !is_wall(all[i]))
			CHECK(number(all[i], &after) - number(all[i], &before) >= 1900000);
		for (j = 0; j < sizeof(all) / sizeof(all[0]); j++) {
			union doca_clock_timespec_t first = {0}, second = {0}, later = {0};
			uint64_t margin = UINT64_MAX;
			doca_error_t status =
				doca_clock_get_crosstimestamp(clock, all[i], all[j], &first, &second, &margin);

			if (all[j] >= DOCA_CLOCK_HOST_COUNTER_CYCLES) {
				CHECK_STATUS(status, DOCA_ERROR_NOT_SUPPORTED);
				continue;
			}
			CHECK_OK(status);
			CHECK_OK(doca_clock_get_timestamp(clock, all[j], &later));
			if (!is_wall(all[j]))
				CHECK(number(all[j], &second) <= number(all[j], &later));
			if (!is_wall(all[i]))
				CHECK(number(all[i], &first) >= number(all[i], &after));
			CHECK(margin < UINT64_MAX / 2);
		}
	}
	{
		/* The wall clocks agree within the margin. */
		union doca_clock_timespec_t first = {0}, second = {0};
		uint64_t margin = 0, a, b;

		CHECK_OK(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_REAL_TIME, DOCA_CLOCK_NIC_REAL_TIME,
						       &first, &second, &margin));
		a = number(DOCA_CLOCK_HOST_REAL_TIME, &first);
		b = number(DOCA_CLOCK_NIC_REAL_TIME, &second);
		CHECK((a > b ? a - b : b - a) <= margin);
		CHECK_STATUS(doca_clock_get_timestamp(clock, 0, &first), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_STATUS(doca_clock_get_timestamp(clock, 3, &first), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_STATUS(doca_clock_get_timestamp(clock, UINT64_C(1) << 40, &first), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_STATUS(doca_clock_get_timestamp(NULL, 1, &first), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_clock_get_timestamp(clock, 1, NULL), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_clock_get_crosstimestamp(clock, 1, 1, &first, &second, NULL),
			     DOCA_ERROR_INVALID_VALUE);
	}
	CHECK_OK(doca_clock_destroy(clock));
	CHECK_STATUS(doca_clock_destroy(clock), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_clock_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
