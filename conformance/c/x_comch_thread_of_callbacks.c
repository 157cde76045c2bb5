/*
 * Every callback comes on the thread that makes progress: ten thousand of them, of messages and sends, over
 * several connections; and a context may wander: made and connected in one thread, driven in a second,
 * stopped in a third.
 *
 * clauses: core-exec 5, 8; comch Threads
 * covers: @
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "x_comch.h"

#define CLIENTS 3
#define ROUNDS 1000

static struct comch_end server, clients[CLIENTS];
static struct doca_pe *server_pe, *client_pe;
static pthread_t server_thread;
static int stop_serving;
static unsigned counted;

static void count(const struct comch_end *end)
{
	CHECK(end != &server || pthread_equal(pthread_self(), server_thread));
	__atomic_add_fetch(&counted, 1, __ATOMIC_RELAXED);
}

static void echo(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	count(end);
	comch_send(end, peer, bytes, len);
}

static void heard(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	(void)peer, (void)bytes, (void)len;
	count(end);
}

static void sent(struct comch_end *end, struct doca_task *task)
{
	(void)task;
	count(end);
}

static void *serve(void *unused)
{
	(void)unused;
	server_thread = pthread_self();
	while (!__atomic_load_n(&stop_serving, __ATOMIC_ACQUIRE))
		comch_progress(server_pe);
	return NULL;
}

static void *drive_clients(void *unused)
{
	unsigned round, i;

	(void)unused;
	for (i = 0; i < CLIENTS; i++)
		comch_run(&clients[i]);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < CLIENTS; i++)
			comch_send(&clients[i], clients[i].peer, &round, sizeof(round));
		for (i = 0; i < CLIENTS; i++) {
			COMCH_UNTIL(client_pe, clients[i].messages == round + 1 && clients[i].sent == round + 1);
			CHECK_BYTES(clients[i].last, &round, sizeof(round));
		}
	}
	return NULL;
}

static void *stop_all(void *unused)
{
	(void)unused;
	for (int i = 0; i < CLIENTS; i++)
		comch_stop(&clients[i]);
	return NULL;
}

static void in_thread(void *(*what)(void *))
{
	pthread_t thread;

	MUST_BE(pthread_create(&thread, NULL, what, NULL) == 0);
	pthread_join(thread, NULL);
}

int main(void)
{
	pthread_t thread;
	int i;

	MUST(doca_pe_create(&server_pe));
	MUST(doca_pe_create(&client_pe));
	server.on_message = echo;
	server.on_sent = sent;
	comch_make_server(&server, server_pe, "threads", 32);
	for (i = 0; i < CLIENTS; i++) {
		clients[i].on_message = heard;
		clients[i].on_sent = sent;
		comch_make_client(&clients[i], client_pe, "threads", 8);
	}
	comch_run(&server);
	MUST_BE(pthread_create(&thread, NULL, serve, NULL) == 0);
	in_thread(drive_clients);
	in_thread(stop_all);
	__atomic_store_n(&stop_serving, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	server_thread = pthread_self();
	CHECK_U64(server.messages, CLIENTS * ROUNDS);
	COMCH_UNTIL(server_pe, server.disconnects == CLIENTS);
	CHECK_U64(counted, 4 * CLIENTS * ROUNDS);
	comch_stop(&server);
	for (i = 0; i < CLIENTS; i++)
		comch_destroy(&clients[i]);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(client_pe));
	CHECK_OK(doca_pe_destroy(server_pe));
	return check_result();
}
