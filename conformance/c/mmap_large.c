/*
 * A range far beyond 4 GiB, of which only few pages exist: windows at its very ends and across the
 * 2 and 4 GiB marks, copies between them, lengths that need 64 bits.
 *
 * clauses: core-memory set_memrange, get_by_args; ranges over 1 GiB
 * covers: @
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "rig.h"

#define GIB ((size_t)1 << 30)
#define TOTAL (5 * GIB + 12345)
#define PIECE 70000

static void fill(uint8_t *at, size_t len, unsigned seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		at[i] = (uint8_t)(i * 13 + seed + (i >> 9));
}

int main(void)
{
	static const size_t marks[] = {0, GIB - 35000, 2 * GIB - 35000, 4 * GIB - 35000, TOTAL - PIECE};
	struct rig rig;
	struct doca_mmap *map = NULL;
	struct doca_buf *src = NULL, *dst = NULL, *buf = NULL;
	void *head = NULL;
	size_t len = 0, i, j;
	uint8_t *big = mmap(NULL, TOTAL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (big == MAP_FAILED)
		SKIP("no address space for %zu bytes", TOTAL);
	rig_setup(&rig, 64, 4);
	map = rig_map(rig.dev, big, TOTAL, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	CHECK_OK(doca_mmap_get_memrange(map, &head, &len));
	CHECK_U64(len, TOTAL);

	for (i = 0; i < 5; i++) {
		for (j = 0; j < 5; j++) {
			unsigned good = rig.good;

			if (i == j)
				continue;
			fill(big + marks[i], PIECE, (unsigned)(i * 5 + j));
			MUST(doca_buf_inventory_buf_get_by_data(rig.inv, map, big + marks[i], PIECE, &src));
			MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, map, big + marks[j], PIECE, &dst));
			MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(&rig, src, dst, 0))));
			rig_drain(&rig);
			CHECK_U64(rig.good, good + 1);
			CHECK_BYTES(big + marks[j], big + marks[i], PIECE);
		}
	}
	/* One buffer over everything, with a data window near its end. */
	MUST(doca_buf_inventory_buf_get_by_args(rig.inv, map, big, TOTAL, big + TOTAL - 100, 60, &buf));
	CHECK_OK(doca_buf_get_len(buf, &len));
	CHECK_U64(len, TOTAL);
	CHECK_OK(doca_buf_set_data(buf, big, TOTAL));
	CHECK_OK(doca_buf_get_data_len(buf, &len));
	CHECK_U64(len, TOTAL);
	CHECK_STATUS(doca_buf_set_data_len(buf, TOTAL + 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_set_data(buf, big + TOTAL, 0));
	CHECK_STATUS(doca_buf_set_data(buf, big + TOTAL, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	/* One byte past the end, and sums that wrap around. */
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(rig.inv, map, big, TOTAL + 1, &buf), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(rig.inv, map, big + TOTAL - 9, 10, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(rig.inv, map, big + 10, SIZE_MAX - 5, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(rig.inv, map, big - 1, 10, &buf), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_destroy(map));
	rig_teardown(&rig);
	munmap(big, TOTAL);
	return check_result();
}
