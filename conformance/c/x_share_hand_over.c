/*
 * The textbook pair: the host process exports its memory, writes descriptor and address into two files
 * and then only waits for a key; the card process, another run of the same program, reads the files,
 * imports the map, copies the memory over, changes it and copies it back.
 *
 * clauses: core-memory Export / import (files, one-sided access); dma Behaviour
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"

#define BYTES 1234567

static void write_file(const char *name, const void *bytes, size_t len)
{
	FILE *file = fopen(name, "wb");

	MUST_BE(file != NULL);
	MUST_BE(fwrite(bytes, 1, len, file) == len);
	MUST_BE(fclose(file) == 0);
}

static size_t read_file(const char *name, void *bytes, size_t room)
{
	FILE *file = fopen(name, "rb");
	size_t len;

	MUST_BE(file != NULL);
	len = fread(bytes, 1, room, file);
	fclose(file);
	return len;
}

static void card(int line)
{
	struct doca_mmap *remote;
	struct letter letter;
	struct rig rig;
	char text[128];
	size_t i;

	two_await(line, 'x');
	memset(&letter, 0, sizeof(letter));
	letter.desc_len = read_file("descriptor", letter.desc, sizeof(letter.desc));
	text[read_file("address", text, sizeof(text) - 1)] = 0;
	MUST_BE(sscanf(text, "%" SCNu64 "\n%" SCNu64, &letter.addr, &letter.len) == 2);
	share_card(&rig, BYTES, 1);
	remote = share_import(&letter, rig.dev);
	CHECK_STATUS(share_read(&rig, remote, share_at(&letter, 0), 0, BYTES), DOCA_SUCCESS);
	CHECK(two_is(rig.mem, BYTES, 1));
	for (i = 0; i < BYTES; i++)
		rig.mem[i] ^= 0xff;
	CHECK_STATUS(share_write(&rig, remote, share_at(&letter, 0), 0, BYTES), DOCA_SUCCESS);
	CHECK_OK(doca_mmap_destroy(remote));
	rig_teardown(&rig);
}

static void host(int line)
{
	struct doca_dev *dev = rig_open_dev(SHARE_HOST);
	uint8_t *mem = malloc(BYTES);
	struct doca_mmap *map = NULL;
	struct letter letter;
	char text[128];
	size_t i;

	MUST_BE(mem != NULL);
	two_fill(mem, BYTES, 1);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_set_memrange(map, mem, BYTES));
	MUST(doca_mmap_start(map));
	share_export(map, dev, &letter);
	write_file("descriptor", letter.desc, letter.desc_len);
	snprintf(text, sizeof(text), "%" PRIu64 "\n%" PRIu64, letter.addr, letter.len);
	write_file("address", text, strlen(text));
	two_tell(line, 'x');
	/* getchar(): ends when the card process ends. */
	MUST_BE(!two_recv_or_end(line, text, 1));
	for (i = 0; i < BYTES; i++)
		mem[i] ^= 0xff;
	CHECK(two_is(mem, BYTES, 1));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	free(mem);
}

int main(int argc, char **argv)
{
	pid_t pid;
	int line;

	if (argc == 3) {
		card(atoi(argv[2]));
		return check_result();
	}
	pid = two_again(argv[0], "card", &line);
	host(line);
	close(line);
	two_reap(pid);
	unlink("descriptor");
	unlink("address");
	return check_result();
}
