/*
 * A process that is killed in the middle of large sends, on either side: the other's contexts end by themselves, every
 * task comes back, and there can be another connection at once.
 *
 * clauses: comch Producer and consumer contexts, Server life
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch_path.h"

#define LARGE (4u << 20)
#define ROUNDS 8

static struct comch_end control;
static struct path_memory memory;
static struct path_end stream;
static struct doca_pe *pe;

/* The child: a client that sends, or receives, until it is killed. */
static void host(int line, int sends)
{
	unsigned i;

	MUST(doca_pe_create(&pe));
	comch_make_client(&control, pe, "killed", 4);
	comch_run(&control);
	path_memory(&memory, control.dev, LARGE, sends ? DOCA_ACCESS_FLAG_PCI_READ_ONLY : DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	stream.keep = 1;
	if (sends) {
		COMCH_UNTIL(pe, control.newborn == 1);
		path_producer(&stream, pe, control.peer, 4);
		MUST(doca_ctx_start(stream.ctx));
		for (i = 0; i < 4; i++)
			path_send(&stream, path_full(&memory, 0, LARGE), NULL, 0, control.consumer);
	} else {
		path_consumer(&stream, pe, control.peer, memory.map, 4);
		MUST_BE(doca_ctx_start(stream.ctx) == DOCA_ERROR_IN_PROGRESS);
		while (path_state(&stream) == DOCA_CTX_STATE_STARTING)
			comch_progress(pe);
		for (i = 0; i < 4; i++)
			path_post(&stream, path_empty(&memory, 0, LARGE));
	}
	two_tell(line, 'r');
	for (;;)
		comch_progress(pe);
}

static void play(int sends, unsigned wait_us)
{
	struct path_end empty = {0};
	unsigned posted = 0, i;
	int line = -1, status;
	pid_t pid = two_again("killed", sends ? "sends" : "receives", &line);

	stream = empty;
	control.connects = control.disconnects = control.newborn = 0;
	COMCH_UNTIL(pe, control.connects == 1);
	if (sends) {
		path_consumer(&stream, pe, control.peer, memory.map, 4);
		MUST_BE(doca_ctx_start(stream.ctx) == DOCA_ERROR_IN_PROGRESS);
		while (path_state(&stream) == DOCA_CTX_STATE_STARTING)
			comch_progress(pe);
		for (i = 0; i < 4; i++, posted++)
			path_post(&stream, path_empty(&memory, 0, LARGE));
	} else {
		COMCH_UNTIL(pe, control.newborn == 1);
		path_producer(&stream, pe, control.peer, 4);
		MUST(doca_ctx_start(stream.ctx));
		while (!two_ready(line))
			comch_progress(pe);
		for (i = 0; i < 4; i++, posted++)
			path_send(&stream, path_full(&memory, 0, LARGE), NULL, 0, control.consumer);
	}
	usleep(wait_us);
	MUST_BE(kill(pid, SIGKILL) == 0);
	while (waitpid(pid, &status, 0) < 0)
		MUST_BE(errno == EINTR);
	COMCH_UNTIL(pe, control.disconnects == 1);
	while (path_state(&stream) != DOCA_CTX_STATE_IDLE)
		comch_progress(pe);
	CHECK_U64(stream.good + stream.bad, posted);
	if (sends)
		CHECK_OK(doca_comch_consumer_destroy(stream.consumer));
	else
		CHECK_OK(doca_comch_producer_destroy(stream.producer));
	close(line);
}

int main(int argc, char **argv)
{
	int i;

	if (argc == 3) {
		two_child();
		host(atoi(argv[2]), strcmp(argv[1], "sends") == 0);
		return 1;
	}
	MUST(doca_pe_create(&pe));
	comch_make_server(&control, pe, "killed", 4);
	comch_run(&control);
	path_memory(&memory, control.dev, LARGE, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (i = 0; i < ROUNDS; i++) {
		play(1, (unsigned)i * 300);
		play(0, (unsigned)i * 300);
	}
	comch_stop(&control);
	path_forget(&memory);
	comch_destroy(&control);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
