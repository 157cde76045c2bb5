/* The channel: a card process serves a name, a host process finds it; a message there, a message back. */
#include "tutorial.h"

#include <doca_comch.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "manual"

/* One end. Both have one connection in this program. */
struct end {
	struct doca_pe *pe;
	struct doca_comch_connection *peer;
	int sent, over;
	char message[64];
};

/* Where a connection's end is found: in the user data of its context. */
static struct end *end_of(struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	union doca_data user;

	MUST(doca_ctx_get_user_data(server != NULL ? doca_comch_server_as_ctx(server) :
						     doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection)),
				    &user));
	return user.ptr;
}

static void sent(struct doca_comch_task_send *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	MUST(doca_task_get_status(doca_comch_task_send_as_task(task)));
	((struct end *)ctx.ptr)->sent++;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void received(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t length,
		     struct doca_comch_connection *from)
{
	struct end *end = end_of(from);

	(void)event;
	end->peer = from;
	snprintf(end->message, sizeof(end->message), "%.*s", (int)length, (char *)bytes);
}

static void come(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *who, uint8_t good)
{
	(void)event, (void)who, (void)good;
}

static void gone(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *who, uint8_t good)
{
	(void)event, (void)good;
	end_of(who)->over = 1;
}

/* Progresses until something is true. */
#define UNTIL(end, condition)                              \
	while (!(condition))                               \
		if (doca_pe_progress((end)->pe) == 0)      \
			usleep(100)

static void stop_and_wait(struct end *end, struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;

	(void)doca_ctx_stop(ctx);
	UNTIL(end, doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS && state == DOCA_CTX_STATE_IDLE);
}

/* A function of the card, or of the host, by its address. */
static struct doca_dev *open_function(const char *address)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count, i;
	uint8_t equal;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++)
		if (doca_devinfo_is_equal_pci_addr(list[i], address, &equal) == DOCA_SUCCESS && equal)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_destroy_list(list));
	return dev;
}

static void card(void)
{
	struct doca_dev *dev = open_function("03:00.0");
	struct doca_comch_task_send *task;
	struct doca_comch_server *server;
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *host;
	struct end end = {0};
	union doca_data user = {.ptr = &end};
	uint32_t count;

	/* Whose programs may come: the host function that this representor stands for. */
	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
	MUST(doca_dev_rep_open(list[0], &host));
	MUST(doca_devinfo_rep_destroy_list(list));

	MUST(doca_pe_create(&end.pe));
	MUST(doca_comch_server_create(dev, host, NAME, &server));
	MUST(doca_comch_server_task_send_set_conf(server, sent, sent, 4));
	MUST(doca_comch_server_event_msg_recv_register(server, received));
	MUST(doca_comch_server_event_connection_status_changed_register(server, come, gone));
	MUST(doca_ctx_set_user_data(doca_comch_server_as_ctx(server), user));
	MUST(doca_pe_connect_ctx(end.pe, doca_comch_server_as_ctx(server)));
	MUST(doca_ctx_start(doca_comch_server_as_ctx(server)));

	UNTIL(&end, end.message[0] != 0);
	MUST(doca_comch_server_task_send_alloc_init(server, end.peer, "yes, come in", 12, &task));
	MUST(doca_task_submit(doca_comch_task_send_as_task(task)));
	UNTIL(&end, end.sent == 1 && end.over);
	printf("the card heard: %s\n", end.message);

	stop_and_wait(&end, doca_comch_server_as_ctx(server));
	MUST(doca_comch_server_destroy(server));
	MUST(doca_pe_destroy(end.pe));
	MUST(doca_dev_rep_close(host));
	MUST(doca_dev_close(dev));
}

static void host(void)
{
	struct doca_dev *dev = open_function("b1:00.0");
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;
	struct doca_comch_client *client = NULL;
	struct doca_comch_task_send *task;
	struct end end = {0};
	union doca_data user = {.ptr = &end};

	MUST(doca_pe_create(&end.pe));
	/* The server may not be there yet: then the client goes back to idle, and tries again. */
	while (state != DOCA_CTX_STATE_RUNNING) {
		if (client != NULL)
			MUST(doca_comch_client_destroy(client));
		MUST(doca_comch_client_create(dev, NAME, &client));
		MUST(doca_comch_client_task_send_set_conf(client, sent, sent, 4));
		MUST(doca_comch_client_event_msg_recv_register(client, received));
		MUST(doca_ctx_set_user_data(doca_comch_client_as_ctx(client), user));
		MUST(doca_pe_connect_ctx(end.pe, doca_comch_client_as_ctx(client)));
		(void)doca_ctx_start(doca_comch_client_as_ctx(client));
		UNTIL(&end, doca_ctx_get_state(doca_comch_client_as_ctx(client), &state) == DOCA_SUCCESS &&
				    state != DOCA_CTX_STATE_STARTING);
	}
	MUST(doca_comch_client_get_connection(client, &end.peer));
	MUST(doca_comch_client_task_send_alloc_init(client, end.peer, "is anybody there?", 17, &task));
	MUST(doca_task_submit(doca_comch_task_send_as_task(task)));
	UNTIL(&end, end.sent == 1 && end.message[0] != 0);
	printf("the host heard: %s\n", end.message);
	fflush(stdout);

	stop_and_wait(&end, doca_comch_client_as_ctx(client));
	MUST(doca_comch_client_destroy(client));
	MUST(doca_pe_destroy(end.pe));
	MUST(doca_dev_close(dev));
}

int main(void)
{
	int status = 1;
	pid_t child = fork(); /* before the first call into the library */

	if (child == 0) {
		host();
		return 0;
	}
	card();
	waitpid(child, &status, 0);
	return status;
}
