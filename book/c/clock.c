/* Clocks: how long something took by the card's clock, and when that was by the machine's. */
#include "tutorial.h"

#include <doca_clock.h>
#include <time.h>

static long long nanoseconds(const union doca_clock_timespec_t *reading)
{
	return reading->ts.tv_sec * 1000000000ll + reading->ts.tv_nsec;
}

int main(void)
{
	struct doca_dev *dev = device_that(doca_clock_cap_nic_free_running_is_supported);
	union doca_clock_timespec_t began, ended, here, there, cycles;
	struct timespec nap = {.tv_nsec = 2000000};
	struct doca_clock *clock;
	uint64_t margin;

	MUST(doca_clock_create(dev, &clock));

	MUST(doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_FREE_RUNNING, &began));
	nanosleep(&nap, NULL);
	MUST(doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_FREE_RUNNING, &ended));
	printf("slept 2 ms or longer: %s\n", nanoseconds(&ended) - nanoseconds(&began) >= 2000000 ? "yes" : "no");

	/* Two clocks for the same instant. This is how a card's timestamps get a place in the machine's time. */
	MUST(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_MONOTONIC, DOCA_CLOCK_NIC_FREE_RUNNING, &here, &there,
					   &margin));
	fprintf(stderr, "%lld ns here is %lld ns there, give or take %llu ns\n", nanoseconds(&here),
		nanoseconds(&there), (unsigned long long)margin);
	printf("the card's clock went on: %s\n", nanoseconds(&there) >= nanoseconds(&ended) ? "yes" : "no");

	/* With the cycle counter in front the margin is one of cycles. */
	MUST(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_COUNTER_CYCLES, DOCA_CLOCK_NIC_REAL_TIME, &cycles,
					   &there, &margin));
	fprintf(stderr, "cycle %llu, give or take %llu\n", (unsigned long long)cycles.counter,
		(unsigned long long)margin);

	/* The second clock is the card's, always. */
	printf("two clocks of the machine: %s\n",
	       doca_error_get_name(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_MONOTONIC,
								 DOCA_CLOCK_HOST_REAL_TIME, &here, &there, &margin)));

	MUST(doca_clock_destroy(clock));
	MUST(doca_dev_close(dev));
	return 0;
}
