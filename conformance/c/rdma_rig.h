/*
 * What the RDMA programs need: a side, which is a context with its progress engine, memory and
 * inventory, whose completions and connection events are recorded; connecting two of them out of
 * band; one call for every kind of task. Every progress is held to the two promises of rig.h.
 */
#ifndef CONFORMANCE_RDMA_RIG_H
#define CONFORMANCE_RDMA_RIG_H

#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_types.h>

#include "check.h"

#define RDMA_LOG 4096
#define RDMA_ALL (DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC)

struct side {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_mmap *map;
	struct doca_buf_inventory *inv;
	uint8_t *mem;
	size_t len;
	int keep_tasks; /* the callbacks do not free the task */
	unsigned good, bad;
	uint64_t order[RDMA_LOG]; /* user data of completions, in order of delivery */
	doca_error_t status[RDMA_LOG];
	doca_error_t last_status;
	/* The last receive. */
	uint32_t got_len, got_op, got_id;
	doca_be32_t got_imm;
	unsigned receives;
	uint32_t read_len;
	/* Connections. */
	unsigned requested, established, failed, ended, changes;
	struct doca_rdma_connection *last; /* of the last event */
	struct doca_rdma_connection *conn[64];
	uint64_t last_user;
	int refuse;		 /* the request callback rejects */
	int hold;		 /* ... or does nothing */
	int disconnect_in_ended; /* the disconnect callback disconnects, as programs do */
	enum doca_ctx_states state;
	void (*on_running)(struct side *side);
	void (*on_stopping)(struct side *side);
};

static inline void side_record(struct side *side, struct doca_task *task, union doca_data user, int good)
{
	unsigned at = side->good + side->bad;

	side->last_status = doca_task_get_status(task);
	if (at < RDMA_LOG) {
		side->order[at] = user.u64;
		side->status[at] = doca_task_get_status(task);
	}
	if (good)
		side->good++;
	else
		side->bad++;
	if (good)
		CHECK_U64(doca_task_get_status(task), DOCA_SUCCESS);
	else
		CHECK(doca_task_get_status(task) != DOCA_SUCCESS);
	if (!side->keep_tasks)
		doca_task_free(task);
}

#define SIDE_CALLBACKS(kind_) \
	static void side_##kind_##_good(struct doca_rdma_task_##kind_ *task, union doca_data user, union doca_data ctx) \
	{ \
		side_record((struct side *)ctx.ptr, doca_rdma_task_##kind_##_as_task(task), user, 1); \
	} \
	static void side_##kind_##_bad(struct doca_rdma_task_##kind_ *task, union doca_data user, union doca_data ctx) \
	{ \
		side_record((struct side *)ctx.ptr, doca_rdma_task_##kind_##_as_task(task), user, 0); \
	}

SIDE_CALLBACKS(send)
SIDE_CALLBACKS(send_imm)
SIDE_CALLBACKS(write)
SIDE_CALLBACKS(write_imm)
SIDE_CALLBACKS(atomic_cmp_swp)
SIDE_CALLBACKS(atomic_fetch_add)

static void side_read_good(struct doca_rdma_task_read *task, union doca_data user, union doca_data ctx)
{
	struct side *side = (struct side *)ctx.ptr;

	side->read_len = doca_rdma_task_read_get_result_len(task);
	side_record(side, doca_rdma_task_read_as_task(task), user, 1);
}

static void side_read_bad(struct doca_rdma_task_read *task, union doca_data user, union doca_data ctx)
{
	side_record((struct side *)ctx.ptr, doca_rdma_task_read_as_task(task), user, 0);
}

static void side_receive_good(struct doca_rdma_task_receive *task, union doca_data user, union doca_data ctx)
{
	struct side *side = (struct side *)ctx.ptr;
	const struct doca_rdma_connection *conn = doca_rdma_task_receive_get_result_rdma_connection(task);

	side->got_len = doca_rdma_task_receive_get_result_len(task);
	side->got_op = doca_rdma_task_receive_get_result_opcode(task);
	side->got_imm = doca_rdma_task_receive_get_result_immediate_data(task);
	CHECK_OK(doca_rdma_connection_get_id(conn, &side->got_id));
	side->receives++;
	side_record(side, doca_rdma_task_receive_as_task(task), user, 1);
}

static void side_receive_bad(struct doca_rdma_task_receive *task, union doca_data user, union doca_data ctx)
{
	side_record((struct side *)ctx.ptr, doca_rdma_task_receive_as_task(task), user, 0);
}

static void side_request_cb(struct doca_rdma_connection *conn, union doca_data ctx)
{
	struct side *side = (struct side *)ctx.ptr;
	union doca_data user;

	side->requested++;
	side->last = conn;
	if (side->hold)
		return;
	if (side->refuse) {
		CHECK_OK(doca_rdma_connection_reject(conn));
		return;
	}
	user.u64 = 1000 + side->requested;
	CHECK_OK(doca_rdma_connection_accept(conn, NULL, 0));
	CHECK_OK(doca_rdma_connection_set_user_data(conn, user));
}

static void side_established_cb(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	struct side *side = (struct side *)ctx.ptr;

	if (side->established < 64)
		side->conn[side->established] = conn;
	side->established++;
	side->last = conn;
	side->last_user = user.u64;
}

static void side_failed_cb(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	struct side *side = (struct side *)ctx.ptr;
	union doca_data own;

	side->failed++;
	CHECK_OK(doca_rdma_connection_get_user_data(conn, &own));
	CHECK_U64(own.u64, user.u64);
	side->last_user = user.u64;
}

static void side_ended_cb(struct doca_rdma_connection *conn, union doca_data user, union doca_data ctx)
{
	struct side *side = (struct side *)ctx.ptr;

	side->ended++;
	side->last = conn;
	side->last_user = user.u64;
	if (side->disconnect_in_ended)
		CHECK_OK(doca_rdma_connection_disconnect(conn));
}

static void side_state_cb(const union doca_data user, struct doca_ctx *ctx, enum doca_ctx_states prev,
			  enum doca_ctx_states next)
{
	struct side *side = (struct side *)user.ptr;

	(void)ctx;
	(void)prev;
	side->changes++;
	side->state = next;
	if (next == DOCA_CTX_STATE_RUNNING && side->on_running != NULL)
		side->on_running(side);
	if (next == DOCA_CTX_STATE_STOPPING && side->on_stopping != NULL)
		side->on_stopping(side);
}

/* The device with this PCI address; NULL: the first that has RDMA. */
static inline struct doca_dev *side_open_dev(const char *pci)
{
	struct doca_devinfo **list = NULL;
	struct doca_dev *dev = NULL;
	uint32_t count = 0, i;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && dev == NULL; i++) {
		uint8_t equal = 1;

		if (doca_rdma_cap_task_write_is_supported(list[i]) != DOCA_SUCCESS)
			continue;
		if (pci != NULL)
			MUST(doca_devinfo_is_equal_pci_addr(list[i], pci, &equal));
		if (equal)
			MUST(doca_dev_open(list[i], &dev));
	}
	MUST(doca_devinfo_destroy_list(list));
	MUST_BE(dev != NULL);
	return dev;
}

/* A private runtime folder for this program, removed by the parent of whoever made it. */
static char side_folder[64];

static inline void side_remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", side_folder);
	if (system(command) != 0)
		fprintf(stderr, "%s stays\n", side_folder);
}

static inline void side_make_folder(void)
{
	snprintf(side_folder, sizeof(side_folder), "/tmp/softdpu-rdma-XXXXXX");
	MUST_BE(mkdtemp(side_folder) != NULL);
	setenv("SOFTDPU_RUNTIME_DIR", side_folder, 1);
	atexit(side_remove_folder);
}

/* Memory that another process can map. */
static inline uint8_t *side_shared_memory(size_t bytes)
{
	int fd = (int)syscall(SYS_memfd_create, "rdma-test", 2u /* may be sealed */);
	void *at;

	MUST_BE(fd >= 0);
	MUST_BE(ftruncate(fd, (off_t)bytes) == 0);
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST_BE(at != MAP_FAILED);
	return (uint8_t *)at; /* the descriptor stays open: it is how the memory is found */
}

static inline void side_map(struct side *side, uint32_t access)
{
	MUST(doca_mmap_create(&side->map));
	MUST(doca_mmap_add_dev(side->map, side->dev));
	MUST(doca_mmap_set_memrange(side->map, side->mem, side->len));
	MUST(doca_mmap_set_permissions(side->map, access));
	MUST(doca_mmap_start(side->map));
}

/* Everything but the start. `pe` NULL: a progress engine of its own. */
static inline void side_prepare(struct side *side, const char *pci, struct doca_pe *pe, size_t bytes, uint32_t tasks)
{
	union doca_data user;
	size_t i;

	memset(side, 0, sizeof(*side));
	side->state = DOCA_CTX_STATE_IDLE;
	side->dev = side_open_dev(pci);
	side->pe = pe;
	if (pe == NULL)
		MUST(doca_pe_create(&side->pe));
	side->len = bytes;
	side->mem = side_shared_memory(bytes);
	for (i = 0; i < bytes; i++)
		side->mem[i] = (uint8_t)(i * 31 + (i >> 8) * 7 + 1);
	side_map(side, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | RDMA_ALL);
	MUST(doca_buf_inventory_create((size_t)tasks * 4 + 64, &side->inv));
	MUST(doca_buf_inventory_start(side->inv));
	MUST(doca_rdma_create(side->dev, &side->rdma));
	side->ctx = doca_rdma_as_ctx(side->rdma);
	MUST_BE(side->ctx != NULL);
	MUST(doca_pe_connect_ctx(side->pe, side->ctx));
	user.u64 = 0;
	user.ptr = side;
	MUST(doca_ctx_set_user_data(side->ctx, user));
	MUST(doca_ctx_set_state_changed_cb(side->ctx, side_state_cb));
	MUST(doca_rdma_set_permissions(side->rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | RDMA_ALL));
	MUST(doca_rdma_set_max_send_buf_list_len(side->rdma, 4));
	MUST(doca_rdma_task_receive_set_dst_buf_list_len(side->rdma, 4));
#define SIDE_CONF(kind_) \
	MUST(doca_rdma_task_##kind_##_set_conf(side->rdma, side_##kind_##_good, side_##kind_##_bad, tasks))
	SIDE_CONF(receive);
	SIDE_CONF(send);
	SIDE_CONF(send_imm);
	SIDE_CONF(read);
	SIDE_CONF(write);
	SIDE_CONF(write_imm);
	SIDE_CONF(atomic_cmp_swp);
	SIDE_CONF(atomic_fetch_add);
}

static inline void side_manage(struct side *side)
{
	MUST(doca_rdma_set_connection_state_callbacks(side->rdma, side_request_cb, side_established_cb, side_failed_cb,
						      side_ended_cb));
}

static inline void side_start(struct side *side)
{
	MUST(doca_ctx_start(side->ctx));
	CHECK_U64(side->state, DOCA_CTX_STATE_RUNNING);
}

static inline unsigned side_reports(const struct side *side)
{
	return side->good + side->bad + side->requested + side->established + side->failed + side->ended +
	       side->changes;
}

static inline uint8_t side_progress(struct side *side)
{
	unsigned before = side_reports(side);
	uint8_t moved = doca_pe_progress(side->pe);

	if (moved == 0) {
		CHECK_U64(side_reports(side), before);
		sched_yield();
	}
	return moved;
}

/* Progress of one or two sides until `condition` holds. */
#define UNTIL2(a_, b_, condition_) \
	do { \
		while (!(condition_)) { \
			side_progress(a_); \
			if ((b_) != NULL && (b_) != (a_)) \
				side_progress(b_); \
		} \
	} while (0)
#define UNTIL(a_, condition_) UNTIL2(a_, (struct side *)NULL, condition_)

static inline void side_stop(struct side *side)
{
	if (side->state != DOCA_CTX_STATE_IDLE) {
		CHECK_STATUS2(doca_ctx_stop(side->ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
		UNTIL(side, side->state == DOCA_CTX_STATE_IDLE);
	}
}

static inline void side_teardown(struct side *side, int own_pe)
{
	side_stop(side);
	CHECK_OK(doca_rdma_destroy(side->rdma));
	if (own_pe)
		CHECK_OK(doca_pe_destroy(side->pe));
	CHECK_OK(doca_buf_inventory_destroy(side->inv));
	CHECK_OK(doca_mmap_destroy(side->map));
	CHECK_OK(doca_dev_close(side->dev));
	munmap(side->mem, side->len);
}

/* Out of band: both export, both connect. */
static inline void side_join(struct side *a, struct side *b, struct doca_rdma_connection **to_b,
			     struct doca_rdma_connection **to_a)
{
	const void *blob_a, *blob_b;
	size_t len_a, len_b;

	MUST(doca_rdma_export(a->rdma, &blob_a, &len_a, to_b));
	MUST(doca_rdma_export(b->rdma, &blob_b, &len_b, to_a));
	MUST(doca_rdma_connect(a->rdma, blob_b, len_b, *to_b));
	MUST(doca_rdma_connect(b->rdma, blob_a, len_a, *to_a));
}

/* The memory of `owner` as `user` reaches it. */
static inline struct doca_mmap *side_import(struct side *owner, struct side *user)
{
	struct doca_mmap *map;
	const void *desc;
	size_t len;

	MUST(doca_mmap_export_rdma(owner->map, owner->dev, &desc, &len));
	MUST(doca_mmap_create_from_export(NULL, desc, len, user->dev, &map));
	return map;
}

static inline struct doca_buf *side_data(struct side *side, struct doca_mmap *map, void *at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_data(side->inv, map, at, len, &buf));
	return buf;
}

static inline struct doca_buf *side_room(struct side *side, struct doca_mmap *map, void *at, size_t len)
{
	struct doca_buf *buf = NULL;

	MUST(doca_buf_inventory_buf_get_by_addr(side->inv, map, at, len, &buf));
	return buf;
}

#define DROP(buf_) CHECK_OK(doca_buf_dec_refcount(buf_, NULL))

#define SIDE_SUBMIT(kind_, ...) \
	struct doca_rdma_task_##kind_ *task = NULL; \
	union doca_data user; \
\
	user.u64 = value; \
	MUST(doca_rdma_task_##kind_##_allocate_init(side->rdma, __VA_ARGS__, user, &task)); \
	return doca_task_submit(doca_rdma_task_##kind_##_as_task(task))

static inline doca_error_t side_receive(struct side *side, struct doca_buf *to, uint64_t value)
{
	SIDE_SUBMIT(receive, to);
}
static inline doca_error_t side_send(struct side *side, struct doca_rdma_connection *conn, struct doca_buf *from,
				     uint64_t value)
{
	SIDE_SUBMIT(send, conn, from);
}
static inline doca_error_t side_send_imm(struct side *side, struct doca_rdma_connection *conn, struct doca_buf *from,
					 doca_be32_t imm, uint64_t value)
{
	SIDE_SUBMIT(send_imm, conn, from, imm);
}
static inline doca_error_t side_read(struct side *side, struct doca_rdma_connection *conn, struct doca_buf *from,
				     struct doca_buf *to, uint64_t value)
{
	SIDE_SUBMIT(read, conn, from, to);
}
static inline doca_error_t side_write(struct side *side, struct doca_rdma_connection *conn, struct doca_buf *from,
				      struct doca_buf *to, uint64_t value)
{
	SIDE_SUBMIT(write, conn, from, to);
}
static inline doca_error_t side_write_imm(struct side *side, struct doca_rdma_connection *conn, struct doca_buf *from,
					  struct doca_buf *to, doca_be32_t imm, uint64_t value)
{
	SIDE_SUBMIT(write_imm, conn, from, to, imm);
}
static inline doca_error_t side_cas(struct side *side, struct doca_rdma_connection *conn, struct doca_buf *word,
				    struct doca_buf *result, uint64_t old, uint64_t fresh, uint64_t value)
{
	SIDE_SUBMIT(atomic_cmp_swp, conn, word, result, old, fresh);
}
static inline doca_error_t side_add(struct side *side, struct doca_rdma_connection *conn, struct doca_buf *word,
				    struct doca_buf *result, uint64_t add, uint64_t value)
{
	SIDE_SUBMIT(atomic_fetch_add, conn, word, result, add);
}

#endif
