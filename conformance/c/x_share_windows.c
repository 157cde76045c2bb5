/*
 * Windows on another process's memory: any offset and length, to the last byte and not one byte
 * further; room before and after the data untouched; buffers speak in the exporter's addresses.
 *
 * clauses: core-memory Export / import, Buffers, Buffer inventory
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"

#define BYTES (3u << 20)
#define OFFSET 13

static void bounds(struct rig *rig, struct doca_mmap *remote, const struct letter *letter)
{
	struct doca_buf *buf = NULL;
	void *at = NULL;
	size_t len = 0;

	CHECK_STATUS(doca_buf_inventory_buf_get_by_data(rig->inv, remote, share_at(letter, 0), BYTES + 1, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(rig->inv, remote, share_at(letter, BYTES), 1, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(rig->inv, remote, (void *)(uintptr_t)(letter->addr - 1), 2,
							&buf),
		     DOCA_ERROR_INVALID_VALUE);
	/* Far away is no better than close by. */
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(rig->inv, remote, (void *)64, 16, &buf), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(rig->inv, remote, share_at(letter, 8), SIZE_MAX - 4, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	MUST(doca_buf_inventory_buf_get_by_args(rig->inv, remote, share_at(letter, 100), 50, share_at(letter, 110), 7,
						&buf));
	CHECK_OK(doca_buf_get_head(buf, &at));
	CHECK_PTR(at, share_at(letter, 100));
	CHECK_OK(doca_buf_get_data(buf, &at));
	CHECK_PTR(at, share_at(letter, 110));
	CHECK_OK(doca_buf_get_len(buf, &len));
	CHECK_U64(len, 50);
	CHECK_OK(doca_buf_inventory_buf_reuse_by_data(buf, share_at(letter, BYTES - 1), 1));
	CHECK_STATUS(doca_buf_inventory_buf_reuse_by_data(buf, share_at(letter, BYTES - 1), 2),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
}

static void card(int line)
{
	static const size_t cuts[][2] = {{0, 1},	  {BYTES - 1, 1},	{1, 4095},	 {4095, 2},
					 {4096, 4096},	  {777, 65537},		{262143, 262146}, {0, BYTES},
					 {1048575, 1048577}};
	struct doca_mmap *remote;
	struct letter letter;
	struct rig rig;
	size_t i;

	share_card(&rig, BYTES, 2);
	two_recv(line, &letter, sizeof(letter));
	remote = share_import(&letter, rig.dev);
	bounds(&rig, remote, &letter);
	for (i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		size_t at = cuts[i][0], len = cuts[i][1], k;

		memset(rig.mem, 0x77, BYTES);
		CHECK_STATUS(share_read(&rig, remote, share_at(&letter, at), 0, len), DOCA_SUCCESS);
		for (k = 0; k < len; k++)
			rig.mem[k] ^= two_byte(at + k, 4); /* all zero if right */
		CHECK(rig.mem[0] == 0 && memcmp(rig.mem, rig.mem + 1, len - 1) == 0);
		CHECK(len == BYTES || rig.mem[len] == 0x77);
	}
	/* One byte in the middle of a sea. */
	rig.mem[0] = 0xa1;
	CHECK_STATUS(share_write(&rig, remote, share_at(&letter, 1500001), 0, 1), DOCA_SUCCESS);
	two_tell(line, 'w');
	CHECK_OK(doca_mmap_destroy(remote));
	rig_teardown(&rig);
	close(line);
}

static void host(int line)
{
	struct doca_dev *dev = rig_open_dev(SHARE_HOST);
	uint8_t *mem = malloc(BYTES + 100), *at = mem + OFFSET;
	struct doca_mmap *map;
	struct letter letter;

	MUST_BE(mem != NULL);
	memset(mem, 0x55, BYTES + 100);
	two_fill(at, BYTES, 4);
	map = rig_map(dev, at, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	share_export(map, dev, &letter);
	two_send(line, &letter, sizeof(letter));
	two_await(line, 'w');
	CHECK_U64(at[1500001], 0xa1);
	at[1500001] = two_byte(1500001, 4);
	CHECK(two_is(at, BYTES, 4));
	CHECK(mem[OFFSET - 1] == 0x55 && at[BYTES] == 0x55);
	CHECK_OK(doca_mmap_stop(map));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	free(mem);
}

int main(void)
{
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	host(line);
	two_reap(pid);
	close(line);
	return check_result();
}
