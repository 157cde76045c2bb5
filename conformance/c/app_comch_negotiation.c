/*
 * A protocol on the control channel: versions are compared first, a second client is turned away while
 * one is served, a client that is killed is noticed, the server takes the next one, is started anew
 * under the same name, and the client that lost it finds it again.
 *
 * clauses: comch Server life, Client life
 * covers: @
 */
#define _GNU_SOURCE

#include "app_common.h"

#define VERSION 3u

struct hello {
	char magic[8];
	uint32_t version, features;
};

static struct app_line line;
static struct doca_comch_connection *served;
static uint32_t come, refused, gone;

static void mark(const char *name)
{
	FILE *file = fopen(name, "wb");

	MUST_BE(file != NULL && fclose(file) == 0);
}

static int step(const char *name)
{
	return access(name, R_OK) == 0;
}

static void on_connect(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *peer,
		       uint8_t ok)
{
	(void)event;
	if (!ok)
		return;
	if (served != NULL) {
		CHECK_OK(doca_comch_server_disconnect(doca_comch_server_get_server_ctx(peer), peer));
		refused++;
		return;
	}
	served = peer;
	come++;
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *peer, uint8_t ok)
{
	(void)event;
	if (ok && peer == served) {
		served = NULL;
		/* That a guest has left may be told after the next one has come: the host waits for this. */
		mark(++gone == 1 ? "free1" : "free2");
	}
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *peer)
{
	struct doca_comch_task_send *task;
	struct hello hello;

	(void)event;
	CHECK_PTR(peer, served);
	CHECK_U64(len, sizeof(hello));
	bytes[len] = 0; /* there is room for that */
	memcpy(&hello, bytes, sizeof(hello));
	CHECK_TEXT(hello.magic, "HELLO");
	hello.version = hello.version < VERSION ? hello.version : VERSION;
	hello.features &= 0x5;
	strcpy(hello.magic, "WELCOME");
	MUST(doca_comch_server_task_send_alloc_init(line.server, peer, &hello, sizeof(hello), &task));
	MUST(doca_task_submit(doca_comch_task_send_as_task(task)));
}

static void open_shop(void)
{
	union doca_data user;

	memset(&line, 0, sizeof(line));
	MUST(app_open_device(APP_CARD, doca_comch_cap_server_is_supported, &line.dev));
	MUST(app_open_representor(line.dev, APP_HOST, &line.rep));
	MUST(doca_pe_create(&line.pe));
	MUST(doca_comch_server_create(line.dev, line.rep, "negotiation", &line.server));
	MUST(doca_comch_server_set_max_msg_size(line.server, 512));
	MUST(doca_comch_server_task_send_set_conf(line.server, app_line_sent, app_line_failed, 8));
	MUST(doca_comch_server_event_msg_recv_register(line.server, on_message));
	MUST(doca_comch_server_event_connection_status_changed_register(line.server, on_connect, on_disconnect));
	user.ptr = &line;
	MUST(doca_ctx_set_user_data(app_line_ctx(&line), user));
	MUST(doca_ctx_set_state_changed_cb(app_line_ctx(&line), app_line_state));
	MUST(doca_pe_connect_ctx(line.pe, app_line_ctx(&line)));
	MUST(doca_ctx_start(app_line_ctx(&line)));
}

static void close_shop(void)
{
	doca_error_t result = doca_ctx_stop(app_line_ctx(&line));

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	while (line.state != DOCA_CTX_STATE_IDLE)
		app_line_turn(&line);
	served = NULL;
	CHECK_OK(doca_comch_server_destroy(line.server));
	CHECK_OK(doca_pe_destroy(line.pe));
	CHECK_OK(doca_dev_rep_close(line.rep));
	CHECK_OK(doca_dev_close(line.dev));
}

static void card(void)
{
	open_shop();
	/* Two at once, one killed, one after it. */
	while (gone < 2 || refused == 0)
		app_line_turn(&line);
	CHECK_U64(come, 2);
	/* The third is served while the shop closes. */
	while (!step("close"))
		app_line_turn(&line);
	CHECK(served != NULL);
	close_shop();
	open_shop();
	while (gone < 3)
		app_line_turn(&line);
	CHECK_U64(come, 4);
	close_shop();
}

/* One attempt; the state it ends in. */
static enum doca_ctx_states try_to_reach(struct app_line *own)
{
	union doca_data user;

	MUST(doca_comch_client_create(own->dev, "negotiation", &own->client));
	MUST(doca_comch_client_set_max_msg_size(own->client, 512));
	MUST(doca_comch_client_task_send_set_conf(own->client, app_line_sent, app_line_failed, 8));
	MUST(doca_comch_client_event_msg_recv_register(own->client, app_line_message));
	user.ptr = own;
	MUST(doca_ctx_set_user_data(app_line_ctx(own), user));
	MUST(doca_ctx_set_state_changed_cb(app_line_ctx(own), app_line_state));
	MUST(doca_pe_connect_ctx(own->pe, app_line_ctx(own)));
	CHECK_STATUS(doca_ctx_start(app_line_ctx(own)), DOCA_ERROR_IN_PROGRESS);
	own->state = DOCA_CTX_STATE_STARTING;
	while (own->state == DOCA_CTX_STATE_STARTING)
		app_line_turn(own);
	if (own->state == DOCA_CTX_STATE_RUNNING)
		MUST(doca_comch_client_get_connection(own->client, &own->peer));
	return own->state;
}

static void reach(struct app_line *own)
{
	while (try_to_reach(own) != DOCA_CTX_STATE_RUNNING) {
		MUST(doca_comch_client_destroy(own->client));
		app_nap();
	}
}

static void prepare(struct app_line *own)
{
	memset(own, 0, sizeof(*own));
	MUST(app_open_device(APP_HOST, doca_comch_cap_client_is_supported, &own->dev));
	MUST(doca_pe_create(&own->pe));
}

static void agree(struct app_line *own, uint32_t version, uint32_t want)
{
	struct hello hello = {"HELLO", version, 0x7};

	app_send(own, &hello, sizeof(hello));
	memcpy(&hello, app_receive(own, NULL), sizeof(hello));
	CHECK_TEXT(hello.magic, "WELCOME");
	CHECK_U64(hello.version, want);
	CHECK_U64(hello.features, 0x5);
}

static pid_t in_child(void (*run)(void))
{
	pid_t child;

	fflush(NULL);
	child = fork();
	MUST_BE(child >= 0);
	if (child == 0) {
		alarm(56);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
		exit(check_result());
	}
	return child;
}

/* Is served, and then killed. */
static void first_client(void)
{
	static struct app_line own;

	prepare(&own);
	reach(&own);
	agree(&own, 9, VERSION);
	mark("served");
	for (;;)
		app_line_turn(&own);
}

/* Comes while the first is served: it is let in for a moment at most, and sent away. */
static void second_client(void)
{
	static struct app_line own;

	while (!step("served"))
		app_nap();
	prepare(&own);
	if (try_to_reach(&own) == DOCA_CTX_STATE_RUNNING)
		while (own.state != DOCA_CTX_STATE_IDLE)
			app_line_turn(&own);
	MUST(doca_comch_client_destroy(own.client));
	CHECK_OK(doca_pe_destroy(own.pe));
	CHECK_OK(doca_dev_close(own.dev));
	mark("refused");
}

static void host(void)
{
	static struct app_line own;
	pid_t first = in_child(first_client), second = in_child(second_client);
	int status;

	while (!step("refused"))
		app_nap();
	MUST_BE(waitpid(second, &status, 0) == second);
	CHECK_U64(status, 0);
	kill(first, SIGKILL);
	MUST_BE(waitpid(first, &status, 0) == first);
	while (!step("free1"))
		app_nap();
	prepare(&own);
	reach(&own);
	agree(&own, 2, 2);
	CHECK_STATUS2(doca_ctx_stop(app_line_ctx(&own)), DOCA_ERROR_IN_PROGRESS, DOCA_SUCCESS);
	while (own.state != DOCA_CTX_STATE_IDLE)
		app_line_turn(&own);
	MUST(doca_comch_client_destroy(own.client));
	while (!step("free2"))
		app_nap();
	/* The third visit outlives the shop. */
	reach(&own);
	agree(&own, VERSION, VERSION);
	mark("close");
	while (own.state != DOCA_CTX_STATE_IDLE)
		app_line_turn(&own);
	MUST(doca_comch_client_destroy(own.client));
	reach(&own);
	agree(&own, VERSION, VERSION);
	app_line_close(&own);
}

int main(void)
{
	return app_two_roles(card, host);
}
