/*
 * RDMA read, and write with immediate: the consumer reads blocks that the owner fills, tells it with a
 * write with immediate which one it has read, and the owner fills that again. A ring of four blocks.
 *
 * clauses: engine-rdma Read, Write with immediate, Receive
 * covers: @
 */
#define _GNU_SOURCE

#include <arpa/inet.h>

#include "app_rdma.h"

#define BLOCK 20000u
#define BLOCKS 4u
#define ROUNDS 200u
#define COUNTERS (BLOCK * BLOCKS)

static void owner(void)
{
	static struct app_rdma app;
	uint32_t round, filled = 0;

	app_rdma_make(&app, COUNTERS + 4096, 8);
	app_core_start(&app.core, doca_rdma_as_ctx(app.rdma));
	app_rdma_join(&app, "owner.conn", "reader.conn");
	for (round = 0; round < 8; round++)
		app_post(&app, NULL);
	for (; filled < BLOCKS; filled++)
		app_text(app.memory + filled * BLOCK, BLOCK, filled);
	app_rdma_offer(&app, "owner.desc");
	for (round = 0; round < ROUNDS; round++) {
		uint32_t slot;

		while (app.received <= round)
			if (doca_pe_progress(app.core.pe) == 0)
				app_nap();
		slot = round % BLOCKS;
		/* Several may have come; the last one is kept, the number in the memory is the reader's word. */
		CHECK_U64(app.got_op, DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
		CHECK_U64(app.got_len, 4);
		CHECK(ntohl(app.got_imm) >= round);
		CHECK(*(volatile uint32_t *)(app.memory + COUNTERS) >= round + 1);
		app_post(&app, NULL);
		app_text(app.memory + slot * BLOCK, BLOCK, filled++);
		__atomic_store_n((uint32_t *)(app.memory + COUNTERS + 64), filled, __ATOMIC_RELEASE);
	}
	app_wait_file(&app, "read.done");
	app_rdma_free(&app);
}

static void reader(void)
{
	static struct app_rdma app;
	uint8_t *want = (uint8_t *)malloc(BLOCK);
	uint32_t round, tasks = 0, known = BLOCKS;

	app_rdma_make(&app, BLOCK + 4096, 8);
	app_core_start(&app.core, doca_rdma_as_ctx(app.rdma));
	app_rdma_join(&app, "reader.conn", "owner.conn");
	app_rdma_take(&app, "owner.desc");
	for (round = 0; round < ROUNDS; round++) {
		struct doca_buf *src, *dst, *flag, *counter;
		struct doca_rdma_task_write_imm *tell;
		struct doca_rdma_task_read *task;
		union doca_data user = {0};

		/* Is it filled? The counter is read until it says so. */
		while (known <= round) {
			counter = app_far(&app, COUNTERS + 64, 4, 1);
			flag = app_near(&app, BLOCK + 64, 4, 0);
			MUST(doca_rdma_task_read_allocate_init(app.rdma, app.conn, counter, flag, user, &task));
			MUST(doca_task_submit(doca_rdma_task_read_as_task(task)));
			app_wait(&app.core, ++tasks);
			memcpy(&known, app.memory + BLOCK + 64, 4);
			APP_DROP(counter);
			APP_DROP(flag);
		}
		src = app_far(&app, round % BLOCKS * BLOCK, BLOCK, 1);
		dst = app_near(&app, 0, BLOCK, 0);
		MUST(doca_rdma_task_read_allocate_init(app.rdma, app.conn, src, dst, user, &task));
		MUST(doca_task_submit(doca_rdma_task_read_as_task(task)));
		app_wait(&app.core, ++tasks);
		CHECK_U64(app_length(dst), BLOCK);
		app_text(want, BLOCK, round);
		CHECK_BYTES(app.memory, want, BLOCK);
		APP_DROP(src);
		APP_DROP(dst);
		/* Read: the number goes into the owner's memory, and wakes it. */
		known = known < round + 1 ? round + 1 : known;
		memcpy(app.memory + BLOCK, &(uint32_t){round + 1}, 4);
		flag = app_near(&app, BLOCK, 4, 1);
		counter = app_far(&app, COUNTERS, 4, 0);
		MUST(doca_rdma_task_write_imm_allocate_init(app.rdma, app.conn, flag, counter, htonl(round), user,
							    &tell));
		MUST(doca_task_submit(doca_rdma_task_write_imm_as_task(tell)));
		app_wait(&app.core, ++tasks);
		APP_DROP(flag);
		APP_DROP(counter);
	}
	CHECK_U64(app.core.failed, 0);
	app_put_file("read.done", "1", 1);
	app_rdma_free(&app);
	free(want);
}

int main(void)
{
	return app_two_roles(owner, reader);
}
