/*
 * Two processes. The responder exports its memory and then blocks in a read inside its
 * running-state callback; the requester writes, reads and does atomics all the same. Then messages,
 * a large one among them, several requesters that add to one word, and peers that are killed: in
 * the middle of traffic, while a receive is posted, while a message waits.
 *
 * clauses: rdma Behaviour 1, 2, 6, 14
 * covers: @
 */
#define _GNU_SOURCE
#include "rdma_rig.h"

#define BYTES (4u << 20)

static int to_child[2], to_parent[2];

static void put(int fd, const void *bytes, size_t len)
{
	MUST_BE(write(fd, bytes, len) == (ssize_t)len);
}

static void get(int fd, void *bytes, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = read(fd, (char *)bytes + done, len - done);

		MUST_BE(n > 0);
		done += (size_t)n;
	}
}

static void put_blob(int fd, const void *bytes, size_t len)
{
	put(fd, &len, sizeof(len));
	put(fd, bytes, len);
}

static size_t get_blob(int fd, void *bytes, size_t room)
{
	size_t len;

	get(fd, &len, sizeof(len));
	MUST_BE(len <= room);
	get(fd, bytes, len);
	return len;
}

static struct side *me;
static struct doca_rdma_connection *conn;
static int in_fd, out_fd;
static uint64_t far_base;
static struct doca_mmap *far_map;

/* Swaps descriptions with the other side and connects; memory goes from the responder alone. */
static void join(int lends)
{
	uint8_t text[1024];
	const void *blob;
	size_t len;

	MUST(doca_rdma_export(me->rdma, &blob, &len, &conn));
	put_blob(out_fd, blob, len);
	if (lends) {
		uint64_t base = (uint64_t)(uintptr_t)me->mem;

		MUST(doca_mmap_export_rdma(me->map, me->dev, &blob, &len));
		put_blob(out_fd, blob, len);
		put(out_fd, &base, sizeof(base));
	}
	len = get_blob(in_fd, text, sizeof(text));
	MUST(doca_rdma_connect(me->rdma, text, len, conn));
	if (!lends) {
		len = get_blob(in_fd, text, sizeof(text));
		get(in_fd, &far_base, sizeof(far_base));
		MUST(doca_mmap_create_from_export(NULL, text, len, me->dev, &far_map));
	}
}

static void responder_running(struct side *side)
{
	char byte;

	me = side;
	join(1);
	/* As with the keyboard: nothing is progressed until the requester is through. */
	get(in_fd, &byte, 1);
}

static void begin(struct side *side, const char *pci, int lends)
{
	side_prepare(side, pci, NULL, BYTES, 16);
	if (lends)
		side->on_running = responder_running;
	me = side;
	side_start(side);
	if (!lends)
		join(0);
}

static int responder(void)
{
	static struct side b;
	struct doca_buf *to, *from;
	unsigned i;

	begin(&b, "b1:00.0", 1);
	for (i = 0; i < BYTES / 2; i += 4096)
		CHECK_U64(b.mem[i], (uint8_t)(i / 4096 + 3));
	/* Messages: each is sent back. */
	for (i = 0; i < 3; i++) {
		size_t len = i == 2 ? 2u << 20 : 100 + i;
		unsigned got = b.receives, good = b.good;

		to = side_room(&b, b.map, b.mem, BYTES / 2);
		CHECK_OK(side_receive(&b, to, 1));
		UNTIL(&b, b.receives == got + 1);
		CHECK_U64(b.got_len, len);
		from = side_data(&b, b.map, b.mem, len);
		CHECK_OK(side_send_imm(&b, conn, from, 7 + i, 2));
		UNTIL(&b, b.good == good + 2);
		DROP(to);
		DROP(from);
	}
	/* The other end kills itself while this one waits: the context goes on, the receive is flushed by the stop. */
	CHECK_OK(side_receive(&b, NULL, 3));
	put(out_fd, "k", 1);
	i = b.bad;
	while (side_write(&b, conn, NULL, NULL, 4) == DOCA_SUCCESS && b.bad == i) {
		unsigned before = b.good + b.bad;

		UNTIL(&b, b.good + b.bad == before + 1);
	}
	CHECK_U64(b.last_status, DOCA_ERROR_IO_FAILED);
	side_teardown(&b, 1);
	return check_result();
}

static int requester(void)
{
	static struct side a;
	struct doca_buf *from, *to, *source, *back;
	uint64_t before;
	unsigned i;
	char byte;

	begin(&a, NULL, 0);
	for (i = 0; i < BYTES / 2; i++)
		a.mem[i] = (uint8_t)(i / 4096 + 3);
	from = side_data(&a, a.map, a.mem, BYTES / 2);
	to = side_room(&a, far_map, (void *)(uintptr_t)far_base, BYTES / 2);
	source = side_data(&a, far_map, (void *)(uintptr_t)far_base, BYTES / 2);
	back = side_room(&a, a.map, a.mem + BYTES / 2, BYTES / 2);
	CHECK_OK(side_write(&a, conn, from, to, 1));
	CHECK_OK(side_read(&a, conn, source, back, 2));
	UNTIL(&a, a.good + a.bad == 2);
	CHECK_U64(a.bad, 0);
	CHECK_U64(a.order[0], 1);
	CHECK_BYTES(a.mem + BYTES / 2, a.mem, BYTES / 2);
	DROP(to);
	DROP(back);
	DROP(from);
	DROP(source);
	to = side_room(&a, far_map, (void *)(uintptr_t)(far_base + BYTES - 8), 8);
	back = side_room(&a, a.map, a.mem, 8);
	CHECK_OK(side_add(&a, conn, to, back, 5, 3));
	CHECK_OK(side_add(&a, conn, to, back, 0, 4));
	UNTIL(&a, a.good + a.bad == 4);
	memcpy(&before, a.mem, 8);
	CHECK_U64(a.bad, 0);
	DROP(to);
	DROP(back);
	put(out_fd, "g", 1);
	for (i = 0; i < 3; i++) {
		size_t len = i == 2 ? 2u << 20 : 100 + i;
		unsigned got = a.receives, good = a.good;

		from = side_data(&a, a.map, a.mem, len);
		back = side_room(&a, a.map, a.mem + BYTES / 2, BYTES / 2);
		CHECK_OK(side_receive(&a, back, 1));
		CHECK_OK(side_send(&a, conn, from, 2));
		UNTIL(&a, a.receives == got + 1 && a.good == good + 2);
		CHECK_U64(a.got_len, len);
		CHECK_U64(a.got_imm, 7 + i);
		CHECK_BYTES(a.mem + BYTES / 2, a.mem, len);
		DROP(from);
		DROP(back);
	}
	get(in_fd, &byte, 1);
	if (check_result() == 0)
		kill(getpid(), SIGKILL);
	return 1;
}

int main(void)
{
	int status = 0;
	pid_t child;

	side_make_folder();
	MUST_BE(pipe(to_child) == 0 && pipe(to_parent) == 0);
	child = fork(); /* before the first call of the library */
	MUST_BE(child >= 0);
	if (child == 0) {
		in_fd = to_child[0];
		out_fd = to_parent[1];
		_exit(requester());
	}
	in_fd = to_parent[0];
	out_fd = to_child[1];
	CHECK_U64(responder(), 0);
	MUST_BE(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	return check_result();
}
