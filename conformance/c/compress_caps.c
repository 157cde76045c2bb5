/*
 * What the capability calls of compression answer for every device, card by card: BlueField-2 has DEFLATE both
 * ways, BlueField-3 decompression and LZ4, ConnectX-7 nothing. Each card is looked at by a process of its own.
 *
 * clauses: compress Device models, cap functions of every task type
 * covers: @
 * std: gnu11
 */
#include <sys/wait.h>

#include <doca_compress.h>
#include <doca_dev.h>

#include "check.h"

struct card {
	const char *profile;
	int can[4];
	uint64_t most;
};

static const struct card cards[] = {
	{"all", {1, 1, 1, 1}, (uint64_t)128 << 20},
	{"bf2", {1, 1, 0, 0}, (uint64_t)2 << 20},
	{"bf3", {0, 1, 1, 1}, (uint64_t)2 << 20},
	{"cx7", {0, 0, 0, 0}, 0},
};

static doca_error_t (*const supported[4])(const struct doca_devinfo *) = {
	doca_compress_cap_task_compress_deflate_is_supported,
	doca_compress_cap_task_decompress_deflate_is_supported,
	doca_compress_cap_task_decompress_lz4_stream_is_supported,
	doca_compress_cap_task_decompress_lz4_block_is_supported,
};

static doca_error_t (*const size_of[4])(const struct doca_devinfo *, uint64_t *) = {
	doca_compress_cap_task_compress_deflate_get_max_buf_size,
	doca_compress_cap_task_decompress_deflate_get_max_buf_size,
	doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size,
	doca_compress_cap_task_decompress_lz4_block_get_max_buf_size,
};

static doca_error_t (*const list_of[4])(const struct doca_devinfo *, uint32_t *) = {
	doca_compress_cap_task_compress_deflate_get_max_buf_list_len,
	doca_compress_cap_task_decompress_deflate_get_max_buf_list_len,
	doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len,
	doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len,
};

static void never(struct doca_compress_task_decompress_lz4_block *task, union doca_data user, union doca_data ctx)
{
	(void)task, (void)user, (void)ctx;
	CHECK(0);
}

static void one_device(const struct card *card, struct doca_devinfo *info)
{
	struct doca_compress *compress = NULL;
	struct doca_dev *dev = NULL;
	int i;

	for (i = 0; i < 4; i++) {
		uint64_t most = 7;
		uint32_t elements = 7;
		doca_error_t want = card->can[i] ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;

		CHECK_STATUS(supported[i](info), want);
		CHECK_STATUS(size_of[i](info, &most), want);
		CHECK_U64(most, card->can[i] ? card->most : 7);
		CHECK_STATUS(list_of[i](info, &elements), want);
		CHECK_U64(elements, card->can[i] ? 64 : 7);
		if (card->can[i]) {
			CHECK_STATUS(size_of[i](info, NULL), DOCA_ERROR_INVALID_VALUE);
			CHECK_STATUS(list_of[i](info, NULL), DOCA_ERROR_INVALID_VALUE);
		}
	}
	if (!card->can[1])
		return;
	/* A context where any type is supported; the others cannot be turned on. */
	MUST(doca_dev_open(info, &dev));
	MUST(doca_compress_create(dev, &compress));
	CHECK_STATUS(doca_compress_task_decompress_lz4_block_set_conf(compress, never, never, 1),
		     card->can[3] ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED);
	CHECK_OK(doca_compress_destroy(compress));
	CHECK_OK(doca_dev_close(dev));
}

static int one_card(const struct card *card)
{
	struct doca_devinfo **list = NULL;
	uint32_t count = 0, i;
	int kind;

	setenv("SOFTDPU_PROFILE", card->profile, 1);
	for (kind = 0; kind < 4; kind++) {
		uint64_t most;
		uint32_t elements;

		CHECK_STATUS(supported[kind](NULL), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(size_of[kind](NULL, &most), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(list_of[kind](NULL, &elements), DOCA_ERROR_INVALID_VALUE);
	}
	MUST(doca_devinfo_create_list(&list, &count));
	CHECK(count > 0);
	for (i = 0; i < count; i++)
		one_device(card, list[i]);
	MUST(doca_devinfo_destroy_list(list));
	return check_result();
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(cards) / sizeof(cards[0]); i++) {
		int status = -1;
		pid_t child = fork();

		MUST_BE(child >= 0);
		if (child == 0)
			exit(one_card(&cards[i]));
		MUST_BE(waitpid(child, &status, 0) == child);
		if (status != 0)
			fprintf(stderr, "profile %s failed\n", cards[i].profile);
		CHECK_U64(status, 0);
	}
	return check_result();
}
