/*
 * An event driven service: one epoll loop with the descriptors of two progress engines, a timer and a
 * signal; clients ask over the channel, the card copies their memory, and the answer goes back. Two
 * clients, then SIGTERM: everything is drained and taken down. It sleeps while there is nothing to do.
 *
 * clauses: core-exec Events; comch; core-memory Export
 * covers: @
 */
#define _GNU_SOURCE

#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <doca_dma.h>

#include "app_common.h"

DOCA_LOG_REGISTER(SERVICE);

#define CLIENTS 2u
#define REQUESTS 100u
#define WINDOW 32768u

struct request {
	uint32_t number, from, to, len;
};

/* What the service knows of a client. */
struct guest {
	struct doca_comch_connection *peer;
	struct doca_mmap *map;
	uint8_t *base;
};

/* A request under way. */
struct job {
	struct guest *guest;
	struct request request;
	struct doca_buf *src, *dst;
};

static struct guest guests[8];
static struct app_line line; /* the server's objects */
static struct app_core core;
static struct doca_dma *dma;
static uint32_t served, come, gone;

static void reply(struct job *job, doca_error_t status)
{
	struct doca_comch_task_send *send;
	uint32_t words[2] = {job->request.number, (uint32_t)status};

	CHECK_OK(doca_buf_dec_refcount(job->src, NULL));
	CHECK_OK(doca_buf_dec_refcount(job->dst, NULL));
	MUST(doca_comch_server_task_send_alloc_init(line.server, job->guest->peer, words, sizeof(words), &send));
	MUST(doca_task_submit(doca_comch_task_send_as_task(send)));
	free(job);
	served++;
}

static void copied(struct doca_dma_task_memcpy *task, union doca_data user, union doca_data ctx)
{
	doca_error_t status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));

	(void)ctx;
	CHECK_OK(status);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	reply((struct job *)user.ptr, status);
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *peer)
{
	struct guest *guest = (struct guest *)doca_comch_connection_get_user_data(peer).ptr;
	struct doca_dma_task_memcpy *task;
	union doca_data user;
	struct job *job;
	void *base;
	size_t size;

	(void)event;
	if (guest->map == NULL) {
		MUST(doca_mmap_create_from_export(NULL, bytes, len, core.dev, &guest->map));
		MUST(doca_mmap_get_memrange(guest->map, &base, &size));
		CHECK_U64(size, 2 * WINDOW);
		guest->base = (uint8_t *)base;
		return;
	}
	CHECK_U64(len, sizeof(struct request));
	job = (struct job *)calloc(1, sizeof(*job));
	job->guest = guest;
	memcpy(&job->request, bytes, len);
	MUST(doca_buf_inventory_buf_get_by_data(core.inv, guest->map, guest->base + job->request.from,
						job->request.len, &job->src));
	MUST(doca_buf_inventory_buf_get_by_addr(core.inv, guest->map, guest->base + job->request.to,
						job->request.len, &job->dst));
	user.ptr = job;
	MUST(doca_dma_task_memcpy_alloc_init(dma, job->src, job->dst, user, &task));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
}

static void on_connect(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *peer,
		       uint8_t ok)
{
	union doca_data user;
	uint32_t i;

	(void)event;
	if (!ok)
		return;
	for (i = 0; guests[i].peer != NULL; i++)
		;
	guests[i].peer = peer;
	user.ptr = &guests[i];
	MUST(doca_comch_connection_set_user_data(peer, user));
	come++;
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *peer, uint8_t ok)
{
	struct guest *guest = (struct guest *)doca_comch_connection_get_user_data(peer).ptr;

	(void)event;
	if (!ok)
		return;
	CHECK_OK(doca_mmap_destroy(guest->map));
	memset(guest, 0, sizeof(*guest));
	gone++;
}

static void service(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0), fd[3], stopping = 0;
	union doca_data user;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	MUST_BE(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	fd[2] = signalfd(-1, &set, SFD_NONBLOCK);
	app_core_make_on(&core, APP_CARD, doca_dma_cap_task_memcpy_is_supported, 64, 64, 64);
	MUST(doca_dma_create(core.dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, copied, copied, 32));
	app_core_start(&core, doca_dma_as_ctx(dma));

	line.dev = core.dev;
	MUST(app_open_representor(line.dev, APP_HOST, &line.rep));
	MUST(doca_pe_create(&line.pe));
	MUST(doca_comch_server_create(line.dev, line.rep, "service", &line.server));
	MUST(doca_comch_server_set_max_msg_size(line.server, APP_MESSAGE));
	MUST(doca_comch_server_task_send_set_conf(line.server, app_line_sent, app_line_failed, 128));
	MUST(doca_comch_server_event_msg_recv_register(line.server, on_message));
	MUST(doca_comch_server_event_connection_status_changed_register(line.server, on_connect, on_disconnect));
	user.ptr = &line;
	MUST(doca_ctx_set_user_data(app_line_ctx(&line), user));
	MUST(doca_ctx_set_state_changed_cb(app_line_ctx(&line), app_line_state));
	MUST(doca_pe_connect_ctx(line.pe, app_line_ctx(&line)));
	MUST(doca_ctx_start(app_line_ctx(&line)));

	MUST(doca_pe_get_notification_handle(core.pe, &fd[0]));
	MUST(doca_pe_get_notification_handle(line.pe, &fd[1]));
	for (event.data.u32 = 0; event.data.u32 < 3; event.data.u32++)
		MUST_BE(epoll_ctl(epoll, EPOLL_CTL_ADD, fd[event.data.u32], &event) == 0);
	while (line.state != DOCA_CTX_STATE_IDLE) {
		struct epoll_event got[3];
		int count, i;

		while (doca_pe_progress(core.pe) || doca_pe_progress(line.pe))
			;
		if (line.state == DOCA_CTX_STATE_IDLE)
			break;
		MUST(doca_pe_request_notification(core.pe));
		MUST(doca_pe_request_notification(line.pe));
		count = epoll_wait(epoll, got, 3, -1);
		MUST(doca_pe_clear_notification(core.pe, fd[0]));
		MUST(doca_pe_clear_notification(line.pe, fd[1]));
		for (i = 0; i < count; i++) {
			if (got[i].data.u32 != 2)
				continue;
			{
				struct signalfd_siginfo info;

				MUST_BE(read(fd[2], &info, sizeof(info)) == sizeof(info));
				CHECK_U64(info.ssi_signo, SIGTERM);
			}
			DOCA_LOG_INFO("asked to stop");
			stopping = 1;
			CHECK_STATUS2(doca_ctx_stop(app_line_ctx(&line)), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
		}
	}
	CHECK(stopping);
	CHECK_U64(served, CLIENTS * REQUESTS);
	CHECK_U64(come, CLIENTS);
	CHECK_U64(gone, CLIENTS);
	CHECK_OK(doca_comch_server_destroy(line.server));
	CHECK_OK(doca_pe_destroy(line.pe));
	CHECK_OK(doca_dev_rep_close(line.rep));
	app_core_stop(&core);
	CHECK_OK(doca_dma_destroy(dma));
	app_core_free(&core);
	close(epoll), close(fd[2]);
}

static void client(uint32_t seed)
{
	static struct app_line own;
	uint8_t *bytes = (uint8_t *)malloc(2 * WINDOW);
	uint32_t sent = 0, answers = 0, words[2], len;
	struct doca_mmap *map;
	const void *desc;
	size_t desc_len;

	app_line_reach(&own, "service");
	map = app_map(own.dev, bytes, 2 * WINDOW, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	app_text(bytes, WINDOW, seed);
	memset(bytes + WINDOW, 0, WINDOW);
	MUST(doca_mmap_export_pci(map, own.dev, &desc, &desc_len));
	app_send(&own, desc, desc_len);
	while (answers < REQUESTS) {
		while (sent < REQUESTS && sent < answers + 8) {
			struct request request = {sent, sent * 256, WINDOW + sent * 256, 256};

			app_send(&own, &request, sizeof(request));
			sent++;
		}
		memcpy(words, app_receive(&own, &len), sizeof(words));
		CHECK_U64(words[0], answers);
		CHECK_STATUS((doca_error_t)words[1], DOCA_SUCCESS);
		answers++;
	}
	CHECK_BYTES(bytes + WINDOW, bytes, REQUESTS * 256);
	CHECK_OK(doca_mmap_destroy(map));
	app_line_close(&own);
	free(bytes);
}

int main(void)
{
	pid_t child[CLIENTS + 1];
	uint32_t i;
	int status;

	for (i = 0; i <= CLIENTS; i++) {
		child[i] = fork();
		MUST_BE(child[i] >= 0);
		if (child[i] == 0) {
			alarm(57);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (i == 0)
				service();
			else
				client(i);
			return check_result();
		}
	}
	for (i = 1; i <= CLIENTS; i++) {
		MUST_BE(waitpid(child[i], &status, 0) == child[i]);
		CHECK_U64(status, 0);
	}
	/* A moment in which it sleeps. */
	{
		struct timespec time = {0, 100 * 1000 * 1000};

		nanosleep(&time, NULL);
	}
	kill(child[0], SIGTERM);
	MUST_BE(waitpid(child[0], &status, 0) == child[0]);
	CHECK_U64(status, 0);
	return check_result();
}
