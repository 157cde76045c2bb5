/*
 * Lists that reach into another process: pieces of remote memory gathered into one local buffer, a local
 * buffer scattered over remote pieces, lists that mix local and remote elements, 32 copies in flight.
 *
 * clauses: core-memory Buffers (lists, members from different maps); dma Behaviour (lists)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"

#define PIECES 5
#define PIECE 3333
#define BYTES 100000

static struct doca_buf *chain(struct rig *rig, struct doca_mmap *map, const struct letter *letter, int full)
{
	struct doca_buf *head = NULL, *next = NULL;
	unsigned i;

	for (i = 0; i < PIECES; i++) {
		void *at = share_at(letter, (uint64_t)(PIECES - i) * 10000 + i);

		if (full)
			MUST(doca_buf_inventory_buf_get_by_data(rig->inv, map, at, PIECE, &next));
		else
			MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, map, at, PIECE, &next));
		if (i == 0)
			head = next;
		else
			MUST(doca_buf_chain_list(head, next));
	}
	return head;
}

static void run(struct rig *rig, struct doca_buf *src, struct doca_buf *dst)
{
	unsigned before = rig->good;

	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(rig_task(rig, src, dst, 0))));
	rig_drain(rig);
	CHECK_U64(rig->good, before + 1);
}

static void card(int line)
{
	struct doca_mmap *remote;
	struct doca_buf *mixed;
	struct letter letter;
	struct rig rig;
	unsigned i, k;

	share_card(&rig, BYTES, 32);
	two_recv(line, &letter, sizeof(letter));
	remote = share_import(&letter, rig.dev);
	/* Gather. */
	run(&rig, chain(&rig, remote, &letter, 1), rig_dst(&rig, 0, PIECES * PIECE));
	for (i = 0; i < PIECES; i++)
		for (k = 0; k < PIECE; k++)
			if (rig.mem[i * PIECE + k] != two_byte((PIECES - i) * 10000 + i + k, 2)) {
				check_fail(__FILE__, __LINE__, "piece %u byte %u", i, k);
				break;
			}
	/* Scatter. */
	two_fill(rig.mem, PIECES * PIECE, 3);
	run(&rig, rig_src(&rig, 0, PIECES * PIECE), chain(&rig, remote, &letter, 0));
	/* Remote first, then local, into remote. */
	MUST(doca_buf_inventory_buf_get_by_data(rig.inv, remote, share_at(&letter, 60000), 100, &mixed));
	MUST(doca_buf_chain_list(mixed, rig_src(&rig, 50, 100)));
	{
		struct doca_buf *to = NULL;

		MUST(doca_buf_inventory_buf_get_by_addr(rig.inv, remote, share_at(&letter, 70000), 200, &to));
		run(&rig, mixed, to);
	}
	/* Many at once. */
	for (i = 0; i < 32; i++) {
		struct doca_buf *src = NULL;

		MUST(doca_buf_inventory_buf_get_by_data(rig.inv, remote, share_at(&letter, 80000 + i * 500), 500, &src));
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(
			rig_task(&rig, src, rig_dst(&rig, 20000 + i * 500, 500), i))));
	}
	rig_drain(&rig);
	for (k = 0; k < 16000; k++)
		CHECK_U64(rig.mem[20000 + k], two_byte(80000 + k, 2));
	CHECK_OK(doca_mmap_destroy(remote));
	rig_teardown(&rig);
	close(line);
}

int main(void)
{
	struct doca_mmap *map;
	struct letter letter;
	struct doca_dev *dev;
	uint8_t *mem;
	unsigned i, k;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	dev = rig_open_dev(SHARE_HOST);
	mem = malloc(BYTES);
	MUST_BE(mem != NULL);
	two_fill(mem, BYTES, 2);
	map = rig_map(dev, mem, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	share_export(map, dev, &letter);
	two_send(line, &letter, sizeof(letter));
	two_reap(pid);
	for (i = 0; i < PIECES; i++)
		for (k = 0; k < PIECE; k++)
			CHECK_U64(mem[(PIECES - i) * 10000 + i + k], two_byte(i * PIECE + k, 3));
	CHECK(memcmp(mem + 70000, mem + 60000, 100) == 0);
	for (k = 0; k < 100; k++)
		CHECK_U64(mem[70100 + k], two_byte(50 + k, 3));
	CHECK_U64(mem[70200], two_byte(70200, 2));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	free(mem);
	close(line);
	return check_result();
}
