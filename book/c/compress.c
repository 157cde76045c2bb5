/* Compression: deflate a text, inflate it again, and something that was never deflated. */
#include "tutorial.h"

#include <doca_compress.h>

static uint32_t checksum;

static void deflated(struct doca_compress_task_compress_deflate *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	checksum = doca_compress_task_compress_deflate_get_crc_cs(task);
	landed(ctx, doca_compress_task_compress_deflate_as_task(task));
}

static void inflated(struct doca_compress_task_decompress_deflate *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	checksum = doca_compress_task_decompress_deflate_get_crc_cs(task);
	landed(ctx, doca_compress_task_decompress_deflate_as_task(task));
}

static doca_error_t inflate(struct rig *rig, struct doca_compress *compress, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_compress_task_decompress_deflate *task;
	union doca_data none = {0};

	MUST(doca_compress_task_decompress_deflate_alloc_init(compress, src, dst, none, &task));
	return carry_out(rig, doca_compress_task_decompress_deflate_as_task(task));
}

int main(void)
{
	const size_t bytes = 64 * 1024;
	struct rig rig = make_rig(doca_compress_cap_task_compress_deflate_is_supported, 3 * bytes,
				  DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *text = data(&rig, 0, bytes), *small = room(&rig, bytes, bytes),
			*back = room(&rig, 2 * bytes, bytes), *noise;
	struct doca_compress_task_compress_deflate *task;
	struct doca_compress *compress;
	union doca_data none = {0};
	uint32_t before;

	for (size_t i = 0; i < bytes; i++)
		rig.memory[i] = "to be or not to be, "[i % 20];
	MUST(doca_compress_create(rig.dev, &compress));
	MUST(doca_compress_task_compress_deflate_set_conf(compress, deflated, deflated, 1));
	MUST(doca_compress_task_decompress_deflate_set_conf(compress, inflated, inflated, 1));
	start(&rig, doca_compress_as_ctx(compress));

	MUST(doca_compress_task_compress_deflate_alloc_init(compress, text, small, none, &task));
	MUST(carry_out(&rig, doca_compress_task_compress_deflate_as_task(task)));
	before = checksum;
	printf("%zu bytes become less than a tenth: %s\n", bytes, length_of(small) < bytes / 10 ? "yes" : "no");

	/* The destination of one task is the source of the next: its data is what was written. */
	MUST(inflate(&rig, compress, small, back));
	printf("back: %zu bytes, %s, checksums %s\n", length_of(back),
	       memcmp(rig.memory, rig.memory + 2 * bytes, bytes) == 0 ? "the same" : "others",
	       checksum == before ? "agree" : "differ");

	/* A failed task leaves the destination as it was, and the context goes on. */
	memset(rig.memory, 0xff, 100);
	noise = data(&rig, 0, 100);
	MUST(doca_buf_reset_data_len(back));
	printf("noise: %s\n", doca_error_get_name(inflate(&rig, compress, noise, back)));
	MUST(inflate(&rig, compress, small, back));
	printf("again: %zu bytes\n", length_of(back));

	MUST(doca_buf_dec_refcount(text, NULL));
	MUST(doca_buf_dec_refcount(small, NULL));
	MUST(doca_buf_dec_refcount(back, NULL));
	MUST(doca_buf_dec_refcount(noise, NULL));
	stop(&rig, doca_compress_as_ctx(compress));
	MUST(doca_compress_destroy(compress));
	free_rig(&rig);
	return 0;
}
