/*
 * What the engine refuses: calls without their arguments, configuration out of range or at the wrong time,
 * matrices that make no code, blocks of wrong sizes (refused by a checked submit, a failed task after a
 * plain one), missing rights; and that the context goes on after each of these.
 *
 * clauses: erasure-coding Instance, Matrices, Behaviour (block rules)
 * covers: @
 */
#include "ec_rig.h"

static void creation(struct doca_dev *dev)
{
	struct doca_ec *ec = NULL;
	struct doca_pe *pe = NULL;
	struct doca_mmap *map = NULL;

	CHECK_STATUS(doca_ec_create(NULL, &ec), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_create(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_ec_as_ctx(NULL), NULL);
	MUST(doca_mmap_create(&map));
	CHECK_STATUS(doca_ec_create((struct doca_dev *)map, &ec), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_destroy((struct doca_ec *)map), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_destroy(map));

	MUST(doca_ec_create(dev, &ec));
	MUST(doca_pe_create(&pe));
	MUST(doca_pe_connect_ctx(pe, doca_ec_as_ctx(ec)));
	CHECK_STATUS(doca_ec_task_create_set_conf(ec, NULL, ec_create_bad, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_task_create_set_conf(ec, ec_create_good, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_task_create_set_conf(NULL, ec_create_good, ec_create_bad, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_task_update_set_conf(ec, ec_update_good, ec_update_bad, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_task_recover_set_conf(ec, ec_recover_good, ec_recover_bad, UINT32_MAX),
		     DOCA_ERROR_INVALID_VALUE);
	/* Refused configurations are none. */
	CHECK_STATUS(doca_ctx_start(doca_ec_as_ctx(ec)), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_ec_task_create_set_conf(ec, ec_create_good, ec_create_bad, 1));
	CHECK_OK(doca_ctx_start(doca_ec_as_ctx(ec)));
	CHECK_STATUS(doca_ec_task_galois_mul_set_conf(ec, ec_galois_mul_good, ec_galois_mul_bad, 1),
		     DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_ec_destroy(ec), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_ctx_stop(doca_ec_as_ctx(ec)));
	CHECK_OK(doca_ctx_stop(doca_ec_as_ctx(ec)));
	CHECK_OK(doca_ec_destroy(ec));
	CHECK_STATUS(doca_ec_destroy(ec), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_ec_as_ctx(ec), NULL);
	CHECK_OK(doca_pe_destroy(pe));
}

static void capabilities(struct doca_dev *dev)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint64_t block = 0;
	uint32_t list = 0;

	CHECK_OK(doca_ec_cap_get_max_block_size(info, &block));
	CHECK(block >= 1 << 20);
	CHECK_OK(doca_ec_cap_get_max_buf_list_len(info, &list));
	CHECK(list >= 32);
	CHECK_STATUS(doca_ec_cap_get_max_block_size(NULL, &block), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_cap_get_max_block_size(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_cap_get_max_buf_list_len(NULL, &list), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_cap_get_max_buf_list_len(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_cap_task_galois_mul_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_cap_task_create_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_cap_task_update_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_cap_task_recover_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void matrices(struct doca_ec *ec)
{
	struct doca_ec_matrix *m = NULL, *coding = NULL, *derived = NULL;
	uint8_t raw[6] = {1, 2, 3, 4, 5, 6};
	uint32_t list[4] = {0, 1, 2, 3}, twice[2] = {1, 1}, down[2] = {2, 1}, far[1] = {6}, second[1] = {4};

	CHECK_STATUS(doca_ec_matrix_create(NULL, DOCA_EC_MATRIX_TYPE_CAUCHY, 4, 2, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 4, 2, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create(ec, (enum doca_ec_matrix_type)0, 4, 2, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create(ec, (enum doca_ec_matrix_type)3, 4, 2, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 0, 2, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 4, 0, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, SIZE_MAX, 2, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 256, 1, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_from_raw(ec, NULL, 3, 2, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_from_raw(ec, raw, 0, 2, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_from_raw(ec, raw, 3, 2, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_from_raw(NULL, raw, 3, 2, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_ec_matrix_create_from_raw(ec, raw, 3, 2, &m));
	CHECK_OK(doca_ec_matrix_destroy(m));
	CHECK_STATUS(doca_ec_matrix_destroy(m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_destroy((struct doca_ec_matrix *)ec), DOCA_ERROR_INVALID_VALUE);

	/* The largest code of the sample programs. */
	CHECK_OK(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 128, 32, &m));
	CHECK_OK(doca_ec_matrix_destroy(m));

	MUST(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 4, 2, &coding));
	CHECK_STATUS(doca_ec_matrix_create_recover(ec, coding, NULL, 1, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_recover(ec, coding, list, 0, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_recover(ec, coding, list, 3, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_recover(ec, coding, list, SIZE_MAX, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_recover(ec, coding, twice, 2, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_recover(ec, coding, down, 2, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_recover(ec, coding, far, 1, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_recover(ec, NULL, list, 1, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_recover(ec, coding, list, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_recover(NULL, coding, list, 1, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_update(ec, coding, NULL, 1, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_update(ec, coding, list, 0, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_update(ec, coding, down, 2, &m), DOCA_ERROR_INVALID_VALUE);
	/* Index 4 is a redundancy block. */
	CHECK_STATUS(doca_ec_matrix_create_update(ec, coding, second, 1, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_update(ec, NULL, list, 1, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_matrix_create_update(ec, coding, list, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_ec_matrix_create_update(ec, coding, list, 4, &derived));
	CHECK_STATUS(doca_ec_matrix_create_recover(ec, derived, list, 1, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_ec_matrix_destroy(derived));
	CHECK_OK(doca_ec_matrix_destroy(coding));
	CHECK_STATUS(doca_ec_matrix_create_recover(ec, coding, list, 1, &m), DOCA_ERROR_INVALID_VALUE);

	/* A matrix of ones: two lost data blocks leave two equal rows. */
	memset(raw, 1, sizeof(raw));
	MUST(doca_ec_matrix_create_from_raw(ec, raw, 3, 2, &coding));
	CHECK_STATUS(doca_ec_matrix_create_recover(ec, coding, list, 2, &m), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_ec_matrix_create_recover(ec, coding, list, 1, &m));
	CHECK_OK(doca_ec_matrix_destroy(m));
	CHECK_OK(doca_ec_matrix_destroy(coding));
}

static void allocation(struct ec_rig *rig)
{
	struct doca_ec_matrix *m = NULL;
	struct doca_ec_task_create *task[2] = {NULL, NULL};
	struct doca_ec_task_recover *other = NULL;
	struct doca_buf *buf = ec_src(rig, 0, 1);
	union doca_data user = {0};

	MUST(doca_ec_matrix_create(rig->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1, &m));
	CHECK_STATUS(doca_ec_task_create_allocate_init(NULL, m, buf, buf, user, &task[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_task_create_allocate_init(rig->ec, NULL, buf, buf, user, &task[0]),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_task_create_allocate_init(rig->ec, m, NULL, buf, user, &task[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_task_create_allocate_init(rig->ec, m, buf, NULL, user, &task[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_ec_task_create_allocate_init(rig->ec, m, buf, buf, user, NULL), DOCA_ERROR_INVALID_VALUE);
	/* Buffers are not looked at: one byte is enough for now. Each kind has its own pool. */
	MUST(doca_ec_task_create_allocate_init(rig->ec, m, buf, buf, user, &task[0]));
	MUST(doca_ec_task_create_allocate_init(rig->ec, m, buf, buf, user, &task[1]));
	CHECK_STATUS(doca_ec_task_create_allocate_init(rig->ec, m, buf, buf, user, &task[1]), DOCA_ERROR_NO_MEMORY);
	MUST(doca_ec_task_recover_allocate_init(rig->ec, m, buf, buf, user, &other));
	/* Setters of another kind leave the task alone. */
	doca_ec_task_recover_set_available_blocks((struct doca_ec_task_recover *)task[0], NULL);
	CHECK_PTR(doca_ec_task_create_get_original_data_blocks(task[0]), buf);
	CHECK_PTR(doca_ec_task_recover_get_available_blocks((struct doca_ec_task_recover *)task[0]), NULL);
	doca_task_free(doca_ec_task_create_as_task(task[0]));
	doca_task_free(doca_ec_task_create_as_task(task[1]));
	doca_task_free(doca_ec_task_recover_as_task(other));
	ec_drop(buf);
	CHECK_OK(doca_ec_matrix_destroy(m));
}

/* Refused by a checked submit, failed with the same code after a plain one; nothing written either way. */
static void faulty(struct ec_rig *rig, struct doca_ec_task_create *task, struct doca_buf *dst, doca_error_t why)
{
	struct doca_task *plain = doca_ec_task_create_as_task(task);
	unsigned bad = rig->bad;
	size_t before = 0, after = 1;

	CHECK_OK(doca_buf_get_data_len(dst, &before));
	CHECK_STATUS(doca_task_try_submit(plain), why);
	CHECK_STATUS(ec_run(rig, plain), why);
	CHECK_U64(rig->bad, bad + 1);
	CHECK_OK(doca_buf_get_data_len(dst, &after));
	CHECK_U64(after, before);
}

static void blocks(struct ec_rig *rig)
{
	static const size_t wrong[] = {0, 1, 64, 127, 129, 2 * 63, 2 * 65, 2 * 500};
	uint8_t *ro = (uint8_t *)malloc(4096);
	struct doca_mmap *read_only;
	struct doca_ec_matrix *m = NULL;
	struct doca_ec_task_create *task = NULL;
	struct doca_buf *src = ec_src(rig, 0, 1024), *dst = ec_dst(rig, 4096, 512), *deaf = NULL;
	union doca_data user = {0};
	size_t i, len = 0;

	MUST_BE(ro != NULL);
	read_only = ec_map(rig->dev, ro, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	MUST(doca_ec_matrix_create(rig->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1, &m));
	MUST(doca_ec_task_create_allocate_init(rig->ec, m, src, dst, user, &task));
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		MUST(doca_buf_set_data(src, rig->mem, wrong[i]));
		faulty(rig, task, dst, DOCA_ERROR_INVALID_VALUE);
	}
	/* Too little room: blocks of 512 with one byte of data before. */
	MUST(doca_buf_set_data(src, rig->mem, 1024));
	MUST(doca_buf_set_data_len(dst, 1));
	faulty(rig, task, dst, DOCA_ERROR_INVALID_VALUE);
	MUST(doca_buf_set_data_len(dst, 0));
	MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, read_only, ro, 4096, &deaf));
	doca_ec_task_create_set_rdnc_blocks(task, deaf);
	faulty(rig, task, deaf, DOCA_ERROR_NOT_PERMITTED);
	doca_ec_task_create_set_rdnc_blocks(task, NULL);
	faulty(rig, task, dst, DOCA_ERROR_INVALID_VALUE);
	doca_ec_task_create_set_rdnc_blocks(task, dst);
	doca_ec_task_create_set_original_data_blocks(task, NULL);
	faulty(rig, task, dst, DOCA_ERROR_INVALID_VALUE);
	doca_ec_task_create_set_original_data_blocks(task, src);
	doca_ec_task_create_set_coding_matrix(task, NULL);
	faulty(rig, task, dst, DOCA_ERROR_INVALID_VALUE);
	/* A matrix that is gone. */
	doca_ec_task_create_set_coding_matrix(task, m);
	CHECK_OK(doca_ec_matrix_destroy(m));
	faulty(rig, task, dst, DOCA_ERROR_INVALID_VALUE);
	MUST(doca_ec_matrix_create(rig->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1, &m));
	doca_ec_task_create_set_coding_matrix(task, m);
	/* The context went on through all of it, and the task is as good as new. */
	CHECK_OK(doca_task_try_submit(doca_ec_task_create_as_task(task)));
	ec_drain(rig);
	CHECK_STATUS(doca_task_get_status(doca_ec_task_create_as_task(task)), DOCA_SUCCESS);
	CHECK_OK(doca_buf_get_data_len(dst, &len));
	CHECK_U64(len, 512);
	doca_task_free(doca_ec_task_create_as_task(task));
	ec_drop(src);
	ec_drop(dst);
	ec_drop(deaf);
	CHECK_OK(doca_mmap_destroy(read_only));
	CHECK_OK(doca_ec_matrix_destroy(m));
	free(ro);
}

int main(void)
{
	struct doca_dev *dev = ec_open_dev();
	struct ec_rig rig;

	creation(dev);
	capabilities(dev);
	CHECK_OK(doca_dev_close(dev));
	ec_setup(&rig, 8192, 2);
	matrices(rig.ec);
	allocation(&rig);
	blocks(&rig);
	ec_teardown(&rig);
	return check_result();
}
