/*
 * Two processes: sends of 8 MiB and of a few bytes in one stream keep their order, whatever their size; progress goes
 * on while the large ones are under way.
 *
 * clauses: comch Sending on the data path
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch_path.h"

#define LARGE (8u << 20)
#define COUNT 12u

static struct comch_end control;
static struct path_memory memory;
static struct path_end stream;
static struct doca_pe *pe;

static uint32_t size_of(unsigned n)
{
	return n % 3 == 0 ? LARGE - n : 100 + n;
}

static void check_one(struct path_end *end, struct doca_task *task)
{
	unsigned n = end->good - 1;

	(void)task;
	CHECK_U64(end->data_len, size_of(n));
	CHECK_U64(end->imm_len, sizeof(n));
	CHECK_BYTES(end->imm, &n, sizeof(n));
	CHECK(two_is(end->data, end->data_len, n));
}

static void card(int line)
{
	unsigned i;

	MUST(doca_pe_create(&pe));
	comch_make_server(&control, pe, "large", 4);
	comch_run(&control);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, control.connects == 1);
	path_memory(&memory, control.dev, (size_t)COUNT * LARGE, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	path_consumer(&stream, pe, control.peer, memory.map, COUNT);
	stream.on_done = check_one;
	MUST_BE(doca_ctx_start(stream.ctx) == DOCA_ERROR_IN_PROGRESS);
	while (path_state(&stream) == DOCA_CTX_STATE_STARTING)
		comch_progress(pe);
	for (i = 0; i < COUNT; i++)
		path_post(&stream, path_empty(&memory, (size_t)i * LARGE, LARGE));
	while (stream.good < COUNT)
		comch_progress(pe);
	path_stop(&stream, NULL);
	COMCH_UNTIL(pe, control.disconnects == 1);
	comch_stop(&control);
	path_forget(&memory);
	comch_destroy(&control);
	CHECK_OK(doca_pe_destroy(pe));
}

static void host(int line)
{
	unsigned i;

	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&control, pe, "large", 4);
	comch_run(&control);
	COMCH_UNTIL(pe, control.newborn == 1);
	path_memory(&memory, control.dev, (size_t)COUNT * LARGE, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	path_producer(&stream, pe, control.peer, COUNT);
	MUST(doca_ctx_start(stream.ctx));
	for (i = 0; i < COUNT; i++) {
		two_fill(memory.bytes + (size_t)i * LARGE, size_of(i), i);
		path_send(&stream, path_full(&memory, (size_t)i * LARGE, size_of(i)), &i, sizeof(i), control.consumer);
	}
	while (stream.good < COUNT)
		comch_progress(pe);
	COMCH_UNTIL(pe, control.expired == 1);
	path_stop(&stream, NULL);
	comch_stop(&control);
	path_forget(&memory);
	comch_destroy(&control);
	CHECK_OK(doca_pe_destroy(pe));
}

int main(void)
{
	int line = -1;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		return check_result();
	}
	host(line);
	two_reap(pid);
	return check_result();
}
