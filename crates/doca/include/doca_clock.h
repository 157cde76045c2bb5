/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_clock.h: clocks of machine and card
 *
 * Reads single clocks, or two at the same instant. Clock types are bits of which each call takes
 * exactly one.
 *
 * Threads: a clock object may be read from any number of threads; create and destroy are the
 * business of one.
 */
#ifndef DOCA_CLOCK_H_
#define DOCA_CLOCK_H_

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <doca_compat.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_clock;

#define DOCA_CLOCK_NIC_FREE_RUNNING (0x1)	      /**< the card's free-running clock (ts) */
#define DOCA_CLOCK_NIC_REAL_TIME (0x1 << 1)	      /**< the card's wall clock (ts) */
#define DOCA_CLOCK_NIC_DPA_TIMER (0x1 << 8)	      /**< the accelerator's timer (ts) */
#define DOCA_CLOCK_HOST_COUNTER_CYCLES (0x1 << 16)    /**< the processor's cycle counter (counter) */
#define DOCA_CLOCK_HOST_REAL_TIME (0x1 << 17)	      /**< CLOCK_REALTIME (ts) */
#define DOCA_CLOCK_HOST_MONOTONIC (0x1 << 18)	      /**< CLOCK_MONOTONIC (ts) */
#define DOCA_CLOCK_HOST_MONOTONIC_RAW (0x1 << 19)     /**< CLOCK_MONOTONIC_RAW (ts) */

/** A reading; which member counts depends on the clock. */
union doca_clock_timespec_t {
	struct timespec ts; /**< seconds and nanoseconds */
	uint64_t counter;   /**< cycles */
};

/* Capabilities */

/**
 * Answers DOCA_SUCCESS when the device has a free-running clock.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_cap_nic_free_running_is_supported(const struct doca_devinfo *devinfo);

/**
 * Answers DOCA_SUCCESS when the device has a wall clock.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_cap_nic_real_time_is_supported(const struct doca_devinfo *devinfo);

/**
 * Answers DOCA_SUCCESS when the device has an accelerator timer.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_cap_nic_dpa_timer_is_supported(const struct doca_devinfo *devinfo);

/* Clocks */

/**
 * Makes a reader for the clocks of an open device, which must outlive it, and of the host.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED,
 * DOCA_ERROR_DRIVER.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_create(const struct doca_dev *dev, struct doca_clock **clock);

/**
 * Frees the reader.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_destroy(struct doca_clock *clock);

/**
 * Reads one clock.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (not one known clock, or the
 * device lacks it), DOCA_ERROR_DRIVER, DOCA_ERROR_OPERATING_SYSTEM.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_get_timestamp(const struct doca_clock *clock, uint64_t clock_type,
				      union doca_clock_timespec_t *clock_ts);

/**
 * Reads any clock and a clock of the card for the same instant. *error_margin_nsecs tells how far
 * apart the readings may be: nanoseconds, or cycles when the first clock is the cycle counter; 0
 * means exact.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NOT_SUPPORTED (a clock is unknown or missing,
 * or the second one is not the card's), DOCA_ERROR_DRIVER, DOCA_ERROR_OPERATING_SYSTEM.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_clock_get_crosstimestamp(const struct doca_clock *clock,
					   uint64_t primary_clock_type, uint64_t nic_clock_type,
					   union doca_clock_timespec_t *primary_clock_ts,
					   union doca_clock_timespec_t *nic_clock_ts,
					   uint64_t *error_margin_nsecs);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_CLOCK_H_ */
