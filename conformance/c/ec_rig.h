/*
 * What the erasure coding programs share: a device that has the engine, a context with all four kinds
 * of tasks, one memory map, and the arithmetic of the field written out by long multiplication.
 */
#ifndef CONFORMANCE_EC_RIG_H
#define CONFORMANCE_EC_RIG_H

#define _DEFAULT_SOURCE

#include <sched.h>
#include <sys/mman.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_erasure_coding.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_types.h>

#include "check.h"

#define EC_LOG 4096

struct ec_rig {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_ec *ec;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inv;
	struct doca_mmap *map;
	uint8_t *mem;
	size_t len;
	unsigned good, bad;
	uint64_t order[EC_LOG];	     /* user data of completions, in order of delivery */
	doca_error_t status[EC_LOG]; /* ... and the status found in the callback */
};

static inline void ec_record(struct ec_rig *rig, struct doca_task *task, uint64_t user, int failed)
{
	unsigned at = rig->good + rig->bad;

	if (at < EC_LOG) {
		rig->order[at] = user;
		rig->status[at] = doca_task_get_status(task);
	}
	if (failed)
		rig->bad++;
	else
		rig->good++;
}

/* The callbacks of a kind of task; the task stays allocated. */
#define EC_CALLBACKS(kind) \
	static inline void ec_##kind##_good(struct doca_ec_task_##kind *task, union doca_data user, \
					    union doca_data ctx_user) \
	{ \
		ec_record((struct ec_rig *)ctx_user.ptr, doca_ec_task_##kind##_as_task(task), user.u64, 0); \
	} \
	static inline void ec_##kind##_bad(struct doca_ec_task_##kind *task, union doca_data user, \
					   union doca_data ctx_user) \
	{ \
		ec_record((struct ec_rig *)ctx_user.ptr, doca_ec_task_##kind##_as_task(task), user.u64, 1); \
	}

EC_CALLBACKS(galois_mul)
EC_CALLBACKS(create)
EC_CALLBACKS(update)
EC_CALLBACKS(recover)

/* The first device that runs all four kinds. */
static inline struct doca_dev *ec_open_dev(void)
{
	struct doca_devinfo **list = NULL;
	struct doca_dev *dev = NULL;
	uint32_t count = 0, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++) {
		if (doca_ec_cap_task_galois_mul_is_supported(list[i]) == DOCA_SUCCESS &&
		    doca_ec_cap_task_create_is_supported(list[i]) == DOCA_SUCCESS &&
		    doca_ec_cap_task_update_is_supported(list[i]) == DOCA_SUCCESS &&
		    doca_ec_cap_task_recover_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	}
	MUST(doca_devinfo_destroy_list(list));
	MUST_BE(dev != NULL);
	return dev;
}

static inline struct doca_mmap *ec_map(struct doca_dev *dev, void *addr, size_t len, uint32_t access)
{
	struct doca_mmap *map = NULL;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, addr, len));
	MUST(doca_mmap_set_permissions(map, access));
	MUST(doca_mmap_start(map));
	return map;
}

/* Everything, started; `bytes` of memory that end at a page nobody may touch, filled with a pattern. */
static inline void ec_setup(struct ec_rig *rig, size_t bytes, uint32_t tasks)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (bytes + page - 1) / page * page, i;
	union doca_data user = {0};
	uint8_t *at;

	memset(rig, 0, sizeof(*rig));
	rig->dev = ec_open_dev();
	MUST(doca_pe_create(&rig->pe));
	MUST(doca_ec_create(rig->dev, &rig->ec));
	rig->ctx = doca_ec_as_ctx(rig->ec);
	MUST_BE(rig->ctx != NULL);
	MUST(doca_pe_connect_ctx(rig->pe, rig->ctx));
	MUST(doca_ec_task_galois_mul_set_conf(rig->ec, ec_galois_mul_good, ec_galois_mul_bad, tasks));
	MUST(doca_ec_task_create_set_conf(rig->ec, ec_create_good, ec_create_bad, tasks));
	MUST(doca_ec_task_update_set_conf(rig->ec, ec_update_good, ec_update_bad, tasks));
	MUST(doca_ec_task_recover_set_conf(rig->ec, ec_recover_good, ec_recover_bad, tasks));
	user.ptr = rig;
	MUST(doca_ctx_set_user_data(rig->ctx, user));
	at = (uint8_t *)mmap(NULL, body + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST_BE(at != MAP_FAILED);
	MUST_BE(mprotect(at + body, page, PROT_NONE) == 0);
	rig->mem = at + body - bytes;
	rig->len = bytes;
	for (i = 0; i < bytes; i++)
		rig->mem[i] = (uint8_t)(i * 31 + (i >> 8) * 7 + (i >> 16) * 11 + 1);
	rig->map = ec_map(rig->dev, rig->mem, bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create(1024, &rig->inv));
	MUST(doca_buf_inventory_start(rig->inv));
	MUST(doca_ctx_start(rig->ctx));
}

static inline void ec_teardown(struct ec_rig *rig)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (rig->len + page - 1) / page * page;
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	uint32_t total = 0, free_now = 0;

	CHECK_STATUS2(doca_ctx_stop(rig->ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	while (doca_ctx_get_state(rig->ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(rig->pe);
	CHECK_OK(doca_ec_destroy(rig->ec));
	CHECK_OK(doca_pe_destroy(rig->pe));
	CHECK_OK(doca_buf_inventory_get_num_elements(rig->inv, &total));
	CHECK_OK(doca_buf_inventory_get_num_free_elements(rig->inv, &free_now));
	CHECK_U64(free_now, total);
	CHECK_OK(doca_buf_inventory_destroy(rig->inv));
	CHECK_OK(doca_mmap_destroy(rig->map));
	CHECK_OK(doca_dev_close(rig->dev));
	MUST_BE(munmap(rig->mem + rig->len - body, body + page) == 0);
}

/* `len` bytes of data at offset `at`. */
static inline struct doca_buf *ec_src(struct ec_rig *rig, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_data(rig->inv, rig->map, rig->mem + at, len, &buf));
	return buf;
}

/* Room for `len` bytes at offset `at`. */
static inline struct doca_buf *ec_dst(struct ec_rig *rig, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, rig->map, rig->mem + at, len, &buf));
	return buf;
}

static inline void ec_drop(struct doca_buf *buf)
{
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
}

/* Progress until nothing is in flight. One completion per call, and none when it says that nothing happened. */
static inline void ec_drain(struct ec_rig *rig)
{
	size_t flying = 1;

	while (doca_ctx_get_num_inflight_tasks(rig->ctx, &flying) == DOCA_SUCCESS && flying != 0) {
		unsigned before = rig->good + rig->bad;

		if (doca_pe_progress(rig->pe) == 0) {
			CHECK_U64(rig->good + rig->bad, before);
			sched_yield();
		} else {
			CHECK_U64(rig->good + rig->bad, before + 1);
		}
	}
}

/* Runs one task to its end; the status it ended with. */
static inline doca_error_t ec_run(struct ec_rig *rig, struct doca_task *task)
{
	unsigned at = rig->good + rig->bad;
	doca_error_t status = doca_task_submit(task);

	if (status != DOCA_SUCCESS)
		return status;
	ec_drain(rig);
	CHECK_U64(rig->good + rig->bad, at + 1);
	return rig->status[at % EC_LOG];
}

/* The product of two elements, polynomial x^8+x^4+x^3+x^2+1. */
static inline uint8_t ec_times(uint8_t a, uint8_t b)
{
	uint8_t sum = 0;

	while (b != 0) {
		if (b & 1)
			sum ^= a;
		a = (uint8_t)((a << 1) ^ ((a & 0x80) != 0 ? 0x1d : 0));
		b >>= 1;
	}
	return sum;
}

static inline uint8_t ec_inverse(uint8_t a)
{
	unsigned b;

	for (b = 1; b < 256; b++) {
		if (ec_times(a, (uint8_t)b) == 1)
			return (uint8_t)b;
	}
	return 0;
}

/* Output block `j` by the definition; `factor` has one coefficient per input and output, data-major. */
static inline void ec_output(const uint8_t *src, size_t inputs, size_t block, const uint8_t *factor, size_t outputs,
			     size_t j, uint8_t *out)
{
	size_t i, at;

	memset(out, 0, block);
	for (i = 0; i < inputs; i++) {
		uint8_t row[256];
		unsigned x;

		for (x = 0; x < 256; x++)
			row[x] = ec_times(factor[i * outputs + j], (uint8_t)x);
		for (at = 0; at < block; at++)
			out[at] ^= row[src[i * block + at]];
	}
}

#endif
