/*
 * Two clocks for the same instant: the primary reading lies between readings around the call, the NIC's too,
 * and the margin says how far they may be apart; in cycles when the primary is the counter.
 *
 * clauses: core-sync-graph Clock (cross timestamp)
 * covers: @
 */
#define _GNU_SOURCE
#include <doca_clock.h>
#include <doca_dev.h>

#include "check.h"
#include "x_two.h"

static const uint64_t primaries[] = {DOCA_CLOCK_HOST_COUNTER_CYCLES, DOCA_CLOCK_HOST_REAL_TIME,
				     DOCA_CLOCK_HOST_MONOTONIC, DOCA_CLOCK_HOST_MONOTONIC_RAW,
				     DOCA_CLOCK_NIC_FREE_RUNNING};
static const uint64_t nics[] = {DOCA_CLOCK_NIC_FREE_RUNNING, DOCA_CLOCK_NIC_REAL_TIME, DOCA_CLOCK_NIC_DPA_TIMER};

static int64_t value_of(uint64_t type, union doca_clock_timespec_t value)
{
	return type == DOCA_CLOCK_HOST_COUNTER_CYCLES ? (int64_t)value.counter :
							value.ts.tv_sec * 1000000000ll + value.ts.tv_nsec;
}

static int64_t reading(const struct doca_clock *clock, uint64_t type)
{
	union doca_clock_timespec_t value;

	memset(&value, 0, sizeof(value));
	MUST(doca_clock_get_timestamp(clock, type, &value));
	return value_of(type, value);
}

static void pair(const struct doca_clock *clock, uint64_t primary, uint64_t nic)
{
	union doca_clock_timespec_t first = {.counter = 0}, second = {.counter = 0};
	int round;

	for (round = 0; round < 50; round++) {
		uint64_t margin = UINT64_MAX;
		int64_t primary_before = reading(clock, primary), nic_before = reading(clock, nic);
		int64_t primary_after, nic_after;

		MUST(doca_clock_get_crosstimestamp(clock, primary, nic, &first, &second, &margin));
		nic_after = reading(clock, nic);
		primary_after = reading(clock, primary);
		CHECK(primary_before <= value_of(primary, first) && value_of(primary, first) <= primary_after);
		CHECK(nic_before <= value_of(nic, second) && value_of(nic, second) <= nic_after);
		/* The margin is half the gap around the NIC's reading, which is inside ours. */
		CHECK(margin != UINT64_MAX && (int64_t)margin <= primary_after - primary_before);
	}
}

int main(void)
{
	struct doca_devinfo **list = NULL;
	struct doca_clock *clock = NULL;
	struct doca_dev *dev = NULL;
	uint32_t count = 0;
	size_t i, k;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST_BE(count > 0);
	MUST(doca_dev_open(list[0], &dev));
	MUST(doca_devinfo_destroy_list(list));
	MUST(doca_clock_create(dev, &clock));
	for (k = 0; k < sizeof(nics) / sizeof(nics[0]); k++) {
		if (nics[k] == DOCA_CLOCK_NIC_DPA_TIMER &&
		    doca_clock_cap_nic_dpa_timer_is_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS)
			continue;
		for (i = 0; i < sizeof(primaries) / sizeof(primaries[0]); i++)
			pair(clock, primaries[i], nics[k]);
	}
	CHECK_OK(doca_clock_destroy(clock));
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
