/*
 * How fast host and card talk, next to what the machine can do: two processes pinned to two cores, and in the same run a
 * bare flag in shared memory, unix SEQPACKET sockets spinning and blocking, and memcpy into shared memory. Prints the
 * medians and the best of interleaved rounds, and ratios of both.
 *
 * Buffers are measured twice. Once nobody looks at what arrives, and the yardstick is a loop of memcpy on one core, whose
 * destination stays in that core's cache: what the machine can do at its very best. And once the other process reads
 * every line that arrives, as a consumer does, and the yardstick is what a program would write for itself: memcpy into
 * a ring of slots, and a counter each way.
 *
 *   softdpu cc -O2 -D_GNU_SOURCE -DDOCA_ALLOW_EXPERIMENTAL_API comch_speed.c -o comch_speed && ./comch_speed [rounds]
 *
 * The parent is the client, the child the server. A round trip is: allocate a send task, submit it, progress until the
 * answer's callback ran, with the task's completion and its return to the pool on the way.
 */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUST(call) must((call), #call, __LINE__)
#define MSG 64
#define QUEUE 4096
#define TASKS 1024
#ifndef BUF /* bytes of a send; -DBUF=... for another size */
#define BUF 4096
#endif
#ifndef RECEIVES
#define RECEIVES 256
#endif
#define AREA (RECEIVES * BUF)

enum { FLAGS, SPIN, BLOCK, COMCH, ASLEEP, STREAM, PRODUCE, COPY, PRODUCE_READ, RING, KINDS };
enum mode { IDLE, FLAG, PACKET_SPIN, PACKET_BLOCK, ECHO, ECHO_ASLEEP, SINK, RECEIVE, RECEIVE_READ, SLOTS, QUIT };

struct shared {
	_Alignas(128) atomic_uint ping;
	_Alignas(128) atomic_uint pong;
	_Alignas(128) atomic_int mode;
	_Alignas(128) atomic_int now;
	_Alignas(128) atomic_ulong got;
	_Alignas(128) atomic_uint consumer;
	_Alignas(128) atomic_ulong filled;
	_Alignas(128) atomic_ulong emptied;
};

static struct shared *shm;
static int sock[2];
static char *area; /* receives of the consumer, and the target of memcpy */
static int rounds = 41;

static void must(doca_error_t status, const char *what, int line)
{
	if (status != DOCA_SUCCESS) {
		fprintf(stderr, "line %d: %s: %s\n", line, what, doca_error_get_name(status));
		exit(1);
	}
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		perror("not pinned");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Looks at every line of a buffer. */
static uint64_t look(const char *bytes)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < BUF; i += 64)
		sum += *(const volatile uint64_t *)(bytes + i);
	return sum;
}

/* ---- one end ---- */

struct end {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_comch_connection *peer;
	unsigned long messages;
	uint32_t consumer;
};

static struct end me;
static struct doca_comch_producer *producer;
static struct doca_comch_consumer *consumer;
static unsigned long sends_done, received;
static int reading;

static void send_done(struct doca_comch_task_send *task, union doca_data t, union doca_data c)
{
	(void)t, (void)c;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static doca_error_t say(const void *bytes, uint32_t len)
{
	struct doca_comch_task_send *task;
	doca_error_t status;

	status = me.server != NULL ? doca_comch_server_task_send_alloc_init(me.server, me.peer, bytes, len, &task)
				   : doca_comch_client_task_send_alloc_init(me.client, me.peer, bytes, len, &task);
	if (status != DOCA_SUCCESS)
		return status;
	return doca_task_submit(doca_comch_task_send_as_task(task));
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *peer)
{
	(void)event, (void)peer;
	me.messages++;
	if (me.server != NULL && atomic_load_explicit(&shm->mode, memory_order_relaxed) != SINK)
		MUST(say(bytes, len));
}

static void on_connect(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *peer,
		       uint8_t good)
{
	(void)event;
	if (good)
		me.peer = peer;
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *peer,
			  uint8_t good)
{
	(void)event, (void)peer, (void)good;
	me.peer = NULL;
}

static void on_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *peer, uint32_t id)
{
	(void)event, (void)peer;
	me.consumer = id;
}

static void on_expired(struct doca_comch_event_consumer *event, struct doca_comch_connection *peer, uint32_t id)
{
	(void)event, (void)peer, (void)id;
	me.consumer = 0;
}

static struct doca_dev *open_dev(const char *pci)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count, i;
	uint8_t equal;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++) {
		MUST(doca_devinfo_is_equal_pci_addr(list[i], pci, &equal));
		if (equal)
			MUST(doca_dev_open(list[i], &dev));
	}
	MUST(doca_devinfo_destroy_list(list));
	if (dev == NULL)
		exit(2);
	return dev;
}

static void open_server(void)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t count, i;
	uint8_t equal;

	me.dev = open_dev("03:00.0");
	MUST(doca_devinfo_rep_create_list(me.dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
	for (i = 0; i < count && rep == NULL; i++) {
		MUST(doca_devinfo_rep_is_equal_pci_addr(list[i], "b1:00.0", &equal));
		if (equal)
			MUST(doca_dev_rep_open(list[i], &rep));
	}
	MUST(doca_devinfo_rep_destroy_list(list));
	MUST(doca_pe_create(&me.pe));
	MUST(doca_comch_server_create(me.dev, rep, "speed", &me.server));
	me.ctx = doca_comch_server_as_ctx(me.server);
	MUST(doca_comch_server_set_recv_queue_size(me.server, QUEUE));
	MUST(doca_comch_server_task_send_set_conf(me.server, send_done, send_done, TASKS));
	MUST(doca_comch_server_event_msg_recv_register(me.server, on_message));
	MUST(doca_comch_server_event_connection_status_changed_register(me.server, on_connect, on_disconnect));
	MUST(doca_pe_connect_ctx(me.pe, me.ctx));
	MUST(doca_ctx_start(me.ctx));
}

static void open_client(void)
{
	enum doca_ctx_states state;

	me.dev = open_dev("b1:00.0");
	MUST(doca_pe_create(&me.pe));
	MUST(doca_comch_client_create(me.dev, "speed", &me.client));
	me.ctx = doca_comch_client_as_ctx(me.client);
	MUST(doca_comch_client_set_recv_queue_size(me.client, QUEUE));
	MUST(doca_comch_client_task_send_set_conf(me.client, send_done, send_done, TASKS));
	MUST(doca_comch_client_event_msg_recv_register(me.client, on_message));
	MUST(doca_comch_client_event_consumer_register(me.client, on_consumer, on_expired));
	MUST(doca_pe_connect_ctx(me.pe, me.ctx));
	if (doca_ctx_start(me.ctx) != DOCA_ERROR_IN_PROGRESS)
		exit(3);
	do {
		doca_pe_progress(me.pe);
		MUST(doca_ctx_get_state(me.ctx, &state));
	} while (state == DOCA_CTX_STATE_STARTING);
	MUST(doca_comch_client_get_connection(me.client, &me.peer));
}

/* ---- the server's consumer, the client's producer ---- */

static void post_done(struct doca_comch_consumer_task_post_recv *task, union doca_data t, union doca_data c)
{
	struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(task);

	void *data;

	(void)t, (void)c;
	if (reading) {
		MUST(doca_buf_get_data(buf, &data));
		look(data);
	}
	received++;
	atomic_store_explicit(&shm->got, received, memory_order_relaxed);
	MUST(doca_buf_reset_data_len(buf));
	MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

static void post_failed(struct doca_comch_consumer_task_post_recv *task, union doca_data t, union doca_data c)
{
	(void)t, (void)c;
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void open_consumer(void)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_buf_inventory *inventory;
	enum doca_ctx_states state;
	struct doca_mmap *map;
	struct doca_ctx *ctx;
	struct doca_buf *buf;
	int i;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, me.dev));
	MUST(doca_mmap_set_memrange(map, area, AREA));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_start(map));
	MUST(doca_buf_inventory_create(RECEIVES, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	MUST(doca_comch_consumer_create(me.peer, map, &consumer));
	ctx = doca_comch_consumer_as_ctx(consumer);
	MUST(doca_comch_consumer_task_post_recv_set_conf(consumer, post_done, post_failed, RECEIVES));
	MUST(doca_pe_connect_ctx(me.pe, ctx));
	if (doca_ctx_start(ctx) != DOCA_ERROR_IN_PROGRESS)
		exit(4);
	do {
		doca_pe_progress(me.pe);
		MUST(doca_ctx_get_state(ctx, &state));
	} while (state == DOCA_CTX_STATE_STARTING);
	for (i = 0; i < RECEIVES; i++) {
		MUST(doca_buf_inventory_buf_get_by_addr(inventory, map, area + i * BUF, BUF, &buf));
		MUST(doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &task));
		MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	}
}

static void produce_done(struct doca_comch_producer_task_send *task, union doca_data t, union doca_data c)
{
	(void)t, (void)c;
	if (doca_task_get_status(doca_comch_producer_task_send_as_task(task)) != DOCA_SUCCESS)
		exit(5);
	sends_done++;
	doca_task_free(doca_comch_producer_task_send_as_task(task));
}

static struct doca_buf *open_producer(void)
{
	struct doca_buf_inventory *inventory;
	struct doca_mmap *map;
	struct doca_buf *buf;
	char *bytes = aligned_alloc(4096, BUF);

	memset(bytes, 7, BUF);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, me.dev));
	MUST(doca_mmap_set_memrange(map, bytes, BUF));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	MUST(doca_mmap_start(map));
	MUST(doca_buf_inventory_create(1, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	MUST(doca_buf_inventory_buf_get_by_data(inventory, map, bytes, BUF, &buf));
	MUST(doca_comch_producer_create(me.peer, &producer));
	MUST(doca_comch_producer_task_send_set_conf(producer, produce_done, produce_done, RECEIVES));
	MUST(doca_pe_connect_ctx(me.pe, doca_comch_producer_as_ctx(producer)));
	MUST(doca_ctx_start(doca_comch_producer_as_ctx(producer)));
	return buf;
}

/* ---- the child ---- */

/* Progress until there is something to do, asleep in between. */
static void sleep_once(doca_notification_handle_t handle)
{
	struct pollfd fd = {.fd = handle, .events = POLLIN};

	MUST(doca_pe_request_notification(me.pe));
	poll(&fd, 1, 100);
	MUST(doca_pe_clear_notification(me.pe, handle));
	while (doca_pe_progress(me.pe) != 0)
		;
}

static void child(void)
{
	doca_notification_handle_t handle;
	char bytes[BUF];
	unsigned long emptied = 0, filled;
	unsigned seen = 0;
	int last = -1;

	pin(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_server();
	MUST(doca_pe_get_notification_handle(me.pe, &handle));
	for (;;) {
		int mode = atomic_load_explicit(&shm->mode, memory_order_acquire);
		ssize_t n;

		if (mode != last) {
			last = mode;
			seen = atomic_load(&shm->ping);
			if (mode == SINK)
				me.messages = 0;
			if (mode == RECEIVE && consumer == NULL)
				open_consumer();
			reading = mode == RECEIVE_READ;
			atomic_store(&shm->got, mode == RECEIVE || mode == RECEIVE_READ ? received : 0);
			emptied = atomic_load(&shm->emptied);
			if (mode == QUIT)
				_exit(0);
			atomic_store(&shm->now, mode);
		}
		switch (mode) {
		case FLAG:
			if (atomic_load_explicit(&shm->ping, memory_order_acquire) != seen) {
				seen++;
				atomic_store_explicit(&shm->pong, seen, memory_order_release);
			} else {
				__builtin_ia32_pause();
			}
			break;
		case PACKET_SPIN:
			n = recv(sock[1], bytes, sizeof(bytes), MSG_DONTWAIT);
			if (n > 0 && send(sock[1], bytes, (size_t)n, MSG_DONTWAIT) != n)
				exit(6);
			break;
		case PACKET_BLOCK:
			n = recv(sock[1], bytes, sizeof(bytes), 0);
			if (n > 1 && send(sock[1], bytes, (size_t)n, 0) != n)
				exit(6);
			break;
		case ECHO_ASLEEP:
			sleep_once(handle);
			break;
		case SINK:
			doca_pe_progress(me.pe);
			atomic_store_explicit(&shm->got, me.messages, memory_order_relaxed);
			break;
		case SLOTS:
			filled = atomic_load_explicit(&shm->filled, memory_order_acquire);
			if (filled == emptied)
				__builtin_ia32_pause();
			for (; emptied != filled; emptied++)
				look(area + emptied % RECEIVES * BUF);
			atomic_store_explicit(&shm->emptied, emptied, memory_order_release);
			break;
		default:
			doca_pe_progress(me.pe);
		}
	}
}

/* ---- the parent ---- */

static void go(enum mode mode)
{
	if (atomic_load(&shm->mode) == PACKET_BLOCK && mode != PACKET_BLOCK) {
		atomic_store(&shm->mode, (int)mode);
		if (send(sock[0], "q", 1, 0) != 1)
			exit(7);
	}
	atomic_store(&shm->got, 0);
	atomic_store(&shm->mode, (int)mode);
	while (atomic_load(&shm->now) != (int)mode)
		doca_pe_progress(me.pe);
}

static double flag_trip(long n)
{
	unsigned seq = atomic_load(&shm->ping);
	double start = now();
	long i;

	atomic_store(&shm->pong, seq);
	for (i = 0; i < n; i++) {
		atomic_store_explicit(&shm->ping, ++seq, memory_order_release);
		while (atomic_load_explicit(&shm->pong, memory_order_acquire) != seq)
			__builtin_ia32_pause();
	}
	return (now() - start) / (double)n;
}

static double packet_trip(long n, int flags)
{
	char bytes[MSG] = {1};
	double start = now();
	long i;

	for (i = 0; i < n; i++) {
		if (send(sock[0], bytes, MSG, flags) != MSG)
			exit(8);
		while (recv(sock[0], bytes, MSG, flags) != MSG)
			;
	}
	return (now() - start) / (double)n;
}

static double echo_trip(long n)
{
	char bytes[MSG] = {2};
	double start = now();
	long i;

	for (i = 0; i < n; i++) {
		unsigned long before = me.messages;

		MUST(say(bytes, MSG));
		while (me.messages == before)
			doca_pe_progress(me.pe);
	}
	return (now() - start) / (double)n;
}

static double asleep_trip(long n, doca_notification_handle_t handle)
{
	char bytes[MSG] = {3};
	double start = now();
	long i;

	for (i = 0; i < n; i++) {
		unsigned long before = me.messages;

		MUST(say(bytes, MSG));
		while (me.messages == before)
			sleep_once(handle);
	}
	return (now() - start) / (double)n;
}

static double stream(long n)
{
	char bytes[MSG] = {4};
	double start = now();
	long i;

	for (i = 0; i < n; i++) {
		while (say(bytes, MSG) == DOCA_ERROR_NO_MEMORY)
			doca_pe_progress(me.pe);
		doca_pe_progress(me.pe);
	}
	while (atomic_load_explicit(&shm->got, memory_order_relaxed) < (unsigned long)n)
		doca_pe_progress(me.pe);
	return (now() - start) / (double)n;
}

static double produce(long n, struct doca_buf *buf)
{
	unsigned long base = atomic_load(&shm->got);
	double start = now();
	long i;

	for (i = 0; i < n; i++) {
		struct doca_comch_producer_task_send *task;
		doca_error_t status;

		while (doca_comch_producer_task_send_alloc_init(producer, buf, NULL, 0, me.consumer, &task) ==
		       DOCA_ERROR_NO_MEMORY)
			doca_pe_progress(me.pe);
		while ((status = doca_task_submit(doca_comch_producer_task_send_as_task(task))) == DOCA_ERROR_AGAIN)
			;
		MUST(status);
		doca_pe_progress(me.pe);
	}
	while (atomic_load_explicit(&shm->got, memory_order_relaxed) < base + (unsigned long)n)
		doca_pe_progress(me.pe);
	return (now() - start) / (double)n;
}

static double copies(long n)
{
	static char from[BUF];
	volatile size_t size = BUF; /* the library's memcpy, not the compiler's */
	double start = now();
	long i;

	for (i = 0; i < n; i++) {
		memcpy(area + (i % RECEIVES) * BUF, from, size);
		__asm__ volatile("" ::: "memory");
	}
	return (now() - start) / (double)n;
}

/* The same into slots that the other process reads. */
static double slots(long n)
{
	static char from[BUF];
	volatile size_t size = BUF;
	unsigned long filled = atomic_load(&shm->filled), emptied = filled;
	double start = now();
	long i;

	for (i = 0; i < n; i++) {
		while (filled - emptied == RECEIVES)
			emptied = atomic_load_explicit(&shm->emptied, memory_order_acquire);
		memcpy(area + filled % RECEIVES * BUF, from, size);
		atomic_store_explicit(&shm->filled, ++filled, memory_order_release);
	}
	while (atomic_load_explicit(&shm->emptied, memory_order_acquire) != filled)
		__builtin_ia32_pause();
	return (now() - start) / (double)n;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void ratios(const char *which, const double *at)
{
	printf("%s: polling round trip %.1f x spinning seqpacket, %.2f of the bare flag's speed\n", which,
	       at[SPIN] / at[COMCH], at[FLAGS] / at[COMCH]);
	printf("%s: asleep round trip %.2f x blocking seqpacket\n", which, at[BLOCK] / at[ASLEEP]);
	printf("%s: streamed %.1f million messages per second\n", which, 1e-6 / at[STREAM]);
	printf("%s: %d bytes from producer to consumer %.2f of memcpy that nobody reads\n", which, BUF,
	       at[COPY] / at[PRODUCE]);
	printf("%s: %d bytes from producer to a consumer that reads them %.2f of memcpy into slots that are read\n", which,
	       BUF, at[RING] / at[PRODUCE_READ]);
}

int main(int argc, char **argv)
{
	static const char *names[KINDS] = {"flag in shared memory, round trip", "seqpacket 64 B, spinning, round trip",
					   "seqpacket 64 B, blocking, round trip", "comch 64 B, polling, round trip",
					   "comch 64 B, both asleep, round trip", "comch 64 B, streamed, per message",
					   "producer, per send", "memcpy to shared memory, per buffer",
					   "producer, per send that is read", "memcpy into slots that are read"};
	doca_notification_handle_t handle;
	static double taken[KINDS][1000], paired[1000];
	double middle[KINDS], best[KINDS];
	struct doca_buf *buf;
	pid_t pid;
	int i, fd;

	if (argc > 1)
		rounds = atoi(argv[1]);
	rounds = rounds < 1 ? 1 : rounds > 1000 ? 1000 : rounds;
	shm = mmap(NULL, sizeof(*shm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fd = memfd_create("area", MFD_ALLOW_SEALING);
	if (ftruncate(fd, AREA) != 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock) != 0)
		return 1;
	area = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memset(area, 1, AREA);
	pid = fork();
	if (pid == 0)
		child();
	pin(0);
	while (atomic_load(&shm->now) != IDLE || atomic_load(&shm->ping) != 0)
		usleep(1000);
	usleep(300000);
	open_client();
	MUST(doca_pe_get_notification_handle(me.pe, &handle));
	for (i = 0; i < rounds; i++) {
		go(FLAG);
		taken[FLAGS][i] = flag_trip(20000);
		go(ECHO);
		taken[COMCH][i] = echo_trip(20000);
		go(PACKET_SPIN);
		taken[SPIN][i] = packet_trip(2000, MSG_DONTWAIT);
		go(PACKET_BLOCK);
		taken[BLOCK][i] = packet_trip(100, 0);
		go(ECHO_ASLEEP);
		taken[ASLEEP][i] = asleep_trip(100, handle);
		go(SINK);
		taken[STREAM][i] = stream(100000);
	}
	go(RECEIVE);
	while (me.consumer == 0)
		doca_pe_progress(me.pe);
	buf = open_producer();
	for (i = 0; i < rounds; i++) {
		taken[COPY][i] = copies(20000);
		taken[PRODUCE][i] = produce(20000, buf);
		go(RECEIVE_READ);
		taken[PRODUCE_READ][i] = produce(20000, buf);
		go(SLOTS);
		taken[RING][i] = slots(20000);
		go(RECEIVE);
	}
	for (i = 0; i < rounds; i++)
		paired[i] = taken[RING][i] / taken[PRODUCE_READ][i];
	qsort(paired, (size_t)rounds, sizeof(double), by_value);
	for (i = 0; i < KINDS; i++) {
		qsort(taken[i], (size_t)rounds, sizeof(double), by_value);
		middle[i] = taken[i][rounds / 2];
		best[i] = taken[i][0];
		printf("%-40s median %9.1f ns, best %9.1f ns\n", names[i], middle[i] * 1e9, best[i] * 1e9);
	}
	ratios("median", middle);
	ratios("best", best);
	printf("median of the rounds' own ratios: a producer whose consumer reads %.2f of memcpy into slots that are read\n",
	       paired[rounds / 2]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}
