/*
 * The functions that a checked program calls in place of the library's: each tells the checker what is about to happen,
 * calls the library, and tells what came of it. They are in C because only C has the address they were called from, and
 * because the compiler holds them to the very headers that programs use.
 *
 * Nothing is decided here; src/hooks.rs is the other end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

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

#include "shim.h"

__thread struct mine mine;

/* In a child of fork, whose thread has a number of its own. */
void softdpu_check_renew(void)
{
	mine.number = (int)gettid();
}
struct pump nowhere;

/* The library's own function of a name. */
void *softdpu_check_find(const char *name)
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

/* Where the code of the library lies. */
struct span {
	uintptr_t known, begin, end;
};

static int spans(struct dl_phdr_info *object, size_t size, void *data)
{
	struct span *span = data;
	int i, found = 0;

	(void)size;
	for (i = 0; i < object->dlpi_phnum; i++) {
		uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
		uintptr_t end = begin + object->dlpi_phdr[i].p_memsz;

		if (object->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		found |= begin <= span->known && span->known < end;
		span->begin = span->begin == 0 || begin < span->begin ? begin : span->begin;
		span->end = end > span->end ? end : span->end;
	}
	if (!found)
		span->begin = span->end = 0;
	return found;
}

int softdpu_check_is_library(uintptr_t place)
{
	static _Atomic uintptr_t begin, end;

	if (end == 0) {
		struct span span = {.known = (uintptr_t)REAL(doca_dev_open)};

		(void)dl_iterate_phdr(spans, &span);
		begin = span.begin;
		end = span.end;
	}
	return begin <= place && place < end;
}

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

/* Devices */

doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
	CREATE(DEV, "device", doca_dev_open, dev, NULL, NULL, devinfo, dev);
}

doca_error_t doca_dev_close(struct doca_dev *dev)
{
	DESTROY(doca_dev_close, dev);
}

doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter, struct doca_devinfo_rep ***list,
					  uint32_t *count)
{
	doca_error_t result = REAL(doca_devinfo_rep_create_list)(dev, filter, list, count);
	uint32_t i;

	for (i = 0; result == DOCA_SUCCESS && i < *count; i++)
		softdpu_check_rep_listed((*list)[i], dev);
	TELL("doca_devinfo_rep_create_list", result, dev, NULL, NULL);
	return result;
}

doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *record, struct doca_dev_rep **rep)
{
	CREATE(REP, "representor", doca_dev_rep_open, rep, softdpu_check_rep_dev(record), NULL, record, rep);
}

doca_error_t doca_dev_rep_close(struct doca_dev_rep *rep)
{
	DESTROY(doca_dev_rep_close, rep);
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

CALL(doca_pe_connect_ctx, (struct doca_pe *pe, struct doca_ctx *ctx), (pe, ctx),
     softdpu_check_attached(ctx, pe, 1), pe, ctx, NULL)

/* Another engine than last time, or none. */
static __attribute__((noinline, cold)) struct pump *look_up(const struct doca_pe *pe)
{
	struct pump *pump = softdpu_check_pump(pe);

	(void)inside(&mine);
	mine.pe = pump != NULL ? pe : NULL;
	mine.pump = pump;
	return pump;
}

/* Somebody is inside already: the library is asked all the same. */
static __attribute__((noinline, cold)) uint8_t intrude(struct doca_pe *pe, const struct pump *pump, uintptr_t place)
{
	if (pump != NULL)
		softdpu_check_intruder(pump, place, me());
	return REAL(doca_pe_progress)(pe);
}

uint8_t doca_pe_progress(struct doca_pe *pe)
{
	struct mine *own = at_hand();
	struct pump *pump = __builtin_expect(own->pe == pe, 1) ? own->pump : look_up(pe);
	struct pump *outer = own->inside;
	int nobody = 0;
	uint8_t moved;

	if (__builtin_expect(pump == NULL || !atomic_compare_exchange_strong_explicit(
						     &pump->owner, &nobody, own->number, memory_order_relaxed,
						     memory_order_relaxed),
			     0))
		return intrude(pe, pump, PLACE);
	count(&pump->calls);
	atomic_store_explicit(&pump->place, PLACE, memory_order_relaxed);
	own->inside = pump;
	moved = REAL(doca_pe_progress)(pe);
	own->inside = outer;
	atomic_store_explicit(&pump->owner, 0, memory_order_relaxed);
	return moved;
}

CALL(doca_pe_request_notification, (struct doca_pe *pe), (pe), softdpu_check_armed(pe, 2, PLACE), pe, NULL, NULL)

CALL(doca_pe_clear_notification, (struct doca_pe *pe, doca_notification_handle_t handle), (pe, handle),
     softdpu_check_armed(pe, 1, PLACE), pe, NULL, NULL)

CALL(doca_pe_get_notification_handle, (const struct doca_pe *pe, doca_notification_handle_t *handle), (pe, handle),
     softdpu_check_armed(pe, 0, PLACE), pe, NULL, NULL)

CALL(doca_pe_set_event_mode, (struct doca_pe *pe, enum doca_pe_event_mode mode), (pe, mode),
     softdpu_check_event_mode(pe, mode == DOCA_PE_EVENT_MODE_PROGRESS_ALL), pe, NULL, NULL)

/* Contexts */

/* The kinds of tasks of an engine have one limit. Compression knows cards that only decompress. */
LIMITED_CONTEXT("dma", doca_dma, doca_dma_create, doca_dma_destroy, doca_dma_cap_task_memcpy_get_max_buf_size)
LIMITED_CONTEXT("sha", doca_sha, doca_sha_create, doca_sha_destroy, doca_sha_cap_get_max_src_buf_size)
LIMITED_CONTEXT("compress", doca_compress, doca_compress_create, doca_compress_destroy,
		doca_compress_cap_task_decompress_deflate_get_max_buf_size)
LIMITED_CONTEXT("aes_gcm", doca_aes_gcm, doca_aes_gcm_create, doca_aes_gcm_destroy,
		doca_aes_gcm_cap_task_encrypt_get_max_buf_size)
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
	doca_error_t result = REAL(doca_ctx_stop)(ctx);

	softdpu_check_children(ctx, (int)result, "doca_ctx_stop", PLACE);
	TELL("doca_ctx_stop", result, ctx, NULL, NULL);
	return result;
}

EVENT(on_state, STATE,
      (const union doca_data user, struct doca_ctx *ctx, enum doca_ctx_states before, enum doca_ctx_states now),
      (user, ctx, before, now), ctx, (void)0)

doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx, doca_ctx_state_changed_callback_t call)
{
	doca_error_t result = REAL(doca_ctx_set_state_changed_cb)(ctx, call != NULL ? on_state : NULL);

	if (result == DOCA_SUCCESS)
		LISTEN(ctx, STATE, call);
	TELL("doca_ctx_set_state_changed_cb", result, ctx, NULL, NULL);
	return result;
}

/* Memory maps */

doca_error_t doca_mmap_create(struct doca_mmap **mmap)
{
	CREATE(MMAP, "memory map", doca_mmap_create, mmap, NULL, NULL, mmap);
}

doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
					  size_t export_desc_len, struct doca_dev *dev, struct doca_mmap **mmap)
{
	static const char call[] = "doca_mmap_create_from_export";
	doca_error_t result = REAL(doca_mmap_create_from_export)(user_data, export_desc, export_desc_len, dev, mmap);

	if (result == DOCA_SUCCESS) {
		softdpu_check_created(MMAP, "imported memory map", *mmap, dev, NULL, PLACE);
		softdpu_check_started(*mmap, 1);
	} else {
		softdpu_check_import(dev, (int)result, call, PLACE);
	}
	TELL(call, result, dev, NULL, NULL);
	return result;
}

/* The program's own function that gives the memory back runs inside: no map is over it any more then. */
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
	uint32_t born = softdpu_check_destroy(mmap, "doca_mmap_destroy", PLACE);
	doca_error_t result;

	softdpu_check_lifted(mmap, 1);
	result = REAL(doca_mmap_destroy)(mmap);
	softdpu_check_lifted(mmap, 0);
	softdpu_check_destroyed(mmap, born, (int)result, "doca_mmap_destroy", PLACE);
	return result;
}

CALL(doca_mmap_start, (struct doca_mmap *mmap), (mmap), softdpu_check_started(mmap, 1), mmap, NULL, NULL)

CALL(doca_mmap_stop, (struct doca_mmap *mmap), (mmap), softdpu_check_started(mmap, 0), mmap, NULL, NULL)

CALL(doca_mmap_add_dev, (struct doca_mmap *mmap, struct doca_dev *dev), (mmap, dev),
     softdpu_check_attached(mmap, dev, 1), mmap, dev, NULL)

CALL(doca_mmap_rm_dev, (struct doca_mmap *mmap, struct doca_dev *dev), (mmap, dev),
     softdpu_check_attached(mmap, dev, 0), mmap, dev, NULL)

CALL(doca_mmap_set_permissions, (struct doca_mmap *mmap, uint32_t access_mask), (mmap, access_mask),
     softdpu_check_permissions(mmap, access_mask), mmap, NULL, NULL)

doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
	doca_error_t result = REAL(doca_mmap_set_memrange)(mmap, addr, len);

	if (result == DOCA_SUCCESS)
		softdpu_check_range(mmap, addr, len);
	softdpu_check_ranged(mmap, (int)result, "doca_mmap_set_memrange", PLACE);
	return result;
}

doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr, size_t offset, size_t len)
{
	doca_error_t result = REAL(doca_mmap_set_dmabuf_memrange)(mmap, dmabuf_fd, addr, offset, len);

	softdpu_check_ranged(mmap, (int)result, "doca_mmap_set_dmabuf_memrange", PLACE);
	return result;
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

void softdpu_check_new_buffer(const struct doca_buf *buf)
{
	void *head = NULL, *data = NULL;
	size_t len = 0;

	if (REAL(doca_buf_get_head)(buf, &head) == DOCA_SUCCESS && REAL(doca_buf_get_len)(buf, &len) == DOCA_SUCCESS &&
	    REAL(doca_buf_get_data)(buf, &data) == DOCA_SUCCESS)
		softdpu_check_window(buf, head, len, data);
}

doca_error_t doca_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory)
{
	CREATE(INVENTORY, "inventory", doca_buf_inventory_create, inventory, NULL, NULL, num_elements, inventory);
}

doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory)
{
	DESTROY(doca_buf_inventory_destroy, inventory);
}

CALL(doca_buf_inventory_start, (struct doca_buf_inventory *inventory), (inventory),
     softdpu_check_started(inventory, 1), inventory, NULL, NULL)

CALL(doca_buf_inventory_stop, (struct doca_buf_inventory *inventory), (inventory),
     softdpu_check_started(inventory, 0), inventory, NULL, NULL)

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
		softdpu_check_window(*buf, addr, len, data);
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
			softdpu_check_new_buffer(at);
			softdpu_check_listed(at, NULL);
			if (REAL(doca_buf_get_next_in_list)(at, &next) != DOCA_SUCCESS)
				break;
			at = next;
		}
	}
	TELL(call, result, inventory, src_buf, NULL);
	return result;
}

CALL(doca_buf_set_data, (struct doca_buf *buf, void *data, size_t data_len), (buf, data, data_len),
     softdpu_check_data(buf, data, me()), buf, NULL, NULL)

CALL(doca_buf_chain_list, (struct doca_buf *list1, struct doca_buf *list2), (list1, list2),
     softdpu_check_listed(list1, list2), list1, list2, NULL)

CALL(doca_buf_chain_list_tail, (struct doca_buf *list1_head, struct doca_buf *list1_tail, struct doca_buf *list2), (list1_head, list1_tail, list2),
     softdpu_check_listed(list1_head, list2), list1_head, list1_tail, list2)

CALL(doca_buf_inc_refcount, (struct doca_buf *buf, uint16_t *refcount), (buf, refcount), (void)0, buf, NULL, NULL)

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
		(void)softdpu_check_destroy(buf, call, PLACE);
		result = REAL(doca_buf_dec_refcount)(buf, refcount);
		for (i = 0; result == DOCA_SUCCESS && i < count; i++)
			softdpu_check_destroyed(list[i], 0, (int)result, call, PLACE);
		/* Longer lists: the rest, which can no longer be walked, is looked up by nobody. */
	} else {
		result = REAL(doca_buf_dec_refcount)(buf, refcount);
		if (result != DOCA_SUCCESS) {
			softdpu_check_destroyed(buf, 0, (int)result, call, PLACE);
			return result;
		}
	}
	TELL(call, result, buf, NULL, NULL);
	return result;
}

/* The textbook's way to give one back; its header would rename others. */
doca_error_t softdpu_primer_buf_destroy(struct doca_buf *buf);
doca_error_t softdpu_primer_buf_destroy(struct doca_buf *buf)
{
	DESTROY(softdpu_primer_buf_destroy, buf);
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
	doca_error_t result = REAL(doca_buf_pool_buf_alloc)(buf_pool, buf);

	if (result == DOCA_SUCCESS) {
		softdpu_check_created(BUF, "buffer", *buf, buf_pool, NULL, PLACE);
		softdpu_check_new_buffer(*buf);
	}
	TELL("doca_buf_pool_buf_alloc", result, buf_pool, NULL, NULL);
	return result;
}

/* Tasks */

static void look_at(const struct doca_buf *buf, struct look *look)
{
	struct doca_buf *at = (struct doca_buf *)(uintptr_t)buf;

	*look = (struct look){.unknown = 1};
	while (at != NULL) {
		struct doca_buf *next = NULL;
		void *head = NULL, *data = NULL;
		size_t len = 0, data_len = 0;

		if (REAL(doca_buf_get_head)(at, &head) != DOCA_SUCCESS ||
		    REAL(doca_buf_get_len)(at, &len) != DOCA_SUCCESS ||
		    REAL(doca_buf_get_data)(at, &data) != DOCA_SUCCESS ||
		    REAL(doca_buf_get_data_len)(at, &data_len) != DOCA_SUCCESS)
			return;
		if (at == buf) {
			look->head = (uintptr_t)head;
			look->len = len;
			look->begin = (uintptr_t)data;
			look->first = data_len;
		}
		look->data += data_len;
		look->room += (uintptr_t)head + len - ((uintptr_t)data + data_len);
		if (REAL(doca_buf_get_next_in_list)(at, &next) != DOCA_SUCCESS)
			return;
		at = next;
	}
	look->unknown = 0;
}

/* The getter is found when it is called first. */
static struct library library;

static doca_error_t data_len_of(const struct doca_buf *buf, size_t *data_len)
{
	library.data_len = REAL(doca_buf_get_data_len);
	return library.data_len(buf, data_len);
}

static struct library library = {.data_len = data_len_of, .list = look_at};

/* What came of a submit that the library refused. */
static __attribute__((noinline)) void refused(struct doca_task *task, doca_error_t result, const char *call,
					      uintptr_t place)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	struct doca_ctx *ctx;

	/* Of a task that is none any more nothing is asked. */
	if (result == DOCA_ERROR_BAD_STATE) {
		ctx = REAL(doca_task_get_ctx)(task);
		if (ctx != NULL)
			(void)REAL(doca_ctx_get_state)(ctx, &state);
	}
	softdpu_check_submitted(task, (int)result, (int)state, call, place);
}

#define SUBMIT(f_, ...) \
	do { \
		doca_error_t result_; \
		softdpu_check_submit(task, &library, PLACE, me()); \
		result_ = REAL(f_)(__VA_ARGS__); \
		if (__builtin_expect(result_ != DOCA_SUCCESS, 0)) \
			refused(task, result_, #f_, PLACE); \
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

/* A batch is looked at as one task; its members are its engine's. */
static __attribute__((noinline)) doca_error_t batch(struct doca_task_batch *task, const char *call, uintptr_t place,
						    doca_error_t (*submit)(struct doca_task_batch *))
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	struct doca_ctx *ctx;
	doca_error_t result;

	softdpu_check_submit(task, &library, place, me());
	result = submit(task);
	if (result == DOCA_SUCCESS)
		return result;
	ctx = result == DOCA_ERROR_BAD_STATE ? REAL(doca_task_batch_get_ctx)(task) : NULL;
	if (ctx != NULL)
		(void)REAL(doca_ctx_get_state)(ctx, &state);
	softdpu_check_submitted(task, (int)result, (int)state, call, place);
	return result;
}

doca_error_t doca_task_batch_submit(struct doca_task_batch *task)
{
	return batch(task, "doca_task_batch_submit", PLACE, REAL(doca_task_batch_submit));
}

doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task)
{
	return batch(task, "doca_task_batch_try_submit", PLACE, REAL(doca_task_batch_try_submit));
}

void doca_task_batch_free(struct doca_task_batch *task)
{
	softdpu_check_free(task, "doca_task_batch_free", PLACE);
	REAL(doca_task_batch_free)(task);
}

/* A task with a source and a destination. */
#define ALLOCATE(tag_, f_, engine_, parameters_, arguments_) \
	ALLOCATED(tag_, f_, engine_, src, dst, parameters_, arguments_, (void)0)

CALLBACKS(sha, doca_sha_task_hash)

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

ALLOCATE("hash", doca_sha_task_hash_alloc_init, sha,
	 (struct doca_sha *sha, enum doca_sha_algorithm algorithm, struct doca_buf const *src, struct doca_buf *dst,
	  union doca_data user, struct doca_sha_task_hash **task),
	 (sha, algorithm, src, dst, user, task))

CALL(doca_sha_task_hash_set_src, (struct doca_sha_task_hash *task, struct doca_buf const *src_buf), (task, src_buf),
     softdpu_check_task_set(task, src_buf, NULL), task, src_buf, NULL)

CALL(doca_sha_task_hash_set_dst, (struct doca_sha_task_hash *task, struct doca_buf *dst_buf), (task, dst_buf),
     softdpu_check_task_set(task, NULL, dst_buf), task, dst_buf, NULL)

/* The kinds of tasks that are alike: callbacks, pool, and the two buffers that can be replaced. */
#define TASKS(tag_, engine_, task_, set_src_, set_dst_) \
	CALLBACKS(task_, task_) \
	POOL_OF(tag_, task_, task_##_set_conf, engine_, task_##_completion_cb_t) \
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
