/*
 * The connection manager: listening, connecting by IPv4, IPv6, GID and the machine's own address,
 * accepted and rejected requests, nobody there, nobody answering, many connections, traffic over
 * them, both ends disconnecting, reconnecting, stopping with connections open.
 *
 * clauses: rdma Connecting through the connection manager, Connection objects; Behaviour 5, 6
 * covers: doca_rdma_addr_create doca_rdma_addr_destroy doca_rdma_addr_get_params
 *   doca_rdma_start_listen_to_port doca_rdma_stop_listen_to_port doca_rdma_connect_to_addr
 *   doca_rdma_connection_accept doca_rdma_connection_reject doca_rdma_connection_disconnect
 *   doca_rdma_set_connection_state_callbacks doca_rdma_connection_set_user_data
 *   doca_rdma_connection_get_user_data doca_rdma_connection_get_id doca_rdma_connection_get_addr
 *   doca_rdma_set_connection_request_timeout doca_rdma_set_max_num_connections
 */
#define _GNU_SOURCE
#include "rdma_rig.h"

#define PORT 13579

static struct side server, client;

static struct doca_rdma_addr *address(enum doca_rdma_addr_type type, const char *text, uint16_t port)
{
	struct doca_rdma_addr *addr = NULL;
	enum doca_rdma_addr_type got_type = 9;
	const char *got_text = NULL;
	uint16_t got_port = 0;

	MUST(doca_rdma_addr_create(type, text, port, &addr));
	CHECK_OK(doca_rdma_addr_get_params(addr, &got_type, &got_text, &got_port));
	CHECK_U64(got_type, type);
	CHECK_TEXT(got_text, text);
	CHECK_U64(got_port, port);
	return addr;
}

static void connect_to(struct doca_rdma_addr *addr, uint64_t value)
{
	union doca_data user;

	user.u64 = value;
	CHECK_OK(doca_rdma_connect_to_addr(client.rdma, addr, user));
}

/* One connection, a message both ways, the end. */
static void round_trip(struct doca_rdma_addr *addr, int server_first)
{
	unsigned up_s = server.established, up_c = client.established, end_s = server.ended, end_c = client.ended;
	unsigned got_s = server.receives, got_c = client.receives, good_s = server.good, good_c = client.good;
	struct doca_rdma_connection *here, *there;
	union doca_data user;
	struct doca_rdma_addr *peer = NULL;
	enum doca_rdma_addr_type type;
	const char *text;
	uint16_t port;

	connect_to(addr, 55);
	CHECK_STATUS(doca_rdma_addr_destroy(addr), DOCA_ERROR_BAD_STATE);
	UNTIL2(&server, &client, server.established == up_s + 1 && client.established == up_c + 1);
	here = client.last;
	there = server.last;
	CHECK_U64(client.last_user, 55);
	CHECK_U64(server.last_user, 1000 + server.requested);
	CHECK_OK(doca_rdma_connection_get_user_data(here, &user));
	CHECK_U64(user.u64, 55);
	CHECK_OK(doca_rdma_connection_get_addr(here, &peer));
	CHECK_OK(doca_rdma_addr_get_params(peer, &type, &text, &port));
	CHECK_U64(port, PORT);
	CHECK_OK(doca_rdma_connection_get_addr(there, &peer));
	CHECK_OK(doca_rdma_addr_get_params(peer, &type, &text, &port));
	CHECK_STATUS(doca_rdma_addr_destroy(peer), DOCA_ERROR_BAD_STATE);
	CHECK_OK(side_receive(&server, NULL, 1));
	CHECK_OK(side_receive(&client, NULL, 2));
	CHECK_OK(side_send(&client, here, NULL, 3));
	CHECK_OK(side_send_imm(&server, there, NULL, 99, 4));
	UNTIL2(&server, &client, server.receives == got_s + 1 && client.receives == got_c + 1);
	UNTIL2(&server, &client, server.good == good_s + 2 && client.good == good_c + 2);
	CHECK_U64(client.got_imm, 99);
	CHECK_OK(doca_rdma_connection_disconnect(server_first ? there : here));
	CHECK_U64(server.ended + client.ended, end_s + end_c);
	UNTIL2(&server, &client, server.ended == end_s + 1 && client.ended == end_c + 1);
	/* Also after the peer has ended it. */
	CHECK_OK(doca_rdma_connection_disconnect(server_first ? here : there));
}

static void many(struct doca_rdma_addr *addr, unsigned count)
{
	unsigned up_s = server.established, up_c = client.established, end_s = server.ended, end_c = client.ended, i;
	unsigned got = server.receives;
	struct doca_rdma_connection *conn[8];

	for (i = 0; i < count; i++) {
		unsigned before = client.established;

		connect_to(addr, i);
		UNTIL2(&server, &client, client.established == before + 1);
		conn[i] = client.last;
	}
	UNTIL2(&server, &client, server.established == up_s + count && client.established == up_c + count);
	for (i = 0; i < count; i++) {
		CHECK_OK(side_receive(&server, NULL, i));
		CHECK_OK(side_send_imm(&client, conn[i], NULL, i, i));
	}
	UNTIL2(&server, &client, server.receives == got + count);
	UNTIL2(&server, &client, client.order[client.good + client.bad - 1] == count - 1);
	for (i = 0; i < count; i++)
		CHECK_OK(doca_rdma_connection_disconnect(conn[i]));
	UNTIL2(&server, &client, server.ended == end_s + count && client.ended == end_c + count);
}

static void no_addresses(void)
{
	struct doca_rdma_addr *addr = NULL;

	CHECK_STATUS(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "10.0.0", 1, &addr), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, NULL, 1, &addr), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_GID, "zz", 1, &addr), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_addr_create((enum doca_rdma_addr_type)7, "::1", 1, &addr), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_rdma_addr_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void disconnect_all(struct side *side)
{
	unsigned i;

	for (i = 0; i < side->established && i < 64; i++)
		if (side->conn[i] != NULL)
			CHECK_OK(doca_rdma_connection_disconnect(side->conn[i]));
}

int main(void)
{
	struct doca_rdma_addr *v4, *v6, *gid, *own, *nobody, *away;
	uint8_t ipv4[4], ipv6[16];
	struct doca_rdma_gid gids[2];
	char text[3][64];
	unsigned i, failed;
	struct side third;

	side_make_folder();
	side_prepare(&server, "03:00.0", NULL, 1 << 16, 16);
	side_prepare(&client, "b1:00.0", NULL, 1 << 16, 16);
	side_manage(&server);
	side_manage(&client);
	CHECK_OK(doca_rdma_set_max_num_connections(server.rdma, 8));
	CHECK_OK(doca_rdma_set_max_num_connections(client.rdma, 8));
	CHECK_OK(doca_rdma_set_connection_request_timeout(client.rdma, 200));
	server.disconnect_in_ended = client.disconnect_in_ended = 1;
	CHECK_STATUS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_ERROR_BAD_STATE);
	side_start(&server);
	side_start(&client);
	CHECK_OK(doca_rdma_start_listen_to_port(server.rdma, PORT));
	CHECK_STATUS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_ERROR_CONNECTION_ABORTED);
	CHECK_OK(doca_rdma_start_listen_to_port(server.rdma, PORT + 1));
	CHECK_OK(doca_rdma_stop_listen_to_port(server.rdma, PORT + 1));
	CHECK_STATUS(doca_rdma_stop_listen_to_port(server.rdma, PORT + 1), DOCA_ERROR_INVALID_VALUE);

	MUST(doca_devinfo_get_ipv4_addr(doca_dev_as_devinfo(server.dev), ipv4, sizeof(ipv4)));
	MUST(doca_devinfo_get_ipv6_addr(doca_dev_as_devinfo(server.dev), ipv6, sizeof(ipv6)));
	MUST(doca_rdma_cap_get_gid(doca_dev_as_devinfo(server.dev), 0, 2, gids));
	snprintf(text[0], 64, "%u.%u.%u.%u", ipv4[0], ipv4[1], ipv4[2], ipv4[3]);
	for (i = 0; i < 8; i++) {
		sprintf(text[1] + 5 * i, "%02x%02x%s", ipv6[2 * i], ipv6[2 * i + 1], i < 7 ? ":" : "");
		sprintf(text[2] + 5 * i, "%02x%02x%s", gids[0].raw[2 * i], gids[0].raw[2 * i + 1], i < 7 ? ":" : "");
	}
	no_addresses();
	v4 = address(DOCA_RDMA_ADDR_TYPE_IPv4, text[0], PORT);
	v6 = address(DOCA_RDMA_ADDR_TYPE_IPv6, text[1], PORT);
	gid = address(DOCA_RDMA_ADDR_TYPE_GID, text[2], PORT);
	own = address(DOCA_RDMA_ADDR_TYPE_IPv4, "127.0.0.1", PORT);
	nobody = address(DOCA_RDMA_ADDR_TYPE_IPv4, text[0], PORT + 1);
	away = address(DOCA_RDMA_ADDR_TYPE_IPv4, "192.0.2.1", PORT);

	round_trip(v4, 0);
	round_trip(v6, 1);
	round_trip(gid, 0);
	round_trip(own, 1);
	for (i = 0; i < 50; i++)
		round_trip(v4, i % 2);
	many(v4, 8);
	many(v6, 7);

	/* Nobody there, a rejection, nobody who answers. */
	failed = client.failed;
	connect_to(nobody, 301);
	CHECK_U64(client.failed, failed);
	UNTIL(&client, client.failed == failed + 1);
	CHECK_U64(client.last_user, 301);
	connect_to(away, 302);
	UNTIL(&client, client.failed == failed + 2);
	server.refuse = 1;
	connect_to(v4, 303);
	UNTIL2(&server, &client, client.failed == failed + 3);
	CHECK_U64(client.last_user, 303);
	server.refuse = 0;
	connect_to(v4, 304); /* the server makes no progress */
	UNTIL(&client, client.failed == failed + 4);
	CHECK_U64(client.last_user, 304);
	i = server.requested;
	server.hold = 1;
	UNTIL(&server, server.requested == i + 1);
	CHECK_STATUS(doca_rdma_connection_accept(server.last, NULL, 0), DOCA_ERROR_CONNECTION_ABORTED);
	server.hold = 0;
	round_trip(v4, 0);
	CHECK_STATUS(doca_rdma_connection_accept(server.last, NULL, 0), DOCA_ERROR_INVALID_VALUE);

	/* A stop ends open connections, with one callback each; so does a stop of the peer. */
	server.disconnect_in_ended = client.disconnect_in_ended = 0;
	i = server.established;
	connect_to(v4, 1);
	connect_to(v4, 2);
	UNTIL2(&server, &client, server.established == i + 2 && client.established >= 2);
	memset(client.conn, 0, sizeof(client.conn));
	client.ended = server.ended = 0;
	side_stop(&client);
	CHECK_U64(client.ended, 2);
	UNTIL(&server, server.ended == 2);

	/* Connections do not survive; the context starts again. As programs do: disconnect in STOPPING. */
	client.established = client.ended = server.ended = 0;
	side_start(&client);
	connect_to(v4, 1);
	connect_to(v4, 2);
	UNTIL2(&server, &client, client.established == 2);
	client.on_stopping = disconnect_all;
	side_stop(&client);
	CHECK_U64(client.ended, 2);
	UNTIL(&server, server.ended == 2);

	/* Two devices, one port: each has its own addresses. */
	side_prepare(&third, "b1:00.1", NULL, 1 << 12, 4);
	side_manage(&third);
	side_start(&third);
	CHECK_OK(doca_rdma_start_listen_to_port(third.rdma, PORT));
	side_teardown(&third, 1);

	CHECK_OK(doca_rdma_addr_destroy(v4));
	CHECK_OK(doca_rdma_addr_destroy(v6));
	CHECK_OK(doca_rdma_addr_destroy(gid));
	CHECK_OK(doca_rdma_addr_destroy(own));
	CHECK_OK(doca_rdma_addr_destroy(nobody));
	CHECK_OK(doca_rdma_addr_destroy(away));
	side_teardown(&server, 1);
	side_teardown(&client, 1);
	return check_result();
}
