/*
 * clauses: engine-rdma
 * covers: @
 *
 * A connection that breaks by a violation takes its later tasks with it, in order, and nobody else's: the context runs
 * on, its other connection works, and a new one takes the place of the broken one. At the end the context is stopped
 * inside the callback of a task and destroyed inside the callback of its last state.
 */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "check.h"

#define SIZE 4096

static struct doca_pe *pe;
static struct doca_dev *dev;
static struct doca_mmap *local_map, *peer_map, *remote_map;
static struct doca_buf_inventory *inventory;
static char local[SIZE] __attribute__((aligned(64))), peer[SIZE] __attribute__((aligned(64)));
static struct doca_rdma *a, *b;
static int done[64], num_done, destroyed;
static doca_error_t status[64];
static int stop_at_next;

static void ended(struct doca_task *task, union doca_data data)
{
	CHECK(num_done < 64);
	done[num_done] = (int)data.u64;
	status[num_done++] = doca_task_get_status(task);
	if (stop_at_next) {
		stop_at_next = 0;
		CHECK_U64(doca_ctx_stop(doca_rdma_as_ctx(a)), DOCA_ERROR_IN_PROGRESS);
		CHECK_U64(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	}
	doca_task_free(task);
}

static void read_ended(struct doca_rdma_task_read *task, union doca_data data, union doca_data ctx)
{
	(void)ctx;
	ended(doca_rdma_task_read_as_task(task), data);
}

static void write_ended(struct doca_rdma_task_write *task, union doca_data data, union doca_data ctx)
{
	(void)ctx;
	ended(doca_rdma_task_write_as_task(task), data);
}

static void swap_ended(struct doca_rdma_task_atomic_cmp_swp *task, union doca_data data, union doca_data ctx)
{
	(void)ctx;
	ended(doca_rdma_task_atomic_cmp_swp_as_task(task), data);
}

static void a_changed(const union doca_data user, struct doca_ctx *ctx, enum doca_ctx_states prev, enum doca_ctx_states next)
{
	(void)user, (void)prev;
	if (next == DOCA_CTX_STATE_IDLE) {
		CHECK(ctx == doca_rdma_as_ctx(a));
		CHECK_U64(doca_rdma_destroy(a), DOCA_SUCCESS);
		destroyed++;
	}
}

static struct doca_rdma *begin(uint32_t permissions)
{
	struct doca_rdma *rdma;
	uint32_t got = 0;

	MUST(doca_rdma_create(dev, &rdma));
	CHECK_U64(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_PCI_READ_ONLY), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_rdma_set_permissions(rdma, permissions | DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	MUST(doca_rdma_get_permissions(rdma, &got));
	CHECK_U64(got & ~1u, permissions);
	MUST(doca_rdma_set_max_num_connections(rdma, 2));
	MUST(doca_rdma_task_read_set_conf(rdma, read_ended, read_ended, 16));
	MUST(doca_rdma_task_write_set_conf(rdma, write_ended, write_ended, 16));
	MUST(doca_rdma_task_atomic_cmp_swp_set_conf(rdma, swap_ended, swap_ended, 16));
	MUST(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma)));
	return rdma;
}

static void couple(struct doca_rdma_connection **ours, struct doca_rdma_connection **theirs)
{
	const void *mine, *other;
	size_t my_size, other_size;

	MUST(doca_rdma_export(a, &mine, &my_size, ours));
	MUST(doca_rdma_export(b, &other, &other_size, theirs));
	MUST(doca_rdma_connect(a, other, other_size, *ours));
	MUST(doca_rdma_connect(b, mine, my_size, *theirs));
}

static struct doca_buf *window(struct doca_mmap *map, char *at, size_t len, int filled)
{
	struct doca_buf *buf = NULL;

	if (filled)
		MUST(doca_buf_inventory_buf_get_by_data(inventory, map, at, len, &buf));
	else
		MUST(doca_buf_inventory_buf_get_by_addr(inventory, map, at, len, &buf));
	return buf;
}

static void drain(int want)
{
	while (num_done < want)
		doca_pe_progress(pe);
	for (int i = 0; i < 1000; i++)
		doca_pe_progress(pe);
	CHECK_U64(num_done, want);
}

static struct doca_task *reading(struct doca_rdma_connection *conn, struct doca_buf *from, struct doca_buf *to, int number)
{
	struct doca_rdma_task_read *task;
	union doca_data data = {.u64 = number};

	MUST(doca_rdma_task_read_allocate_init(a, conn, from, to, data, &task));
	return doca_rdma_task_read_as_task(task);
}

static struct doca_task *writing(struct doca_rdma_connection *conn, struct doca_buf *from, struct doca_buf *to, int number)
{
	struct doca_rdma_task_write *task;
	union doca_data data = {.u64 = number};

	MUST(doca_rdma_task_write_allocate_init(a, conn, from, to, data, &task));
	return doca_rdma_task_write_as_task(task);
}

int main(void)
{
	struct doca_devinfo **list;
	uint32_t count;
	const void *exported;
	size_t size, len;
	struct doca_rdma_connection *c1, *c2, *d1, *d2, *c3, *d3;
	struct doca_buf *there, *here, *small, *word, *result, *off;
	struct doca_rdma_task_atomic_cmp_swp *swap;
	union doca_data data = {0};
	enum doca_ctx_states state;

	MUST(doca_devinfo_create_list(&list, &count));
	for (uint32_t i = 0; i < count && !dev; i++)
		if (doca_rdma_cap_task_read_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	doca_devinfo_destroy_list(list);
	MUST(doca_mmap_create(&local_map));
	MUST(doca_mmap_add_dev(local_map, dev));
	MUST(doca_mmap_set_permissions(local_map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	MUST(doca_mmap_set_memrange(local_map, local, SIZE));
	MUST(doca_mmap_start(local_map));
	MUST(doca_mmap_create(&peer_map));
	MUST(doca_mmap_add_dev(peer_map, dev));
	MUST(doca_mmap_set_permissions(peer_map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
							 DOCA_ACCESS_FLAG_RDMA_WRITE));
	MUST(doca_mmap_set_memrange(peer_map, peer, SIZE));
	CHECK_U64(doca_mmap_export_rdma(peer_map, dev, &exported, &size), DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_mmap_start(peer_map));
	CHECK_U64(doca_mmap_export_rdma(local_map, dev, &exported, &size), DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_mmap_export_rdma(peer_map, dev, &exported, &size));
	MUST(doca_mmap_create_from_export(NULL, exported, size, dev, &remote_map));
	MUST(doca_buf_inventory_create(32, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	MUST(doca_pe_create(&pe));

	a = begin(0);
	MUST(doca_ctx_set_state_changed_cb(doca_rdma_as_ctx(a), a_changed));
	b = begin(DOCA_ACCESS_FLAG_RDMA_READ);
	CHECK_U64(doca_rdma_export(a, &exported, &size, &c1), DOCA_ERROR_BAD_STATE);
	MUST(doca_ctx_start(doca_rdma_as_ctx(a)));
	MUST(doca_ctx_start(doca_rdma_as_ctx(b)));
	couple(&c1, &d1);
	couple(&c2, &d2);
	memset(peer, 7, SIZE);
	there = window(remote_map, peer, 256, 1);
	here = window(local_map, local, 1024, 0);
	small = window(local_map, local + 1024, 100, 0);
	word = window(remote_map, peer + 8, 8, 1);
	result = window(local_map, local + 2048, 8, 0);
	off = window(remote_map, peer + 4, 8, 1);

	/* Reads are allowed and append. */
	MUST(doca_task_submit(reading(c1, there, here, 0)));
	MUST(doca_task_submit(reading(c1, there, here, 1)));
	drain(2);
	MUST(doca_buf_get_data_len(here, &len));
	CHECK_U64(len, 512);
	CHECK_U64(status[0], DOCA_SUCCESS);
	CHECK_U64(status[1], DOCA_SUCCESS);
	for (int i = 0; i < 512; i++)
		CHECK(local[i] == 7);

	/* try_submit refuses what cannot fit, and the connection stays well. */
	{
		struct doca_task *task = reading(c1, there, small, 2);

		CHECK_U64(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
		doca_task_free(task);
	}
	num_done = 0;
	MUST(doca_task_submit(reading(c1, there, here, 3)));
	drain(1);
	CHECK_U64(status[0], DOCA_SUCCESS);

	MUST(doca_buf_reset_data_len(here));

	/* A write is a violation of the peer's context rights; what follows it fails too, what went before does not. */
	num_done = 0;
	MUST(doca_task_submit(reading(c1, there, here, 10)));
	{
		struct doca_buf *out = window(local_map, local, 16, 1), *in = window(remote_map, peer, 64, 0);
		MUST(doca_task_submit(writing(c1, out, in, 11)));
		MUST(doca_task_submit(reading(c1, there, here, 12)));
		MUST(doca_task_submit(reading(c2, there, here, 13)));
		drain(4);
		for (int i = 0, at = -1; i < 4; i++) {
			if (done[i] == 13) {
				CHECK_U64(status[i], DOCA_SUCCESS);
				continue;
			}
			CHECK(done[i] > at);
			at = done[i];
			if (done[i] == 10)
				CHECK_U64(status[i], DOCA_SUCCESS);
			else
				CHECK(status[i] != DOCA_SUCCESS);
			if (done[i] == 11)
				CHECK_U64(status[i], DOCA_ERROR_IO_FAILED);
		}
		for (int i = 0; i < 64; i++)
			CHECK(peer[i] == 7);
		MUST(doca_ctx_get_state(doca_rdma_as_ctx(a), &state));
		CHECK_U64(state, DOCA_CTX_STATE_RUNNING);
		MUST(doca_buf_dec_refcount(out, NULL));
		MUST(doca_buf_dec_refcount(in, NULL));
	}
	num_done = 0;
	MUST(doca_task_submit(reading(c1, there, here, 14)));
	drain(1);
	CHECK(status[0] != DOCA_SUCCESS);

	/* The broken one goes, a new one takes its place. */
	MUST(doca_rdma_connection_disconnect(c1));
	doca_rdma_connection_disconnect(d1);
	for (int i = 0; i < 1000; i++)
		doca_pe_progress(pe);
	couple(&c3, &d3);
	num_done = 0;
	MUST(doca_buf_reset_data_len(here));
	MUST(doca_task_submit(reading(c3, there, here, 15)));
	drain(1);
	CHECK_U64(status[0], DOCA_SUCCESS);

	/* A word that does not lie on eight bytes; and rights for atomics are missing anyway. */
	num_done = 0;
	MUST(doca_rdma_task_atomic_cmp_swp_allocate_init(a, c3, off, result, 1, 2, data, &swap));
	CHECK_REFUSED(doca_task_try_submit(doca_rdma_task_atomic_cmp_swp_as_task(swap)));
	doca_rdma_task_atomic_cmp_swp_set_cmp_data(swap, 9);
	CHECK_U64(doca_rdma_task_atomic_cmp_swp_get_cmp_data(swap), 9);
	doca_rdma_task_atomic_cmp_swp_set_dst_buf(swap, word);
	MUST(doca_task_submit(doca_rdma_task_atomic_cmp_swp_as_task(swap)));
	drain(1);
	CHECK_U64(status[0], DOCA_ERROR_IO_FAILED);

	/* Stopped in the middle of a batch, out of a callback. */
	num_done = 0;
	MUST(doca_buf_reset_data_len(here));
	stop_at_next = 1;
	for (int i = 0; i < 3; i++)
		MUST(doca_task_submit(reading(c2, there, here, 20 + i)));
	while (!destroyed)
		doca_pe_progress(pe);
	CHECK_U64(num_done, 3);
	CHECK_U64(status[0], DOCA_SUCCESS);
	CHECK_U64(doca_ctx_get_state(doca_rdma_as_ctx(a), &state), DOCA_ERROR_INVALID_VALUE);

	{
		doca_error_t result = doca_ctx_stop(doca_rdma_as_ctx(b));

		CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
		do {
			doca_pe_progress(pe);
			MUST(doca_ctx_get_state(doca_rdma_as_ctx(b), &state));
		} while (state != DOCA_CTX_STATE_IDLE);
	}
	MUST(doca_rdma_destroy(b));
	MUST(doca_pe_destroy(pe));
	MUST(doca_buf_dec_refcount(there, NULL));
	MUST(doca_buf_dec_refcount(here, NULL));
	MUST(doca_buf_dec_refcount(small, NULL));
	MUST(doca_buf_dec_refcount(word, NULL));
	MUST(doca_buf_dec_refcount(off, NULL));
	MUST(doca_buf_dec_refcount(result, NULL));
	MUST(doca_buf_inventory_destroy(inventory));
	MUST(doca_mmap_destroy(remote_map));
	MUST(doca_mmap_destroy(peer_map));
	MUST(doca_mmap_destroy(local_map));
	MUST(doca_dev_close(dev));
	return check_result();
}
