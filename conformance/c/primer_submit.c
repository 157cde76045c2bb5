/*
 * The submit of two arguments: the device reads the buffer once, completes by itself, and says in the
 * log what it has read. Many of them, lists, memory that may only be read, buffers of the contract's
 * inventories, more bytes than one task of the card may move; a buffer that is destroyed at once.
 *
 * clauses: primer First chapter (task submit)
 * env: SOFTDPU_PROFILE=bf2
 * covers: softdpu_primer_task_submit softdpu_primer_buf_destroy softdpu_primer_ctx_set_log_level
 *   softdpu_primer_init
 */
#define _GNU_SOURCE

#include <pthread.h>
#include <sys/mman.h>

#include <doca_primer.h>

#include "check.h"

#define BYTES (9u * 1024 * 1024)

static FILE *records;

/* How many records of the library have this text. */
static unsigned records_with(const char *text)
{
	char line[512];
	unsigned found = 0;

	rewind(records);
	while (fgets(line, sizeof(line), records) != NULL)
		found += strstr(line, text) != NULL;
	return found;
}

static void *own_session(void *unused)
{
	struct doca_ctx *ctx = doca_ctx_create();
	uint8_t *host = (uint8_t *)malloc(4096);
	struct doca_dev *dev;
	struct doca_mem *mem;
	struct doca_buf *buf;
	int i;

	MUST_BE(ctx != NULL && host != NULL);
	memset(host, 1, 4096);
	MUST(doca_dev_open(doca_devinfo_get_first(ctx), &dev));
	MUST(doca_mem_reg(dev, host, 4096, DOCA_MEM_ACCESS_RO, &mem));
	for (i = 0; i < 300; i++) {
		MUST(doca_buf_create(mem, (size_t)i, 512, &buf));
		CHECK_OK(doca_task_submit(ctx, buf));
		if (i % 3 == 0)
			CHECK_OK(doca_task_submit(ctx, buf));
		CHECK_OK(doca_buf_destroy(buf));
	}
	CHECK_OK(doca_mem_unreg(mem));
	CHECK_OK(doca_dev_close(dev));
	CHECK_OK(doca_ctx_destroy(ctx));
	free(host);
	return unused;
}

int main(void)
{
	struct doca_log_backend *backend;
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf, *next, *plain;
	struct doca_mmap *map;
	struct doca_dev *dev;
	struct doca_mem *mem;
	struct doca_ctx *ctx;
	pthread_t threads[3];
	void *readable;
	uint8_t *host;
	size_t i;

	records = tmpfile();
	MUST_BE(records != NULL);
	setvbuf(records, NULL, _IONBF, 0);
	MUST(doca_init());
	MUST(doca_init());
	MUST(doca_log_backend_create_with_file_sdk(records, &backend));
	MUST(doca_ctx_create(&ctx));
	MUST(doca_ctx_set_log_level(ctx, DOCA_LOG_LEVEL_INFO));
	MUST(doca_dev_open(doca_devinfo_get_first(ctx), &dev));
	host = (uint8_t *)aligned_alloc(4096, BYTES);
	for (i = 0; i < BYTES; i++)
		host[i] = (uint8_t)(i * 7 + (i >> 9));
	MUST(doca_mem_reg(dev, host, BYTES, DOCA_MEM_ACCESS_RW, &mem));

	/* One packet. */
	MUST(doca_buf_create(mem, 0, 1500, &buf));
	CHECK_OK(doca_task_submit(ctx, buf));
	CHECK_OK(doca_buf_destroy(buf));
	CHECK_U64(records_with(" read 1500 bytes, checksum 0x"), 1);
	/* The same bytes have the same checksum, others another: three lines, two of them equal. */
	for (i = 0; i < 3; i++) {
		host[100] = i < 2 ? 7 : 8;
		MUST(doca_buf_create(mem, 0, 1000, &buf));
		CHECK_OK(doca_task_submit(ctx, buf));
		CHECK_OK(doca_buf_destroy(buf));
	}
	{
		char line[512], sums[3][32];
		unsigned found = 0;

		rewind(records);
		while (fgets(line, sizeof(line), records) != NULL) {
			const char *sum = strstr(line, " read 1000 bytes, checksum ");

			if (sum != NULL && found < 3)
				snprintf(sums[found++], 32, "%.18s", strstr(sum, "0x"));
		}
		CHECK_U64(found, 3);
		CHECK_TEXT(sums[0], sums[1]);
		CHECK(strcmp(sums[0], sums[2]) != 0);
	}

	/* More than the card moves in one task, several times, without a look in between. */
	MUST(doca_buf_create(mem, 5, BYTES - 5, &buf));
	for (i = 0; i < 4; i++)
		CHECK_OK(doca_task_submit(ctx, buf));
	CHECK_OK(doca_buf_destroy(buf));
	CHECK_U64(records_with(" read 9437179 bytes, checksum 0x"), 4);

	/* A list of two windows; its bytes are those of both. */
	MUST(doca_buf_create(mem, 0, 100, &buf));
	MUST(doca_buf_create(mem, 4096, 23, &next));
	MUST(doca_buf_chain_list(buf, next));
	CHECK_OK(doca_task_submit(ctx, buf));
	CHECK_STATUS(doca_task_submit(ctx, next), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_destroy(buf));
	CHECK_STATUS(doca_buf_destroy(next), DOCA_ERROR_INVALID_VALUE);
	CHECK_U64(records_with(" read 123 bytes, checksum 0x"), 1);
	CHECK_OK(doca_mem_unreg(mem));

	/* Memory that is mapped read-only. */
	readable = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST_BE(readable != MAP_FAILED);
	MUST(doca_mem_reg(dev, readable, 4096, DOCA_MEM_ACCESS_RO, &mem));
	MUST(doca_buf_create(mem, 0, 4096, &buf));
	CHECK_OK(doca_task_submit(ctx, buf));
	CHECK_OK(doca_buf_destroy(buf));
	CHECK_OK(doca_mem_unreg(mem));
	CHECK_U64(munmap(readable, 4096), 0);

	/* A buffer of the contract, in a map without a device. */
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_set_memrange(map, host, BYTES));
	MUST(doca_mmap_start(map));
	MUST(doca_buf_inventory_create(4, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	MUST(doca_buf_inventory_buf_get_by_data(inventory, map, host + 10, 77, &plain));
	CHECK_OK(doca_task_submit(ctx, plain));
	CHECK_OK(doca_buf_destroy(plain));
	CHECK_U64(records_with(" read 77 bytes, checksum 0x"), 1);
	CHECK_OK(doca_buf_inventory_destroy(inventory));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_U64(records_with("could not read"), 0);

	/* The close waits for what flies. */
	MUST(doca_mem_reg(dev, host, BYTES, DOCA_MEM_ACCESS_RW, &mem));
	MUST(doca_buf_create(mem, 0, BYTES, &buf));
	CHECK_OK(doca_task_submit(ctx, buf));
	CHECK_OK(doca_buf_destroy(buf));
	CHECK_OK(doca_mem_unreg(mem));
	free(host);
	CHECK_OK(doca_dev_close(dev));
	CHECK_OK(doca_ctx_destroy(ctx));

	for (i = 0; i < 3; i++)
		MUST_BE(pthread_create(&threads[i], NULL, own_session, NULL) == 0);
	for (i = 0; i < 3; i++)
		MUST_BE(pthread_join(threads[i], NULL) == 0);
	CHECK_U64(records_with(" read 512 bytes, checksum 0x"), 3 * 400);
	return check_result();
}
