/*
 * RDMA write: a requester and a responder in two processes, blobs and descriptors through files. The
 * requester writes a text and a large block; the responder does not touch its progress engine until a
 * file says that it was written.
 *
 * clauses: engine-rdma Connection out of band, Write
 * covers: @
 */
#define _GNU_SOURCE

#include "app_rdma.h"

#define BYTES (1024u * 1024)

static void responder(void)
{
	uint8_t *want = (uint8_t *)malloc(BYTES);
	static struct app_rdma app;

	app_rdma_make(&app, BYTES, 4);
	app_core_start(&app.core, doca_rdma_as_ctx(app.rdma));
	app_rdma_join(&app, "responder.conn", "requester.conn");
	app_rdma_offer(&app, "responder.desc");
	app_get_file("written", want, 1);
	app_text(want, BYTES, 4);
	memcpy(want + 16, "a few bytes", 12);
	CHECK_BYTES(app.memory, want, BYTES);
	app_put_file("checked", "1", 1);
	app_rdma_free(&app);
	free(want);
}

static void write_once(struct app_rdma *app, size_t from, size_t to, size_t len)
{
	struct doca_buf *src = app_near(app, from, len, 1), *dst = app_far(app, to, len, 0);
	struct doca_rdma_task_write *task;
	union doca_data user = {0};
	uint32_t before = app->core.done;

	MUST(doca_rdma_task_write_allocate_init(app->rdma, app->conn, src, dst, user, &task));
	CHECK_PTR(doca_rdma_task_write_get_src_buf(task), src);
	CHECK_PTR(doca_rdma_task_write_get_dst_buf(task), dst);
	MUST(doca_task_submit(doca_rdma_task_write_as_task(task)));
	app_wait(&app->core, before + 1);
	CHECK_U64(app->core.done, before + 1);
	APP_DROP(src);
	APP_DROP(dst);
}

static void requester(void)
{
	static struct app_rdma app;
	uint8_t byte;

	app_rdma_make(&app, BYTES + 64, 4);
	app_core_start(&app.core, doca_rdma_as_ctx(app.rdma));
	app_rdma_join(&app, "requester.conn", "responder.conn");
	app_rdma_take(&app, "responder.desc");
	app_text(app.memory, BYTES, 4);
	memcpy(app.memory + BYTES, "a few bytes", 12);
	write_once(&app, 0, 0, BYTES);
	write_once(&app, BYTES, 16, 12);
	app_put_file("written", "1", 1);
	app_get_file("checked", &byte, 1);
	app_rdma_free(&app);
}

int main(void)
{
	return app_two_roles(responder, requester);
}
