/*
 * What the applications share, as programs for real cards have it in their common folder: looking
 * for devices by address and by capability, a set of core objects, one role per process, a small
 * control channel with a state machine.
 *
 * Two roles are two processes, made before the first call into the library. A program that includes
 * this defines _GNU_SOURCE first.
 */
#ifndef CONFORMANCE_APP_COMMON_H
#define CONFORMANCE_APP_COMMON_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include <doca_argp.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_types.h>

#include "check.h"

#define APP_CARD "03:00.0"
#define APP_HOST "b1:00.0"

typedef doca_error_t (*app_capable)(const struct doca_devinfo *devinfo);

static inline void app_nap(void)
{
	struct timespec time = {0, 10 * 1000};

	nanosleep(&time, NULL);
}

/* Logs of the application and, warnings only, of the library. */
static inline void app_log(void)
{
	struct doca_log_backend *sdk;

	MUST(doca_log_backend_create_standard());
	MUST(doca_log_backend_create_with_file_sdk(stderr, &sdk));
	MUST(doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_WARNING));
}

/* By address (NULL: any) and capability (NULL: any). */
static inline doca_error_t app_open_device(const char *pci, app_capable capable, struct doca_dev **dev)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t count, i;
	uint8_t equal;

	*dev = NULL;
	result = doca_devinfo_create_list(&list, &count);
	if (result != DOCA_SUCCESS)
		return result;
	result = DOCA_ERROR_NOT_FOUND;
	for (i = 0; i < count; i++) {
		if (pci != NULL &&
		    (doca_devinfo_is_equal_pci_addr(list[i], pci, &equal) != DOCA_SUCCESS || equal == 0))
			continue;
		if (capable != NULL && capable(list[i]) != DOCA_SUCCESS)
			continue;
		result = doca_dev_open(list[i], dev);
		if (result == DOCA_SUCCESS)
			break;
	}
	CHECK_OK(doca_devinfo_destroy_list(list));
	return result;
}

static inline doca_error_t app_open_representor(struct doca_dev *dev, const char *pci, struct doca_dev_rep **rep)
{
	struct doca_devinfo_rep **list;
	doca_error_t result;
	uint32_t count, i;
	uint8_t equal;

	*rep = NULL;
	result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count);
	if (result != DOCA_SUCCESS)
		return result;
	result = DOCA_ERROR_NOT_FOUND;
	for (i = 0; i < count && result != DOCA_SUCCESS; i++)
		if (doca_devinfo_rep_is_equal_pci_addr(list[i], pci, &equal) == DOCA_SUCCESS && equal)
			result = doca_dev_rep_open(list[i], rep);
	CHECK_OK(doca_devinfo_rep_destroy_list(list));
	return result;
}

/* What every engine program has besides its context. */
struct app_core {
	struct doca_dev *dev;
	struct doca_mmap *src_map, *dst_map;
	struct doca_buf_inventory *inv;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	uint8_t *src, *dst;
	size_t src_len, dst_len;
	/* of the completion callbacks */
	uint32_t done, failed;
	doca_error_t status;
	enum doca_ctx_states state;
};

static inline struct doca_mmap *app_map(struct doca_dev *dev, void *addr, size_t len, uint32_t access)
{
	struct doca_mmap *map;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_permissions(map, access));
	MUST(doca_mmap_set_memrange(map, addr, len));
	MUST(doca_mmap_start(map));
	return map;
}

static inline void app_state_cb(const union doca_data user, struct doca_ctx *ctx, enum doca_ctx_states prev,
				enum doca_ctx_states next)
{
	struct app_core *core = (struct app_core *)user.ptr;

	(void)ctx;
	CHECK_U64(prev, core->state);
	core->state = next;
}

static inline void app_core_make_on(struct app_core *core, const char *pci, app_capable capable, size_t src_len,
				    size_t dst_len, size_t bufs)
{
	memset(core, 0, sizeof(*core));
	core->state = DOCA_CTX_STATE_IDLE;
	MUST(app_open_device(pci, capable, &core->dev));
	MUST(doca_pe_create(&core->pe));
	core->src_len = src_len;
	core->dst_len = dst_len;
	core->src = (uint8_t *)malloc(src_len);
	core->dst = (uint8_t *)calloc(1, dst_len);
	MUST_BE(core->src != NULL && core->dst != NULL);
	core->src_map = app_map(core->dev, core->src, src_len, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	core->dst_map = app_map(core->dev, core->dst, dst_len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create(bufs, &core->inv));
	MUST(doca_buf_inventory_start(core->inv));
}

static inline void app_core_make(struct app_core *core, app_capable capable, size_t src_len, size_t dst_len,
				 size_t bufs)
{
	app_core_make_on(core, NULL, capable, src_len, dst_len, bufs);
}

/* The context is configured: connect and start it. */
static inline void app_core_start(struct app_core *core, struct doca_ctx *ctx)
{
	union doca_data user;

	core->ctx = ctx;
	user.ptr = core;
	MUST(doca_ctx_set_user_data(ctx, user));
	MUST(doca_ctx_set_state_changed_cb(ctx, app_state_cb));
	MUST(doca_pe_connect_ctx(core->pe, ctx));
	MUST(doca_ctx_start(ctx));
	CHECK_U64(core->state, DOCA_CTX_STATE_RUNNING);
}

static inline void app_wait(struct app_core *core, uint32_t tasks)
{
	while (core->done + core->failed < tasks)
		if (doca_pe_progress(core->pe) == 0)
			app_nap();
}

static inline void app_core_stop(struct app_core *core)
{
	doca_error_t result = doca_ctx_stop(core->ctx);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	while (core->state != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(core->pe);
}

/* The context was destroyed by the program. */
static inline void app_core_free(struct app_core *core)
{
	CHECK_OK(doca_pe_destroy(core->pe));
	CHECK_OK(doca_buf_inventory_destroy(core->inv));
	CHECK_OK(doca_mmap_destroy(core->src_map));
	CHECK_OK(doca_mmap_destroy(core->dst_map));
	CHECK_OK(doca_dev_close(core->dev));
	free(core->src);
	free(core->dst);
}

static inline struct doca_buf *app_data(struct app_core *core, size_t at, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_data(core->inv, core->src_map, core->src + at, len, &buf));
	return buf;
}

static inline struct doca_buf *app_room(struct app_core *core, size_t at, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_addr(core->inv, core->dst_map, core->dst + at, len, &buf));
	return buf;
}

static inline size_t app_length(struct doca_buf *buf)
{
	size_t len = 0, more;

	while (buf != NULL) {
		MUST(doca_buf_get_data_len(buf, &more));
		len += more;
		MUST(doca_buf_get_next_in_list(buf, &buf));
	}
	return len;
}

/* The callbacks of a task kind: count, remember, free. */
#define APP_CALLBACKS(type_, as_task_) \
	static void app_##type_##_done(struct type_ *task, union doca_data user, union doca_data ctx) \
	{ \
		(void)user; \
		((struct app_core *)ctx.ptr)->status = doca_task_get_status(as_task_(task)); \
		CHECK_OK(((struct app_core *)ctx.ptr)->status); \
		doca_task_free(as_task_(task)); \
		((struct app_core *)ctx.ptr)->done++; \
	} \
	static void app_##type_##_failed(struct type_ *task, union doca_data user, union doca_data ctx) \
	{ \
		(void)user; \
		((struct app_core *)ctx.ptr)->status = doca_task_get_status(as_task_(task)); \
		doca_task_free(as_task_(task)); \
		((struct app_core *)ctx.ptr)->failed++; \
	}

/* Bytes that compress a little, like a text. */
static inline void app_text(uint8_t *bytes, size_t len, uint32_t seed)
{
	static const char *const words[] = {"packet ", "buffer ", "of ", "the ", "card ", "host ", "is ", "done\n"};
	size_t at = 0;

	while (at < len) {
		const char *word;

		seed = seed * 1664525 + 1013904223;
		for (word = words[seed >> 29]; *word != 0 && at < len; word++)
			bytes[at++] = (uint8_t)*word;
	}
}

/* ---- two processes ---- */

/* Runs `card` in a child and `host` here. */
static inline int app_two_roles(void (*card)(void), void (*host)(void))
{
	pid_t child;
	int status = -1;

	fflush(NULL);
	child = fork();
	MUST_BE(child >= 0);
	if (child == 0) {
		alarm(58);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		card();
		exit(check_result());
	}
	host();
	MUST_BE(waitpid(child, &status, 0) == child);
	if (status != 0)
		check_fail(__FILE__, __LINE__, "the card's role ended with wait status 0x%x", (unsigned)status);
	return check_result();
}

/* ---- control channel ---- */

#define APP_MESSAGE 4080
#define APP_MESSAGES 64

/* One end: messages that came are kept until the program takes them. */
struct app_line {
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_comch_connection *peer;
	enum doca_ctx_states state;
	uint32_t sent, gone, consumer;
	uint32_t first, last; /* messages taken, messages that came */
	uint32_t len[APP_MESSAGES];
	uint8_t message[APP_MESSAGES][APP_MESSAGE];
};

static inline struct app_line *app_line_of(struct doca_comch_connection *peer)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(peer);
	union doca_data user;

	MUST(doca_ctx_get_user_data(server != NULL ?
					    doca_comch_server_as_ctx(server) :
					    doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(peer)),
				    &user));
	return (struct app_line *)user.ptr;
}

static inline void app_line_sent(struct doca_comch_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	((struct app_line *)ctx.ptr)->sent++;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static inline void app_line_failed(struct doca_comch_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user, (void)ctx;
	check_fail(__FILE__, __LINE__, "a message failed: %s",
		   doca_error_get_name(doca_task_get_status(doca_comch_task_send_as_task(task))));
	doca_task_free(doca_comch_task_send_as_task(task));
}

static inline void app_line_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
				    struct doca_comch_connection *peer)
{
	struct app_line *line = app_line_of(peer);

	(void)event;
	MUST_BE(len <= APP_MESSAGE && line->last - line->first < APP_MESSAGES);
	memcpy(line->message[line->last % APP_MESSAGES], bytes, len);
	line->len[line->last % APP_MESSAGES] = len;
	line->last++;
}

static inline void app_line_come(struct doca_comch_event_connection_status_changed *event,
				 struct doca_comch_connection *peer, uint8_t good)
{
	(void)event;
	if (good)
		app_line_of(peer)->peer = peer;
}

static inline void app_line_go(struct doca_comch_event_connection_status_changed *event,
			       struct doca_comch_connection *peer, uint8_t good)
{
	(void)event;
	if (good) {
		app_line_of(peer)->peer = NULL;
		app_line_of(peer)->gone++;
	}
}

static inline void app_line_born(struct doca_comch_event_consumer *event, struct doca_comch_connection *peer,
				 uint32_t id)
{
	(void)event;
	app_line_of(peer)->consumer = id;
}

static inline void app_line_died(struct doca_comch_event_consumer *event, struct doca_comch_connection *peer,
				 uint32_t id)
{
	(void)event;
	if (app_line_of(peer)->consumer == id)
		app_line_of(peer)->consumer = 0;
}

static inline void app_line_state(const union doca_data user, struct doca_ctx *ctx, enum doca_ctx_states prev,
				  enum doca_ctx_states next)
{
	(void)ctx, (void)prev;
	((struct app_line *)user.ptr)->state = next;
}

static inline struct doca_ctx *app_line_ctx(struct app_line *line)
{
	return line->server != NULL ? doca_comch_server_as_ctx(line->server) :
				      doca_comch_client_as_ctx(line->client);
}

static inline void app_line_turn(struct app_line *line)
{
	if (doca_pe_progress(line->pe) == 0)
		app_nap();
}

/* The card's end: returns when a client has come. */
static inline void app_line_serve(struct app_line *line, const char *name)
{
	union doca_data user;
	uint32_t size = 0;

	memset(line, 0, sizeof(*line));
	MUST(app_open_device(APP_CARD, doca_comch_cap_server_is_supported, &line->dev));
	MUST(app_open_representor(line->dev, APP_HOST, &line->rep));
	MUST(doca_comch_cap_get_max_msg_size(doca_dev_as_devinfo(line->dev), &size));
	MUST_BE(size >= APP_MESSAGE);
	MUST(doca_pe_create(&line->pe));
	MUST(doca_comch_server_create(line->dev, line->rep, name, &line->server));
	MUST(doca_comch_server_set_max_msg_size(line->server, APP_MESSAGE));
	MUST(doca_comch_server_set_recv_queue_size(line->server, 16));
	MUST(doca_comch_server_task_send_set_conf(line->server, app_line_sent, app_line_failed, 32));
	MUST(doca_comch_server_event_msg_recv_register(line->server, app_line_message));
	MUST(doca_comch_server_event_connection_status_changed_register(line->server, app_line_come, app_line_go));
	MUST(doca_comch_server_event_consumer_register(line->server, app_line_born, app_line_died));
	user.ptr = line;
	MUST(doca_ctx_set_user_data(app_line_ctx(line), user));
	MUST(doca_ctx_set_state_changed_cb(app_line_ctx(line), app_line_state));
	MUST(doca_pe_connect_ctx(line->pe, app_line_ctx(line)));
	MUST(doca_ctx_start(app_line_ctx(line)));
	while (line->peer == NULL)
		app_line_turn(line);
}

/* The host's end; the server may not be there yet, so that it is tried for a while. */
static inline void app_line_reach(struct app_line *line, const char *name)
{
	union doca_data user;
	int tries;

	memset(line, 0, sizeof(*line));
	MUST(app_open_device(APP_HOST, doca_comch_cap_client_is_supported, &line->dev));
	MUST(doca_pe_create(&line->pe));
	for (tries = 0; tries < 2000; tries++) {
		MUST(doca_comch_client_create(line->dev, name, &line->client));
		MUST(doca_comch_client_set_max_msg_size(line->client, APP_MESSAGE));
		MUST(doca_comch_client_set_recv_queue_size(line->client, 16));
		MUST(doca_comch_client_task_send_set_conf(line->client, app_line_sent, app_line_failed, 32));
		MUST(doca_comch_client_event_msg_recv_register(line->client, app_line_message));
		MUST(doca_comch_client_event_consumer_register(line->client, app_line_born, app_line_died));
		user.ptr = line;
		MUST(doca_ctx_set_user_data(app_line_ctx(line), user));
		MUST(doca_ctx_set_state_changed_cb(app_line_ctx(line), app_line_state));
		MUST(doca_pe_connect_ctx(line->pe, app_line_ctx(line)));
		CHECK_STATUS(doca_ctx_start(app_line_ctx(line)), DOCA_ERROR_IN_PROGRESS);
		while (line->state == DOCA_CTX_STATE_STARTING)
			app_line_turn(line);
		if (line->state == DOCA_CTX_STATE_RUNNING)
			break;
		MUST(doca_comch_client_destroy(line->client));
		line->client = NULL;
		app_nap();
	}
	MUST_BE(line->client != NULL);
	MUST(doca_comch_client_get_connection(line->client, &line->peer));
}

static inline void app_send(struct app_line *line, const void *bytes, size_t len)
{
	struct doca_comch_task_send *task;
	doca_error_t result;

	do {
		result = line->server != NULL ? doca_comch_server_task_send_alloc_init(line->server, line->peer, bytes,
										       (uint32_t)len, &task) :
						doca_comch_client_task_send_alloc_init(line->client, line->peer, bytes,
										       (uint32_t)len, &task);
		if (result == DOCA_ERROR_NO_MEMORY)
			app_line_turn(line);
	} while (result == DOCA_ERROR_NO_MEMORY);
	MUST(result);
	while ((result = doca_task_submit(doca_comch_task_send_as_task(task))) == DOCA_ERROR_AGAIN)
		app_line_turn(line);
	MUST(result);
}

/* The next message; its bytes stay until 63 others have come. */
static inline uint8_t *app_receive(struct app_line *line, uint32_t *len)
{
	uint8_t *bytes;

	while (line->first == line->last) {
		MUST_BE(line->peer != NULL);
		app_line_turn(line);
	}
	bytes = line->message[line->first % APP_MESSAGES];
	if (len != NULL)
		*len = line->len[line->first % APP_MESSAGES];
	line->first++;
	return bytes;
}

/* The client leaves first; the server waits for that. */
static inline void app_line_close(struct app_line *line)
{
	doca_error_t result;

	while (line->server != NULL && line->peer != NULL)
		app_line_turn(line);
	result = doca_ctx_stop(app_line_ctx(line));
	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	while (line->state != DOCA_CTX_STATE_IDLE)
		app_line_turn(line);
	if (line->server != NULL)
		CHECK_OK(doca_comch_server_destroy(line->server));
	else
		CHECK_OK(doca_comch_client_destroy(line->client));
	CHECK_OK(doca_pe_destroy(line->pe));
	if (line->rep != NULL)
		CHECK_OK(doca_dev_rep_close(line->rep));
	CHECK_OK(doca_dev_close(line->dev));
}

#endif
