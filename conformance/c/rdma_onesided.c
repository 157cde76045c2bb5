/*
 * One-sided access between two contexts of one process: writes, reads, lists, nothing at all, large
 * ones, atomics; the peer makes no progress the whole time. Then what is not permitted: it fails the
 * task and the connection, and nothing else.
 *
 * clauses: rdma Read, Write, Atomic; Behaviour (permissions table, 1, 9)
 * covers: doca_rdma_create doca_rdma_destroy doca_rdma_as_ctx doca_rdma_export doca_rdma_connect
 *   doca_rdma_task_read_set_conf doca_rdma_task_read_allocate_init doca_rdma_task_read_as_task
 *   doca_rdma_task_read_get_result_len doca_rdma_task_write_set_conf doca_rdma_task_write_allocate_init
 *   doca_rdma_task_write_as_task doca_rdma_task_atomic_cmp_swp_set_conf
 *   doca_rdma_task_atomic_cmp_swp_allocate_init doca_rdma_task_atomic_cmp_swp_as_task
 *   doca_rdma_task_atomic_fetch_add_set_conf doca_rdma_task_atomic_fetch_add_allocate_init
 *   doca_rdma_task_atomic_fetch_add_as_task doca_rdma_set_permissions
 */
#define _GNU_SOURCE
#include "rdma_rig.h"

#define BYTES (6u << 20)

static struct side a, b;
static struct doca_rdma_connection *ab, *ba;
static struct doca_mmap *remote;

/* Submits nothing itself: waits for the one task that flies. */
static void wait_one(int good)
{
	unsigned before = a.good + a.bad, bad = a.bad;

	UNTIL(&a, a.good + a.bad == before + 1);
	CHECK_U64(a.bad - bad, good ? 0 : 1);
	if (!good)
		CHECK_U64(a.status[a.good + a.bad - 1], DOCA_ERROR_IO_FAILED);
}

static void write_and_read(size_t len)
{
	struct doca_buf *from = side_data(&a, a.map, a.mem, len), *to = side_room(&a, remote, b.mem + 64, len);
	struct doca_buf *back = side_room(&a, a.map, a.mem + BYTES / 2, len);
	struct doca_buf *source = side_data(&a, remote, b.mem + 64, len);
	size_t got = 0;

	memset(b.mem + 64, 0, len);
	memset(a.mem + BYTES / 2, 0, len);
	CHECK_OK(side_write(&a, ab, from, to, 1));
	wait_one(1);
	CHECK_BYTES(b.mem + 64, a.mem, len);
	CHECK_OK(side_read(&a, ab, source, back, 2));
	wait_one(1);
	CHECK_BYTES(a.mem + BYTES / 2, a.mem, len);
	CHECK_U64(a.read_len, len);
	CHECK_OK(doca_buf_get_data_len(back, &got));
	CHECK_U64(got, len);
	DROP(from);
	DROP(to);
	DROP(back);
	DROP(source);
}

static void lists(void)
{
	struct doca_buf *one = side_data(&a, a.map, a.mem, 100), *two = side_data(&a, a.map, a.mem + 5000, 333);
	struct doca_buf *to = side_room(&a, remote, b.mem, 433), *source = side_data(&a, remote, b.mem, 433);
	struct doca_buf *first = side_room(&a, a.map, a.mem + BYTES / 2, 7);
	struct doca_buf *second = side_room(&a, a.map, a.mem + BYTES / 2 + 1000, 500);
	unsigned before = a.good;
	size_t got = 0;

	CHECK_OK(doca_buf_chain_list(one, two));
	CHECK_OK(doca_buf_chain_list(first, second));
	CHECK_OK(side_write(&a, ab, one, to, 1));
	CHECK_OK(side_read(&a, ab, source, first, 2));
	UNTIL(&a, a.good == before + 2);
	CHECK_BYTES(b.mem, a.mem, 100);
	CHECK_BYTES(b.mem + 100, a.mem + 5000, 333);
	CHECK_BYTES(a.mem + BYTES / 2, b.mem, 7);
	CHECK_BYTES(a.mem + BYTES / 2 + 1000, b.mem + 7, 426);
	CHECK_OK(doca_buf_get_data_len(second, &got));
	CHECK_U64(got, 426);
	DROP(one);
	DROP(to);
	DROP(source);
	DROP(first);
	/* Both NULL: nothing is moved, and that succeeds. */
	CHECK_OK(side_write(&a, ab, NULL, NULL, 3));
	wait_one(1);
	CHECK_OK(side_read(&a, ab, NULL, NULL, 4));
	wait_one(1);
	CHECK_U64(a.read_len, 0);
}

static void atomics(void)
{
	struct doca_buf *word = side_room(&a, remote, b.mem + 128, 8), *result = side_room(&a, a.map, a.mem + 8, 8);
	uint64_t value = 41, before;
	int i;

	memcpy(b.mem + 128, &value, 8);
	/* Resubmitted with the same buffers, as programs do. */
	for (i = 0; i < 5; i++) {
		CHECK_OK(side_add(&a, ab, word, result, 10, 1));
		wait_one(1);
		memcpy(&before, a.mem + 8, 8);
		CHECK_U64(before, 41 + 10 * i);
	}
	CHECK_OK(side_cas(&a, ab, word, result, 90, 7, 1));
	wait_one(1);
	memcpy(&before, a.mem + 8, 8);
	CHECK_U64(before, 91);
	CHECK_OK(side_cas(&a, ab, word, result, 91, 7, 1));
	wait_one(1);
	memcpy(&before, a.mem + 8, 8);
	CHECK_U64(before, 91);
	memcpy(&value, b.mem + 128, 8);
	CHECK_U64(value, 7);
	DROP(word);
	DROP(result);
}

/* Each wrong task fails, and what comes after it on the connection, but the next connection works. */
static void refused(doca_error_t (*submit)(struct side *, struct doca_rdma_connection *, struct doca_buf *,
					   struct doca_buf *, uint64_t),
		    struct doca_buf *from, struct doca_buf *to)
{
	CHECK_OK(submit(&a, ab, from, to, 1));
	wait_one(0);
	CHECK_OK(side_write(&a, ab, NULL, NULL, 2));
	wait_one(0);
	CHECK_OK(doca_rdma_connection_disconnect(ab));
	CHECK_OK(doca_rdma_connection_disconnect(ba));
	side_progress(&a);
	side_progress(&b);
	side_join(&a, &b, &ab, &ba);
	CHECK_OK(side_write(&a, ab, NULL, NULL, 3));
	wait_one(1);
}

static void wrong(void)
{
	struct doca_buf *local = side_data(&a, a.map, a.mem, 64), *other = side_room(&a, a.map, a.mem + 4096, 64);
	struct doca_buf *far = side_room(&a, remote, b.mem, 64), *small = side_room(&a, remote, b.mem, 63);
	struct doca_buf *far_data = side_data(&a, remote, b.mem, 64), *tight = side_room(&a, a.map, a.mem, 63);

	/* A local buffer is no remote one, and the other way round. */
	refused(side_write, local, other);
	refused(side_write, far_data, far);
	refused(side_read, local, other);
	refused(side_read, far_data, far);
	/* Too small, missing. */
	refused(side_write, local, small);
	refused(side_read, far_data, tight);
	refused(side_write, local, NULL);
	refused(side_read, NULL, other);
	DROP(local);
	DROP(other);
	DROP(far);
	DROP(small);
	DROP(far_data);
	DROP(tight);
}

int main(void)
{
	size_t len;

	side_make_folder();
	side_prepare(&a, NULL, NULL, BYTES, 16);
	side_prepare(&b, "b1:00.0", NULL, BYTES, 16);
	side_start(&a);
	side_start(&b);
	side_join(&a, &b, &ab, &ba);
	remote = side_import(&b, &a);
	for (len = 1; len <= 300; len += 37)
		write_and_read(len);
	write_and_read(4096);
	write_and_read((256u << 10) + 1);
	write_and_read(2u << 20);
	lists();
	atomics();
	wrong();
	CHECK_OK(doca_mmap_destroy(remote));
	side_teardown(&a, 1);
	side_teardown(&b, 1);
	return check_result();
}
