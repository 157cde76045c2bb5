/*
 * What the RDMA applications share: a context with its memory, blobs that travel through files in the
 * working folder, as the programs of the textbooks do it.
 */
#ifndef CONFORMANCE_APP_RDMA_H
#define CONFORMANCE_APP_RDMA_H

#include <doca_rdma.h>

#include "app_common.h"

struct app_rdma {
	struct app_core core; /* of which the maps are not used */
	struct doca_rdma *rdma;
	struct doca_rdma_connection *conn;
	struct doca_mmap *map, *remote;
	uint8_t *memory;
	size_t len;
	uint32_t received, got_len, established, ended, requested, broken;
	doca_be32_t got_imm;
	uint32_t got_op;
};

APP_CALLBACKS(doca_rdma_task_write, doca_rdma_task_write_as_task)
APP_CALLBACKS(doca_rdma_task_write_imm, doca_rdma_task_write_imm_as_task)
APP_CALLBACKS(doca_rdma_task_read, doca_rdma_task_read_as_task)
APP_CALLBACKS(doca_rdma_task_send, doca_rdma_task_send_as_task)
APP_CALLBACKS(doca_rdma_task_atomic_fetch_add, doca_rdma_task_atomic_fetch_add_as_task)

static inline void app_received(struct doca_rdma_task_receive *task, union doca_data user, union doca_data ctx)
{
	struct app_rdma *app = (struct app_rdma *)ctx.ptr;

	(void)user;
	app->got_len = doca_rdma_task_receive_get_result_len(task);
	app->got_op = (uint32_t)doca_rdma_task_receive_get_result_opcode(task);
	app->got_imm = doca_rdma_task_receive_get_result_immediate_data(task);
	doca_task_free(doca_rdma_task_receive_as_task(task));
	app->received++;
}

static inline void app_not_received(struct doca_rdma_task_receive *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

/* Everything but the start. All kinds of tasks, so that the programs need not repeat it. */
static inline void app_rdma_make(struct app_rdma *app, size_t len, uint32_t tasks)
{
	const uint32_t access = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
				DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC;

	memset(app, 0, sizeof(*app));
	app_core_make(&app->core, doca_rdma_cap_task_write_is_supported, 64, 64, 64);
	app->len = len;
	app->memory = (uint8_t *)aligned_alloc(4096, (len + 4095) / 4096 * 4096);
	MUST_BE(app->memory != NULL);
	memset(app->memory, 0, len);
	app->map = app_map(app->core.dev, app->memory, len, access);
	MUST(doca_rdma_create(app->core.dev, &app->rdma));
	MUST(doca_rdma_set_permissions(app->rdma, access));
	MUST(doca_rdma_set_grh_enabled(app->rdma, 1));
#define APP_RDMA_CONF(kind_) \
	MUST(doca_rdma_task_##kind_##_set_conf(app->rdma, app_doca_rdma_task_##kind_##_done, \
					       app_doca_rdma_task_##kind_##_failed, tasks))
	APP_RDMA_CONF(write);
	APP_RDMA_CONF(write_imm);
	APP_RDMA_CONF(read);
	APP_RDMA_CONF(send);
	APP_RDMA_CONF(atomic_fetch_add);
	MUST(doca_rdma_task_receive_set_conf(app->rdma, app_received, app_not_received, tasks));
}

static inline void app_rdma_free(struct app_rdma *app)
{
	app_core_stop(&app->core);
	CHECK_OK(doca_rdma_destroy(app->rdma));
	if (app->remote != NULL)
		CHECK_OK(doca_mmap_destroy(app->remote));
	CHECK_OK(doca_mmap_destroy(app->map));
	app_core_free(&app->core);
	free(app->memory);
}

static inline void app_put_file(const char *name, const void *bytes, size_t len)
{
	char part[64];
	FILE *file;

	snprintf(part, sizeof(part), "%s.part", name);
	file = fopen(part, "wb");
	MUST_BE(file != NULL && fwrite(bytes, 1, len, file) == len && fclose(file) == 0);
	MUST_BE(rename(part, name) == 0);
}

static inline size_t app_get_file(const char *name, void *bytes, size_t room)
{
	FILE *file;
	size_t len;

	while ((file = fopen(name, "rb")) == NULL)
		app_nap();
	len = fread(bytes, 1, room, file);
	fclose(file);
	return len;
}

/* Waits for a file while making progress, as a person would press enter. */
static inline void app_wait_file(struct app_rdma *app, const char *name)
{
	while (access(name, R_OK) != 0)
		if (doca_pe_progress(app->core.pe) == 0)
			app_nap();
}

/* Out of band, with the blobs of both sides in files. */
static inline void app_rdma_join(struct app_rdma *app, const char *own, const char *peer)
{
	uint8_t blob[8192];
	const void *mine;
	size_t len;

	MUST(doca_rdma_export(app->rdma, &mine, &len, &app->conn));
	app_put_file(own, mine, len);
	len = app_get_file(peer, blob, sizeof(blob));
	MUST(doca_rdma_connect(app->rdma, blob, len, app->conn));
}

/* Offers the memory, and takes the peer's. */
static inline void app_rdma_offer(struct app_rdma *app, const char *own)
{
	const void *desc;
	size_t len;

	MUST(doca_mmap_export_rdma(app->map, app->core.dev, &desc, &len));
	app_put_file(own, desc, len);
}

static inline void app_rdma_take(struct app_rdma *app, const char *peer)
{
	uint8_t desc[8192];
	size_t len = app_get_file(peer, desc, sizeof(desc));

	MUST(doca_mmap_create_from_export(NULL, desc, len, app->core.dev, &app->remote));
}

/* A window of the peer's memory: `at` bytes behind its beginning. */
static inline struct doca_buf *app_far(struct app_rdma *app, size_t at, size_t len, int data)
{
	struct doca_buf *buf;
	void *base;
	size_t all;

	MUST(doca_mmap_get_memrange(app->remote, &base, &all));
	MUST_BE(at + len <= all);
	if (data)
		MUST(doca_buf_inventory_buf_get_by_data(app->core.inv, app->remote, (uint8_t *)base + at, len, &buf));
	else
		MUST(doca_buf_inventory_buf_get_by_addr(app->core.inv, app->remote, (uint8_t *)base + at, len, &buf));
	return buf;
}

static inline struct doca_buf *app_near(struct app_rdma *app, size_t at, size_t len, int data)
{
	struct doca_buf *buf;

	if (data)
		MUST(doca_buf_inventory_buf_get_by_data(app->core.inv, app->map, app->memory + at, len, &buf));
	else
		MUST(doca_buf_inventory_buf_get_by_addr(app->core.inv, app->map, app->memory + at, len, &buf));
	return buf;
}

#define APP_DROP(buf_) CHECK_OK(doca_buf_dec_refcount(buf_, NULL))

static inline void app_post(struct app_rdma *app, struct doca_buf *buf)
{
	struct doca_rdma_task_receive *task;
	union doca_data user = {0};

	MUST(doca_rdma_task_receive_allocate_init(app->rdma, buf, user, &task));
	MUST(doca_task_submit(doca_rdma_task_receive_as_task(task)));
}

#endif
