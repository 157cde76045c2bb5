/*
 * The textbook's three program skeletons as they are printed, each in a function. What the text
 * leaves to the reader (declarations of the second chapter, what is written, when it is done) stands
 * around them; the printed lines are untouched but for their comments.
 */
#ifndef CONFORMANCE_PRIMER_SKELETONS_H
#define CONFORMANCE_PRIMER_SKELETONS_H

#include <sys/mman.h>

#include <doca_primer.h>

#include "check.h"

/* First chapter: the seven phases. */
static inline void first_skeleton(void)
{
	/* 1. create the context */
	doca_error_t r = doca_init();
	struct doca_ctx *ctx = doca_ctx_create();
	doca_ctx_set_log_level(ctx, DOCA_LOG_LEVEL_INFO);
	CHECK_OK(r);
	MUST_BE(ctx != NULL);

	/* 2. enumerate and open a device */
	struct doca_devinfo *info = doca_devinfo_get_first(ctx);
	struct doca_dev *dev = NULL;
	r = doca_dev_open(info, &dev);
	MUST(r);

	/* 3. register memory: 2 MB, aligned to 4 KB, read and write */
	void *host_addr = aligned_alloc(4096, 2 * 1024 * 1024);
	struct doca_mem *mem = NULL;
	r = doca_mem_reg(dev, host_addr, 2 * 1024 * 1024,
			 DOCA_MEM_ACCESS_RW, &mem);
	MUST(r);

	/* 4. make a buffer: the first 1500 bytes of mem */
	struct doca_buf *buf = NULL;
	r = doca_buf_create(mem, 0, 1500, &buf);
	MUST(r);

	/* 5. submit */
	r = doca_task_submit(ctx, buf);
	CHECK_OK(r);

	/* 6. take back buffer and memory */
	doca_buf_destroy(buf);
	doca_mem_unreg(mem);
	free(host_addr);

	/* 7. close device and context */
	doca_dev_close(dev);
	doca_ctx_destroy(ctx);
}

/* First chapter: the cleanup chain. */
static inline doca_error_t chain_skeleton(void)
{
	struct doca_ctx *ctx = NULL;
	struct doca_dev *dev = NULL;
	struct doca_mem *mem = NULL;
	struct doca_buf *buf = NULL;
	void *host = NULL;
	doca_error_t r;

	r = doca_ctx_create(&ctx);
	if (r != DOCA_SUCCESS) goto cleanup;

	r = doca_dev_open(doca_devinfo_get_first(ctx), &dev);
	if (r != DOCA_SUCCESS) goto cleanup;

	host = aligned_alloc(4096, 2 * 1024 * 1024);
	r = doca_mem_reg(dev, host, 2 * 1024 * 1024, DOCA_MEM_ACCESS_RW, &mem);
	if (r != DOCA_SUCCESS) goto cleanup;

	r = doca_buf_create(mem, 0, 1500, &buf);
	if (r != DOCA_SUCCESS) goto cleanup;

	/* the program's own work ... */

cleanup:
	if (buf)  doca_buf_destroy(buf);
	if (mem)  doca_mem_unreg(mem);
	if (host) free(host);
	if (dev)  doca_dev_close(dev);
	if (ctx)  doca_ctx_destroy(ctx);
	return r;
}

/* Second chapter: the smallest program that runs. */
static inline void second_skeleton(void)
{
	struct doca_devinfo_list *list;
	struct doca_devinfo *info;
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	struct doca_pe *pe;
	struct doca_event_channel *evch;
	struct doca_ctx *ctx = NULL;
	struct doca_task *task;
	size_t len = 1024, flying = 0;
	int done = 0;

	// 1. enumerate and open a device
	doca_devinfo_list_create(&list);
	doca_devinfo_list_get_devinfo(list, 0, &info);
	doca_dev_open(info, &dev);

	// 2. allocate and register memory
	void *buf = mmap_hugepage(64 * 1024 * 1024);
	doca_mmap_create(&mmap);
	doca_mmap_set_memrange(mmap, buf, 64 * 1024 * 1024);
	doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	doca_mmap_start(mmap);
	MUST_BE(buf != NULL);
	memset(buf, 0x5a, len);
	char *remote_addr = (char *)buf + 32 * 1024 * 1024;

	// 3. create a PE and connect an event channel
	doca_pe_create(&pe);
	doca_rdma_create_event_channel(&evch);
	doca_pe_connect_event_channel(pe, evch);

	// 4. submit an asynchronous task
	doca_rdma_task_write(ctx, buf, len, remote_addr, &task);
	CHECK_STATUS(doca_task_get_status(task), DOCA_ERROR_IN_PROGRESS);
	CHECK_OK(doca_pe_get_num_inflight_tasks(pe, &flying));
	CHECK_U64(flying, 1);

	// 5. turn the event loop
	while (!done) {
		doca_pe_progress(pe); // does not block, runs callbacks
		CHECK_OK(doca_pe_get_num_inflight_tasks(pe, &flying));
		done = flying == 0;
	}

	CHECK_OK(doca_task_get_status(task));
	CHECK_BYTES(remote_addr, buf, len);
	CHECK_U64(remote_addr[len], 0);
	doca_task_free(task);
	CHECK_OK(doca_event_channel_destroy(evch));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_mmap_destroy(mmap));
	CHECK_U64(munmap(buf, 64 * 1024 * 1024), 0);
	CHECK_OK(doca_dev_close(dev));
	CHECK_OK(doca_devinfo_list_destroy(list));
}

static inline int all_skeletons(void)
{
	int turn;

	/* More than once: nothing is left of the turn before. */
	for (turn = 0; turn < 3; turn++) {
		first_skeleton();
		CHECK_OK(chain_skeleton());
		second_skeleton();
	}
	return check_result();
}

#endif
