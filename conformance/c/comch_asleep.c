/*
 * Two processes that sleep whenever there is nothing to do: control messages and the data path wake whoever must act,
 * and nobody misses a wake-up.
 *
 * clauses: comch Roles and topology (events do no harm), core-exec events
 * covers: @
 */
#define _GNU_SOURCE
#include <poll.h>

#include "x_comch_path.h"

#define ROUNDS 300u

static struct comch_end control;
static struct path_memory memory;
static struct path_end stream;
static struct doca_pe *pe;
static doca_notification_handle_t handle;

/* Asleep until something can be progressed, then all of it. */
static void once(void)
{
	struct pollfd fd = {.events = POLLIN};

	fd.fd = handle;
	MUST(doca_pe_request_notification(pe));
	MUST_BE(poll(&fd, 1, 30000) == 1);
	MUST(doca_pe_clear_notification(pe, handle));
	while (comch_progress(pe) != 0)
		;
}

#define ASLEEP_UNTIL(condition) \
	do { \
		while (!(condition)) \
			once(); \
	} while (0)

/* The card says every message back. */
static void echo(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	comch_send(end, peer, bytes, len);
}

static void card(void)
{
	MUST(doca_pe_create(&pe));
	MUST(doca_pe_get_notification_handle(pe, &handle));
	comch_make_server(&control, pe, "asleep", 8);
	control.on_message = echo;
	comch_run(&control);
	ASLEEP_UNTIL(control.messages == ROUNDS);
	path_memory(&memory, control.dev, 4096, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	path_consumer(&stream, pe, control.peer, memory.map, 2);
	stream.repost = 1;
	MUST_BE(doca_ctx_start(stream.ctx) == DOCA_ERROR_IN_PROGRESS);
	ASLEEP_UNTIL(path_state(&stream) == DOCA_CTX_STATE_RUNNING);
	path_post(&stream, path_empty(&memory, 0, 2048));
	path_post(&stream, path_empty(&memory, 2048, 2048));
	ASLEEP_UNTIL(stream.good == ROUNDS);
	path_stop(&stream, NULL);
	ASLEEP_UNTIL(control.disconnects == 1);
	comch_stop(&control);
	path_forget(&memory);
	comch_destroy(&control);
	CHECK_OK(doca_pe_destroy(pe));
}

static void host(void)
{
	unsigned i;

	MUST(doca_pe_create(&pe));
	MUST(doca_pe_get_notification_handle(pe, &handle));
	do {
		/* The server may not be there yet. */
		if (control.client != NULL)
			comch_destroy(&control);
		comch_make_client(&control, pe, "asleep", 8);
		MUST_BE(doca_ctx_start(control.ctx) == DOCA_ERROR_IN_PROGRESS);
		ASLEEP_UNTIL(comch_state(&control) != DOCA_CTX_STATE_STARTING);
	} while (comch_state(&control) == DOCA_CTX_STATE_IDLE);
	MUST(doca_comch_client_get_connection(control.client, &control.peer));
	for (i = 0; i < ROUNDS; i++) {
		comch_send(&control, control.peer, &i, sizeof(i));
		ASLEEP_UNTIL(control.messages == i + 1);
		CHECK_BYTES(control.last, &i, sizeof(i));
	}
	ASLEEP_UNTIL(control.newborn == 1);
	path_memory(&memory, control.dev, 2048, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	path_producer(&stream, pe, control.peer, 4);
	MUST(doca_ctx_start(stream.ctx));
	for (i = 0; i < ROUNDS; i++) {
		path_send(&stream, path_full(&memory, 0, 2048), NULL, 0, control.consumer);
		ASLEEP_UNTIL(stream.good == i + 1);
	}
	ASLEEP_UNTIL(control.expired == 1);
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
		card();
		return check_result();
	}
	host();
	two_reap(pid);
	return check_result();
}
