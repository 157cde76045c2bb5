/*
 * What a copy does to bytes and descriptors: every length and alignment around the interesting
 * borders, appended destinations, lists of any shape against a plain model, neighbours untouched,
 * overlap survived.
 *
 * clauses: dma Behaviour (DMA); core-memory Buffers (source and destination convention)
 * covers: @
 */
#include "rig.h"

#define HALF ((size_t)1 << 20)

static uint32_t seed = 99;

static uint32_t next(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)seed * below) >> 32);
}

static void lengths(struct rig *rig)
{
	static const size_t len[] = {1,	   2,	 3,    7,    8,	   9,	  15,	  16,	  17,	   31,	   32,	    33,
				     63,   64,	 65,   127,  128,  255,	  256,	  257,	  511,	   512,	   513,	    1000,
				     4095, 4096, 4097, 8191, 9001, 65535, 65536,  65537,  262143, 262144, 262145, 1000000};
	size_t i, shift;

	for (i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		for (shift = 0; shift < 17; shift += len[i] > 10000 ? 7 : 1) {
			size_t from = (shift * 3) % 16, to = HALF + 32 + shift, k;
			unsigned good = rig->good;

			memset(rig->mem + to - 16, 0xaa, len[i] + 32);
			(void)rig_copy(rig, from, to, len[i], 0);
			rig_drain(rig);
			CHECK_U64(rig->good, good + 1);
			CHECK_BYTES(rig->mem + to, rig->mem + from, len[i]);
			for (k = 0; k < 16; k++)
				MUST_BE(rig->mem[to - 16 + k] == 0xaa && rig->mem[to + len[i] + k] == 0xaa);
		}
	}
}

/* The copy goes behind the data that is there, and the data grows by it. */
static void appended(struct rig *rig)
{
	struct doca_buf *dst = rig_dst(rig, HALF, 1000);
	size_t len = 0, i;
	void *data = NULL;

	MUST(doca_buf_set_data(dst, rig->mem + HALF + 10, 5));
	memset(rig->mem + HALF, 0x11, 1000);
	rig->drop_bufs = 0;
	for (i = 0; i < 9; i++) {
		struct doca_buf *src = rig_src(rig, i * 200, 100 + i);

		MUST(doca_task_try_submit(doca_dma_task_memcpy_as_task(rig_task(rig, src, dst, 0))));
		rig_drain(rig);
		CHECK_OK(doca_buf_dec_refcount(src, NULL));
	}
	CHECK_OK(doca_buf_get_data(dst, &data));
	CHECK_PTR(data, rig->mem + HALF + 10);
	CHECK_OK(doca_buf_get_data_len(dst, &len));
	CHECK_U64(len, 5 + 900 + 36);
	for (i = 0, len = HALF + 15; i < 9; i++) {
		CHECK_BYTES(rig->mem + len, rig->mem + i * 200, 100 + i);
		len += 100 + i;
	}
	for (i = 0; i < 15; i++)
		MUST_BE(rig->mem[HALF + i] == 0x11);
	CHECK_U64(rig->mem[HALF + 999], 0x11);
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	rig->drop_bufs = 1;
}

/* A list of `count` elements over [base, base + len), cut at random, windows with room around. */
static struct doca_buf *random_list(struct rig *rig, size_t base, size_t len, uint32_t count, int full)
{
	struct doca_buf *head = NULL, *buf = NULL;
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < count; i++) {
		size_t rest = len - at, piece = i + 1 == count ? rest : next((uint32_t)(rest - (count - i)) + 1) + 1;
		uint8_t *m = rig->mem + base + at;

		if (full) {
			/* The data lies in the middle of a larger region. */
			size_t before = base + at < 5 ? base + at : 5;

			MUST(doca_buf_inventory_buf_get_by_args(rig->inv, rig->map, m - before, piece + before, m,
								piece, &buf));
		} else {
			/* Some data is there already; the room behind it is what counts. */
			size_t before = base + at - HALF < 3 ? base + at - HALF : 3;

			MUST(doca_buf_inventory_buf_get_by_args(rig->inv, rig->map, m - before, piece + before,
								m - before, before, &buf));
		}
		if (head == NULL)
			head = buf;
		else
			MUST(doca_buf_chain_list(head, buf));
		at += piece;
	}
	return head;
}

static void lists(struct rig *rig)
{
	unsigned round;

	for (round = 0; round < 300; round++) {
		size_t len = 64 + next(round % 10 == 0 ? 400000 : 3000), room = len + next(50), got, there[20], left = len;
		uint32_t n = 1 + next(20), m = 1 + next(20);
		struct doca_buf *src = random_list(rig, 16, len, n, 1), *dst = random_list(rig, HALF, room, m, 0), *walk;
		unsigned good = rig->good, i;

		memset(rig->mem + HALF, 0, room);
		for (walk = dst, i = 0; walk != NULL; i++) {
			MUST(doca_buf_get_data_len(walk, &there[i]));
			MUST(doca_buf_get_next_in_list(walk, &walk));
		}
		rig->drop_bufs = 0;
		MUST(doca_task_try_submit(doca_dma_task_memcpy_as_task(rig_task(rig, src, dst, 0))));
		rig_drain(rig);
		CHECK_U64(rig->good, good + 1);
		CHECK_BYTES(rig->mem + HALF, rig->mem + 16, len);
		for (got = len; got < room; got++)
			MUST_BE(rig->mem[HALF + got] == 0);
		/* Element by element: what was there, plus what was put in. */
		for (walk = dst, i = 0; walk != NULL; i++) {
			size_t region = 0, data_len = 0, put;

			MUST(doca_buf_get_len(walk, &region));
			MUST(doca_buf_get_data_len(walk, &data_len));
			put = region - there[i] < left ? region - there[i] : left;
			CHECK_U64(data_len, there[i] + put);
			left -= put;
			MUST(doca_buf_get_next_in_list(walk, &walk));
		}
		CHECK_U64(left, 0);
		CHECK_OK(doca_buf_dec_refcount(src, NULL));
		CHECK_OK(doca_buf_dec_refcount(dst, NULL));
		rig->drop_bufs = 1;
	}
}

static void overlap(struct rig *rig)
{
	unsigned good = rig->good;

	(void)rig_copy(rig, 1000, 1000, 5000, 0);
	(void)rig_copy(rig, 1000, 1003, 5000, 0);
	(void)rig_copy(rig, 1003, 1000, 5000, 0);
	(void)rig_copy(rig, 0, 300000, 600000, 0);
	rig_drain(rig);
	/* Any bytes will do; one callback each, no crash. */
	CHECK_U64(rig->good + rig->bad, good + 4);
}

int main(void)
{
	struct rig rig;

	rig_setup(&rig, 2 * HALF + 4096, 8);
	lengths(&rig);
	appended(&rig);
	lists(&rig);
	overlap(&rig);
	rig_teardown(&rig);
	return check_result();
}
