/*
 * What server, client and their tasks refuse, each with its code: NULL, zero, above the capability, in the
 * wrong state, on a connection of somebody else; and what they must accept.
 *
 * clauses: comch Capabilities, Server, Client
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define INVALID DOCA_ERROR_INVALID_VALUE

static void capabilities(const struct doca_devinfo *info)
{
	uint32_t value = 0;

	CHECK_OK(doca_comch_cap_get_max_name_len(info, &value));
	CHECK(value >= 16);
	CHECK_OK(doca_comch_cap_get_max_msg_size(info, &value));
	CHECK(value >= 4080);
	CHECK_OK(doca_comch_cap_get_max_recv_queue_size(info, &value));
	CHECK(value >= 16);
	CHECK_OK(doca_comch_cap_get_max_clients(info, &value));
	CHECK(value >= 2);
	CHECK_OK(doca_comch_cap_get_max_send_tasks(info, &value));
	CHECK(value >= 1024);
	CHECK_STATUS(doca_comch_cap_server_is_supported(NULL), INVALID);
	CHECK_STATUS(doca_comch_cap_client_is_supported(NULL), INVALID);
	CHECK_STATUS(doca_comch_cap_get_max_name_len(info, NULL), INVALID);
	CHECK_STATUS(doca_comch_cap_get_max_msg_size(NULL, &value), INVALID);
	CHECK_STATUS(doca_comch_cap_get_max_recv_queue_size(NULL, &value), INVALID);
	CHECK_STATUS(doca_comch_cap_get_max_clients(info, NULL), INVALID);
	CHECK_STATUS(doca_comch_cap_get_max_send_tasks(NULL, &value), INVALID);
}

static void creation(struct doca_dev *card, struct doca_dev_rep *rep, struct doca_dev *host)
{
	struct doca_comch_server *server = NULL;
	struct doca_comch_client *client = NULL;
	uint32_t longest = 0;
	char name[4096];

	MUST(doca_comch_cap_get_max_name_len(doca_dev_as_devinfo(card), &longest));
	MUST_BE(longest < sizeof(name));
	memset(name, 'n', sizeof(name));
	name[longest] = 0; /* one more than fits with its zero */
	CHECK_STATUS(doca_comch_server_create(NULL, rep, "x", &server), INVALID);
	CHECK_STATUS(doca_comch_server_create(card, NULL, "x", &server), INVALID);
	CHECK_STATUS(doca_comch_server_create(card, rep, NULL, &server), INVALID);
	CHECK_STATUS(doca_comch_server_create(card, rep, "x", NULL), INVALID);
	CHECK_STATUS(doca_comch_server_create(card, rep, "", &server), INVALID);
	CHECK_STATUS(doca_comch_server_create(card, rep, name, &server), INVALID);
	CHECK_STATUS(doca_comch_client_create(NULL, "x", &client), INVALID);
	CHECK_STATUS(doca_comch_client_create(host, NULL, &client), INVALID);
	CHECK_STATUS(doca_comch_client_create(host, "x", NULL), INVALID);
	CHECK_STATUS(doca_comch_client_create(host, name, &client), INVALID);
	name[longest - 1] = 0;
	CHECK_OK(doca_comch_server_create(card, rep, name, &server));
	CHECK_OK(doca_comch_server_destroy(server));
	CHECK_STATUS(doca_comch_server_destroy(server), INVALID);
	CHECK_PTR(doca_comch_server_as_ctx(server), NULL);
	CHECK_STATUS(doca_comch_server_destroy(NULL), INVALID);
	CHECK_STATUS(doca_comch_client_destroy(NULL), INVALID);
	CHECK_PTR(doca_comch_client_as_ctx(NULL), NULL);
	CHECK_PTR(doca_comch_server_get_server_ctx(NULL), NULL);
	CHECK_PTR(doca_comch_client_get_client_ctx(NULL), NULL);
}

static void idle_server(struct comch_end *end)
{
	struct doca_dev_rep *rep = NULL;
	struct doca_dev *dev = NULL;
	uint32_t size = 0, cap = 0;

	/* The defaults serve programs that set nothing: the longest message, at least 16 of them. */
	MUST(doca_comch_cap_get_max_msg_size(doca_dev_as_devinfo(end->dev), &cap));
	CHECK_OK(doca_comch_server_get_max_msg_size(end->server, &size));
	CHECK_U64(size, cap);
	CHECK_STATUS(doca_comch_server_set_max_msg_size(end->server, 0), INVALID);
	CHECK_STATUS(doca_comch_server_set_max_msg_size(end->server, cap + 1), INVALID);
	CHECK_STATUS(doca_comch_server_set_max_msg_size(NULL, 1), INVALID);
	CHECK_OK(doca_comch_server_set_max_msg_size(end->server, 512));
	CHECK_OK(doca_comch_server_get_max_msg_size(end->server, &size));
	CHECK_U64(size, 512);
	MUST(doca_comch_cap_get_max_recv_queue_size(doca_dev_as_devinfo(end->dev), &cap));
	CHECK_OK(doca_comch_server_get_recv_queue_size(end->server, &size));
	CHECK(size >= 16);
	CHECK_STATUS(doca_comch_server_set_recv_queue_size(end->server, 0), INVALID);
	CHECK_STATUS(doca_comch_server_set_recv_queue_size(end->server, cap + 1), INVALID);
	CHECK_OK(doca_comch_server_set_recv_queue_size(end->server, 8));
	CHECK_OK(doca_comch_server_get_recv_queue_size(end->server, &size));
	CHECK_U64(size, 8);
	CHECK_STATUS(doca_comch_server_get_recv_queue_size(end->server, NULL), INVALID);
	CHECK_OK(doca_comch_server_get_device(end->server, &dev));
	CHECK_PTR(dev, end->dev);
	CHECK_OK(doca_comch_server_get_device_rep(end->server, &rep));
	CHECK_PTR(rep, end->rep);
	MUST(doca_comch_cap_get_max_send_tasks(doca_dev_as_devinfo(end->dev), &cap));
	CHECK_STATUS(doca_comch_server_task_send_set_conf(end->server, NULL, comch_failed_cb, 1), INVALID);
	CHECK_STATUS(doca_comch_server_task_send_set_conf(end->server, comch_sent_cb, NULL, 1), INVALID);
	CHECK_STATUS(doca_comch_server_task_send_set_conf(end->server, comch_sent_cb, comch_failed_cb, 0), INVALID);
	CHECK_STATUS(doca_comch_server_task_send_set_conf(end->server, comch_sent_cb, comch_failed_cb, cap + 1),
		     INVALID);
	CHECK_STATUS(doca_comch_server_event_msg_recv_register(end->server, NULL), INVALID);
	CHECK_STATUS(doca_comch_server_event_connection_status_changed_register(end->server, comch_connect_cb, NULL),
		     INVALID);
	CHECK_STATUS(doca_comch_server_event_consumer_register(end->server, NULL, comch_expired_cb), INVALID);
	CHECK_STATUS(doca_comch_server_disconnect(end->server, NULL), INVALID);
}

static void idle_client(struct comch_end *end)
{
	struct doca_comch_connection *connection = NULL;
	struct doca_dev *dev = NULL;
	uint32_t size = 0, cap = 0;

	MUST(doca_comch_cap_get_max_msg_size(doca_dev_as_devinfo(end->dev), &cap));
	CHECK_OK(doca_comch_client_get_max_msg_size(end->client, &size));
	CHECK_U64(size, cap);
	CHECK_STATUS(doca_comch_client_set_max_msg_size(end->client, 0), INVALID);
	CHECK_STATUS(doca_comch_client_set_max_msg_size(end->client, cap + 1), INVALID);
	CHECK_OK(doca_comch_client_set_max_msg_size(end->client, 512));
	CHECK_OK(doca_comch_client_get_recv_queue_size(end->client, &size));
	CHECK(size >= 16);
	CHECK_STATUS(doca_comch_client_set_recv_queue_size(end->client, 0), INVALID);
	CHECK_OK(doca_comch_client_set_recv_queue_size(end->client, 8));
	CHECK_OK(doca_comch_client_get_device(end->client, &dev));
	CHECK_PTR(dev, end->dev);
	CHECK_STATUS(doca_comch_client_task_send_set_conf(end->client, comch_sent_cb, comch_failed_cb, 0), INVALID);
	CHECK_STATUS(doca_comch_client_event_msg_recv_register(end->client, NULL), INVALID);
	CHECK_STATUS(doca_comch_client_event_consumer_register(end->client, comch_newborn_cb, NULL), INVALID);
	CHECK_STATUS(doca_comch_client_get_connection(end->client, &connection), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_comch_client_get_connection(end->client, NULL), INVALID);
	CHECK_STATUS(doca_comch_client_get_connection(NULL, &connection), INVALID);
}

static void running(struct comch_end *server, struct comch_end *client)
{
	struct doca_comch_task_send *task = NULL;
	union doca_data user = {0};
	uint8_t bytes[600] = {0};
	uint32_t size = 0;

	CHECK_STATUS(doca_comch_server_set_max_msg_size(server->server, 100), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_comch_server_set_recv_queue_size(server->server, 8), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_comch_client_set_max_msg_size(client->client, 100), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_comch_client_set_recv_queue_size(client->client, 8), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_comch_server_task_send_set_conf(server->server, comch_sent_cb, comch_failed_cb, 1),
		     DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_comch_client_event_msg_recv_register(client->client, comch_message_cb), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_comch_server_event_consumer_register(server->server, comch_newborn_cb, comch_expired_cb),
		     DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_comch_server_get_max_msg_size(server->server, &size));
	CHECK_U64(size, 512);
	CHECK_STATUS(doca_comch_server_destroy(server->server), DOCA_ERROR_IN_USE);
	CHECK_STATUS(doca_comch_client_destroy(client->client), DOCA_ERROR_IN_USE);
	CHECK_STATUS(doca_dev_rep_close(server->rep), DOCA_ERROR_IN_USE);
	CHECK_STATUS(doca_comch_connection_set_user_data(NULL, user), INVALID);
	/* Tasks. */
	CHECK_STATUS(doca_comch_server_task_send_alloc_init(server->server, NULL, bytes, 1, &task), INVALID);
	CHECK_STATUS(doca_comch_server_task_send_alloc_init(server->server, server->peer, NULL, 1, &task), INVALID);
	CHECK_STATUS(doca_comch_server_task_send_alloc_init(server->server, server->peer, bytes, 1, NULL), INVALID);
	CHECK_STATUS(doca_comch_server_task_send_alloc_init(server->server, server->peer, bytes, 513, &task), INVALID);
	CHECK_STATUS(doca_comch_server_task_send_alloc_init(server->server, client->peer, bytes, 1, &task), INVALID);
	CHECK_STATUS(doca_comch_client_task_send_alloc_init(client->client, server->peer, bytes, 1, &task), INVALID);
	CHECK_STATUS(doca_comch_client_task_send_alloc_init(client->client, client->peer, bytes, 513, &task), INVALID);
	/* Refused, this takes nothing from the pool of two. */
	CHECK_OK(comch_try_send(client, client->peer, bytes, 512));
	CHECK_OK(comch_try_send(client, client->peer, bytes, 1));
	CHECK_STATUS(comch_try_send(client, client->peer, bytes, 1), DOCA_ERROR_NO_MEMORY);
	COMCH_UNTIL(server->pe, server->messages == 2 && client->sent == 2);
	/* User data of a task is set by hand. */
	MUST(doca_comch_client_task_send_alloc_init(client->client, client->peer, bytes, 3, &task));
	CHECK_PTR(doca_task_get_ctx(doca_comch_task_send_as_task(task)), client->ctx);
	CHECK_U64(doca_task_get_user_data(doca_comch_task_send_as_task(task)).u64, 0);
	user.u64 = 7;
	doca_task_set_user_data(doca_comch_task_send_as_task(task), user);
	CHECK_OK(doca_task_try_submit(doca_comch_task_send_as_task(task)));
	COMCH_UNTIL(server->pe, server->messages == 3 && client->sent == 3);
}

int main(void)
{
	struct comch_end server = {0}, client = {0};
	struct doca_comch_task_send *task = NULL;
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "rules", 2);
	comch_make_client(&client, pe, "rules", 2);
	capabilities(doca_dev_as_devinfo(server.dev));
	creation(server.dev, server.rep, client.dev);
	idle_server(&server);
	idle_client(&client);
	comch_run(&server);
	comch_run(&client);
	COMCH_UNTIL(pe, server.connects == 1);
	running(&server, &client);
	comch_stop(&client);
	COMCH_UNTIL(pe, server.disconnects == 1);
	CHECK_STATUS2(doca_comch_client_task_send_alloc_init(client.client, client.peer, "x", 1, &task),
		      DOCA_ERROR_BAD_STATE, INVALID);
	comch_stop(&server);
	comch_destroy(&client);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
