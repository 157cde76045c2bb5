/*
 * Programs that start others while they are connected: a child that only exits, one whose calls into the
 * library are refused with BAD_STATE, one that becomes another program by exec and outlives its parent. None
 * of them keeps the connection open or closes it: the peer goes on talking, and sees the end when the parent
 * itself dies.
 *
 * clauses: core-exec 8 (processes); comch Server life (process is killed)
 * covers: @
 */
#define _GNU_SOURCE
#include <doca_clock.h>
#include <doca_graph.h>

#include "x_comch.h"
#include "x_sync.h"

static void child_calls(const struct comch_end *end)
{
	struct doca_comch_client *client = NULL;
	struct doca_sync_event *event = NULL;
	struct doca_graph *graph = NULL;
	struct doca_clock *clock = NULL;
	struct doca_pe *pe = NULL;

	check_failures = 0;
	CHECK_STATUS(doca_pe_create(&pe), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_comch_client_create(end->dev, "x", &client), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_sync_event_create(&event), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_graph_create(end->pe, &graph), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_clock_create(end->dev, &clock), DOCA_ERROR_BAD_STATE);
	_exit(check_failures == 0 ? 0 : 1);
}

/* The number of descriptors another program starts with. */
static int files_after_exec(void)
{
	int status = system("exit $(ls /proc/self/fd | wc -l)");

	MUST_BE(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void host(int line)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;
	int files = files_after_exec(), i;
	char text[16];
	pid_t pid;

	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, "spawns", 4);
	comch_run(&end);
	for (i = 0; i < 3; i++) {
		fflush(NULL);
		pid = fork();
		MUST_BE(pid >= 0);
		if (pid == 0 && i == 0)
			_exit(0);
		if (pid == 0 && i == 1)
			child_calls(&end);
		if (pid == 0)
			_exit(files_after_exec() == files ? 0 : 1); /* none of the library's is among them */
		two_reap(pid);
		snprintf(text, sizeof(text), "spawned %d", i);
		comch_send(&end, end.peer, text, (uint32_t)strlen(text) + 1);
		COMCH_UNTIL(pe, end.messages == (unsigned)i + 1);
		CHECK_TEXT((const char *)end.last, text);
	}
	/* A long-lived one, which does not die with its parent. */
	pid = fork();
	MUST_BE(pid >= 0);
	if (pid == 0) {
		close(line);
		execl("/bin/sleep", "sleep", "20", (char *)NULL);
		_exit(126);
	}
	two_send(line, &pid, sizeof(pid));
	for (;;)
		comch_progress(pe);
}

static void echo(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	comch_send(end, peer, bytes, len);
}

int main(void)
{
	struct comch_end server = {.on_message = echo};
	struct doca_pe *pe = NULL;
	pid_t grandchild = 0;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		host(line);
		exit(check_result());
	}
	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "spawns", 4);
	comch_run(&server);
	two_tell(line, 'l');
	while (!two_ready(line))
		comch_progress(pe);
	two_recv(line, &grandchild, sizeof(grandchild));
	CHECK_U64(server.messages, 3);
	CHECK_U64(server.disconnects, 0);
	two_sleep_ms(50);
	two_kill(pid);
	COMCH_UNTIL(pe, server.disconnects == 1);
	kill(grandchild, SIGKILL);
	comch_stop(&server);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
	return check_result();
}
