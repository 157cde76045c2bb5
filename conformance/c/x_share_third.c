/*
 * A map imported over PCI is exported on to an RDMA peer, as a storage card does with the host's memory:
 * allowed when the host gave RDMA rights, refused when not; a third process imports it and sees the first
 * one's addresses; when the first stops, all the rest is dead.
 *
 * clauses: core-memory Export / import (re-export over RDMA)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"

#define BYTES 30000

static void third(int line)
{
	struct doca_dev *dev = rig_open_dev("03:00.1");
	struct doca_mmap *map = NULL, *late = NULL;
	struct letter letter;
	uint8_t flag = 0;
	void *addr = NULL;
	size_t len = 0;

	two_recv(line, &letter, sizeof(letter));
	MUST(doca_mmap_create_from_export(NULL, letter.desc, letter.desc_len, dev, &map));
	CHECK_OK(doca_mmap_get_memrange(map, &addr, &len));
	CHECK_U64((uintptr_t)addr, letter.addr);
	CHECK_U64(len, BYTES);
	CHECK_OK(doca_mmap_get_from_export(map, &flag));
	CHECK_U64(flag, 1);
	two_tell(line, 'i');
	two_await(line, 's');
	CHECK_STATUS(doca_mmap_create_from_export(NULL, letter.desc, letter.desc_len, dev, &late),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	close(line);
}

static void card(int line, int onward)
{
	struct doca_mmap *remote, *plain;
	struct letter letter, rdma;
	const void *desc = NULL;
	size_t len = 0;
	struct rig rig;

	share_card(&rig, BYTES, 1);
	two_recv(line, &letter, sizeof(letter));
	remote = share_import(&letter, rig.dev);
	CHECK_STATUS(share_read(&rig, remote, share_at(&letter, 0), 0, BYTES), DOCA_SUCCESS);
	CHECK(two_is(rig.mem, BYTES, 1));
	MUST(doca_mmap_export_rdma(remote, rig.dev, &desc, &len));
	MUST_BE(len <= sizeof(rdma.desc));
	CHECK_STATUS(doca_mmap_export_pci(remote, rig.dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_mmap_export_rdma(remote, rig.dev, &desc, &len));
	memcpy(rdma.desc, desc, len);
	rdma.desc_len = len;
	rdma.addr = letter.addr;
	rdma.len = letter.len;
	two_send(onward, &rdma, sizeof(rdma));
	two_await(onward, 'i');
	/* The host's other map carries no RDMA right. */
	two_recv(line, &letter, sizeof(letter));
	plain = share_import(&letter, rig.dev);
	CHECK_STATUS(doca_mmap_export_rdma(plain, rig.dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_mmap_destroy(plain));
	two_tell(line, 'e');
	two_await(line, 's');
	two_tell(onward, 's');
	CHECK_OK(doca_mmap_destroy(remote));
	rig_teardown(&rig);
}

int main(void)
{
	struct doca_mmap *map, *plain;
	struct letter letter;
	struct doca_dev *dev;
	uint8_t *mem;
	int line, onward;
	pid_t pid, last = two_fork(&onward);

	if (last == 0) {
		third(onward);
		exit(check_result());
	}
	pid = two_fork(&line);
	if (pid == 0) {
		card(line, onward);
		exit(check_result());
	}
	close(onward);
	dev = rig_open_dev(SHARE_HOST);
	mem = malloc(BYTES);
	MUST_BE(mem != NULL);
	two_fill(mem, BYTES, 1);
	map = rig_map(dev, mem, BYTES,
		      DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
			      DOCA_ACCESS_FLAG_RDMA_WRITE);
	plain = rig_map(dev, mem, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	share_export(map, dev, &letter);
	two_send(line, &letter, sizeof(letter));
	share_export(plain, dev, &letter);
	two_send(line, &letter, sizeof(letter));
	two_await(line, 'e');
	CHECK_OK(doca_mmap_stop(map));
	two_tell(line, 's');
	two_reap(pid);
	two_reap(last);
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_mmap_destroy(plain));
	CHECK_OK(doca_dev_close(dev));
	free(mem);
	close(line);
	return check_result();
}
