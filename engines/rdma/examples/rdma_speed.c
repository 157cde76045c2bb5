/*
 * Speed of RDMA between processes of one machine through the C face, against memcpy in the same run.
 *
 *   softdpu cc -D_GNU_SOURCE -O2 engines/rdma/examples/rdma_speed.c -o rdma_speed && ./rdma_speed
 *
 * The parent measures; a child lends memory, answers pings and takes messages. Every task is a full one: submitted in
 * the callback of the one before, 32 in flight, each with its completion. Figures count the wall clock: the machine
 * should be free.
 */
#define DOCA_ALLOW_EXPERIMENTAL_API
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEMORY (64ul << 20)
#define DEPTH 32u
#define ADDERS 4
#define ADDS 400000ul
#define RIGHTS (DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC)
/* Where in the peer's memory things are. */
#define PING (MEMORY - 4096)
#define WORD (MEMORY - 8192)
#define SCRATCH (MEMORY - 12288)

#define MUST(call)                                                                                              \
	do {                                                                                                    \
		doca_error_t status_ = (call);                                                                  \
		if (status_ != DOCA_SUCCESS) {                                                                  \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                           \
				doca_error_get_name(status_));                                                  \
			exit(1);                                                                                \
		}                                                                                               \
	} while (0)
#define MUST_BE(truth)                                                                                          \
	do {                                                                                                    \
		if (!(truth)) {                                                                                 \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #truth);                     \
			exit(1);                                                                                \
		}                                                                                               \
	} while (0)

static uint8_t *memory;
static struct doca_dev *dev;
static struct doca_mmap *map, *far_map;
static struct doca_buf_inventory *inventory;
static struct doca_pe *pe;
static struct doca_rdma *rdma;
static struct doca_rdma_connection *conn;
static uint64_t far_base;
static unsigned long done, flying;
static int going;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void again(struct doca_task *task)
{
	done++;
	if (going) {
		MUST(doca_task_submit(task));
		return;
	}
	flying--;
	doca_task_free(task);
}

static void failed(struct doca_task *task)
{
	/* What is left when the other end goes. */
	if (going) {
		fprintf(stderr, "a task failed: %s\n", doca_error_get_name(doca_task_get_status(task)));
		exit(1);
	}
	flying--;
	doca_task_free(task);
}

#define KIND(kind_, before_)                                                                                    \
	static void kind_##_done(struct doca_rdma_task_##kind_ *task, union doca_data user, union doca_data ctx) \
	{                                                                                                       \
		(void)ctx;                                                                                      \
		(void)user;                                                                                     \
		before_;                                                                                        \
		again(doca_rdma_task_##kind_##_as_task(task));                                                  \
	}                                                                                                       \
	static void kind_##_failed(struct doca_rdma_task_##kind_ *task, union doca_data user, union doca_data ctx) \
	{                                                                                                       \
		(void)user;                                                                                     \
		(void)ctx;                                                                                      \
		failed(doca_rdma_task_##kind_##_as_task(task));                                                 \
	}

KIND(write, (void)0)
KIND(read, doca_buf_reset_data_len(user.ptr))
KIND(atomic_fetch_add, (void)0)
KIND(send, (void)0)
KIND(receive, doca_buf_reset_data_len(user.ptr))

static void send_bytes(int fd, const void *bytes, size_t len)
{
	MUST_BE(send(fd, bytes, len, 0) == (ssize_t)len);
}

static size_t take_bytes(int fd, void *bytes, size_t room)
{
	ssize_t n = recv(fd, bytes, room, 0);

	MUST_BE(n > 0);
	return (size_t)n;
}

static void prepare(int lends)
{
	struct doca_devinfo **list;
	uint32_t count = 0;
	int fd = memfd_create("rdma-speed", MFD_ALLOW_SEALING);

	MUST_BE(fd >= 0 && ftruncate(fd, MEMORY) == 0);
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST_BE(memory != MAP_FAILED);
	memset(memory, 0, MEMORY);
	MUST(doca_devinfo_create_list(&list, &count));
	for (uint32_t i = 0; i < count && dev == NULL; i++)
		if (doca_rdma_cap_task_write_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_destroy_list(list));
	MUST_BE(dev != NULL);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, memory, MEMORY));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | (lends ? RIGHTS : 0)));
	MUST(doca_mmap_start(map));
	MUST(doca_buf_inventory_create(4096, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	MUST(doca_pe_create(&pe));
	MUST(doca_rdma_create(dev, &rdma));
	MUST(doca_rdma_set_permissions(rdma, RIGHTS));
	MUST(doca_rdma_task_write_set_conf(rdma, write_done, write_failed, DEPTH));
	MUST(doca_rdma_task_read_set_conf(rdma, read_done, read_failed, DEPTH));
	MUST(doca_rdma_task_atomic_fetch_add_set_conf(rdma, atomic_fetch_add_done, atomic_fetch_add_failed, DEPTH));
	MUST(doca_rdma_task_send_set_conf(rdma, send_done, send_failed, DEPTH));
	MUST(doca_rdma_task_receive_set_conf(rdma, receive_done, receive_failed, 4 * DEPTH));
	MUST(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma)));
	MUST(doca_ctx_start(doca_rdma_as_ctx(rdma)));
}

/* Swaps descriptions over a socket; whoever lends sends its memory's, too. */
static void join(int fd, int lends)
{
	uint8_t bytes[1024];
	uint64_t base = (uint64_t)(uintptr_t)memory;
	const void *blob;
	size_t len;

	MUST(doca_rdma_export(rdma, &blob, &len, &conn));
	send_bytes(fd, blob, len);
	if (lends) {
		MUST(doca_mmap_export_rdma(map, dev, &blob, &len));
		send_bytes(fd, blob, len);
		send_bytes(fd, &base, sizeof(base));
	}
	len = take_bytes(fd, bytes, sizeof(bytes));
	MUST(doca_rdma_connect(rdma, bytes, len, conn));
	if (!lends) {
		len = take_bytes(fd, bytes, sizeof(bytes));
		take_bytes(fd, &far_base, sizeof(far_base));
		MUST(doca_mmap_create_from_export(NULL, bytes, len, dev, &far_map));
	}
}

static struct doca_buf *near_data(size_t at, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_data(inventory, map, memory + at, len, &buf));
	return buf;
}

static struct doca_buf *near_room(size_t at, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_addr(inventory, map, memory + at, len, &buf));
	return buf;
}

static struct doca_buf *far_data(size_t at, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_data(inventory, far_map, (void *)(uintptr_t)(far_base + at), len, &buf));
	return buf;
}

static void begin(char kind, size_t at, size_t len)
{
	union doca_data user = {.u64 = 0};
	struct doca_task *task;

	if (kind == 'w') {
		struct doca_rdma_task_write *write;

		MUST(doca_rdma_task_write_allocate_init(rdma, conn, near_data(at, len), far_data(at, len), user,
							&write));
		task = doca_rdma_task_write_as_task(write);
	} else if (kind == 'r') {
		struct doca_buf *room = near_room(at, len);
		struct doca_rdma_task_read *read;

		user.ptr = room;
		MUST(doca_rdma_task_read_allocate_init(rdma, conn, far_data(at, len), room, user, &read));
		task = doca_rdma_task_read_as_task(read);
	} else if (kind == 'a') {
		struct doca_rdma_task_atomic_fetch_add *add;

		MUST(doca_rdma_task_atomic_fetch_add_allocate_init(rdma, conn, far_data(WORD, 8),
								   near_data(SCRATCH, 8), 1, user, &add));
		task = doca_rdma_task_atomic_fetch_add_as_task(add);
	} else {
		struct doca_rdma_task_send *send;

		MUST(doca_rdma_task_send_allocate_init(rdma, conn, near_data(at, len), user, &send));
		task = doca_rdma_task_send_as_task(send);
	}
	flying++;
	MUST(doca_task_submit(task));
}

/* Tasks per second, for `seconds` (or `most` tasks). */
static double rate(char kind, size_t len, double seconds, unsigned long most)
{
	unsigned depth = DEPTH;
	double start, end;
	unsigned long n;

	while (depth > 1 && depth * len > (len >= 1u << 20 ? 32u << 20 : 16u << 20))
		depth /= 2;
	going = 1;
	done = 0;
	for (unsigned t = 0; t < depth; t++)
		begin(kind, t * len, len);
	start = now();
	do {
		for (unsigned i = 0; i < 256 && done < most; i++)
			doca_pe_progress(pe);
		end = now();
	} while (end - start < seconds && done < most);
	n = done;
	going = 0;
	while (flying > 0)
		doca_pe_progress(pe);
	return (double)n / (end - start);
}

static double memcpy_rate(size_t len)
{
	unsigned depth = DEPTH;
	double start = now(), end;
	unsigned long n = 0;

	while (depth > 1 && depth * len > (len >= 1u << 20 ? 32u << 20 : 16u << 20))
		depth /= 2;
	do {
		for (unsigned t = 0; t < depth; t++, n++) {
			memcpy(memory + t * len, memory + MEMORY / 2 + t * len, len);
			__asm__ volatile("" ::: "memory");
		}
		end = now();
	} while (end - start < 0.2);
	return (double)n / (end - start);
}

static void peer(int fd)
{
	volatile uint64_t *ping = (void *)(memory + PING);
	uint64_t seen = 0;

	join(fd, 1);
	going = 1;
	for (unsigned t = 0; t < 4 * DEPTH; t++) {
		struct doca_rdma_task_receive *receive;
		struct doca_buf *room = near_room(MEMORY / 2 + t * 64, 64);
		union doca_data user = {.ptr = room};

		MUST(doca_rdma_task_receive_allocate_init(rdma, room, user, &receive));
		MUST(doca_task_submit(doca_rdma_task_receive_as_task(receive)));
	}
	send_bytes(fd, "ready", 5);
	while (seen != UINT64_MAX) {
		uint64_t word = *ping;

		if (word != seen) {
			seen = word;
			*(volatile uint64_t *)(memory + PING + 64) = word; /* the other side reads it */
		}
		doca_pe_progress(pe);
	}
}

/* A number goes there, and is read back when the peer has seen it. */
static double latency(unsigned long rounds)
{
	struct doca_buf *from = near_data(SCRATCH, 8), *to = far_data(PING, 8), *answer = far_data(PING + 64, 8);
	struct doca_buf *room = near_room(SCRATCH + 64, 8);
	struct doca_rdma_task_write *write;
	struct doca_rdma_task_read *read;
	union doca_data user = {.ptr = room};
	double start = now();

	going = 0;
	for (uint64_t round = 1; round <= rounds; round++) {
		memcpy(memory + SCRATCH, &round, 8);
		MUST(doca_rdma_task_write_allocate_init(rdma, conn, from, to, user, &write));
		flying++;
		MUST(doca_task_submit(doca_rdma_task_write_as_task(write)));
		do {
			MUST(doca_rdma_task_read_allocate_init(rdma, conn, answer, room, user, &read));
			flying++;
			MUST(doca_task_submit(doca_rdma_task_read_as_task(read)));
			while (flying > 0)
				doca_pe_progress(pe);
		} while (memcmp(memory + SCRATCH + 64, &round, 8) != 0);
	}
	return (now() - start) / (double)rounds / 2;
}

static void end_peer(void)
{
	uint64_t last = UINT64_MAX;
	struct doca_rdma_task_write *write;
	union doca_data user = {.u64 = 0};

	memcpy(memory + SCRATCH, &last, 8);
	MUST(doca_rdma_task_write_allocate_init(rdma, conn, near_data(SCRATCH, 8), far_data(PING, 8), user, &write));
	flying++;
	MUST(doca_task_submit(doca_rdma_task_write_as_task(write)));
	while (flying > 0)
		doca_pe_progress(pe);
}

static void measure(int fd)
{
	static const size_t sizes[] = {8, 64, 4096, 65536, 1 << 20, 16 << 20};
	char text[8];

	join(fd, 0);
	take_bytes(fd, text, sizeof(text));
	printf("%9s %12s %10s %10s %12s %10s\n", "bytes", "writes/s", "GB/s", "of memcpy", "reads/s", "of memcpy");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		double write = rate('w', sizes[i], 0.3, ~0ul), read = rate('r', sizes[i], 0.3, ~0ul);
		double copy = memcpy_rate(sizes[i]);

		printf("%9zu %12.0f %10.2f %10.2f %12.0f %10.2f\n", sizes[i], write, write * (double)sizes[i] / 1e9,
		       write / copy, read, read / copy);
	}
	printf("fetch and add: %.0f/s\n", rate('a', 8, 0.3, ~0ul));
	printf("64-byte messages: %.0f/s\n", rate('s', 64, 0.3, ~0ul));
	printf("8 bytes, one way: %.3f us\n", latency(20000) * 1e6);
	end_peer();
}

/* One of several processes that add to one word. */
static void adder(int fd)
{
	char text[8];

	join(fd, 0);
	send_bytes(fd, "ready", 5);
	take_bytes(fd, text, sizeof(text)); /* all begin together */
	rate('a', 8, 1e9, ADDS);
	send_bytes(fd, &done, sizeof(done));
	take_bytes(fd, text, sizeof(text));
}

static void contended(void)
{
	int fds[ADDERS][2];
	unsigned long total = 0, adds;
	double start;
	char text[8];

	for (int a = 0; a < ADDERS; a++) {
		MUST_BE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds[a]) == 0);
		if (fork() == 0) {
			prepare(0);
			adder(fds[a][1]);
			_exit(0);
		}
	}
	prepare(1);
	for (int a = 0; a < ADDERS; a++)
		join(fds[a][0], 1);
	for (int a = 0; a < ADDERS; a++)
		take_bytes(fds[a][0], text, sizeof(text));
	start = now();
	for (int a = 0; a < ADDERS; a++)
		send_bytes(fds[a][0], "go", 2);
	for (int a = 0; a < ADDERS; a++) {
		take_bytes(fds[a][0], &adds, sizeof(adds));
		total += adds;
	}
	printf("fetch and add from %d processes to one word: %.0f/s, %s\n", ADDERS,
	       (double)total / (now() - start),
	       *(volatile uint64_t *)(memory + WORD) == total ? "exact" : "NOT EXACT");
	for (int a = 0; a < ADDERS; a++)
		send_bytes(fds[a][0], "end", 3);
	for (int a = 0; a < ADDERS; a++)
		wait(NULL);
}

int main(void)
{
	int fds[2];
	pid_t child;

	setvbuf(stdout, NULL, _IOLBF, 0);
	MUST_BE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) == 0);
	/* Processes part before the first call of the library. */
	child = fork();
	MUST_BE(child >= 0);
	if (child == 0) {
		prepare(1);
		peer(fds[1]);
		_exit(0);
	}
	if (fork() == 0) {
		prepare(0);
		measure(fds[0]);
		_exit(0);
	}
	wait(NULL);
	wait(NULL);
	contended();
	return 0;
}
