/*
 * The functions that a checked program calls in place of the library's: each tells the checker what is about to happen,
 * calls the library, and tells what came of it. They are in C because only C has the address they were called from, and
 * because the compiler holds them to the very headers that programs use.
 *
 * Nothing is decided here; src/hooks.rs is the other end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <doca_aes_gcm.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_buf_pool.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_erasure_coding.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_sha.h>

/* Kinds of objects; src/shadow.rs has the same numbers. */
enum kind {
	DEV = 1,
	PE = 2,
	CTX = 3,
	MMAP = 4,
	INVENTORY = 5,
	BUF = 6,
	TASK = 7,
	POOL = 8,
};

/* What a buffer list is at the moment of a look. */
struct look {
	const void *buf;
	uintptr_t head;
	uint64_t len;  /* of the first element */
	uint64_t data; /* bytes of data, of the whole list */
	uint64_t room; /* bytes behind the data, of the first element */
	uintptr_t tail; /* where the data of the first element ends */
	uintptr_t begin; /* where the data of the first element begins */
	uint64_t first; /* bytes of data of the first element */
};

/* The other end. */
void softdpu_check_begin(void);
void softdpu_check_end(int status);
void softdpu_check_created(uint32_t kind, const char *what, const void *object, const void *a, const void *b, uintptr_t place);
void softdpu_check_destroy(const void *object, const char *call, uintptr_t place);
void softdpu_check_destroyed(const void *object, int result, const char *call, uintptr_t place);
void softdpu_check_failed(int result, const char *call, uintptr_t place, const void *a, const void *b, const void *c);
void softdpu_check_started(const void *object, int started);
void softdpu_check_attached(const void *object, const void *to, int attached);
void softdpu_check_permissions(const void *map, uint32_t mask);
void softdpu_check_export(const void *map, int pci, int result, const char *call, uintptr_t place);
void softdpu_check_no_buffer(const void *inventory, const void *map, uintptr_t addr, uint64_t len, uintptr_t map_addr,
			     uint64_t map_len, int result, const char *call, uintptr_t place);
void softdpu_check_ctx_start(const void *ctx, int result, const char *call, uintptr_t place);
void softdpu_check_ctx_destroy(const void *ctx, int state, uint64_t inflight, const char *call, uintptr_t place);
void softdpu_check_pool(const void *ctx, const char *what, uint32_t tasks, const void *good, const void *bad);
void softdpu_check_task(const void *ctx, const char *what, const void *task, const void *src, const void *dst,
			const void *dead, const char *call, uintptr_t place);
void softdpu_check_no_task(const void *ctx, const char *what, int result, const char *call, uintptr_t place);
void softdpu_check_submit(const void *task, int state, const struct look *src, const struct look *dst, const char *call,
			  uintptr_t place);
void softdpu_check_submitted(const void *task, int result, const char *call, uintptr_t place);
void softdpu_check_task_buffers(const void *task, const void **src, const void **dst, const void **ctx, int *kind);
void softdpu_check_task_set(const void *task, const void *src, const void *dst);
const void *softdpu_check_done(const void *task, int good);
void softdpu_check_done_end(void);
void softdpu_check_free(const void *task, const char *call, uintptr_t place);
void softdpu_check_progress(const void *pe, const char *call, uintptr_t place);
void softdpu_check_progressed(const void *pe, int moved);

/* The library's own function of a name. */
static void *find(const char *name)
{
	static void *library;
	void *found;

	if (library == NULL)
		library = dlopen("libsoftdpu.so.2", RTLD_LAZY | RTLD_NOLOAD);
	found = library != NULL ? dlsym(library, name) : dlsym(RTLD_NEXT, name);
	if (found == NULL)
		abort();
	return found;
}

/* Found once; two threads that find it at the same time find the same. */
#define REAL(f) \
	({ \
		static void *real_; \
		void *at_ = __atomic_load_n(&real_, __ATOMIC_RELAXED); \
		if (at_ == NULL) { \
			at_ = find(#f); \
			__atomic_store_n(&real_, at_, __ATOMIC_RELAXED); \
		} \
		(__typeof__(&f))at_; \
	})

#define PLACE ((uintptr_t)__builtin_return_address(0))

static void on_end(int status, void *unused)
{
	(void)unused;
	softdpu_check_end(status);
}

/* Before the program and its libraries, so that its end comes after theirs. */
__attribute__((constructor)) static void on_begin(void)
{
	softdpu_check_begin();
	on_exit(on_end, NULL);
}

/* Makes an object; `a` and `b` are what it hangs on. */
#define CREATE(kind_, what_, f_, out_, a_, b_, ...) \
	do { \
		doca_error_t result_ = REAL(f_)(__VA_ARGS__); \
		if (result_ == DOCA_SUCCESS) \
			softdpu_check_created(kind_, what_, *(out_), a_, b_, PLACE); \
		else \
			softdpu_check_failed((int)result_, #f_, PLACE, a_, b_, NULL); \
		return result_; \
	} while (0)

#define DESTROY(f_, object_) \
	do { \
		doca_error_t result_; \
		softdpu_check_destroy(object_, #f_, PLACE); \
		result_ = REAL(f_)(object_); \
		softdpu_check_destroyed(object_, (int)result_, #f_, PLACE); \
		return result_; \
	} while (0)

/* What a call that failed was about. */
#define TELL(call_, result_, a_, b_, c_) \
	do { \
		if ((result_) != DOCA_SUCCESS) \
			softdpu_check_failed((int)(result_), call_, PLACE, a_, b_, c_); \
	} while (0)

/* A call on an object that changes nothing here. */
#define PASS(f_, object_, ...) \
	do { \
		doca_error_t result_ = REAL(f_)(__VA_ARGS__); \
		TELL(#f_, result_, object_, NULL, NULL); \
		return result_; \
	} while (0)

/* Devices */

doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
	CREATE(DEV, "device", doca_dev_open, dev, NULL, NULL, devinfo, dev);
}

doca_error_t doca_dev_close(struct doca_dev *dev)
{
	DESTROY(doca_dev_close, dev);
}

/* Progress engines */

doca_error_t doca_pe_create(struct doca_pe **pe)
{
	CREATE(PE, "progress engine", doca_pe_create, pe, NULL, NULL, pe);
}

doca_error_t doca_pe_destroy(struct doca_pe *pe)
{
	DESTROY(doca_pe_destroy, pe);
}

doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx)
{
	doca_error_t result;
	result = REAL(doca_pe_connect_ctx)(pe, ctx);
	if (result == DOCA_SUCCESS)
		softdpu_check_attached(ctx, pe, 1);
	TELL("doca_pe_connect_ctx", result, pe, ctx, NULL);
	return result;
}

uint8_t doca_pe_progress(struct doca_pe *pe)
{
	uint8_t moved;

	softdpu_check_progress(pe, "doca_pe_progress", PLACE);
	moved = REAL(doca_pe_progress)(pe);
	softdpu_check_progressed(pe, moved);
	return moved;
}

/* Contexts */

#define CONTEXT(engine_, type_, create_, destroy_) \
	doca_error_t create_(struct doca_dev *dev, struct type_ **out) \
	{ \
		CREATE(CTX, engine_ " context", create_, out, dev, NULL, dev, out); \
	} \
	doca_error_t destroy_(struct type_ *object) \
	{ \
		const struct doca_ctx *ctx = (const struct doca_ctx *)object; \
		enum doca_ctx_states state = DOCA_CTX_STATE_IDLE; \
		size_t inflight = 0; \
		if (REAL(doca_ctx_get_state)(ctx, &state) == DOCA_SUCCESS) \
			(void)REAL(doca_ctx_get_num_inflight_tasks)(ctx, &inflight); \
		softdpu_check_ctx_destroy(object, (int)state, inflight, #destroy_, PLACE); \
		DESTROY(destroy_, object); \
	}

CONTEXT("dma", doca_dma, doca_dma_create, doca_dma_destroy)
CONTEXT("sha", doca_sha, doca_sha_create, doca_sha_destroy)
CONTEXT("compress", doca_compress, doca_compress_create, doca_compress_destroy)
CONTEXT("aes_gcm", doca_aes_gcm, doca_aes_gcm_create, doca_aes_gcm_destroy)
CONTEXT("erasure_coding", doca_ec, doca_ec_create, doca_ec_destroy)

doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
	doca_error_t result;
	result = REAL(doca_ctx_start)(ctx);
	softdpu_check_ctx_start(ctx, (int)result, "doca_ctx_start", PLACE);
	return result;
}

doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
	PASS(doca_ctx_stop, ctx, ctx);
}

/* Memory maps */

doca_error_t doca_mmap_create(struct doca_mmap **mmap)
{
	CREATE(MMAP, "memory map", doca_mmap_create, mmap, NULL, NULL, mmap);
}

doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
					  size_t export_desc_len, struct doca_dev *dev, struct doca_mmap **mmap)
{
	doca_error_t result;
	result = REAL(doca_mmap_create_from_export)(user_data, export_desc, export_desc_len, dev, mmap);
	if (result == DOCA_SUCCESS) {
		softdpu_check_created(MMAP, "imported memory map", *mmap, dev, NULL, PLACE);
		softdpu_check_started(*mmap, 1);
	}
	TELL("doca_mmap_create_from_export", result, dev, NULL, NULL);
	return result;
}

doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
	DESTROY(doca_mmap_destroy, mmap);
}

doca_error_t doca_mmap_start(struct doca_mmap *mmap)
{
	doca_error_t result;
	result = REAL(doca_mmap_start)(mmap);
	if (result == DOCA_SUCCESS)
		softdpu_check_started(mmap, 1);
	TELL("doca_mmap_start", result, mmap, NULL, NULL);
	return result;
}

doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
	doca_error_t result;
	result = REAL(doca_mmap_stop)(mmap);
	if (result == DOCA_SUCCESS)
		softdpu_check_started(mmap, 0);
	TELL("doca_mmap_stop", result, mmap, NULL, NULL);
	return result;
}

doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result;
	result = REAL(doca_mmap_add_dev)(mmap, dev);
	if (result == DOCA_SUCCESS)
		softdpu_check_attached(mmap, dev, 1);
	TELL("doca_mmap_add_dev", result, mmap, dev, NULL);
	return result;
}

doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result = REAL(doca_mmap_rm_dev)(mmap, dev);

	if (result == DOCA_SUCCESS)
		softdpu_check_attached(mmap, dev, 0);
	TELL("doca_mmap_rm_dev", result, mmap, dev, NULL);
	return result;
}

doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask)
{
	doca_error_t result;
	result = REAL(doca_mmap_set_permissions)(mmap, access_mask);
	if (result == DOCA_SUCCESS)
		softdpu_check_permissions(mmap, access_mask);
	TELL("doca_mmap_set_permissions", result, mmap, NULL, NULL);
	return result;
}

doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
	PASS(doca_mmap_set_memrange, mmap, mmap, addr, len);
}

doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				  size_t *export_desc_len)
{
	doca_error_t result;
	result = REAL(doca_mmap_export_pci)(mmap, dev, export_desc, export_desc_len);
	softdpu_check_export(mmap, 1, (int)result, "doca_mmap_export_pci", PLACE);
	return result;
}

doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				   size_t *export_desc_len)
{
	doca_error_t result;
	result = REAL(doca_mmap_export_rdma)(mmap, dev, export_desc, export_desc_len);
	softdpu_check_export(mmap, 0, (int)result, "doca_mmap_export_rdma", PLACE);
	return result;
}

/* Inventories and buffers */

doca_error_t doca_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory)
{
	CREATE(INVENTORY, "inventory", doca_buf_inventory_create, inventory, NULL, NULL, num_elements, inventory);
}

doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory)
{
	DESTROY(doca_buf_inventory_destroy, inventory);
}

doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory)
{
	doca_error_t result;
	result = REAL(doca_buf_inventory_start)(inventory);
	if (result == DOCA_SUCCESS)
		softdpu_check_started(inventory, 1);
	TELL("doca_buf_inventory_start", result, inventory, NULL, NULL);
	return result;
}

doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory)
{
	doca_error_t result;
	result = REAL(doca_buf_inventory_stop)(inventory);
	if (result == DOCA_SUCCESS)
		softdpu_check_started(inventory, 0);
	TELL("doca_buf_inventory_stop", result, inventory, NULL, NULL);
	return result;
}

doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
						void *addr, size_t len, void *data, size_t data_len,
						struct doca_buf **buf)
{
	static const char call[] = "doca_buf_inventory_buf_get_by_args";
	doca_error_t result;
	void *map_addr = NULL;
	size_t map_len = 0;
	result = REAL(doca_buf_inventory_buf_get_by_args)(inventory, mmap, addr, len, data, data_len, buf);
	if (result == DOCA_SUCCESS) {
		softdpu_check_created(BUF, "buffer", *buf, inventory, mmap, PLACE);
		return result;
	}
	TELL(call, result, inventory, mmap, NULL);
	(void)REAL(doca_mmap_get_memrange)(mmap, &map_addr, &map_len);
	softdpu_check_no_buffer(inventory, mmap, (uintptr_t)addr, len, (uintptr_t)map_addr, map_len, (int)result, call,
				PLACE);
	return result;
}

doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory, const struct doca_buf *src_buf,
					struct doca_buf **dst_buf)
{
	static const char call[] = "doca_buf_inventory_buf_dup";
	struct doca_buf *at;
	doca_error_t result;
	result = REAL(doca_buf_inventory_buf_dup)(inventory, src_buf, dst_buf);
	if (result == DOCA_SUCCESS) {
		for (at = *dst_buf; at != NULL;) {
			struct doca_buf *next = NULL;

			softdpu_check_created(BUF, "buffer", at, inventory, NULL, PLACE);
			if (REAL(doca_buf_get_next_in_list)(at, &next) != DOCA_SUCCESS)
				break;
			at = next;
		}
	}
	TELL(call, result, inventory, src_buf, NULL);
	return result;
}

doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	PASS(doca_buf_inc_refcount, buf, buf, refcount);
}

/* The last reference of a head gives the whole list back. */
doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	static const char call[] = "doca_buf_dec_refcount";
	uint16_t before = 0;
	doca_error_t result;

	if (REAL(doca_buf_get_refcount)(buf, &before) == DOCA_SUCCESS && before == 1) {
		struct doca_buf *list[64], *next = buf;
		size_t count = 0, i;

		while (next != NULL && count < sizeof(list) / sizeof(list[0])) {
			list[count++] = next;
			if (REAL(doca_buf_get_next_in_list)(list[count - 1], &next) != DOCA_SUCCESS)
				break;
		}
		softdpu_check_destroy(buf, call, PLACE);
		result = REAL(doca_buf_dec_refcount)(buf, refcount);
		for (i = 0; result == DOCA_SUCCESS && i < count; i++)
			softdpu_check_destroyed(list[i], (int)result, call, PLACE);
		/* Longer lists: the rest, which can no longer be walked, is looked up by nobody. */
	} else {
		result = REAL(doca_buf_dec_refcount)(buf, refcount);
		if (result != DOCA_SUCCESS) {
			softdpu_check_destroyed(buf, (int)result, call, PLACE);
			return result;
		}
	}
	TELL(call, result, buf, NULL, NULL);
	return result;
}

/* Buffer pools */

doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size, const struct doca_mmap *mmap,
				  struct doca_buf_pool **buf_pool)
{
	CREATE(POOL, "buffer pool", doca_buf_pool_create, buf_pool, mmap, NULL, num_elements, element_size, mmap,
	       buf_pool);
}

doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool)
{
	DESTROY(doca_buf_pool_destroy, buf_pool);
}

doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf)
{
	CREATE(BUF, "buffer", doca_buf_pool_buf_alloc, buf, buf_pool, NULL, buf_pool, buf);
}

/* Tasks */

static void look_at(const struct doca_buf *buf, struct look *look)
{
	struct doca_buf *at = (struct doca_buf *)(uintptr_t)buf;
	void *head = NULL, *data = NULL;
	size_t len = 0, data_len = 0;

	look->buf = NULL;
	look->data = 0;
	look->room = 0;
	while (at != NULL) {
		struct doca_buf *next = NULL;

		if (REAL(doca_buf_get_head)(at, &head) != DOCA_SUCCESS ||
		    REAL(doca_buf_get_len)(at, &len) != DOCA_SUCCESS ||
		    REAL(doca_buf_get_data)(at, &data) != DOCA_SUCCESS ||
		    REAL(doca_buf_get_data_len)(at, &data_len) != DOCA_SUCCESS)
			return;
		if (look->buf == NULL) {
			look->buf = buf;
			look->head = (uintptr_t)head;
			look->len = len;
			look->begin = (uintptr_t)data;
			look->first = data_len;
			look->tail = (uintptr_t)data + data_len;
		}
		look->data += data_len;
		look->room += (uintptr_t)head + len - ((uintptr_t)data + data_len);
		if (REAL(doca_buf_get_next_in_list)(at, &next) != DOCA_SUCCESS)
			return;
		at = next;
	}
}

static void before_submit(struct doca_task *task, const char *call, uintptr_t place)
{
	const void *src = NULL, *dst = NULL, *ctx = NULL;
	struct look from = {.buf = NULL}, to = {.buf = NULL};
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	int known = 0;

	softdpu_check_task_buffers(task, &src, &dst, &ctx, &known);
	if (known) {
		(void)REAL(doca_ctx_get_state)((const struct doca_ctx *)ctx, &state);
		if (src != NULL)
			look_at((const struct doca_buf *)src, &from);
		if (dst != NULL)
			look_at((const struct doca_buf *)dst, &to);
	}
	softdpu_check_submit(task, (int)state, &from, &to, call, place);
}

#define SUBMIT(f_, ...) \
	do { \
		doca_error_t result_; \
		before_submit(task, #f_, PLACE); \
		result_ = REAL(f_)(__VA_ARGS__); \
		softdpu_check_submitted(task, (int)result_, #f_, PLACE); \
		return result_; \
	} while (0)

doca_error_t doca_task_submit(struct doca_task *task)
{
	SUBMIT(doca_task_submit, task);
}

doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags)
{
	SUBMIT(doca_task_submit_ex, task, flags);
}

doca_error_t doca_task_try_submit(struct doca_task *task)
{
	SUBMIT(doca_task_try_submit, task);
}

void doca_task_free(struct doca_task *task)
{
	softdpu_check_free(task, "doca_task_free", PLACE);
	REAL(doca_task_free)(task);
}

/*
 * One kind of task: the program's callbacks are kept with the context, and each task is told from where it comes.
 * Completions go by way of these two, so that a task is known to be the program's again before its callback runs.
 */
#define CALLBACKS(name_, task_) \
	static void name_##_good(struct task_ *task, union doca_data user, union doca_data ctx_user) \
	{ \
		void (*call)(struct task_ *, union doca_data, union doca_data) = \
			(void (*)(struct task_ *, union doca_data, union doca_data))(uintptr_t)softdpu_check_done(task, 1); \
		if (call != NULL) \
			call(task, user, ctx_user); \
		softdpu_check_done_end(); \
	} \
	static void name_##_bad(struct task_ *task, union doca_data user, union doca_data ctx_user) \
	{ \
		void (*call)(struct task_ *, union doca_data, union doca_data) = \
			(void (*)(struct task_ *, union doca_data, union doca_data))(uintptr_t)softdpu_check_done(task, 0); \
		if (call != NULL) \
			call(task, user, ctx_user); \
		softdpu_check_done_end(); \
	}

CALLBACKS(sha, doca_sha_task_hash)

/* The first of the buffers that is none any more; tasks are made over any two. */
static const void *dead_one(const struct doca_buf *src, const struct doca_buf *dst)
{
	uint16_t count;

	if (REAL(doca_buf_get_refcount)(src, &count) != DOCA_SUCCESS)
		return src;
	return REAL(doca_buf_get_refcount)(dst, &count) != DOCA_SUCCESS ? dst : NULL;
}

doca_error_t doca_sha_task_hash_set_conf(struct doca_sha *sha, doca_sha_task_hash_completion_cb_t good,
					 doca_sha_task_hash_completion_cb_t bad, uint8_t log_num_tasks)
{
	doca_error_t result = REAL(doca_sha_task_hash_set_conf)(sha, good != NULL ? sha_good : NULL,
								bad != NULL ? sha_bad : NULL, log_num_tasks);

	if (result == DOCA_SUCCESS)
		softdpu_check_pool(sha, "hash", 1u << log_num_tasks, (const void *)(uintptr_t)good,
				   (const void *)(uintptr_t)bad);
	TELL("doca_sha_task_hash_set_conf", result, sha, NULL, NULL);
	return result;
}

doca_error_t doca_sha_task_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
					   struct doca_buf const *src_buf, struct doca_buf *dst_buf,
					   union doca_data user_data, struct doca_sha_task_hash **task)
{
	static const char call[] = "doca_sha_task_hash_alloc_init";
	doca_error_t result = REAL(doca_sha_task_hash_alloc_init)(sha, algorithm, src_buf, dst_buf, user_data, task);

	if (result == DOCA_SUCCESS)
		softdpu_check_task(sha, "hash", *task, src_buf, dst_buf, dead_one(src_buf, dst_buf), call, PLACE);
	else
		softdpu_check_no_task(sha, "hash", (int)result, call, PLACE);
	TELL(call, result, sha, src_buf, dst_buf);
	return result;
}

doca_error_t doca_sha_task_hash_set_src(struct doca_sha_task_hash *task, struct doca_buf const *src_buf)
{
	doca_error_t result = REAL(doca_sha_task_hash_set_src)(task, src_buf);

	if (result == DOCA_SUCCESS)
		softdpu_check_task_set(task, src_buf, NULL);
	TELL("doca_sha_task_hash_set_src", result, task, src_buf, NULL);
	return result;
}

doca_error_t doca_sha_task_hash_set_dst(struct doca_sha_task_hash *task, struct doca_buf *dst_buf)
{
	doca_error_t result = REAL(doca_sha_task_hash_set_dst)(task, dst_buf);

	if (result == DOCA_SUCCESS)
		softdpu_check_task_set(task, NULL, dst_buf);
	TELL("doca_sha_task_hash_set_dst", result, task, dst_buf, NULL);
	return result;
}

/* The kinds of tasks that are alike: callbacks, pool, and the two buffers that can be replaced. */
#define TASKS(tag_, engine_, task_, set_src_, set_dst_) \
	CALLBACKS(task_, task_) \
	doca_error_t task_##_set_conf(struct engine_ *engine, task_##_completion_cb_t good, task_##_completion_cb_t bad, \
				      uint32_t tasks) \
	{ \
		doca_error_t result = REAL(task_##_set_conf)(engine, good != NULL ? task_##_good : NULL, \
							     bad != NULL ? task_##_bad : NULL, tasks); \
		if (result == DOCA_SUCCESS) \
			softdpu_check_pool(engine, tag_, tasks, (const void *)(uintptr_t)good, \
					   (const void *)(uintptr_t)bad); \
		TELL(#task_ "_set_conf", result, engine, NULL, NULL); \
		return result; \
	} \
	void set_src_(struct task_ *task, const struct doca_buf *src) \
	{ \
		softdpu_check_task_set(task, src, NULL); \
		REAL(set_src_)(task, src); \
	} \
	void set_dst_(struct task_ *task, struct doca_buf *dst) \
	{ \
		softdpu_check_task_set(task, NULL, dst); \
		REAL(set_dst_)(task, dst); \
	}

/* How one is allocated: its parameters, which name `src`, `dst` and `task`, and the same as arguments. */
#define ALLOCATE(tag_, f_, engine_, parameters_, arguments_) \
	doca_error_t f_ parameters_ \
	{ \
		doca_error_t result = REAL(f_) arguments_; \
		if (result == DOCA_SUCCESS) \
			softdpu_check_task(engine_, tag_, *task, src, dst, dead_one(src, dst), #f_, PLACE); \
		else \
			softdpu_check_no_task(engine_, tag_, (int)result, #f_, PLACE); \
		TELL(#f_, result, engine_, src, dst); \
		return result; \
	}

TASKS("memcpy", doca_dma, doca_dma_task_memcpy, doca_dma_task_memcpy_set_src, doca_dma_task_memcpy_set_dst)
ALLOCATE("memcpy", doca_dma_task_memcpy_alloc_init, dma,
	 (struct doca_dma *dma, const struct doca_buf *src, struct doca_buf *dst, union doca_data user,
	  struct doca_dma_task_memcpy **task),
	 (dma, src, dst, user, task))

TASKS("compress", doca_compress, doca_compress_task_compress_deflate, doca_compress_task_compress_deflate_set_src,
      doca_compress_task_compress_deflate_set_dst)
ALLOCATE("compress", doca_compress_task_compress_deflate_alloc_init, compress,
	 (struct doca_compress *compress, const struct doca_buf *src, struct doca_buf *dst, union doca_data user,
	  struct doca_compress_task_compress_deflate **task),
	 (compress, src, dst, user, task))

TASKS("decompress", doca_compress, doca_compress_task_decompress_deflate,
      doca_compress_task_decompress_deflate_set_src, doca_compress_task_decompress_deflate_set_dst)
ALLOCATE("decompress", doca_compress_task_decompress_deflate_alloc_init, compress,
	 (struct doca_compress *compress, const struct doca_buf *src, struct doca_buf *dst, union doca_data user,
	  struct doca_compress_task_decompress_deflate **task),
	 (compress, src, dst, user, task))

TASKS("LZ4 stream", doca_compress, doca_compress_task_decompress_lz4_stream,
      doca_compress_task_decompress_lz4_stream_set_src, doca_compress_task_decompress_lz4_stream_set_dst)
ALLOCATE("LZ4 stream", doca_compress_task_decompress_lz4_stream_alloc_init, compress,
	 (struct doca_compress *compress, uint8_t has_block_checksum, uint8_t are_blocks_independent,
	  const struct doca_buf *src, struct doca_buf *dst, union doca_data user,
	  struct doca_compress_task_decompress_lz4_stream **task),
	 (compress, has_block_checksum, are_blocks_independent, src, dst, user, task))

TASKS("LZ4 block", doca_compress, doca_compress_task_decompress_lz4_block,
      doca_compress_task_decompress_lz4_block_set_src, doca_compress_task_decompress_lz4_block_set_dst)
ALLOCATE("LZ4 block", doca_compress_task_decompress_lz4_block_alloc_init, compress,
	 (struct doca_compress *compress, const struct doca_buf *src, struct doca_buf *dst, union doca_data user,
	  struct doca_compress_task_decompress_lz4_block **task),
	 (compress, src, dst, user, task))

TASKS("encrypt", doca_aes_gcm, doca_aes_gcm_task_encrypt, doca_aes_gcm_task_encrypt_set_src,
      doca_aes_gcm_task_encrypt_set_dst)
ALLOCATE("encrypt", doca_aes_gcm_task_encrypt_alloc_init, aes_gcm,
	 (struct doca_aes_gcm *aes_gcm, const struct doca_buf *src, struct doca_buf *dst, struct doca_aes_gcm_key *key,
	  const uint8_t *iv, uint32_t iv_length, uint32_t tag_size, uint32_t aad_size, union doca_data user,
	  struct doca_aes_gcm_task_encrypt **task),
	 (aes_gcm, src, dst, key, iv, iv_length, tag_size, aad_size, user, task))

TASKS("decrypt", doca_aes_gcm, doca_aes_gcm_task_decrypt, doca_aes_gcm_task_decrypt_set_src,
      doca_aes_gcm_task_decrypt_set_dst)
ALLOCATE("decrypt", doca_aes_gcm_task_decrypt_alloc_init, aes_gcm,
	 (struct doca_aes_gcm *aes_gcm, const struct doca_buf *src, struct doca_buf *dst, struct doca_aes_gcm_key *key,
	  const uint8_t *iv, uint32_t iv_length, uint32_t tag_size, uint32_t aad_size, union doca_data user,
	  struct doca_aes_gcm_task_decrypt **task),
	 (aes_gcm, src, dst, key, iv, iv_length, tag_size, aad_size, user, task))

TASKS("galois multiplication", doca_ec, doca_ec_task_galois_mul, doca_ec_task_galois_mul_set_src_buf,
      doca_ec_task_galois_mul_set_dst_buf)
ALLOCATE("galois multiplication", doca_ec_task_galois_mul_allocate_init, ec,
	 (struct doca_ec *ec, const struct doca_ec_matrix *matrix, const struct doca_buf *src, struct doca_buf *dst,
	  union doca_data user, struct doca_ec_task_galois_mul **task),
	 (ec, matrix, src, dst, user, task))

TASKS("redundancy", doca_ec, doca_ec_task_create, doca_ec_task_create_set_original_data_blocks,
      doca_ec_task_create_set_rdnc_blocks)
ALLOCATE("redundancy", doca_ec_task_create_allocate_init, ec,
	 (struct doca_ec *ec, const struct doca_ec_matrix *matrix, const struct doca_buf *src, struct doca_buf *dst,
	  union doca_data user, struct doca_ec_task_create **task),
	 (ec, matrix, src, dst, user, task))

TASKS("update", doca_ec, doca_ec_task_update, doca_ec_task_update_set_original_updated_and_rdnc_blocks,
      doca_ec_task_update_set_updated_rdnc_blocks)
ALLOCATE("update", doca_ec_task_update_allocate_init, ec,
	 (struct doca_ec *ec, const struct doca_ec_matrix *matrix, const struct doca_buf *src, struct doca_buf *dst,
	  union doca_data user, struct doca_ec_task_update **task),
	 (ec, matrix, src, dst, user, task))

TASKS("recovery", doca_ec, doca_ec_task_recover, doca_ec_task_recover_set_available_blocks,
      doca_ec_task_recover_set_recovered_data_blocks)
ALLOCATE("recovery", doca_ec_task_recover_allocate_init, ec,
	 (struct doca_ec *ec, const struct doca_ec_matrix *matrix, const struct doca_buf *src, struct doca_buf *dst,
	  union doca_data user, struct doca_ec_task_recover **task),
	 (ec, matrix, src, dst, user, task))
