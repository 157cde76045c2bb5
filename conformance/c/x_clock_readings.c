/*
 * Readings of every clock against the operating system's clocks of the same name, read before and after;
 * clocks that must not go backwards; NIC clocks advance as time does.
 *
 * clauses: core-sync-graph Clock
 * covers: @
 */
#define _GNU_SOURCE
#include <doca_clock.h>
#include <doca_dev.h>

#include "check.h"
#include "x_two.h"

static int64_t nanoseconds(struct timespec time)
{
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static int64_t system_now(clockid_t id)
{
	struct timespec time;

	MUST_BE(clock_gettime(id, &time) == 0);
	return nanoseconds(time);
}

static int64_t reading(const struct doca_clock *clock, uint64_t type)
{
	union doca_clock_timespec_t value;

	memset(&value, 0xff, sizeof(value));
	MUST(doca_clock_get_timestamp(clock, type, &value));
	if (type == DOCA_CLOCK_HOST_COUNTER_CYCLES)
		return (int64_t)value.counter;
	CHECK(value.ts.tv_nsec >= 0 && value.ts.tv_nsec < 1000000000);
	return nanoseconds(value.ts);
}

static void against(const struct doca_clock *clock, uint64_t type, clockid_t id)
{
	int round;

	for (round = 0; round < 100; round++) {
		int64_t before = system_now(id), now = reading(clock, type), after = system_now(id);

		CHECK(before <= now && now <= after);
	}
}

static void never_back(const struct doca_clock *clock, uint64_t type)
{
	int64_t last = reading(clock, type), now;
	int round;

	for (round = 0; round < 1000; round++, last = now) {
		now = reading(clock, type);
		CHECK(now >= last);
	}
	two_sleep_ms(30);
	/* Slept at least that long. */
	if (type != DOCA_CLOCK_HOST_COUNTER_CYCLES)
		CHECK(reading(clock, type) - last >= 29000000);
	else
		CHECK(reading(clock, type) > last);
}

int main(void)
{
	struct doca_devinfo **list = NULL;
	struct doca_clock *clock = NULL, *second = NULL;
	struct doca_dev *dev = NULL;
	uint32_t count = 0;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST_BE(count > 0);
	CHECK_OK(doca_clock_cap_nic_free_running_is_supported(list[0]));
	CHECK_OK(doca_clock_cap_nic_real_time_is_supported(list[0]));
	CHECK_STATUS2(doca_clock_cap_nic_dpa_timer_is_supported(list[0]), DOCA_SUCCESS, DOCA_ERROR_NOT_SUPPORTED);
	MUST(doca_dev_open(list[0], &dev));
	MUST(doca_devinfo_destroy_list(list));
	MUST(doca_clock_create(dev, &clock));
	MUST(doca_clock_create(dev, &second));
	against(clock, DOCA_CLOCK_HOST_REAL_TIME, CLOCK_REALTIME);
	against(clock, DOCA_CLOCK_HOST_MONOTONIC, CLOCK_MONOTONIC);
	against(clock, DOCA_CLOCK_HOST_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW);
	against(clock, DOCA_CLOCK_NIC_REAL_TIME, CLOCK_REALTIME);
	never_back(clock, DOCA_CLOCK_HOST_MONOTONIC);
	never_back(clock, DOCA_CLOCK_HOST_MONOTONIC_RAW);
	never_back(clock, DOCA_CLOCK_HOST_COUNTER_CYCLES);
	never_back(clock, DOCA_CLOCK_NIC_FREE_RUNNING);
	if (doca_clock_cap_nic_dpa_timer_is_supported(doca_dev_as_devinfo(dev)) == DOCA_SUCCESS)
		never_back(clock, DOCA_CLOCK_NIC_DPA_TIMER);
	/* Two readers of one device read one clock. */
	{
		int64_t one = reading(clock, DOCA_CLOCK_NIC_FREE_RUNNING);
		int64_t two = reading(second, DOCA_CLOCK_NIC_FREE_RUNNING);
		int64_t three = reading(clock, DOCA_CLOCK_NIC_FREE_RUNNING);

		CHECK(one <= two && two <= three);
	}
	CHECK_OK(doca_clock_destroy(second));
	CHECK_OK(doca_clock_destroy(clock));
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
