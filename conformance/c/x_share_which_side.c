/*
 * On a faithful card the directions are fixed: host and card functions export, only the card's own import
 * from another process; the capability calls say so and the import on a host function is refused with
 * NOT_SUPPORTED. A map on two devices is exported for each of them.
 *
 * clauses: core-memory Export / import (capabilities)
 * env: SOFTDPU_PROFILE=bf3
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"

#define BYTES 6000

static void card(int line)
{
	struct doca_dev *host = rig_open_dev("b1:00.1");
	struct doca_mmap *remote = NULL;
	struct letter letters[2];
	struct rig rig;
	uint8_t can = 9;
	int i;

	share_card(&rig, BYTES, 1);
	CHECK_OK(doca_mmap_cap_is_create_from_export_pci_supported(doca_dev_as_devinfo(rig.dev), &can));
	CHECK_U64(can, 1);
	CHECK_OK(doca_mmap_cap_is_create_from_export_pci_supported(doca_dev_as_devinfo(host), &can));
	CHECK_U64(can, 0);
	two_recv(line, letters, sizeof(letters));
	CHECK_STATUS(doca_mmap_create_from_export(NULL, letters[0].desc, letters[0].desc_len, host, &remote),
		     DOCA_ERROR_NOT_SUPPORTED);
	CHECK_PTR(remote, NULL);
	for (i = 0; i < 2; i++) {
		remote = share_import(&letters[i], rig.dev);
		CHECK_STATUS(share_read(&rig, remote, share_at(&letters[i], 0), 0, BYTES), DOCA_SUCCESS);
		CHECK(two_is(rig.mem, BYTES, 1));
		memset(rig.mem, 0, BYTES);
		CHECK_OK(doca_mmap_destroy(remote));
	}
	rig_teardown(&rig);
	CHECK_OK(doca_dev_close(host));
	close(line);
}

int main(void)
{
	struct doca_dev *first, *second;
	struct doca_mmap *map = NULL;
	struct letter letters[2];
	uint8_t *mem, can = 9;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	first = rig_open_dev(SHARE_HOST);
	second = rig_open_dev("b1:00.1");
	CHECK_OK(doca_mmap_cap_is_export_pci_supported(doca_dev_as_devinfo(first), &can));
	CHECK_U64(can, 1);
	mem = malloc(BYTES);
	MUST_BE(mem != NULL);
	two_fill(mem, BYTES, 1);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_set_memrange(map, mem, BYTES));
	MUST(doca_mmap_set_max_num_devices(map, 2));
	MUST(doca_mmap_add_dev(map, first));
	MUST(doca_mmap_add_dev(map, second));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_start(map));
	share_export(map, first, &letters[0]);
	share_export(map, second, &letters[1]);
	two_send(line, letters, sizeof(letters));
	two_reap(pid);
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(first));
	CHECK_OK(doca_dev_close(second));
	free(mem);
	close(line);
	return check_result();
}
