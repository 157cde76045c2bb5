/*
 * Every entry point that takes a handle, given handles of every other kind, alive and dead, and plain
 * memory of the program: refused with one record in the log, never a crash, and nobody is harmed.
 *
 * clauses: handle rules of all families (wrong kind, destroyed: INVALID_VALUE)
 * covers: @
 */
#define _GNU_SOURCE
#include <doca_buf_array.h>
#include <doca_buf_pool.h>

#include "capture.h"
#include "rig.h"

enum kind { MEMORY, INFO, DEV, REP_INFO, REP, MAP, INV, BUF, POOL, PE, DMA, TASK, ARRAY, KINDS };

static void *live[KINDS], *dead[KINDS];
static struct doca_devinfo **infos[2]; /* of the living, of the dead */
static struct doca_devinfo_rep **rep_infos[2];
static struct rig rig, holder; /* the second only owns the tasks */

/* One refusal, one record that names the object. */
static void refused(const char *what, const void *handle, doca_error_t result)
{
	char object[24];

	if (result != DOCA_ERROR_INVALID_VALUE)
		check_fail(__FILE__, __LINE__, "%s: expected DOCA_ERROR_INVALID_VALUE, got %s", what,
			   doca_error_get_name(result));
	snprintf(object, sizeof(object), "0x%" PRIxPTR, (uintptr_t)handle);
	if (capture_count != 1 || strstr(capture_text, object) == NULL)
		check_fail(__FILE__, __LINE__, "%s: %u records: %s", what, capture_count, capture_text);
}

/* The handle `p` is none of kind `kind_`, alive: the call is refused. */
#define NOT_A(kind_, call) \
	do { \
		if (alive == 0 || kind != (kind_)) { \
			capture_clear(); \
			refused(#call, p, call); \
		} \
	} while (0)

static void devices(void *p, enum kind kind, int alive)
{
	struct doca_devinfo_rep **none = NULL;
	void *out = NULL;
	char text[256];
	uint8_t flag;
	uint16_t id;
	uint32_t number;
	uint64_t rate;

	if (kind != DEV && kind != INFO) { /* an open device is a devinfo in other clothes */
		NOT_A(INFO, doca_dev_open(p, (struct doca_dev **)&out));
		NOT_A(INFO, doca_devinfo_get_pci_addr_str(p, text));
		NOT_A(INFO, doca_devinfo_is_equal_pci_addr(p, "03:00.0", &flag));
		NOT_A(INFO, doca_devinfo_get_iface_name(p, text, 256));
		NOT_A(INFO, doca_devinfo_get_ibdev_name(p, text, 256));
		NOT_A(INFO, doca_devinfo_get_ipv4_addr(p, (uint8_t *)text, 4));
		NOT_A(INFO, doca_devinfo_get_ipv6_addr(p, (uint8_t *)text, 16));
		NOT_A(INFO, doca_devinfo_get_mac_addr(p, (uint8_t *)text, 6));
		NOT_A(INFO, doca_devinfo_get_vhca_id(p, &id));
		NOT_A(INFO, doca_devinfo_get_iface_index(p, &number));
		NOT_A(INFO, doca_devinfo_get_active_rate(p, &rate));
		NOT_A(INFO, doca_devinfo_rep_cap_is_filter_net_supported(p, &flag));
		NOT_A(INFO, doca_mmap_cap_is_export_pci_supported(p, &flag));
		NOT_A(INFO, doca_dma_cap_task_memcpy_is_supported(p));
		NOT_A(INFO, doca_dma_cap_task_memcpy_get_max_buf_size(p, &rate));
		NOT_A(INFO, doca_ctx_cap_get_num_completion_vectors(p, &number));
		NOT_A(DEV, doca_dev_close(p));
		NOT_A(DEV, doca_devinfo_rep_create_list(p, 0, &none, &number));
		NOT_A(DEV, doca_dma_create(p, (struct doca_dma **)&out));
		NOT_A(DEV, doca_mmap_add_dev(live[MAP], p));
		NOT_A(DEV, doca_mmap_rm_dev(live[MAP], p));
		NOT_A(DEV, doca_mmap_get_mkey(live[MAP], p, &number));
	}
	if (kind != REP && kind != REP_INFO) {
		NOT_A(REP_INFO, doca_dev_rep_open(p, (struct doca_dev_rep **)&out));
		NOT_A(REP_INFO, doca_devinfo_rep_get_pci_addr_str(p, text));
		NOT_A(REP_INFO, doca_devinfo_rep_get_vuid(p, text, 256));
		NOT_A(REP_INFO, doca_devinfo_rep_get_iface_name(p, text, 256));
		NOT_A(REP_INFO, doca_devinfo_rep_is_equal_pci_addr(p, "b1:00.0", &flag));
		NOT_A(REP, doca_dev_rep_close(p));
	}
	CHECK_PTR(out, NULL);
}

static void memory(void *p, enum kind kind, int alive)
{
	const void *desc = NULL;
	union doca_data data = {0};
	void *out = NULL;
	uint8_t flag;
	uint32_t number;
	size_t len;

	NOT_A(MAP, doca_mmap_start(p));
	NOT_A(MAP, doca_mmap_stop(p));
	NOT_A(MAP, doca_mmap_destroy(p));
	NOT_A(MAP, doca_mmap_set_memrange(p, rig.mem, 1));
	NOT_A(MAP, doca_mmap_get_memrange(p, &out, &len));
	NOT_A(MAP, doca_mmap_set_permissions(p, 1));
	NOT_A(MAP, doca_mmap_set_user_data(p, data));
	NOT_A(MAP, doca_mmap_get_user_data(p, &data));
	NOT_A(MAP, doca_mmap_set_max_num_devices(p, 3));
	NOT_A(MAP, doca_mmap_get_max_num_devices(p, &number));
	NOT_A(MAP, doca_mmap_get_num_bufs(p, &number));
	NOT_A(MAP, doca_mmap_get_exported(p, &flag));
	NOT_A(MAP, doca_mmap_enable_thread_safety(p));
	NOT_A(MAP, doca_mmap_export_pci(p, rig.dev, &desc, &len));
	NOT_A(MAP, doca_mmap_export_rdma(p, rig.dev, &desc, &len));
	NOT_A(MAP, doca_buf_inventory_buf_get_by_args(rig.inv, p, rig.mem, 1, rig.mem, 1, (struct doca_buf **)&out));
	NOT_A(MAP, doca_buf_pool_create(1, 1, p, (struct doca_buf_pool **)&out));
	NOT_A(MAP, doca_buf_arr_set_params(live[ARRAY], p, 1, 0));
	NOT_A(INV, doca_buf_inventory_start(p));
	NOT_A(INV, doca_buf_inventory_stop(p));
	NOT_A(INV, doca_buf_inventory_destroy(p));
	NOT_A(INV, doca_buf_inventory_expand(p, 1));
	NOT_A(INV, doca_buf_inventory_get_num_elements(p, &number));
	NOT_A(INV, doca_buf_inventory_get_user_data(p, &data));
	NOT_A(INV, doca_buf_inventory_buf_dup(p, live[BUF], (struct doca_buf **)&out));
	NOT_A(BUF, doca_buf_inventory_buf_dup(rig.inv, p, (struct doca_buf **)&out));
	NOT_A(BUF, doca_buf_inventory_buf_reuse_by_data(p, rig.mem, 1));
	NOT_A(BUF, doca_buf_inc_refcount(p, NULL));
	if (alive != 0 || kind != BUF) /* a count of zero may say so */
		NOT_A(BUF, doca_buf_dec_refcount(p, NULL));
	NOT_A(BUF, doca_buf_get_head(p, &out));
	NOT_A(BUF, doca_buf_set_data(p, rig.mem, 1));
	NOT_A(BUF, doca_buf_get_list_len(p, &number));
	NOT_A(BUF, doca_buf_chain_list(live[BUF], p));
	NOT_A(BUF, doca_buf_chain_list(p, live[BUF]));
	NOT_A(BUF, doca_buf_chain_list_tail(live[BUF], p, live[BUF]));
	NOT_A(BUF, doca_buf_unchain_list(live[BUF], p));
	NOT_A(POOL, doca_buf_pool_start(p));
	NOT_A(POOL, doca_buf_pool_stop(p));
	NOT_A(POOL, doca_buf_pool_destroy(p));
	NOT_A(POOL, doca_buf_pool_buf_alloc(p, (struct doca_buf **)&out));
	NOT_A(POOL, doca_buf_pool_set_element_alignment(p, 1));
	NOT_A(ARRAY, doca_buf_arr_stop(p));
	NOT_A(ARRAY, doca_buf_arr_destroy(p));
	CHECK_PTR(out, NULL);
	CHECK_PTR(desc, NULL);
}

static void work(void *p, enum kind kind, int alive)
{
	union doca_data data = {0};
	enum doca_ctx_states state;
	doca_notification_handle_t fd;
	struct doca_dma_task_memcpy *task = NULL;
	uint32_t number;
	size_t count;

	NOT_A(PE, doca_pe_destroy(p));
	NOT_A(PE, doca_pe_connect_ctx(p, rig.ctx));
	NOT_A(PE, doca_pe_get_num_inflight_tasks(p, &count));
	NOT_A(PE, doca_pe_get_notification_handle(p, &fd));
	NOT_A(PE, doca_pe_request_notification(p));
	NOT_A(PE, doca_pe_clear_notification(p, 0));
	NOT_A(PE, doca_pe_set_event_mode(p, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	NOT_A(DMA, doca_pe_connect_ctx(rig.pe, p));
	NOT_A(DMA, doca_ctx_start(p));
	NOT_A(DMA, doca_ctx_stop(p));
	NOT_A(DMA, doca_ctx_get_state(p, &state));
	NOT_A(DMA, doca_ctx_get_num_inflight_tasks(p, &count));
	NOT_A(DMA, doca_ctx_get_user_data(p, &data));
	NOT_A(DMA, doca_dma_destroy(p));
	NOT_A(DMA, doca_dma_task_memcpy_set_conf(p, rig_good_cb, rig_bad_cb, 1));
	NOT_A(DMA, doca_dma_cap_get_max_num_tasks(p, &number));
	NOT_A(DMA, doca_dma_task_memcpy_alloc_init(p, NULL, NULL, data, &task));
	NOT_A(DMA, doca_dma_set_ordered_completions(p, 1));
	if (alive != 0 && kind != PE)
		CHECK_U64(doca_pe_progress(p), 0);
	if (alive == 0 || kind != DMA) {
		CHECK_PTR(doca_dma_as_ctx(p), NULL);
		doca_ctx_flush_tasks(p);
	}
	if (kind != TASK) { /* what a freed task still answers is told elsewhere */
		NOT_A(TASK, doca_task_submit(p));
		NOT_A(TASK, doca_task_submit_ex(p, 0));
		NOT_A(TASK, doca_task_try_submit(p));
		NOT_A(TASK, doca_task_get_status(p));
		CHECK_PTR(doca_task_get_ctx(p), NULL);
		CHECK_U64(doca_task_get_user_data(p).u64, 0);
		data.u64 = 3;
		doca_task_set_user_data(p, data);
		CHECK_PTR(doca_dma_task_memcpy_get_src(p), NULL);
		CHECK_PTR(doca_dma_task_memcpy_get_dst(p), NULL);
		doca_dma_task_memcpy_set_src(p, live[BUF]);
		doca_dma_task_memcpy_set_dst(p, live[BUF]);
		doca_task_free(p);
	}
	CHECK_PTR(task, NULL);
}

/* A handle of another kind where a buffer belongs: found out when the copy is carried out. */
static void as_buffer(void *p, enum kind kind)
{
	struct doca_dma_task_memcpy *task;
	unsigned bad = rig.bad;
	int i;

	if (kind == BUF)
		return;
	for (i = 0; i < 4; i++) {
		task = rig_task(&rig, i % 2 ? p : live[BUF], i % 2 ? live[BUF] : p, 0);
		if (i < 2)
			CHECK_STATUS(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)), DOCA_ERROR_INVALID_VALUE);
		if (i >= 2)
			usleep(1000); /* let others look first */
		CHECK_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
		rig_until_idle(&rig);
		CHECK_U64(rig.bad, ++bad);
		MUST(doca_ctx_start(rig.ctx));
	}
}

static void make(void **handle)
{
	struct doca_dma *dma = NULL;
	int which = handle == dead;
	uint32_t count = 0;

	MUST(doca_devinfo_create_list(&infos[which], &count));
	handle[INFO] = infos[which][0];
	MUST(doca_dev_open(infos[which][1], (struct doca_dev **)&handle[DEV]));
	MUST(doca_devinfo_rep_create_list(rig.dev, DOCA_DEVINFO_REP_FILTER_NET, &rep_infos[which], &count));
	handle[REP_INFO] = rep_infos[which][0];
	MUST(doca_dev_rep_open(rep_infos[which][0], (struct doca_dev_rep **)&handle[REP]));
	handle[MAP] = rig_map(rig.dev, rig.mem, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create(4, (struct doca_buf_inventory **)&handle[INV]));
	handle[BUF] = rig_src(&rig, 0, 16);
	MUST(doca_buf_pool_create(4, 4, rig.map, (struct doca_buf_pool **)&handle[POOL]));
	MUST(doca_pe_create((struct doca_pe **)&handle[PE]));
	MUST(doca_dma_create(rig.dev, &dma));
	handle[DMA] = dma;
	handle[TASK] = rig_task(&holder, NULL, NULL, 5);
	MUST(doca_buf_arr_create(4, (struct doca_buf_arr **)&handle[ARRAY]));
}

static void take_down(void **handle)
{
	doca_task_free(handle[TASK]);
	CHECK_OK(doca_buf_arr_destroy(handle[ARRAY]));
	CHECK_OK(doca_dma_destroy(handle[DMA]));
	CHECK_OK(doca_pe_destroy(handle[PE]));
	CHECK_OK(doca_buf_pool_destroy(handle[POOL]));
	CHECK_OK(doca_buf_dec_refcount(handle[BUF], NULL));
	CHECK_OK(doca_buf_inventory_destroy(handle[INV]));
	CHECK_OK(doca_mmap_destroy(handle[MAP]));
	CHECK_OK(doca_dev_rep_close(handle[REP]));
	CHECK_OK(doca_dev_close(handle[DEV]));
	CHECK_OK(doca_devinfo_rep_destroy_list(rep_infos[handle == dead]));
	CHECK_OK(doca_devinfo_destroy_list(infos[handle == dead]));
}

int main(void)
{
	static uint64_t plain[64], other[64];
	enum kind kind;
	int alive;

	rig_setup(&rig, 8192, 4);
	rig.drop_bufs = 0;
	rig_make_ctx(&holder, rig.dev, rig.pe, 4);
	MUST(doca_ctx_start(holder.ctx));
	make(live);
	make(dead);
	take_down(dead);
	live[MEMORY] = plain;
	dead[MEMORY] = other;
	memset(other, 0xff, sizeof(other));
	capture_sdk(DOCA_LOG_LEVEL_WARNING);
	for (alive = 0; alive < 2; alive++) {
		for (kind = MEMORY; kind < KINDS; kind++) {
			void *p = alive ? live[kind] : dead[kind];
			int failures = check_failures;

			devices(p, kind, alive);
			memory(p, kind, alive);
			work(p, kind, alive);
			as_buffer(p, kind);
			if (check_failures != failures)
				fprintf(stderr, "  ... with a %s handle of kind %d\n", alive ? "living" : "dead", kind);
		}
	}
	take_down(live);
	CHECK_OK(doca_ctx_stop(holder.ctx));
	CHECK_OK(doca_dma_destroy(holder.dma));
	rig_teardown(&rig);
	return check_result();
}
