/* RDMA: two ends in one program, joined by the bytes each exports; a write into the peer's memory, and a read back. */
#include "tutorial.h"

#include <doca_rdma.h>

#define RIGHTS (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE)

static void written(struct doca_rdma_task_write *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	landed(ctx, doca_rdma_task_write_as_task(task));
}

static void read_back(struct doca_rdma_task_read *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	landed(ctx, doca_rdma_task_read_as_task(task));
}

static struct doca_rdma *make_end(struct rig *rig)
{
	struct doca_rdma *rdma;

	MUST(doca_rdma_create(rig->dev, &rdma));
	MUST(doca_rdma_set_permissions(rdma, RIGHTS));
	MUST(doca_rdma_task_write_set_conf(rdma, written, written, 4));
	MUST(doca_rdma_task_read_set_conf(rdma, read_back, read_back, 4));
	start(rig, doca_rdma_as_ctx(rdma));
	return rdma;
}

int main(void)
{
	struct rig a = make_rig(doca_rdma_cap_task_write_is_supported, 4096, RIGHTS);
	struct rig b = make_rig(doca_rdma_cap_task_write_is_supported, 4096, RIGHTS);
	struct doca_rdma *end_a = make_end(&a), *end_b = make_end(&b);
	struct doca_rdma_connection *to_b, *to_a;
	struct doca_buf *local, *remote;
	struct doca_rdma_task_write *write;
	struct doca_rdma_task_read *read;
	const void *bytes_a, *bytes_b, *lent;
	size_t length_a, length_b, length, size;
	struct doca_mmap *theirs;
	union doca_data none = {0};
	void *base;

	/* Between processes or machines these bytes travel by a file, a socket, whatever there is. */
	MUST(doca_rdma_export(end_a, &bytes_a, &length_a, &to_b));
	MUST(doca_rdma_export(end_b, &bytes_b, &length_b, &to_a));
	MUST(doca_rdma_connect(end_a, bytes_b, length_b, to_b));
	MUST(doca_rdma_connect(end_b, bytes_a, length_a, to_a));

	/* What b lends, as a sees it: the same addresses, reached by tasks alone. */
	MUST(doca_mmap_export_rdma(b.map, b.dev, &lent, &length));
	MUST(doca_mmap_create_from_export(NULL, lent, length, a.dev, &theirs));
	MUST(doca_mmap_get_memrange(theirs, &base, &size));

	strcpy(a.memory, "written into the memory of b");
	local = data(&a, 0, 29);
	MUST(doca_buf_inventory_buf_get_by_addr(a.inventory, theirs, (char *)base + 100, 100, &remote));
	MUST(doca_rdma_task_write_allocate_init(end_a, to_b, local, remote, none, &write));
	MUST(carry_out(&a, doca_rdma_task_write_as_task(write)));
	printf("b has: %s\n", b.memory + 100); /* and never called progress */
	MUST(doca_buf_dec_refcount(local, NULL));
	MUST(doca_buf_dec_refcount(remote, NULL));

	strcpy(b.memory + 100, "read from the memory of b");
	local = room(&a, 2048, 100);
	MUST(doca_buf_inventory_buf_get_by_data(a.inventory, theirs, (char *)base + 100, 26, &remote));
	MUST(doca_rdma_task_read_allocate_init(end_a, to_b, remote, local, none, &read));
	MUST(carry_out(&a, doca_rdma_task_read_as_task(read)));
	printf("a has: %s\n", a.memory + 2048);
	MUST(doca_buf_dec_refcount(local, NULL));
	MUST(doca_buf_dec_refcount(remote, NULL));

	/* Imports before what they import, contexts before devices. */
	stop(&a, doca_rdma_as_ctx(end_a));
	stop(&b, doca_rdma_as_ctx(end_b));
	MUST(doca_rdma_destroy(end_a));
	MUST(doca_rdma_destroy(end_b));
	MUST(doca_mmap_destroy(theirs));
	free_rig(&a);
	free_rig(&b);
	return 0;
}
