/*
 * A stream of messages of changing sizes over one connection, with immediate data, a ring of receives
 * that are posted again from their callbacks, and slow moments on either side: nothing is lost, nothing
 * out of order, and a sender that is ahead waits.
 *
 * clauses: engine-rdma Send with immediate, Receive, receive-not-ready
 * covers: @
 */
#define _GNU_SOURCE

#include <arpa/inet.h>

#include "app_rdma.h"

#define MESSAGES 5000u
#define LARGEST 6000u
#define POSTED 16u
#define SENDING 32u

static struct app_rdma app;

static uint32_t size_of(uint32_t number)
{
	return number * 2654435761u % LARGEST;
}

static void got(struct doca_rdma_task_receive *task, union doca_data user, union doca_data ctx)
{
	struct doca_buf *buf = doca_rdma_task_receive_get_dst_buf(task);
	uint32_t number = app.received, len = size_of(number), i;
	uint8_t *data;
	void *at;

	(void)user, (void)ctx;
	CHECK_U64(doca_rdma_task_receive_get_result_opcode(task), DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM);
	CHECK_U64(ntohl(doca_rdma_task_receive_get_result_immediate_data(task)), number);
	CHECK_U64(doca_rdma_task_receive_get_result_len(task), len);
	CHECK_U64(app_length(buf), len);
	MUST(doca_buf_get_data(buf, &at));
	data = (uint8_t *)at;
	for (i = 0; i < len; i += 97)
		if (data[i] != (uint8_t)(number + i))
			check_fail(__FILE__, __LINE__, "message %u: byte %u differs", number, i);
	app.received++;
	MUST(doca_buf_reset_data_len(buf));
	MUST(doca_task_submit(doca_rdma_task_receive_as_task(task)));
}

static void flushed(struct doca_rdma_task_receive *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	APP_DROP(doca_rdma_task_receive_get_dst_buf(task));
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void receiver(void)
{
	uint32_t i;

	app_rdma_make(&app, POSTED * LARGEST, POSTED);
	MUST(doca_rdma_task_receive_set_conf(app.rdma, got, flushed, POSTED));
	app_core_start(&app.core, doca_rdma_as_ctx(app.rdma));
	for (i = 0; i < POSTED; i++)
		app_post(&app, app_near(&app, i * LARGEST, LARGEST, 0));
	app_rdma_join(&app, "receiver.conn", "sender.conn");
	while (app.received < MESSAGES) {
		if (doca_pe_progress(app.core.pe) == 0)
			app_nap();
		if (app.received % 1000 == 999)
			app_nap();
	}
	app_put_file("all", "1", 1);
	app_rdma_free(&app);
}

struct slot {
	struct doca_buf *buf;
	uint8_t *bytes;
};

static struct slot slots[SENDING];
static uint32_t next_number;

static void fill(struct slot *slot, struct doca_rdma_task_send_imm *task)
{
	uint32_t number = next_number++, len = size_of(number), i;

	for (i = 0; i < len; i++)
		slot->bytes[i] = (uint8_t)(number + i);
	MUST(doca_buf_set_data(slot->buf, slot->bytes, len));
	doca_rdma_task_send_imm_set_immediate_data(task, htonl(number));
	MUST(doca_task_submit(doca_rdma_task_send_imm_as_task(task)));
}

static void sent(struct doca_rdma_task_send_imm *task, union doca_data user, union doca_data ctx)
{
	(void)ctx;
	CHECK_OK(doca_task_get_status(doca_rdma_task_send_imm_as_task(task)));
	app.core.done++;
	if (next_number < MESSAGES) {
		fill((struct slot *)user.ptr, task);
		return;
	}
	APP_DROP(((struct slot *)user.ptr)->buf);
	doca_task_free(doca_rdma_task_send_imm_as_task(task));
}

static void sender(void)
{
	struct doca_rdma_task_send_imm *task;
	union doca_data user;
	uint8_t byte;
	uint32_t i;

	app_rdma_make(&app, SENDING * LARGEST, 4);
	MUST(doca_rdma_task_send_imm_set_conf(app.rdma, sent, sent, SENDING));
	app_core_start(&app.core, doca_rdma_as_ctx(app.rdma));
	app_rdma_join(&app, "sender.conn", "receiver.conn");
	for (i = 0; i < SENDING; i++) {
		slots[i].bytes = app.memory + i * LARGEST;
		slots[i].buf = app_near(&app, i * LARGEST, LARGEST, 0);
		user.ptr = &slots[i];
		MUST(doca_rdma_task_send_imm_allocate_init(app.rdma, app.conn, slots[i].buf, 0, user, &task));
		fill(&slots[i], task);
	}
	while (app.core.done < MESSAGES)
		if (doca_pe_progress(app.core.pe) == 0)
			app_nap();
	app_get_file("all", &byte, 1);
	app_rdma_free(&app);
}

int main(void)
{
	return app_two_roles(receiver, sender);
}
