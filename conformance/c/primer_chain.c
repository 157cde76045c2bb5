/*
 * The cleanup chain: each of its steps is made to fail in turn; what was made before is released
 * once, and nothing else is.
 *
 * clauses: primer First chapter (release; safe on NULL), Error classes
 * covers: softdpu_primer_ctx_create softdpu_primer_ctx_destroy softdpu_primer_dev_open
 *   softdpu_primer_dev_close softdpu_primer_mem_reg softdpu_primer_mem_unreg
 *   softdpu_primer_buf_create softdpu_primer_buf_destroy softdpu_primer_devinfo_get_first
 */
#include <doca_primer.h>

#include "check.h"

#define BYTES (2u * 1024 * 1024)

enum step { SESSION, DEVICE, MEMORY, BUFFER, NOTHING };

/* What was released, and how that went. */
static unsigned released[4];

static void release(enum step step, doca_error_t answer)
{
	released[step]++;
	CHECK_OK(answer);
}

static doca_error_t run(enum step fails)
{
	struct doca_ctx *ctx = NULL;
	struct doca_dev *dev = NULL;
	struct doca_mem *mem = NULL;
	struct doca_buf *buf = NULL;
	void *host = NULL;
	doca_error_t r;

	r = doca_ctx_create(fails == SESSION ? NULL : &ctx);
	if (r != DOCA_SUCCESS)
		goto cleanup;
	r = doca_dev_open(fails == DEVICE ? NULL : doca_devinfo_get_first(ctx), &dev);
	if (r != DOCA_SUCCESS)
		goto cleanup;
	host = aligned_alloc(4096, BYTES);
	r = doca_mem_reg(dev, host, fails == MEMORY ? 0 : BYTES, DOCA_MEM_ACCESS_RW, &mem);
	if (r != DOCA_SUCCESS)
		goto cleanup;
	r = doca_buf_create(mem, fails == BUFFER ? BYTES - 1499 : 0, 1500, &buf);
	if (r != DOCA_SUCCESS)
		goto cleanup;
	r = doca_task_submit(ctx, buf);

cleanup:
	if (buf)
		release(BUFFER, doca_buf_destroy(buf));
	if (mem)
		release(MEMORY, doca_mem_unreg(mem));
	if (host)
		free(host);
	if (dev)
		release(DEVICE, doca_dev_close(dev));
	if (ctx)
		release(SESSION, doca_ctx_destroy(ctx));
	/* A second time nothing is there to release. */
	if (buf)
		CHECK_STATUS(doca_buf_destroy(buf), DOCA_ERROR_INVALID_VALUE);
	if (mem)
		CHECK_STATUS(doca_mem_unreg(mem), DOCA_ERROR_INVALID_VALUE);
	if (dev)
		CHECK_STATUS(doca_dev_close(dev), DOCA_ERROR_INVALID_VALUE);
	if (ctx)
		CHECK_STATUS(doca_ctx_destroy(ctx), DOCA_ERROR_INVALID_VALUE);
	return r;
}

int main(void)
{
	int fails, step;

	for (fails = SESSION; fails <= NOTHING; fails++) {
		doca_error_t r;

		memset(released, 0, sizeof(released));
		r = run((enum step)fails);
		CHECK_STATUS(r, fails == NOTHING ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
		if (fails != NOTHING)
			CHECK_U64(doca_error_get_class(r), DOCA_ERROR_CLASS_PARAMETER);
		for (step = SESSION; step < NOTHING; step++)
			CHECK_U64(released[step], step < fails ? 1 : 0);
	}
	/* The release calls do without the ifs, too. */
	CHECK_OK(doca_buf_destroy(NULL));
	CHECK_OK(doca_mem_unreg(NULL));
	CHECK_OK(doca_dev_close(NULL));
	CHECK_OK(doca_ctx_destroy(NULL));
	CHECK_OK(doca_devinfo_list_destroy(NULL));
	CHECK_OK(doca_event_channel_destroy(NULL));
	return check_result();
}
