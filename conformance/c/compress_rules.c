/*
 * The compression context: creation, configuration and its limits, the pools of the four task types, handles that
 * are NULL, of another kind, gone; tasks of one type given to the functions of another.
 *
 * clauses: compress Instance, set_conf and alloc_init of every task type
 * covers: @
 * std: gnu11
 */
#include <doca_dma.h>

#include "compress_rig.h"

static void creation(struct doca_dev *dev)
{
	struct doca_compress *compress = NULL;
	struct doca_dma *dma = NULL;
	uint32_t most = 0;

	CHECK_STATUS(doca_compress_create(NULL, &compress), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_compress_create(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_compress_as_ctx(NULL), NULL);
	CHECK_STATUS(doca_compress_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_dma_create(dev, &dma));
	CHECK_PTR(doca_compress_as_ctx((struct doca_compress *)dma), NULL);
	CHECK_STATUS(doca_compress_destroy((struct doca_compress *)dma), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_compress_cap_get_max_num_tasks((struct doca_compress *)dma, &most), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_dma_destroy(dma));
	MUST(doca_compress_create(dev, &compress));
	CHECK_STATUS(doca_compress_cap_get_max_num_tasks(compress, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_compress_cap_get_max_num_tasks(NULL, &most), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_compress_cap_get_max_num_tasks(compress, &most));
	CHECK(most >= 1024);
	CHECK_OK(doca_compress_destroy(compress));
	CHECK_STATUS(doca_compress_destroy(compress), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_compress_as_ctx(compress), NULL);
}

static void configuration(struct squeeze *s)
{
	uint32_t most = 0;

	MUST(doca_compress_cap_get_max_num_tasks(s->compress, &most));
	CHECK_STATUS(doca_compress_task_compress_deflate_set_conf(NULL, compress_deflate_good, compress_deflate_bad, 1),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_compress_task_compress_deflate_set_conf(s->compress, NULL, compress_deflate_bad, 1),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_compress_task_compress_deflate_set_conf(s->compress, compress_deflate_good, NULL, 1),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_compress_task_compress_deflate_set_conf(s->compress, compress_deflate_good,
								  compress_deflate_bad, 0),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_compress_task_compress_deflate_set_conf(s->compress, compress_deflate_good,
								  compress_deflate_bad, most + 1),
		     DOCA_ERROR_INVALID_VALUE);
	/* Refused configurations are none. */
	CHECK_REFUSED(doca_ctx_start(s->ctx));
	/* The limit is that of all types together. */
	CHECK_OK(doca_compress_task_compress_deflate_set_conf(s->compress, compress_deflate_good, compress_deflate_bad,
							      most - 3));
	CHECK_OK(doca_compress_task_decompress_deflate_set_conf(s->compress, decompress_deflate_good,
								decompress_deflate_bad, 2));
	CHECK_OK(doca_compress_task_decompress_lz4_stream_set_conf(s->compress, decompress_lz4_stream_good,
								   decompress_lz4_stream_bad, 1));
	CHECK_STATUS(doca_compress_task_decompress_lz4_block_set_conf(s->compress, decompress_lz4_block_good,
								      decompress_lz4_block_bad, 1),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_compress_task_compress_deflate_set_conf(s->compress, compress_deflate_good, compress_deflate_bad,
							      2));
	CHECK_OK(doca_compress_task_decompress_lz4_block_set_conf(s->compress, decompress_lz4_block_good,
								  decompress_lz4_block_bad, 2));
}

/* Every type has its own pool. */
static void pools(struct squeeze *s)
{
	struct doca_buf *src = squeeze_full(s, 0, 100), *dst = squeeze_empty(s, 1000, 1000);
	struct doca_compress_task_compress_deflate *pack[3] = {0};
	struct doca_compress_task_decompress_deflate *unpack[3] = {0};
	struct doca_compress_task_decompress_lz4_stream *stream[2] = {0};
	struct doca_compress_task_decompress_lz4_block *block[3] = {0};
	union doca_data user = {0};
	int i;

	CHECK_STATUS(doca_compress_task_compress_deflate_alloc_init(s->compress, src, dst, user, &pack[0]),
		     DOCA_ERROR_BAD_STATE);
	MUST(doca_ctx_start(s->ctx));
	CHECK_STATUS(doca_compress_task_compress_deflate_set_conf(s->compress, compress_deflate_good,
								  compress_deflate_bad, 1),
		     DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_compress_destroy(s->compress), DOCA_ERROR_IN_USE);
	CHECK_STATUS(doca_compress_task_compress_deflate_alloc_init(NULL, src, dst, user, &pack[0]),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_compress_task_compress_deflate_alloc_init(s->compress, NULL, dst, user, &pack[0]),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_compress_task_compress_deflate_alloc_init(s->compress, src, NULL, user, &pack[0]),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_compress_task_compress_deflate_alloc_init(s->compress, src, dst, user, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_compress_task_decompress_deflate_alloc_init(s->compress, src, NULL, user, &unpack[0]),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_compress_task_decompress_lz4_stream_alloc_init(s->compress, 0, 0, NULL, dst, user, &stream[0]),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_compress_task_decompress_lz4_block_alloc_init(s->compress, src, dst, user, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	for (i = 0; i < 2; i++) {
		MUST(doca_compress_task_compress_deflate_alloc_init(s->compress, src, dst, user, &pack[i]));
		MUST(doca_compress_task_decompress_deflate_alloc_init(s->compress, src, dst, user, &unpack[i]));
		MUST(doca_compress_task_decompress_lz4_block_alloc_init(s->compress, src, dst, user, &block[i]));
	}
	MUST(doca_compress_task_decompress_lz4_stream_alloc_init(s->compress, 1, 0, src, dst, user, &stream[0]));
	CHECK_STATUS(doca_compress_task_compress_deflate_alloc_init(s->compress, src, dst, user, &pack[2]),
		     DOCA_ERROR_NO_MEMORY);
	CHECK_STATUS(doca_compress_task_decompress_deflate_alloc_init(s->compress, src, dst, user, &unpack[2]),
		     DOCA_ERROR_NO_MEMORY);
	CHECK_STATUS(doca_compress_task_decompress_lz4_stream_alloc_init(s->compress, 1, 0, src, dst, user, &stream[1]),
		     DOCA_ERROR_NO_MEMORY);
	CHECK_STATUS(doca_compress_task_decompress_lz4_block_alloc_init(s->compress, src, dst, user, &block[2]),
		     DOCA_ERROR_NO_MEMORY);

	/* A task of one type is none of another: nothing of it changes, nothing is read. */
	doca_compress_task_decompress_deflate_set_src((struct doca_compress_task_decompress_deflate *)pack[0], dst);
	CHECK_PTR(doca_compress_task_compress_deflate_get_src(pack[0]), src);
	CHECK_PTR(doca_compress_task_decompress_lz4_block_get_src((struct doca_compress_task_decompress_lz4_block *)pack[0]),
		  NULL);
	doca_compress_task_decompress_lz4_stream_set_has_block_checksum(
		(struct doca_compress_task_decompress_lz4_stream *)unpack[0], 1);
	CHECK_U64(doca_compress_task_decompress_lz4_stream_get_has_block_checksum(
			  (struct doca_compress_task_decompress_lz4_stream *)unpack[0]),
		  0);
	CHECK_PTR(doca_compress_task_compress_deflate_get_dst(NULL), NULL);
	doca_compress_task_compress_deflate_set_dst(NULL, dst);
	CHECK_PTR(doca_compress_task_decompress_lz4_stream_as_task(NULL), NULL);

	/* Unfreed tasks hold the context. */
	CHECK_STATUS(doca_ctx_stop(s->ctx), DOCA_ERROR_IN_PROGRESS);
	for (i = 0; i < 2; i++) {
		doca_task_free(doca_compress_task_compress_deflate_as_task(pack[i]));
		doca_task_free(doca_compress_task_decompress_deflate_as_task(unpack[i]));
		doca_task_free(doca_compress_task_decompress_lz4_block_as_task(block[i]));
	}
	doca_task_free(doca_compress_task_decompress_lz4_stream_as_task(stream[0]));
	for (i = 0; i < 10; i++)
		doca_pe_progress(s->pe);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
}

int main(void)
{
	static const squeeze_cap caps[] = {doca_compress_cap_task_compress_deflate_is_supported,
					   doca_compress_cap_task_decompress_lz4_block_is_supported};
	struct squeeze s;

	squeeze_make(&s, caps, 2, 4096);
	creation(s.dev);
	configuration(&s);
	pools(&s);
	squeeze_end(&s);
	return check_result();
}
