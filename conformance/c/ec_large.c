/*
 * Large blocks, which several threads compute in parts: right to the last byte, in plain, exported and
 * chained memory; new redundancy over the old; a matrix that goes away while a task uses it; a stop with
 * large tasks in flight.
 *
 * clauses: erasure-coding Matrices (destroy), Behaviour (block rules, context life)
 * covers: @
 */
#include "ec_rig.h"

#define K 4
#define M 2
#define BLOCK ((size_t)768 * 1024 + 64)
#define RDNC (K * BLOCK)
#define BYTES (RDNC + (M + 1) * BLOCK)

static uint8_t factor[K * M];

static void compare(const uint8_t *data, const uint8_t *rdnc)
{
	uint8_t *want = (uint8_t *)malloc(BLOCK);
	size_t j;

	MUST_BE(want != NULL);
	for (j = 0; j < M; j++) {
		ec_output(data, K, BLOCK, factor, M, j, want);
		CHECK_BYTES(rdnc + j * BLOCK, want, BLOCK);
	}
	free(want);
}

static void one(struct ec_rig *rig, struct doca_ec_matrix *m, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_ec_task_create *task = NULL;
	union doca_data user = {0};

	MUST(doca_ec_task_create_allocate_init(rig->ec, m, src, dst, user, &task));
	CHECK_STATUS(ec_run(rig, doca_ec_task_create_as_task(task)), DOCA_SUCCESS);
	doca_task_free(doca_ec_task_create_as_task(task));
	ec_drop(src);
	ec_drop(dst);
}

static struct doca_buf *pieces(struct ec_rig *rig, size_t at, size_t len, size_t size, int full)
{
	struct doca_buf *list = NULL;
	size_t done, n;

	for (done = 0; done < len; done += n) {
		struct doca_buf *piece;

		n = len - done < size ? len - done : size;
		piece = full ? ec_src(rig, at + done, n) : ec_dst(rig, at + done, n);
		if (list == NULL)
			list = piece;
		else
			MUST(doca_buf_chain_list(list, piece));
	}
	return list;
}

/* Memory that another process might write meanwhile. */
static void exported(struct ec_rig *rig, struct doca_ec_matrix *m)
{
	struct doca_mmap *old = rig->map;

	rig->map = ec_map(rig->dev, rig->mem, BYTES,
			  DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	memset(rig->mem + RDNC, 0, M * BLOCK);
	one(rig, m, ec_src(rig, 0, K * BLOCK), ec_dst(rig, RDNC, M * BLOCK));
	compare(rig->mem, rig->mem + RDNC);
	CHECK_OK(doca_mmap_destroy(rig->map));
	rig->map = old;
}

/* Data block 2 changes; the new redundancy goes where the old is, which is behind old and new block. */
static void in_place(struct ec_rig *rig, struct doca_ec_matrix *coding)
{
	uint32_t changed = 2;
	struct doca_ec_matrix *m = NULL;
	struct doca_ec_task_update *task = NULL;
	struct doca_buf *src, *dst;
	union doca_data user = {0};
	uint8_t *fresh = rig->mem + RDNC + M * BLOCK;
	size_t i;

	for (i = 0; i < BLOCK; i++)
		fresh[i] = (uint8_t)(i * 13 + i / 300);
	MUST(doca_ec_matrix_create_update(rig->ec, coding, &changed, 1, &m));
	src = ec_src(rig, 2 * BLOCK, BLOCK);
	MUST(doca_buf_chain_list(src, ec_src(rig, RDNC + M * BLOCK, BLOCK)));
	MUST(doca_buf_chain_list(src, ec_src(rig, RDNC, M * BLOCK)));
	dst = ec_dst(rig, RDNC, M * BLOCK);
	MUST(doca_ec_task_update_allocate_init(rig->ec, m, src, dst, user, &task));
	CHECK_STATUS(ec_run(rig, doca_ec_task_update_as_task(task)), DOCA_SUCCESS);
	memcpy(rig->mem + 2 * BLOCK, fresh, BLOCK);
	compare(rig->mem, rig->mem + RDNC);
	doca_task_free(doca_ec_task_update_as_task(task));
	ec_drop(src);
	ec_drop(dst);
	CHECK_OK(doca_ec_matrix_destroy(m));
}

/* Either the task was quick enough, or it fails for want of a matrix; memory is never touched through it. */
static void matrix_goes(struct ec_rig *rig)
{
	unsigned round;

	for (round = 0; round < 20; round++) {
		struct doca_buf *src = ec_src(rig, 0, K * BLOCK), *dst = ec_dst(rig, RDNC, M * BLOCK);
		struct doca_ec_matrix *m = NULL;
		struct doca_ec_task_create *task = NULL;
		union doca_data user = {0};
		unsigned i;

		MUST(doca_ec_matrix_create(rig->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, K, M, &m));
		MUST(doca_ec_task_create_allocate_init(rig->ec, m, src, dst, user, &task));
		MUST(doca_task_submit(doca_ec_task_create_as_task(task)));
		for (i = 0; i < round; i++)
			(void)doca_pe_progress(rig->pe);
		CHECK_OK(doca_ec_matrix_destroy(m));
		ec_drain(rig);
		CHECK_STATUS2(doca_task_get_status(doca_ec_task_create_as_task(task)), DOCA_SUCCESS,
			      DOCA_ERROR_INVALID_VALUE);
		doca_task_free(doca_ec_task_create_as_task(task));
		ec_drop(src);
		ec_drop(dst);
	}
}

/* Everything comes back, done or flushed; the task can still be asked for its context after it was freed. */
static void stop_in_flight(struct ec_rig *rig, struct doca_ec_matrix *m)
{
	struct doca_ec_task_create *task[4];
	struct doca_buf *src[4], *dst[4];
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	union doca_data user = {0};
	unsigned before = rig->good + rig->bad, i;

	for (i = 0; i < 4; i++) {
		src[i] = ec_src(rig, 0, K * BLOCK);
		dst[i] = ec_dst(rig, RDNC, M * BLOCK);
		MUST(doca_ec_task_create_allocate_init(rig->ec, m, src[i], dst[i], user, &task[i]));
		MUST(doca_task_submit(doca_ec_task_create_as_task(task[i])));
	}
	(void)doca_pe_progress(rig->pe);
	CHECK_STATUS2(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS, DOCA_SUCCESS);
	while (rig->good + rig->bad < before + 4)
		(void)doca_pe_progress(rig->pe);
	for (i = 0; i < 4; i++) {
		struct doca_task *plain = doca_ec_task_create_as_task(task[i]);

		doca_task_free(plain);
		CHECK_PTR(doca_task_get_ctx(plain), rig->ctx);
		ec_drop(src[i]);
		ec_drop(dst[i]);
	}
	while (doca_ctx_get_state(rig->ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(rig->pe);
	CHECK_OK(doca_ctx_start(rig->ctx));
}

int main(void)
{
	struct ec_rig rig;
	struct doca_ec_matrix *m = NULL;
	size_t i;

	for (i = 0; i < K * M; i++)
		factor[i] = ec_inverse((uint8_t)((i / M) ^ (K + i % M)));
	ec_setup(&rig, BYTES, 4);
	MUST(doca_ec_matrix_create(rig.ec, DOCA_EC_MATRIX_TYPE_CAUCHY, K, M, &m));
	one(&rig, m, ec_src(&rig, 0, K * BLOCK), ec_dst(&rig, RDNC, M * BLOCK));
	compare(rig.mem, rig.mem + RDNC);
	memset(rig.mem + RDNC, 0, M * BLOCK);
	one(&rig, m, pieces(&rig, 0, K * BLOCK, 100001, 1), pieces(&rig, RDNC, M * BLOCK, 65521, 0));
	compare(rig.mem, rig.mem + RDNC);
	exported(&rig, m);
	in_place(&rig, m);
	matrix_goes(&rig);
	stop_in_flight(&rig, m);
	CHECK_OK(doca_ec_matrix_destroy(m));
	ec_teardown(&rig);
	return check_result();
}
