/*
 * Descriptors that were damaged on the way to another process: cut short, one bit flipped anywhere,
 * bytes appended from elsewhere, pure noise. All INVALID_VALUE, none harms the exporter, and the true one
 * still works.
 *
 * clauses: core-memory Export / import (malformed, truncated, stale)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"

#define BYTES 5000

static void card(int line)
{
	struct doca_mmap *remote = NULL;
	struct letter letter, other, bent;
	uint32_t noise = 12345;
	struct rig rig;
	size_t i, k;

	share_card(&rig, BYTES, 1);
	two_recv(line, &letter, sizeof(letter));
	two_recv(line, &other, sizeof(other));
	for (i = 0; i < letter.desc_len; i++)
		CHECK_STATUS(doca_mmap_create_from_export(NULL, letter.desc, i, rig.dev, &remote),
			     DOCA_ERROR_INVALID_VALUE);
	for (i = 0; i < letter.desc_len * 8; i++) {
		bent = letter;
		bent.desc[i / 8] ^= (uint8_t)(1u << (i % 8));
		CHECK_STATUS(doca_mmap_create_from_export(NULL, bent.desc, bent.desc_len, rig.dev, &remote),
			     DOCA_ERROR_INVALID_VALUE);
	}
	/* Head of one and tail of another. */
	for (i = 1; i < letter.desc_len; i++) {
		bent = letter;
		memcpy(bent.desc + i, other.desc + i, letter.desc_len - i);
		if (memcmp(bent.desc, letter.desc, letter.desc_len) == 0 ||
		    memcmp(bent.desc, other.desc, other.desc_len) == 0)
			continue;
		CHECK_STATUS(doca_mmap_create_from_export(NULL, bent.desc, bent.desc_len, rig.dev, &remote),
			     DOCA_ERROR_INVALID_VALUE);
	}
	for (i = 0; i < 300; i++) {
		for (k = 0; k < sizeof(bent.desc); k++)
			bent.desc[k] = (uint8_t)((noise = noise * 1664525 + 1013904223) >> 24);
		CHECK_STATUS(doca_mmap_create_from_export(NULL, bent.desc, 1 + noise % sizeof(bent.desc), rig.dev,
							  &remote),
			     DOCA_ERROR_INVALID_VALUE);
	}
	CHECK_PTR(remote, NULL);
	remote = share_import(&letter, rig.dev);
	CHECK_STATUS(share_read(&rig, remote, share_at(&letter, 0), 0, BYTES), DOCA_SUCCESS);
	CHECK(two_is(rig.mem, BYTES, 6));
	CHECK_OK(doca_mmap_destroy(remote));
	rig_teardown(&rig);
	close(line);
}

int main(void)
{
	struct doca_mmap *map, *second;
	struct letter letter;
	struct doca_dev *dev;
	uint8_t mem[BYTES], elsewhere[BYTES]; /* the stack is memory like any other */
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	dev = rig_open_dev(SHARE_HOST);
	two_fill(mem, BYTES, 6);
	two_fill(elsewhere, BYTES, 7);
	map = rig_map(dev, mem, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	second = rig_map(dev, elsewhere, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	share_export(map, dev, &letter);
	two_send(line, &letter, sizeof(letter));
	share_export(second, dev, &letter);
	two_send(line, &letter, sizeof(letter));
	two_reap(pid);
	CHECK(two_is(mem, BYTES, 6));
	CHECK(two_is(elsewhere, BYTES, 7));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_mmap_destroy(second));
	CHECK_OK(doca_dev_close(dev));
	close(line);
	return check_result();
}
