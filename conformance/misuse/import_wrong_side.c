/*
 * rule: import-wrong-side
 *
 * On a card that is like a real one, the program imports memory of another process with a function of the host.
 */
#include "misuse.h"

#include "../c/x_share.h"

#define BYTES 4096

/* The host: exports, and goes on until the line is closed. */
static void host(int line)
{
	struct doca_dev *dev = rig_open_dev(SHARE_HOST);
	struct letter letter;
	uint8_t *memory = malloc(BYTES);
	struct doca_mmap *map = rig_map(dev, memory, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	const void *desc = NULL;
	size_t len = 0;
	char end;

	memset(&letter, 0, sizeof(letter));
	MUST(doca_mmap_export_pci(map, dev, &desc, &len));
	MUST_BE(len <= sizeof(letter.desc));
	memcpy(letter.desc, desc, len);
	letter.desc_len = len;
	two_send(line, &letter, sizeof(letter));
	while (read(line, &end, 1) > 0)
		;
	/* This side is not what is looked at. */
	_exit(0);
}

int main(void)
{
	struct doca_dev *dev;
	struct doca_mmap *map = NULL;
	struct letter letter;
	int line;

	setenv("SOFTDPU_PROFILE", "bf3", 1);
	if (two_fork(&line) == 0)
		host(line);
	dev = rig_open_dev(WRONG ? "b1:00.1" : "03:00.0");
	two_recv(line, &letter, sizeof(letter));
	if (WRONG) {
		CHECK_REFUSED(doca_mmap_create_from_export(NULL, letter.desc, letter.desc_len, dev, &map));
	} else {
		MUST(doca_mmap_create_from_export(NULL, letter.desc, letter.desc_len, dev, &map));
		MUST(doca_mmap_destroy(map));
	}
	close(line);
	MUST(doca_dev_close(dev));
	return check_result();
}
