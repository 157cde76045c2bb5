/*
 * The peer of an RDMA connection is killed: writes fail within a moment, the connection callback says
 * so, and the program connects to the process that was started in its place and goes on.
 *
 * clauses: engine-rdma Failure, Disconnect
 * covers: @
 */
#define _GNU_SOURCE

#include "app_rdma.h"

#define BYTES 65536u

static struct app_rdma app;

static void on_established(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	(void)conn, (void)user, (void)ctx;
	app.established++;
}

static void on_end(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	app.ended++;
	CHECK_OK(doca_rdma_connection_disconnect(conn));
	app.conn = NULL;
}

static void target(int generation)
{
	char conn[32], desc[32], peer[32];

	snprintf(conn, sizeof(conn), "target.conn.%d", generation);
	snprintf(desc, sizeof(desc), "target.desc.%d", generation);
	snprintf(peer, sizeof(peer), "writer.conn.%d", generation);
	app_rdma_make(&app, BYTES, 4);
	app_core_start(&app.core, doca_rdma_as_ctx(app.rdma));
	app_rdma_join(&app, conn, peer);
	app_rdma_offer(&app, desc);
	for (;;)
		if (doca_pe_progress(app.core.pe) == 0)
			app_nap();
}

static pid_t start(int generation)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	MUST_BE(child >= 0);
	if (child == 0) {
		alarm(50);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		target(generation);
	}
	return child;
}

static void join(int generation)
{
	char conn[32], desc[32], peer[32];

	snprintf(conn, sizeof(conn), "writer.conn.%d", generation);
	snprintf(peer, sizeof(peer), "target.conn.%d", generation);
	snprintf(desc, sizeof(desc), "target.desc.%d", generation);
	app_rdma_join(&app, conn, peer);
	app_rdma_take(&app, desc);
}

/* Writes until one fails, or `most` went through; returns how many did. */
static uint32_t write_many(uint32_t most)
{
	struct doca_buf *src = app_near(&app, 0, BYTES, 1), *dst = app_far(&app, 0, BYTES, 0);
	struct doca_rdma_task_write *task;
	union doca_data user = {0};
	uint32_t i;

	app.core.done = app.core.failed = 0;
	for (i = 0; i < most && app.core.failed == 0; i++) {
		MUST(doca_rdma_task_write_allocate_init(app.rdma, app.conn, src, dst, user, &task));
		MUST(doca_task_submit(doca_rdma_task_write_as_task(task)));
		app_wait(&app.core, i + 1);
	}
	APP_DROP(src);
	APP_DROP(dst);
	return app.core.done;
}

int main(void)
{
	pid_t child[3];
	int generation, status;

	/* Before the first call into the library here: children are made by fork. */
	for (generation = 0; generation < 3; generation++)
		child[generation] = start(generation);
	app_rdma_make(&app, BYTES, 4);
	MUST(doca_rdma_set_connection_state_callbacks(app.rdma, NULL, on_established, on_end, on_end));
	app_core_start(&app.core, doca_rdma_as_ctx(app.rdma));
	for (generation = 0; generation < 3; generation++) {
		join(generation);
		CHECK_U64(write_many(200), 200);
		CHECK_U64(app.established, 0); /* connected out of band: nobody is told */
		CHECK_U64(app.ended, generation);
		kill(child[generation], SIGKILL);
		MUST_BE(waitpid(child[generation], &status, 0) == child[generation]);
		CHECK(WIFSIGNALED(status));
		/* It is noticed, at the latest by the program's own writes. */
		if (generation == 1) {
			while (app.ended == (uint32_t)generation)
				if (doca_pe_progress(app.core.pe) == 0)
					app_nap();
		} else {
			(void)write_many(1000000);
			CHECK_U64(app.core.failed, 1);
			CHECK_STATUS(app.core.status, DOCA_ERROR_IO_FAILED);
			while (app.ended == (uint32_t)generation)
				if (doca_pe_progress(app.core.pe) == 0)
					app_nap();
		}
		CHECK_U64(app.core.state, DOCA_CTX_STATE_RUNNING);
		CHECK_OK(doca_mmap_destroy(app.remote));
		app.remote = NULL;
	}
	app_rdma_free(&app);
	return check_result();
}
