/*
 * A file over ten disks, four of which may fail: redundancy made, every way to lose four of the
 * fourteen that a small generator finds, recovered; one block updated and its redundancy brought up to
 * date, which equals redundancy made anew.
 *
 * clauses: engine-erasure-coding Behaviour
 * covers: @
 */
#define _GNU_SOURCE

#include <doca_erasure_coding.h>

#include "app_common.h"

#define DATA 10u
#define RDNC 4u
#define BLOCK 4096u
#define ALL (DATA + RDNC)

static struct app_core core; /* src: data blocks; dst: redundancy, recovered, scratch */
static struct doca_ec *ec;

APP_CALLBACKS(doca_ec_task_create, doca_ec_task_create_as_task)
APP_CALLBACKS(doca_ec_task_update, doca_ec_task_update_as_task)
APP_CALLBACKS(doca_ec_task_recover, doca_ec_task_recover_as_task)

static void make_redundancy(struct doca_ec_matrix *matrix, size_t to)
{
	struct doca_buf *src = app_data(&core, 0, DATA * BLOCK), *dst = app_room(&core, to, RDNC * BLOCK);
	struct doca_ec_task_create *task;
	union doca_data user = {0};

	core.done = 0;
	MUST(doca_ec_task_create_allocate_init(ec, matrix, src, dst, user, &task));
	MUST(doca_task_submit(doca_ec_task_create_as_task(task)));
	app_wait(&core, 1);
	CHECK_U64(core.failed, 0);
	CHECK_U64(app_length(dst), RDNC * BLOCK);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
}

static const uint8_t *block(uint32_t index)
{
	return index < DATA ? core.src + index * BLOCK : core.dst + (index - DATA) * BLOCK;
}

/* The survivors as a chain of single blocks; the first `DATA` of them, in order. */
static void recover(struct doca_ec_matrix *coding, uint32_t *missing, uint32_t count)
{
	struct doca_ec_task_recover *task;
	struct doca_ec_matrix *matrix;
	struct doca_buf *src = NULL, *dst, *next;
	union doca_data user = {0};
	uint32_t i, lost = 0, taken = 0;

	MUST(doca_ec_matrix_create_recover(ec, coding, missing, count, &matrix));
	for (i = 0; i < ALL && taken < DATA; i++) {
		if (lost < count && missing[lost] == i) {
			lost++;
			continue;
		}
		if (i < DATA)
			next = app_data(&core, i * BLOCK, BLOCK);
		else
			MUST(doca_buf_inventory_buf_get_by_data(core.inv, core.dst_map,
								core.dst + (i - DATA) * BLOCK, BLOCK, &next));
		if (src == NULL)
			src = next;
		else
			MUST(doca_buf_chain_list(src, next));
		taken++;
	}
	dst = app_room(&core, RDNC * BLOCK, count * BLOCK);
	memset(core.dst + RDNC * BLOCK, 0, count * BLOCK);
	core.done = 0;
	MUST(doca_ec_task_recover_allocate_init(ec, matrix, src, dst, user, &task));
	MUST(doca_task_submit(doca_ec_task_recover_as_task(task)));
	app_wait(&core, 1);
	CHECK_U64(core.failed, 0);
	CHECK_U64(app_length(dst), count * BLOCK);
	for (i = 0; i < count; i++)
		CHECK_BYTES(core.dst + (RDNC + i) * BLOCK, block(missing[i]), BLOCK);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	CHECK_OK(doca_ec_matrix_destroy(matrix));
}

static void lose_some(struct doca_ec_matrix *coding)
{
	uint32_t missing[RDNC], seed = 1, turn, i, count;

	for (turn = 0; turn < 60; turn++) {
		uint32_t mask = 0;

		count = 1 + turn % RDNC;
		while ((uint32_t)__builtin_popcount(mask) < count) {
			seed = seed * 1664525 + 1013904223;
			mask |= 1u << ((seed >> 16) % ALL);
		}
		for (i = 0, count = 0; i < ALL; i++)
			if (mask >> i & 1)
				missing[count++] = i;
		recover(coding, missing, count);
	}
	/* More than there is redundancy for. */
	{
		uint32_t many[RDNC + 1] = {0, 1, 2, 3, 4};
		struct doca_ec_matrix *matrix;

		CHECK_STATUS(doca_ec_matrix_create_recover(ec, coding, many, RDNC + 1, &matrix),
			     DOCA_ERROR_INVALID_VALUE);
	}
}

/* Block 3 gets other bytes: old, new and the redundancy go in, the new redundancy comes out. */
static void change_one(struct doca_ec_matrix *coding)
{
	struct doca_buf *src, *next, *dst;
	struct doca_ec_task_update *task;
	struct doca_ec_matrix *matrix;
	union doca_data user = {0};
	uint32_t index = 3;
	uint8_t *old = core.src + DATA * BLOCK;

	memcpy(old, core.src + index * BLOCK, BLOCK);
	app_text(core.src + index * BLOCK, BLOCK, 77);
	MUST(doca_ec_matrix_create_update(ec, coding, &index, 1, &matrix));
	src = app_data(&core, DATA * BLOCK, BLOCK);
	next = app_data(&core, index * BLOCK, BLOCK);
	MUST(doca_buf_chain_list(src, next));
	MUST(doca_buf_inventory_buf_get_by_data(core.inv, core.dst_map, core.dst, RDNC * BLOCK, &next));
	MUST(doca_buf_chain_list(src, next));
	dst = app_room(&core, RDNC * BLOCK, RDNC * BLOCK);
	core.done = 0;
	MUST(doca_ec_task_update_allocate_init(ec, matrix, src, dst, user, &task));
	MUST(doca_task_submit(doca_ec_task_update_as_task(task)));
	app_wait(&core, 1);
	CHECK_U64(core.failed, 0);
	make_redundancy(coding, 0);
	CHECK_BYTES(core.dst + RDNC * BLOCK, core.dst, RDNC * BLOCK);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	CHECK_OK(doca_ec_matrix_destroy(matrix));
}

int main(void)
{
	struct doca_ec_matrix *coding;

	app_core_make(&core, doca_ec_cap_task_recover_is_supported, (DATA + 1) * BLOCK, 3 * RDNC * BLOCK, 64);
	app_text(core.src, DATA * BLOCK, 21);
	MUST(doca_ec_create(core.dev, &ec));
	MUST(doca_ec_task_create_set_conf(ec, app_doca_ec_task_create_done, app_doca_ec_task_create_failed, 2));
	MUST(doca_ec_task_update_set_conf(ec, app_doca_ec_task_update_done, app_doca_ec_task_update_failed, 2));
	MUST(doca_ec_task_recover_set_conf(ec, app_doca_ec_task_recover_done, app_doca_ec_task_recover_failed, 2));
	app_core_start(&core, doca_ec_as_ctx(ec));
	MUST(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, DATA, RDNC, &coding));
	make_redundancy(coding, 0);
	lose_some(coding);
	change_one(coding);
	CHECK_OK(doca_ec_matrix_destroy(coding));
	app_core_stop(&core);
	CHECK_OK(doca_ec_destroy(ec));
	app_core_free(&core);
	return check_result();
}
