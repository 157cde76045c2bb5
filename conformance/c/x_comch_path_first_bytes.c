/*
 * The data path in its shortest form, two processes: the card's consumer starts with IN_PROGRESS and runs
 * later, the host learns of it by an event; the host's producer runs at once and sends from inside its state
 * callback, which is nested in start; 1 MiB arrives in the tail of the receive buffer; a word on the control
 * path ends it.
 *
 * clauses: comch Producer and consumer contexts, Sending on the data path
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch_path.h"

#define BYTES (1u << 20)

static struct path_memory memory;
static struct comch_end control;
static int nested;

static void card(int line)
{
	struct path_end consumer = {0};
	struct doca_pe *pe = NULL, *fast = NULL;
	struct doca_task *task;
	struct doca_buf *buf;
	uint32_t id = 0, most = 0;

	MUST(doca_pe_create(&pe));
	MUST(doca_pe_create(&fast));
	comch_make_server(&control, pe, "first bytes", 4);
	comch_run(&control);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, control.connects == 1);
	MUST(doca_comch_consumer_cap_get_max_buf_size(doca_dev_as_devinfo(control.dev), &most));
	CHECK(most >= BYTES);
	path_memory(&memory, control.dev, BYTES + 200, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	path_consumer(&consumer, fast, control.peer, memory.map, 1);
	CHECK_STATUS(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(path_state(&consumer), DOCA_CTX_STATE_STARTING);
	while (path_state(&consumer) == DOCA_CTX_STATE_STARTING) {
		comch_progress(fast);
		comch_progress(pe);
	}
	MUST_BE(path_state(&consumer) == DOCA_CTX_STATE_RUNNING);
	CHECK_OK(doca_comch_consumer_get_id(consumer.consumer, &id));
	CHECK(id != 0 && id != 0xffff);
	two_send(line, &id, sizeof(id));
	/* Ten bytes are in the buffer already: what arrives comes after them. */
	MUST(doca_buf_inventory_buf_get_by_args(memory.inv, memory.map, memory.bytes, BYTES + 200, memory.bytes + 90, 10,
						&buf));
	memset(memory.bytes, 0x11, BYTES + 200);
	consumer.keep = 1;
	task = path_post(&consumer, buf);
	while (consumer.good == 0) {
		comch_progress(fast);
		comch_progress(pe);
	}
	CHECK_PTR(consumer.data, memory.bytes + 90);
	CHECK_U64(consumer.data_len, BYTES + 10);
	CHECK_U64(consumer.imm_len, 0);
	CHECK(two_is(memory.bytes + 100, BYTES, 1));
	CHECK(memory.bytes[99] == 0x11 && memory.bytes[100 + BYTES] == 0x11);
	comch_send(&control, control.peer, "got it", 6);
	COMCH_UNTIL(pe, control.sent == 1);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	doca_task_free(task);
	path_stop(&consumer, pe);
	COMCH_UNTIL(pe, control.disconnects == 1);
	comch_stop(&control);
	path_forget(&memory);
	comch_destroy(&control);
	CHECK_OK(doca_pe_destroy(fast));
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

static void send_at_once(struct path_end *end, enum doca_ctx_states next)
{
	if (next != DOCA_CTX_STATE_RUNNING)
		return;
	CHECK(nested);
	path_send(end, path_full(&memory, 0, BYTES), NULL, 0, control.consumer);
}

int main(void)
{
	struct path_end producer = {.on_state = send_at_once};
	struct doca_pe *pe = NULL, *fast = NULL;
	uint32_t id = 0;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	MUST(doca_pe_create(&fast));
	comch_make_client(&control, pe, "first bytes", 4);
	comch_run(&control);
	path_memory(&memory, control.dev, BYTES, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	two_fill(memory.bytes, BYTES, 1);
	COMCH_UNTIL(pe, control.newborn == 1);
	two_recv(line, &id, sizeof(id));
	CHECK_U64(control.consumer, id);
	path_producer(&producer, fast, control.peer, 1);
	nested = 1;
	CHECK_OK(doca_ctx_start(producer.ctx));
	nested = 0;
	CHECK_U64(path_state(&producer), DOCA_CTX_STATE_RUNNING);
	COMCH_UNTIL(fast, producer.good == 1);
	COMCH_UNTIL(pe, control.messages == 1);
	CHECK(two_is(memory.bytes, BYTES, 1));
	COMCH_UNTIL(pe, control.expired == 1);
	path_stop(&producer, pe);
	path_forget(&memory);
	comch_stop(&control);
	comch_destroy(&control);
	CHECK_OK(doca_pe_destroy(fast));
	CHECK_OK(doca_pe_destroy(pe));
	two_reap(pid);
	close(line);
	return check_result();
}
