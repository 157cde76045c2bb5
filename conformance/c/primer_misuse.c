/*
 * The wrong way round: the session goes before what hangs on it, handles go to the wrong calls, are
 * used after their end, or released with something left in them. Every answer is a status.
 *
 * clauses: primer First chapter (misuse), ruling on handles
 * covers: softdpu_primer_ctx_create softdpu_primer_ctx_destroy softdpu_primer_dev_close
 *   softdpu_primer_mem_reg softdpu_primer_mem_unreg softdpu_primer_buf_create
 *   softdpu_primer_buf_destroy softdpu_primer_task_submit softdpu_primer_mem_get_host_addr
 *   softdpu_primer_mem_get_dev_addr softdpu_primer_ctx_set_log_level
 */
#include <doca_primer.h>

#include "check.h"

#define BYTES 65536u
#define BAD DOCA_ERROR_INVALID_VALUE

struct all {
	struct doca_ctx *ctx;
	struct doca_dev *dev;
	struct doca_mem *mem;
	struct doca_buf *buf;
	uint8_t *host;
};

static struct all make(void)
{
	struct all all;

	MUST(doca_ctx_create(&all.ctx));
	MUST(doca_dev_open(doca_devinfo_get_first(all.ctx), &all.dev));
	all.host = (uint8_t *)malloc(BYTES);
	MUST(doca_mem_reg(all.dev, all.host, BYTES, DOCA_MEM_ACCESS_RW, &all.mem));
	MUST(doca_buf_create(all.mem, 0, 1500, &all.buf));
	return all;
}

/* Devices still can be opened and everything be done. */
static void check_alive(void)
{
	struct all all = make();

	CHECK_OK(doca_task_submit(all.ctx, all.buf));
	CHECK_OK(doca_buf_destroy(all.buf));
	CHECK_OK(doca_mem_unreg(all.mem));
	CHECK_OK(doca_dev_close(all.dev));
	CHECK_OK(doca_ctx_destroy(all.ctx));
	free(all.host);
}

/* The chapter's own warning. */
static void session_first(void)
{
	struct all all = make();

	CHECK_OK(doca_buf_destroy(all.buf));
	CHECK_OK(doca_mem_unreg(all.mem));
	free(all.host);
	CHECK_OK(doca_ctx_destroy(all.ctx));
	CHECK_STATUS(doca_dev_close(all.dev), BAD);
	CHECK_STATUS(doca_dev_close(all.dev), BAD);
	check_alive();
}

/* The same with memory and a buffer left, released afterwards in the wrong order, or never. */
static void session_first_with_the_rest(int release)
{
	struct all all = make();
	struct doca_mem *mem;

	CHECK_OK(doca_task_submit(all.ctx, all.buf));
	CHECK_OK(doca_ctx_destroy(all.ctx));
	CHECK_STATUS(doca_task_submit(all.ctx, all.buf), BAD);
	CHECK_STATUS(doca_mem_reg(all.dev, all.host, BYTES, DOCA_MEM_ACCESS_RW, &mem), BAD);
	if (release) {
		CHECK_STATUS(doca_mem_unreg(all.mem), DOCA_ERROR_NOT_PERMITTED);
		CHECK_OK(doca_buf_destroy(all.buf));
		CHECK_OK(doca_mem_unreg(all.mem));
	}
	CHECK_STATUS(doca_dev_close(all.dev), BAD);
	/* What was left is freed. */
	CHECK_STATUS(doca_buf_destroy(all.buf), BAD);
	CHECK_STATUS(doca_mem_unreg(all.mem), BAD);
	CHECK_STATUS(doca_dev_close(all.dev), BAD);
	free(all.host);
	check_alive();
}

/* Too early, in every place. */
static void too_early(void)
{
	struct all all = make();

	CHECK_STATUS(doca_mem_unreg(all.mem), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_dev_close(all.dev), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_task_submit(all.ctx, all.buf));
	CHECK_STATUS(doca_dev_close(all.dev), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_task_submit(all.ctx, all.buf));
	CHECK_OK(doca_buf_destroy(all.buf));
	CHECK_STATUS(doca_dev_close(all.dev), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_mem_unreg(all.mem));
	CHECK_OK(doca_dev_close(all.dev));
	CHECK_OK(doca_ctx_destroy(all.ctx));
	free(all.host);
}

/* A session and an engine's context have one type and are two things. */
static void wrong_kinds(void)
{
	struct all all = make();
	struct doca_dma *dma;
	struct doca_pe *pe;
	void *addr;
	uint64_t at;
	size_t num;

	MUST(doca_pe_create(&pe));
	MUST(doca_dma_create(all.dev, &dma));
	CHECK_STATUS(doca_ctx_start(all.ctx), BAD);
	CHECK_STATUS(doca_ctx_stop(all.ctx), BAD);
	CHECK_STATUS(doca_ctx_get_num_inflight_tasks(all.ctx, &num), BAD);
	CHECK_STATUS(doca_pe_connect_ctx(pe, all.ctx), BAD);
	CHECK_STATUS(doca_ctx_destroy(doca_dma_as_ctx(dma)), BAD);
	CHECK_PTR(doca_devinfo_get_first(doca_dma_as_ctx(dma)), NULL);
	CHECK_PTR(doca_devinfo_get_first(NULL), NULL);
	CHECK_STATUS(doca_ctx_set_log_level(doca_dma_as_ctx(dma), DOCA_LOG_LEVEL_INFO), BAD);
	CHECK_STATUS(doca_ctx_set_log_level(all.ctx, 55), BAD);
	CHECK_STATUS(doca_task_submit(doca_dma_as_ctx(dma), all.buf), BAD);
	CHECK_STATUS(doca_task_submit(all.ctx, NULL), BAD);
	CHECK_STATUS(doca_task_submit(NULL, all.buf), BAD);
	CHECK_STATUS(doca_task_submit((struct doca_task *)all.buf), BAD);
	CHECK_STATUS(doca_mem_unreg((struct doca_mem *)all.buf), BAD);
	CHECK_STATUS(doca_buf_destroy((struct doca_buf *)all.mem), BAD);
	CHECK_STATUS(doca_dev_close((struct doca_dev *)all.mem), BAD);
	CHECK_STATUS(doca_mem_get_host_addr(NULL, &addr), BAD);
	CHECK_STATUS(doca_mem_get_host_addr(all.mem, NULL), BAD);
	CHECK_OK(doca_mem_get_host_addr(all.mem, &addr));
	CHECK_PTR(addr, all.host);
	CHECK_OK(doca_mem_get_dev_addr(all.mem, &at));
	CHECK(at != 0);
	CHECK_U64(at % 4096, (uintptr_t)all.host % 4096);
	CHECK_STATUS(doca_mem_get_dev_addr(all.mem, NULL), BAD);
	CHECK_OK(doca_dma_destroy(dma));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_buf_destroy(all.buf));
	CHECK_OK(doca_mem_unreg(all.mem));
	CHECK_OK(doca_dev_close(all.dev));
	CHECK_OK(doca_ctx_destroy(all.ctx));
	free(all.host);
}

static void wrong_numbers(void)
{
	struct all all = make();
	struct doca_mem *mem = NULL;
	struct doca_buf *buf = NULL;

	CHECK_STATUS(doca_ctx_create(NULL), BAD);
	CHECK_STATUS(doca_mem_reg(all.dev, NULL, BYTES, DOCA_MEM_ACCESS_RW, &mem), BAD);
	CHECK_STATUS(doca_mem_reg(all.dev, all.host, 0, DOCA_MEM_ACCESS_RW, &mem), BAD);
	CHECK_STATUS(doca_mem_reg(all.dev, all.host, BYTES, 2, &mem), BAD);
	CHECK_STATUS(doca_mem_reg(all.dev, all.host, BYTES, DOCA_MEM_ACCESS_RW, NULL), BAD);
	CHECK_STATUS(doca_mem_reg(NULL, all.host, BYTES, DOCA_MEM_ACCESS_RW, &mem), BAD);
	CHECK_STATUS(doca_mem_reg(all.dev, (void *)4096, 4096, DOCA_MEM_ACCESS_RW, &mem), DOCA_ERROR_DRIVER);
	CHECK_STATUS(doca_buf_create(all.mem, BYTES, 1, &buf), BAD);
	CHECK_STATUS(doca_buf_create(all.mem, 1, BYTES, &buf), BAD);
	CHECK_STATUS(doca_buf_create(all.mem, SIZE_MAX, 2, &buf), BAD);
	CHECK_STATUS(doca_buf_create(all.mem, 2, SIZE_MAX, &buf), BAD);
	CHECK_STATUS(doca_buf_create(all.mem, 0, 1, NULL), BAD);
	CHECK_STATUS(doca_buf_create(NULL, 0, 1, &buf), BAD);
	CHECK_PTR(mem, NULL);
	CHECK_PTR(buf, NULL);
	/* A window at the very end, and one of nothing. */
	CHECK_OK(doca_buf_create(all.mem, BYTES - 1, 1, &buf));
	CHECK_OK(doca_buf_destroy(buf));
	CHECK_OK(doca_buf_create(all.mem, BYTES, 0, &buf));
	CHECK_STATUS(doca_task_submit(all.ctx, buf), BAD);
	CHECK_OK(doca_buf_destroy(buf));
	CHECK_OK(doca_buf_destroy(all.buf));
	CHECK_OK(doca_mem_unreg(all.mem));
	CHECK_OK(doca_dev_close(all.dev));
	CHECK_OK(doca_ctx_destroy(all.ctx));
	free(all.host);
}

/* Two sessions know nothing of each other, nor of a device opened by a list of the contract. */
static void two_sessions(void)
{
	struct doca_devinfo **list;
	struct doca_dev *third = NULL, *again;
	struct all one = make(), two = make();
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	CHECK_OK(doca_dev_open(list[0], &third));
	CHECK_OK(doca_devinfo_destroy_list(list));
	CHECK(one.dev != two.dev && one.dev != third && two.dev != third);
	/* Within a session the same device is the same handle, and each open wants its close. */
	CHECK_OK(doca_dev_open(doca_devinfo_get_first(two.ctx), &again));
	CHECK_PTR(again, two.dev);
	CHECK_OK(doca_ctx_destroy(one.ctx));
	CHECK_STATUS(doca_dev_close(one.dev), BAD);
	free(one.host);
	CHECK_OK(doca_task_submit(two.ctx, two.buf));
	CHECK_OK(doca_buf_destroy(two.buf));
	CHECK_OK(doca_mem_unreg(two.mem));
	CHECK_OK(doca_dev_close(two.dev));
	CHECK_OK(doca_dev_close(two.dev));
	CHECK_STATUS(doca_dev_close(two.dev), BAD);
	CHECK_OK(doca_ctx_destroy(two.ctx));
	CHECK_OK(doca_dev_close(third));
	CHECK_STATUS(doca_dev_close(third), BAD);
	free(two.host);
}

int main(void)
{
	int turn;

	session_first();
	session_first_with_the_rest(1);
	session_first_with_the_rest(0);
	too_early();
	wrong_kinds();
	wrong_numbers();
	/* More often than a process may have devices open. */
	for (turn = 0; turn < 60; turn++)
		two_sessions();
	return check_result();
}
