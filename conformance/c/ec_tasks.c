/*
 * What the four kinds of tasks compute: creation of both matrix types against the definition, recovery of
 * every loss, update against creation, any matrix with any task; lists whose elements end anywhere,
 * appended destinations, getters and setters, and a run of tasks in submission order.
 *
 * clauses: erasure-coding Tasks, Behaviour (arithmetic, derived matrices, any matrix, block rules)
 * covers: @
 */
#include "ec_rig.h"

#define K 5
#define M 3
#define MAX_BLOCK 4096

/* Layout of the memory: data, redundancy behind it, then room for results and sources put together. */
#define RDNC (K * MAX_BLOCK)
#define WORK (RDNC + M * MAX_BLOCK)
#define OUT (WORK + (2 * K + M) * MAX_BLOCK)
#define BYTES (OUT + K * MAX_BLOCK)

static uint8_t want[MAX_BLOCK];

static void coefficients(enum doca_ec_matrix_type type, uint8_t *factor)
{
	size_t i, j, n;

	for (i = 0; i < K; i++) {
		for (j = 0; j < M; j++) {
			uint8_t c = 1;

			if (type == DOCA_EC_MATRIX_TYPE_CAUCHY) {
				c = ec_inverse((uint8_t)(i ^ (K + j)));
			} else {
				for (n = 0; n < j; n++)
					c = ec_times(c, (uint8_t)(i + 1));
			}
			factor[i * M + j] = c;
		}
	}
}

static void create(struct ec_rig *rig, struct doca_ec_matrix *coding, size_t block)
{
	struct doca_buf *src = ec_src(rig, 0, K * block), *dst = ec_dst(rig, RDNC, M * block);
	struct doca_ec_task_create *task = NULL;
	union doca_data user = {.u64 = 77};
	size_t len = 0;

	MUST(doca_ec_task_create_allocate_init(rig->ec, coding, src, dst, user, &task));
	CHECK_PTR(doca_ec_task_create_get_coding_matrix(task), coding);
	CHECK_PTR(doca_ec_task_create_get_original_data_blocks(task), src);
	CHECK_PTR(doca_ec_task_create_get_rdnc_blocks(task), dst);
	CHECK_STATUS(ec_run(rig, doca_ec_task_create_as_task(task)), DOCA_SUCCESS);
	CHECK_U64(rig->order[(rig->good + rig->bad - 1) % EC_LOG], 77);
	CHECK_OK(doca_buf_get_data_len(dst, &len));
	CHECK_U64(len, M * block);
	doca_task_free(doca_ec_task_create_as_task(task));
	ec_drop(src);
	ec_drop(dst);
}

static void recover(struct ec_rig *rig, struct doca_ec_matrix *coding, size_t block, unsigned lost)
{
	uint32_t missing[K + M];
	struct doca_ec_matrix *matrix = NULL;
	struct doca_ec_task_recover *task = NULL;
	struct doca_buf *src, *dst;
	union doca_data user = {0};
	size_t n, count = 0, put = 0;

	for (n = 0; n < K + M; n++) {
		const uint8_t *from = rig->mem + (n < K ? n * block : RDNC + (n - K) * block);

		if (lost >> n & 1)
			missing[count++] = (uint32_t)n;
		else if (put < K)
			memcpy(rig->mem + WORK + put++ * block, from, block);
	}
	MUST(doca_ec_matrix_create_recover(rig->ec, coding, missing, count, &matrix));
	src = ec_src(rig, WORK, K * block);
	dst = ec_dst(rig, OUT, count * block);
	memset(rig->mem + OUT, 0xee, count * block);
	MUST(doca_ec_task_recover_allocate_init(rig->ec, matrix, src, dst, user, &task));
	CHECK_PTR(doca_ec_task_recover_get_recover_matrix(task), matrix);
	CHECK_PTR(doca_ec_task_recover_get_available_blocks(task), src);
	CHECK_PTR(doca_ec_task_recover_get_recovered_data(task), dst);
	CHECK_STATUS(ec_run(rig, doca_ec_task_recover_as_task(task)), DOCA_SUCCESS);
	for (n = 0; n < count; n++) {
		const uint8_t *block_lost =
			rig->mem + (missing[n] < K ? missing[n] * block : RDNC + (missing[n] - K) * block);

		CHECK_BYTES(rig->mem + OUT + n * block, block_lost, block);
	}
	doca_task_free(doca_ec_task_recover_as_task(task));
	ec_drop(src);
	ec_drop(dst);
	CHECK_OK(doca_ec_matrix_destroy(matrix));
}

/* Data blocks 1 and 3 change. */
static void update(struct ec_rig *rig, struct doca_ec_matrix *coding, const uint8_t *factor, size_t block)
{
	uint32_t changed[] = {1, 3};
	struct doca_ec_matrix *matrix = NULL;
	struct doca_ec_task_update *task = NULL;
	struct doca_buf *src, *dst;
	union doca_data user = {0};
	uint8_t *put = rig->mem + WORK;
	size_t u, at, j;

	for (u = 0; u < 2; u++) {
		uint8_t *data = rig->mem + changed[u] * block;

		memcpy(put, data, block);
		for (at = 0; at < block; at++)
			data[at] = (uint8_t)(data[at] * 5 + u + at / 3);
		memcpy(put + block, data, block);
		put += 2 * block;
	}
	memcpy(put, rig->mem + RDNC, M * block);
	MUST(doca_ec_matrix_create_update(rig->ec, coding, changed, 2, &matrix));
	src = ec_src(rig, WORK, (4 + M) * block);
	dst = ec_dst(rig, RDNC, M * block);
	MUST(doca_ec_task_update_allocate_init(rig->ec, matrix, src, dst, user, &task));
	CHECK_PTR(doca_ec_task_update_get_update_matrix(task), matrix);
	CHECK_PTR(doca_ec_task_update_get_original_updated_and_rdnc_blocks(task), src);
	CHECK_PTR(doca_ec_task_update_get_updated_rdnc_blocks(task), dst);
	CHECK_STATUS(ec_run(rig, doca_ec_task_update_as_task(task)), DOCA_SUCCESS);
	for (j = 0; j < M; j++) {
		ec_output(rig->mem, K, block, factor, M, j, want);
		CHECK_BYTES(rig->mem + RDNC + j * block, want, block);
	}
	doca_task_free(doca_ec_task_update_as_task(task));
	ec_drop(src);
	ec_drop(dst);
	CHECK_OK(doca_ec_matrix_destroy(matrix));
}

/* Every kind with its own matrix, then every loss of at most M blocks. */
static void kinds(struct ec_rig *rig, enum doca_ec_matrix_type type, size_t block)
{
	struct doca_ec_matrix *coding = NULL;
	uint8_t factor[K * M];
	unsigned lost;
	size_t j;

	coefficients(type, factor);
	MUST(doca_ec_matrix_create(rig->ec, type, K, M, &coding));
	create(rig, coding, block);
	for (j = 0; j < M; j++) {
		ec_output(rig->mem, K, block, factor, M, j, want);
		CHECK_BYTES(rig->mem + RDNC + j * block, want, block);
	}
	update(rig, coding, factor, block);
	for (lost = 1; lost < 1u << (K + M); lost++) {
		if (__builtin_popcount(lost) <= M)
			recover(rig, coding, block, lost);
	}
	CHECK_OK(doca_ec_matrix_destroy(coding));
}

/* Source and destination as lists whose elements end anywhere; the destination has data already. */
static void lists(struct ec_rig *rig)
{
	static const size_t cuts[] = {0, 1, 64, 65, 200, 321, 640};
	const size_t block = 128, pieces = sizeof(cuts) / sizeof(cuts[0]) - 1;
	uint8_t factor[K * 2];
	struct doca_ec_matrix *matrix = NULL;
	struct doca_ec_task_galois_mul *task = NULL;
	struct doca_buf *src = NULL, *dst = NULL, *tail = NULL, *spare;
	uint8_t joined[K * 128], got[2 * 128];
	union doca_data user = {0};
	size_t i, len = 0;

	for (i = 0; i < sizeof(factor); i++)
		factor[i] = (uint8_t)(i * 37);
	MUST(doca_ec_matrix_create_from_raw(rig->ec, factor, K, 2, &matrix));
	for (i = 0; i < pieces; i++) {
		/* Pieces in reverse order in memory, with gaps. */
		size_t at = (pieces - i) * 1000, n = cuts[i + 1] - cuts[i];
		struct doca_buf *piece = ec_src(rig, at, n);

		memcpy(joined + cuts[i], rig->mem + at, n);
		if (src == NULL)
			src = piece;
		else
			MUST(doca_buf_chain_list(src, piece));
	}
	/* 10 bytes of data, then room: 90 bytes here, 166 and more in the second element. */
	dst = ec_dst(rig, OUT, 100);
	MUST(doca_buf_set_data_len(dst, 10));
	tail = ec_dst(rig, OUT + 500, 300);
	MUST(doca_buf_chain_list(dst, tail));
	memset(rig->mem + OUT, 0x5a, 1000);
	spare = ec_src(rig, 0, 64);
	MUST(doca_ec_task_galois_mul_allocate_init(rig->ec, matrix, spare, spare, user, &task));
	doca_ec_task_galois_mul_set_src_buf(task, src);
	doca_ec_task_galois_mul_set_dst_buf(task, dst);
	doca_ec_task_galois_mul_set_coding_matrix(task, NULL);
	CHECK_PTR(doca_ec_task_galois_mul_get_coding_matrix(task), NULL);
	doca_ec_task_galois_mul_set_coding_matrix(task, matrix);
	CHECK_PTR(doca_ec_task_galois_mul_get_src_buf(task), src);
	CHECK_PTR(doca_ec_task_galois_mul_get_dst_buf(task), dst);
	CHECK_PTR(doca_ec_task_galois_mul_get_coding_matrix(task), matrix);
	CHECK_STATUS(ec_run(rig, doca_ec_task_galois_mul_as_task(task)), DOCA_SUCCESS);
	memcpy(got, rig->mem + OUT + 10, 90);
	memcpy(got + 90, rig->mem + OUT + 500, sizeof(got) - 90);
	for (i = 0; i < 2; i++) {
		ec_output(joined, K, block, factor, 2, i, want);
		CHECK_BYTES(got + i * block, want, block);
	}
	CHECK_OK(doca_buf_get_data_len(dst, &len));
	CHECK_U64(len, 100);
	CHECK_OK(doca_buf_get_data_len(tail, &len));
	CHECK_U64(len, 166);
	for (i = 0; i < 1000; i++) {
		if (i < 10 || (i >= 100 && i < 500) || i >= 666)
			CHECK_U64(rig->mem[OUT + i], 0x5a);
	}
	doca_task_free(doca_ec_task_galois_mul_as_task(task));
	ec_drop(spare);
	ec_drop(src);
	ec_drop(dst);
	CHECK_OK(doca_ec_matrix_destroy(matrix));
}

/* A plain matrix in a recovery task: two halves and their XOR. */
static void plain_matrix(struct ec_rig *rig)
{
	struct doca_ec_matrix *matrix = NULL;
	struct doca_ec_task_recover *task = NULL;
	struct doca_buf *src, *dst;
	union doca_data user = {0};
	size_t i;

	MUST(doca_ec_matrix_create(rig->ec, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 2, 1, &matrix));
	for (i = 0; i < 256; i++)
		rig->mem[WORK + 256 + i] = rig->mem[i] ^ rig->mem[256 + i];
	memcpy(rig->mem + WORK, rig->mem, 256);
	src = ec_src(rig, WORK, 512);
	dst = ec_dst(rig, OUT, 256);
	MUST(doca_ec_task_recover_allocate_init(rig->ec, matrix, src, dst, user, &task));
	CHECK_STATUS(ec_run(rig, doca_ec_task_recover_as_task(task)), DOCA_SUCCESS);
	CHECK_BYTES(rig->mem + OUT, rig->mem + 256, 256);
	doca_task_free(doca_ec_task_recover_as_task(task));
	ec_drop(src);
	ec_drop(dst);
	CHECK_OK(doca_ec_matrix_destroy(matrix));
}

/* Small and large tasks of several kinds, all in flight: reported in the order of submission. */
static void order(struct ec_rig *rig)
{
	struct doca_ec_matrix *coding = NULL;
	struct doca_ec_task_create *first[4];
	struct doca_ec_task_galois_mul *second[4];
	struct doca_buf *bufs[16];
	union doca_data user = {0};
	unsigned start = rig->good + rig->bad;
	size_t i;

	MUST(doca_ec_matrix_create(rig->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 4, 1, &coding));
	for (i = 0; i < 4; i++) {
		size_t block = i % 2 == 0 ? MAX_BLOCK : 64;

		bufs[4 * i] = ec_src(rig, 0, 4 * block);
		bufs[4 * i + 1] = ec_dst(rig, OUT, MAX_BLOCK);
		bufs[4 * i + 2] = ec_src(rig, 0, 4 * 64);
		bufs[4 * i + 3] = ec_dst(rig, OUT + MAX_BLOCK + i * 64, 64);
		user.u64 = 2 * i;
		MUST(doca_ec_task_create_allocate_init(rig->ec, coding, bufs[4 * i], bufs[4 * i + 1], user, &first[i]));
		user.u64 = 2 * i + 1;
		MUST(doca_ec_task_galois_mul_allocate_init(rig->ec, coding, bufs[4 * i + 2], bufs[4 * i + 3], user,
							   &second[i]));
		MUST(doca_task_submit(doca_ec_task_create_as_task(first[i])));
		MUST(doca_task_submit(doca_ec_task_galois_mul_as_task(second[i])));
	}
	ec_drain(rig);
	for (i = 0; i < 8; i++) {
		CHECK_U64(rig->order[start + i], i);
		CHECK_STATUS(rig->status[start + i], DOCA_SUCCESS);
	}
	for (i = 0; i < 4; i++) {
		doca_task_free(doca_ec_task_create_as_task(first[i]));
		doca_task_free(doca_ec_task_galois_mul_as_task(second[i]));
	}
	for (i = 0; i < 16; i++)
		ec_drop(bufs[i]);
	CHECK_OK(doca_ec_matrix_destroy(coding));
}

int main(void)
{
	struct ec_rig rig;

	ec_setup(&rig, BYTES, 8);
	kinds(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 64);
	kinds(&rig, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 192);
	kinds(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, MAX_BLOCK);
	lists(&rig);
	plain_matrix(&rig);
	rig.good = rig.bad = 0;
	order(&rig);
	ec_teardown(&rig);
	return check_result();
}
