/*
 * What `cargo xtask budget` counts of RDMA: tasks on memory of a peer in the same process.
 *
 *   rdma_budget write|read|add|send N DEPTH    N tasks of 64 bytes (an atomic: 8), DEPTH in flight, submitted again in
 *                                              their callback; a send has a receive, which is posted again, too
 */
#define DOCA_ALLOW_EXPERIMENTAL_API
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 64
#define MOST 1024
#define RIGHTS (DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC)

#define MUST(call)                                                                                              \
	do {                                                                                                    \
		doca_error_t status_ = (call);                                                                  \
		if (status_ != DOCA_SUCCESS) {                                                                  \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                           \
				doca_error_get_name(status_));                                                  \
			exit(1);                                                                                \
		}                                                                                               \
	} while (0)

static unsigned long reported;
static unsigned long to_submit;

static void again(struct doca_task *task)
{
	reported++;
	if (to_submit == 0) {
		doca_task_free(task);
		return;
	}
	to_submit--;
	MUST(doca_task_submit(task));
}

static void failed(struct doca_task *task)
{
	if (doca_task_get_status(task) == DOCA_ERROR_IO_FAILED && to_submit == 0) {
		doca_task_free(task); /* a receive that was left over */
		return;
	}
	fprintf(stderr, "a task failed: %s\n", doca_error_get_name(doca_task_get_status(task)));
	exit(1);
}

#define CALLBACKS(kind_)                                                                                        \
	static void kind_##_failed(struct doca_rdma_task_##kind_ *task, union doca_data user, union doca_data ctx) \
	{                                                                                                       \
		(void)user;                                                                                     \
		(void)ctx;                                                                                      \
		failed(doca_rdma_task_##kind_##_as_task(task));                                                 \
	}
#define AGAIN(kind_)                                                                                            \
	static void kind_##_done(struct doca_rdma_task_##kind_ *task, union doca_data user, union doca_data ctx) \
	{                                                                                                       \
		(void)user;                                                                                     \
		(void)ctx;                                                                                      \
		again(doca_rdma_task_##kind_##_as_task(task));                                                  \
	}

CALLBACKS(write)
CALLBACKS(read)
CALLBACKS(atomic_fetch_add)
CALLBACKS(send)
CALLBACKS(receive)
AGAIN(write)
AGAIN(send)

static void read_done(struct doca_rdma_task_read *task, union doca_data user, union doca_data ctx)
{
	(void)ctx;
	doca_buf_reset_data_len(user.ptr);
	again(doca_rdma_task_read_as_task(task));
}

static void atomic_fetch_add_done(struct doca_rdma_task_atomic_fetch_add *task, union doca_data user,
				  union doca_data ctx)
{
	(void)user;
	(void)ctx;
	again(doca_rdma_task_atomic_fetch_add_as_task(task));
}

/* Not counted as a task of its own: it belongs to its send. */
static void receive_done(struct doca_rdma_task_receive *task, union doca_data user, union doca_data ctx)
{
	(void)ctx;
	doca_buf_reset_data_len(user.ptr);
	MUST(doca_task_submit(doca_rdma_task_receive_as_task(task)));
}

static struct doca_dev *open_device(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count = 0;

	MUST(doca_devinfo_create_list(&list, &count));
	for (uint32_t i = 0; i < count && dev == NULL; i++)
		if (doca_rdma_cap_task_write_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_destroy_list(list));
	if (dev == NULL) {
		fprintf(stderr, "no device has RDMA\n");
		exit(1);
	}
	return dev;
}

struct side {
	struct doca_rdma *rdma;
	struct doca_rdma_connection *conn;
	const void *blob;
	size_t len;
};

static void make(struct side *side, struct doca_dev *dev, struct doca_pe *pe, unsigned depth)
{
	MUST(doca_rdma_create(dev, &side->rdma));
	MUST(doca_rdma_set_permissions(side->rdma, RIGHTS));
	MUST(doca_rdma_task_write_set_conf(side->rdma, write_done, write_failed, depth));
	MUST(doca_rdma_task_read_set_conf(side->rdma, read_done, read_failed, depth));
	MUST(doca_rdma_task_atomic_fetch_add_set_conf(side->rdma, atomic_fetch_add_done, atomic_fetch_add_failed,
						      depth));
	MUST(doca_rdma_task_send_set_conf(side->rdma, send_done, send_failed, depth));
	MUST(doca_rdma_task_receive_set_conf(side->rdma, receive_done, receive_failed, depth));
	MUST(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(side->rdma)));
	MUST(doca_ctx_start(doca_rdma_as_ctx(side->rdma)));
	MUST(doca_rdma_export(side->rdma, &side->blob, &side->len, &side->conn));
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: rdma_budget write|read|add|send N DEPTH\n");
		return 2;
	}
	const char kind = argv[1][0];
	const unsigned long n = strtoul(argv[2], NULL, 10);
	const unsigned depth = (unsigned)strtoul(argv[3], NULL, 10);
	const size_t size = 1 << 20;
	uint8_t *memory = aligned_alloc(4096, size);
	struct doca_dev *dev = open_device();
	struct doca_mmap *map, *far_map;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe, *far_pe;
	struct side here, there;
	const void *desc;
	size_t len;

	if (memory == NULL || depth == 0 || depth > MOST || n < depth)
		return 2;
	memset(memory, 0x5a, size);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, memory, size));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | RIGHTS));
	MUST(doca_mmap_start(map));
	MUST(doca_mmap_export_rdma(map, dev, &desc, &len));
	MUST(doca_mmap_create_from_export(NULL, desc, len, dev, &far_map));
	MUST(doca_buf_inventory_create(3 * depth, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	MUST(doca_pe_create(&pe));
	make(&here, dev, pe, depth);
	MUST(doca_pe_create(&far_pe));
	make(&there, dev, far_pe, depth);
	MUST(doca_rdma_connect(here.rdma, there.blob, there.len, here.conn));
	MUST(doca_rdma_connect(there.rdma, here.blob, here.len, there.conn));
	to_submit = n - depth;
	for (unsigned t = 0; t < depth; t++) {
		uint8_t *at = memory + 2 * t * BYTES;
		struct doca_buf *near, *far, *room;
		union doca_data user;
		struct doca_task *task;

		MUST(doca_buf_inventory_buf_get_by_data(inventory, map, at, BYTES, &near));
		MUST(doca_buf_inventory_buf_get_by_data(inventory, far_map, at + BYTES, BYTES, &far));
		MUST(doca_buf_inventory_buf_get_by_addr(inventory, map, at + size / 2, BYTES, &room));
		user.ptr = room;
		if (kind == 'w') {
			struct doca_rdma_task_write *write;

			MUST(doca_rdma_task_write_allocate_init(here.rdma, here.conn, near, far, user, &write));
			task = doca_rdma_task_write_as_task(write);
		} else if (kind == 'r') {
			struct doca_rdma_task_read *read;

			MUST(doca_rdma_task_read_allocate_init(here.rdma, here.conn, far, room, user, &read));
			task = doca_rdma_task_read_as_task(read);
		} else if (kind == 'a') {
			struct doca_rdma_task_atomic_fetch_add *add;

			MUST(doca_rdma_task_atomic_fetch_add_allocate_init(here.rdma, here.conn, far, near, 1, user,
									   &add));
			task = doca_rdma_task_atomic_fetch_add_as_task(add);
		} else {
			struct doca_rdma_task_receive *receive;
			struct doca_rdma_task_send *send;

			MUST(doca_rdma_task_receive_allocate_init(there.rdma, room, user, &receive));
			MUST(doca_task_submit(doca_rdma_task_receive_as_task(receive)));
			MUST(doca_rdma_task_send_allocate_init(here.rdma, here.conn, near, user, &send));
			task = doca_rdma_task_send_as_task(send);
		}
		MUST(doca_task_submit(task));
	}
	if (kind == 's')
		while (reported < n) {
			doca_pe_progress(pe);
			doca_pe_progress(far_pe);
		}
	else
		while (reported < n)
			doca_pe_progress(pe);
	return 0;
}
