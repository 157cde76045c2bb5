/*
 * A ticket counter: four processes draw numbers from one word of a fifth by fetch-and-add, while its
 * own processor draws, too. No number comes twice, none is missing.
 *
 * clauses: engine-rdma Atomics
 * covers: @
 */
#define _GNU_SOURCE

#include <sched.h>
#include <sys/mman.h>

#include "app_rdma.h"

#define DRAWERS 4u
#define EACH 1000u
#define ALL ((DRAWERS + 1) * EACH)

static char names[DRAWERS][4][32];

static void name_all(void)
{
	uint32_t i;

	for (i = 0; i < DRAWERS; i++) {
		snprintf(names[i][0], 32, "counter.conn.%u", i);
		snprintf(names[i][1], 32, "drawer.conn.%u", i);
		snprintf(names[i][2], 32, "drawn.%u", i);
		snprintf(names[i][3], 32, "over.%u", i);
	}
}

static void drawer(uint32_t which)
{
	static struct app_rdma app;
	static uint32_t drawn[EACH];
	struct doca_rdma_task_atomic_fetch_add *task;
	struct doca_buf *word, *result;
	union doca_data user = {0};
	uint64_t number;
	uint8_t byte;
	uint32_t i;

	app_rdma_make(&app, 4096, 1);
	app_core_start(&app.core, doca_rdma_as_ctx(app.rdma));
	app_rdma_join(&app, names[which][1], names[which][0]);
	app_rdma_take(&app, "counter.desc");
	word = app_far(&app, 256, 8, 0);
	result = app_near(&app, 0, 8, 0);
	for (i = 0; i < EACH; i++) {
		MUST(doca_rdma_task_atomic_fetch_add_allocate_init(app.rdma, app.conn, word, result, 1, user, &task));
		MUST(doca_task_submit(doca_rdma_task_atomic_fetch_add_as_task(task)));
		app_wait(&app.core, i + 1);
		memcpy(&number, app.memory, 8);
		drawn[i] = (uint32_t)number;
		CHECK(i == 0 || drawn[i] > drawn[i - 1]);
	}
	CHECK_U64(app.core.failed, 0);
	APP_DROP(word);
	APP_DROP(result);
	app_put_file(names[which][2], drawn, sizeof(drawn));
	app_get_file(names[which][3], &byte, 1);
	app_rdma_free(&app);
}

int main(void)
{
	static struct app_rdma app;
	static uint32_t drawn[EACH];
	static uint8_t seen[ALL];
	struct doca_rdma_connection *conns[DRAWERS];
	pid_t child[DRAWERS];
	uint32_t i, j;
	int status;

	name_all();
	for (i = 0; i < DRAWERS; i++) {
		child[i] = fork();
		MUST_BE(child[i] >= 0);
		if (child[i] == 0) {
			alarm(57);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			drawer(i);
			return check_result();
		}
	}
	app_rdma_make(&app, 4096, 4);
	/* The word has to lie in memory that peers can map. */
	CHECK_OK(doca_mmap_destroy(app.map));
	free(app.memory);
	{
		int fd = memfd_create("counter", MFD_ALLOW_SEALING);

		MUST_BE(fd >= 0 && ftruncate(fd, 4096) == 0);
		app.memory = (uint8_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		MUST_BE(app.memory != MAP_FAILED);
	}
	app.map = app_map(app.core.dev, app.memory, 4096,
			  DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC);
	app_core_start(&app.core, doca_rdma_as_ctx(app.rdma));
	app_rdma_offer(&app, "counter.desc");
	for (i = 0; i < DRAWERS; i++) {
		app_rdma_join(&app, names[i][0], names[i][1]);
		conns[i] = app.conn;
	}
	for (i = 0; i < EACH; i++) {
		uint64_t number = __atomic_fetch_add((uint64_t *)(app.memory + 256), 1, __ATOMIC_SEQ_CST);

		MUST_BE(number < ALL);
		seen[number]++;
		if (doca_pe_progress(app.core.pe) == 0)
			sched_yield();
	}
	for (i = 0; i < DRAWERS; i++) {
		CHECK_U64(app_get_file(names[i][2], drawn, sizeof(drawn)), sizeof(drawn));
		for (j = 0; j < EACH; j++) {
			MUST_BE(drawn[j] < ALL);
			seen[drawn[j]]++;
		}
	}
	for (i = 0; i < ALL; i++)
		CHECK_U64(seen[i], 1);
	for (i = 0; i < DRAWERS; i++) {
		app_put_file(names[i][3], "1", 1);
		CHECK_OK(doca_rdma_connection_disconnect(conns[i]));
	}
	for (i = 0; i < DRAWERS; i++) {
		while (waitpid(child[i], &status, WNOHANG) == 0)
			if (doca_pe_progress(app.core.pe) == 0)
				app_nap();
		CHECK_U64(status, 0);
	}
	app_core_stop(&app.core);
	CHECK_OK(doca_rdma_destroy(app.rdma));
	CHECK_OK(doca_mmap_destroy(app.map));
	app_core_free(&app.core);
	munmap(app.memory, 4096);
	return check_result();
}
