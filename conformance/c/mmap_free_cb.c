/*
 * The free callback of a memory map: when it runs, with what, how often, and when it must not.
 *
 * clauses: core-memory set_free_cb, Free callback
 * covers: @
 */
#define _GNU_SOURCE
#include "rig.h"

struct call {
	unsigned count;
	void *addr;
	size_t len;
	pid_t thread;
};

static void note(void *addr, size_t len, void *cookie)
{
	struct call *call = cookie;

	call->count++;
	call->addr = addr;
	call->len = len;
	call->thread = gettid();
}

static void note_other(void *addr, size_t len, void *cookie)
{
	note(addr, len, cookie);
}

static void free_it(void *addr, size_t len, void *cookie)
{
	note(addr, len, cookie);
	free(addr);
}

static struct doca_mmap *configured(struct doca_dev *dev, void *addr, size_t len)
{
	struct doca_mmap *map = NULL;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_memrange(map, addr, len));
	return map;
}

int main(void)
{
	struct doca_dev *dev = rig_open_dev(NULL);
	struct doca_mmap *map;
	struct doca_buf_inventory *inv;
	struct doca_buf *buf;
	struct call first = {0}, second = {0};
	uint8_t mem[333];
	void *heap = malloc(12345);

	/* The whole range, once, on the thread that destroys. */
	map = configured(dev, heap, 12345);
	CHECK_OK(doca_mmap_set_free_cb(map, free_it, &first));
	MUST(doca_mmap_start(map));
	CHECK_U64(first.count, 0);
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_U64(first.count, 1);
	CHECK_PTR(first.addr, heap);
	CHECK_U64(first.len, 12345);
	CHECK_U64(first.thread, gettid());

	/* Never started: the program frees by itself. */
	memset(&first, 0, sizeof(first));
	map = configured(dev, mem, sizeof(mem));
	CHECK_OK(doca_mmap_set_free_cb(map, note, &first));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_U64(first.count, 0);
	/* Nor after a start that failed. */
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	CHECK_OK(doca_mmap_set_free_cb(map, note, &first));
	CHECK_REFUSED(doca_mmap_start(map));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_U64(first.count, 0);

	/* Stopped before destroy: it had been started. Stop itself does not run it. */
	map = configured(dev, mem, sizeof(mem));
	CHECK_OK(doca_mmap_set_free_cb(map, note, &first));
	MUST(doca_mmap_start(map));
	MUST(doca_mmap_stop(map));
	CHECK_U64(first.count, 0);
	MUST(doca_mmap_start(map));
	MUST(doca_mmap_stop(map));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_U64(first.count, 1);

	/* Replaced after the last start: neither runs. */
	memset(&first, 0, sizeof(first));
	map = configured(dev, mem, sizeof(mem));
	CHECK_OK(doca_mmap_set_free_cb(map, note, &first));
	MUST(doca_mmap_start(map));
	MUST(doca_mmap_stop(map));
	CHECK_OK(doca_mmap_set_free_cb(map, note_other, &second));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_U64(first.count + second.count, 0);
	/* Replaced and started: the new one. */
	map = configured(dev, mem, sizeof(mem));
	CHECK_OK(doca_mmap_set_free_cb(map, note, &first));
	CHECK_OK(doca_mmap_set_free_cb(map, note_other, &second));
	MUST(doca_mmap_start(map));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_U64(first.count, 0);
	CHECK_U64(second.count, 1);
	CHECK_U64(second.len, sizeof(mem));

	/* A refused destroy runs nothing. */
	memset(&first, 0, sizeof(first));
	map = configured(dev, mem, sizeof(mem));
	CHECK_OK(doca_mmap_set_free_cb(map, note, &first));
	MUST(doca_mmap_start(map));
	MUST(doca_buf_inventory_create(1, &inv));
	MUST(doca_buf_inventory_start(inv));
	MUST(doca_buf_inventory_buf_get_by_data(inv, map, mem, 5, &buf));
	CHECK_STATUS(doca_mmap_destroy(map), DOCA_ERROR_NOT_PERMITTED);
	CHECK_U64(first.count, 0);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_U64(first.count, 1);
	CHECK_OK(doca_buf_inventory_destroy(inv));
	CHECK_STATUS(doca_mmap_set_free_cb(NULL, note, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
