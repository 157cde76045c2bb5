/*
 * The second chapter's first half: the device list as an object, properties and capabilities, maps
 * without a device, keys, descriptors of memory.
 *
 * clauses: primer Second chapter
 * env: SOFTDPU_PROFILE=bf3
 * covers: softdpu_primer_devinfo_list_create softdpu_primer_devinfo_list_get_size
 *   softdpu_primer_devinfo_list_get_devinfo softdpu_primer_devinfo_list_destroy
 *   softdpu_primer_devinfo_get_caps softdpu_primer_mmap_hugepage softdpu_primer_mmap_start
 *   softdpu_primer_mmap_get_mkey softdpu_primer_mmap_export_dmabuf
 *   softdpu_primer_mmap_dmabuf_is_native
 */
#define _GNU_SOURCE

#include <sys/mman.h>
#include <sys/wait.h>

#include <doca_primer.h>

#include "check.h"

#define MIB (1024u * 1024)

static void devices(void)
{
	struct doca_devinfo_list *list = NULL;
	struct doca_devinfo_caps caps;
	struct doca_devinfo *info = NULL;
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE], name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint32_t size = 0, i, limit32;
	uint64_t limit64;

	CHECK_STATUS(doca_devinfo_list_create(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_devinfo_list_create(&list));
	CHECK_OK(doca_devinfo_list_get_size(list, &size));
	CHECK(size > 1);
	CHECK_STATUS(doca_devinfo_list_get_size(list, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_list_get_devinfo(list, size, &info), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_list_get_devinfo(list, UINT32_MAX, &info), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_list_get_devinfo(list, 0, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(info, NULL);
	for (i = 0; i < size; i++) {
		CHECK_OK(doca_devinfo_list_get_devinfo(list, i, &info));
		CHECK_OK(doca_devinfo_get_pci_addr(info, pci));
		CHECK_U64(strlen(pci), 12);
		CHECK_OK(doca_devinfo_get_iface_name(info, name, sizeof(name)));
		CHECK(name[0] != 0);
		memset(&caps, 0xff, sizeof(caps));
		CHECK_OK(doca_devinfo_get_caps(info, &caps));
		CHECK_U64(caps.model, 3);
		CHECK_U64(caps.dma, doca_dma_cap_task_memcpy_is_supported(info) == DOCA_SUCCESS);
		CHECK_U64(caps.rdma, doca_rdma_cap_task_write_is_supported(info) == DOCA_SUCCESS);
		CHECK(caps.sha <= 1 && caps.eth_rxq <= 1 && caps.sync_event <= 1);
		if (caps.dma) {
			CHECK_OK(doca_dma_cap_task_memcpy_get_max_buf_size(info, &limit64));
			CHECK_U64(caps.dma_max_buf_size, limit64);
			CHECK_OK(doca_dma_cap_task_memcpy_get_max_buf_list_len(info, &limit32));
			CHECK_U64(caps.dma_max_buf_list_len, limit32);
		}
		if (caps.rdma) {
			CHECK_OK(doca_rdma_cap_get_max_message_size(info, &limit32));
			CHECK_U64(caps.rdma_max_message_size, limit32);
		}
	}
	CHECK_STATUS(doca_devinfo_get_caps(NULL, &caps), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_get_caps(info, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_devinfo_list_destroy(list));
	CHECK_STATUS(doca_devinfo_list_destroy(list), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_devinfo_list_get_size(list, &size), DOCA_ERROR_INVALID_VALUE);
}

static struct doca_dev *open_first(void)
{
	struct doca_devinfo_list *list;
	struct doca_devinfo *info;
	struct doca_dev *dev = NULL;

	MUST(doca_devinfo_list_create(&list));
	MUST(doca_devinfo_list_get_devinfo(list, 0, &info));
	MUST(doca_dev_open(info, &dev));
	MUST(doca_devinfo_list_destroy(list));
	return dev;
}

/* One copy inside the map through this device, by way of the contract. */
static void copy(struct doca_mmap *map, uint8_t *bytes, struct doca_dev *dev);

static void done_cb(struct doca_dma_task_memcpy *task, union doca_data user, union doca_data ctx)
{
	(void)ctx;
	*(doca_error_t *)user.ptr = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void copy(struct doca_mmap *map, uint8_t *bytes, struct doca_dev *dev)
{
	doca_error_t status = DOCA_ERROR_IN_PROGRESS;
	struct doca_dma_task_memcpy *task;
	struct doca_buf_inventory *inv;
	struct doca_buf *src, *dst;
	union doca_data user;
	struct doca_dma *dma;
	struct doca_pe *pe;

	MUST(doca_pe_create(&pe));
	MUST(doca_dma_create(dev, &dma));
	MUST(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
	MUST(doca_dma_task_memcpy_set_conf(dma, done_cb, done_cb, 1));
	MUST(doca_ctx_start(doca_dma_as_ctx(dma)));
	MUST(doca_buf_inventory_create(2, &inv));
	MUST(doca_buf_inventory_start(inv));
	MUST(doca_buf_inventory_buf_get_by_data(inv, map, bytes, 64, &src));
	MUST(doca_buf_inventory_buf_get_by_addr(inv, map, bytes + 4096, 64, &dst));
	user.ptr = &status;
	MUST(doca_dma_task_memcpy_alloc_init(dma, src, dst, user, &task));
	CHECK_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	while (status == DOCA_ERROR_IN_PROGRESS)
		(void)doca_pe_progress(pe);
	CHECK_OK(status);
	CHECK_BYTES(bytes + 4096, bytes, 64);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	CHECK_OK(doca_ctx_stop(doca_dma_as_ctx(dma)));
	CHECK_OK(doca_dma_destroy(dma));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_buf_inventory_destroy(inv));
}

static void maps(void)
{
	struct doca_dev *early = open_first(), *late;
	struct doca_mmap *map, *strict;
	uint32_t key = 0, same = 0, other = 0;
	uint8_t *heap = (uint8_t *)calloc(1, MIB);
	const void *desc;
	size_t len;
	int fd = -1;

	MUST(doca_mmap_create(&map));
	CHECK_STATUS(doca_mmap_start(map), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_set_memrange(map, heap, MIB));
	/* The contract's own call keeps to its rule. */
	CHECK_STATUS((doca_mmap_start)(map), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_get_mkey(map, &key), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_export_dmabuf(map, &fd), DOCA_ERROR_BAD_STATE);
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_start(map));
	CHECK_STATUS(doca_mmap_start(map), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_mmap_get_mkey(map, &key));
	CHECK(key != 0);
	CHECK_OK(doca_mmap_get_mkey(map, early, &same));
	CHECK_U64(same, key);
	CHECK_STATUS(doca_mmap_get_mkey(map, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_get_mkey(map, early, NULL), DOCA_ERROR_INVALID_VALUE);
	/* Heap is no file. */
	CHECK_STATUS(doca_mmap_export_dmabuf(map, &fd), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_U64(doca_mmap_dmabuf_is_native(map), 0);
	CHECK_U64(doca_mmap_dmabuf_is_native(NULL), 0);

	/* A device that was open, one that is opened later, and one that goes before the map. */
	memset(heap, 9, 64);
	copy(map, heap, early);
	CHECK_OK(doca_dev_close(early));
	late = open_first();
	memset(heap, 8, 64);
	copy(map, heap, late);
	CHECK_OK(doca_mmap_export_pci(map, late, &desc, &len));

	/* With a device of its own it is an ordinary map. */
	MUST(doca_mmap_create(&strict));
	MUST(doca_mmap_add_dev(strict, late));
	MUST(doca_mmap_set_memrange(strict, heap, MIB));
	MUST(doca_mmap_start(strict));
	CHECK_OK(doca_mmap_get_mkey(strict, &key));
	CHECK_OK(doca_mmap_get_mkey(strict, late, &other));
	CHECK_U64(other, key);
	CHECK_STATUS(doca_dev_close(late), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_mmap_destroy(strict));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(late));
	free(heap);
}

/* 64 MiB, exported as a descriptor, handed to another process: both see the same bytes. */
static void shared_by_descriptor(size_t bytes)
{
	uint8_t *memory = (uint8_t *)mmap_hugepage(bytes);
	struct doca_mmap *map;
	uint8_t native;
	int fd = -1, status = -1;
	pid_t child;

	MUST_BE(memory != NULL);
	CHECK_U64(memory[0] | memory[bytes - 1], 0);
	memset(memory, 0x11, 4096);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_set_memrange(map, memory, bytes));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_start(map));
	CHECK_STATUS(doca_mmap_export_dmabuf(map, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_export_dmabuf(map, &fd));
	native = doca_mmap_dmabuf_is_native(map);
	CHECK(native <= 1);
	printf("%zu bytes: %s\n", bytes, native ? "a dmabuf" : "a memory file");
	fflush(stdout);
	child = fork();
	MUST_BE(child >= 0);
	if (child == 0) {
		/* Unmapped here and mapped again from the descriptor alone. */
		uint8_t *view;

		if (munmap(memory, bytes) != 0)
			_exit(2);
		view = (uint8_t *)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (view == MAP_FAILED)
			_exit(3);
		if (view[0] != 0x11 || view[4095] != 0x11 || view[4096] != 0)
			_exit(4);
		memset(view + bytes - 100, 0x22, 100);
		_exit(0);
	}
	MUST_BE(waitpid(child, &status, 0) == child);
	CHECK_U64(status, 0);
	CHECK_U64(memory[bytes - 1], 0x22);
	CHECK_U64(memory[bytes - 101], 0);
	CHECK_U64(close(fd), 0);
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_U64(munmap(memory, bytes), 0);
}

/* Memory that went leaves no descriptor behind. */
static void nothing_piles_up(void)
{
	int i, before, after;

	before = dup(0);
	close(before);
	for (i = 0; i < 50; i++) {
		void *memory = mmap_hugepage(5000);

		MUST_BE(memory != NULL);
		munmap(memory, 5000);
	}
	after = dup(0);
	close(after);
	CHECK(after - before < 4);
}

int main(void)
{
	devices();
	maps();
	nothing_piles_up();
	shared_by_descriptor(64u * MIB);
	shared_by_descriptor(3u * 4096);
	CHECK_PTR(mmap_hugepage(0), NULL);
	CHECK_PTR(mmap_hugepage(SIZE_MAX), NULL);
	return check_result();
}
