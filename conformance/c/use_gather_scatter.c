/*
 * A message that lies in pieces in three maps is gathered into one region, and scattered again into
 * another set of pieces: chains across maps, different shapes on both sides, one release per chain.
 *
 * clauses: core-memory Buffers (lists, data windows), dma Behaviour (lists)
 * covers: @
 */
#include "rig.h"

#define PIECES 5

struct piece {
	uint8_t *mem;
	size_t len;
	struct doca_mmap *map;
};

static struct doca_buf *chain_full(struct rig *rig, struct piece *piece, size_t count)
{
	struct doca_buf *head = NULL, *next = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		MUST(doca_buf_inventory_buf_get_by_data(rig->inv, piece[i].map, piece[i].mem, piece[i].len, &next));
		if (head == NULL)
			head = next;
		else
			MUST(doca_buf_chain_list(head, next));
	}
	return head;
}

static struct doca_buf *chain_empty(struct rig *rig, struct piece *piece, size_t count)
{
	struct doca_buf *head = NULL, *tail = NULL, *next = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, piece[i].map, piece[i].mem, piece[i].len, &next));
		if (head == NULL)
			head = next;
		else
			MUST(doca_buf_chain_list_tail(head, tail, next));
		tail = next;
	}
	return head;
}

static void make_pieces(struct rig *rig, struct piece *piece, const size_t *len, size_t count, int fill)
{
	size_t i, j;

	for (i = 0; i < count; i++) {
		piece[i].len = len[i];
		piece[i].mem = (uint8_t *)malloc(len[i]);
		MUST_BE(piece[i].mem != NULL);
		for (j = 0; j < len[i]; j++)
			piece[i].mem[j] = fill ? (uint8_t)(i * 50 + j * 3 + 1) : 0;
		piece[i].map = rig_map(rig->dev, piece[i].mem, len[i], DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	}
}

static void drop_pieces(struct piece *piece, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		CHECK_OK(doca_mmap_destroy(piece[i].map));
		free(piece[i].mem);
	}
}

static void run(struct rig *rig, struct doca_buf *src, struct doca_buf *dst)
{
	unsigned before = rig->good;
	struct doca_dma_task_memcpy *task = rig_task(rig, src, dst, 1);

	MUST(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)));
	rig_drain(rig);
	CHECK_U64(rig->good, before + 1);
}

int main(void)
{
	static const size_t from_len[PIECES] = {1, 4096, 13, 70000, 7};
	static const size_t to_len[3] = {50000, 5, 30000};
	struct piece from[PIECES], to[3];
	struct rig rig;
	struct doca_buf *src, *dst, *walk;
	size_t total = 0, i, at, len;
	uint32_t elements = 0;

	for (i = 0; i < PIECES; i++)
		total += from_len[i];
	rig_setup(&rig, total, 4);
	rig.drop_bufs = 0;
	make_pieces(&rig, from, from_len, PIECES, 1);
	make_pieces(&rig, to, to_len, 3, 0);

	/* Gather. */
	src = chain_full(&rig, from, PIECES);
	CHECK_OK(doca_buf_get_list_len(src, &elements));
	CHECK_U64(elements, PIECES);
	dst = rig_dst(&rig, 0, total);
	run(&rig, src, dst);
	for (i = 0, at = 0; i < PIECES; at += from_len[i++])
		CHECK_BYTES(rig.mem + at, from[i].mem, from_len[i]);
	CHECK_OK(doca_buf_get_data_len(dst, &len));
	CHECK_U64(len, total);
	/* One call gives the whole chain back. */
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));

	/* Scatter: the last piece is filled in part. */
	src = rig_src(&rig, 0, total);
	dst = chain_empty(&rig, to, 3);
	run(&rig, src, dst);
	CHECK_BYTES(to[0].mem, rig.mem, 50000);
	CHECK_BYTES(to[1].mem, rig.mem + 50000, 5);
	CHECK_BYTES(to[2].mem, rig.mem + 50005, total - 50005);
	for (i = total - 50005; i < to_len[2]; i++)
		MUST_BE(to[2].mem[i] == 0);
	for (walk = dst, i = 0; walk != NULL; i++) {
		MUST(doca_buf_get_data_len(walk, &len));
		CHECK_U64(len, i < 2 ? to_len[i] : total - 50005);
		MUST(doca_buf_get_len(walk, &len));
		CHECK_U64(len, to_len[i]);
		MUST(doca_buf_get_next_in_list(walk, &walk));
	}
	CHECK_U64(i, 3);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	drop_pieces(from, PIECES);
	drop_pieces(to, 3);
	rig_teardown(&rig);
	return check_result();
}
