/*
 * Sharing as a service: 300 maps exported at the same time, each imported, used and given back by another
 * process, many times over; neither side's number of open files grows with the rounds.
 *
 * clauses: core-memory Export / import
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"

#define MAPS 300
#define LEN 512
#define ROUNDS 5

static void card(int line)
{
	struct doca_mmap *remotes[MAPS];
	struct letter *letters = calloc(MAPS, sizeof(*letters));
	unsigned round, i, files = 0;
	struct rig rig;

	MUST_BE(letters != NULL);
	share_card(&rig, LEN, 1);
	for (round = 0; round < ROUNDS; round++) {
		two_recv(line, letters, MAPS * sizeof(*letters));
		/* All at once. */
		for (i = 0; i < MAPS; i++)
			remotes[i] = share_import(&letters[i], rig.dev);
		for (i = 0; i < MAPS; i++) {
			CHECK_STATUS(share_read(&rig, remotes[i], share_at(&letters[i], 0), 0, LEN), DOCA_SUCCESS);
			CHECK(two_is(rig.mem, LEN, round * MAPS + i));
		}
		for (i = 0; i < MAPS; i++)
			CHECK_OK(doca_mmap_destroy(remotes[(i * 7) % MAPS]));
		if (round == 1)
			files = two_open_files();
		two_tell(line, 'd');
	}
	two_no_leak(files);
	rig_teardown(&rig);
	free(letters);
	close(line);
}

int main(void)
{
	struct doca_mmap *maps[MAPS];
	struct letter *letters = calloc(MAPS, sizeof(*letters));
	unsigned round, i, files = 0;
	struct doca_dev *dev;
	uint8_t *mem;
	int line;
	pid_t pid = two_fork(&line);

	MUST_BE(letters != NULL);
	if (pid == 0) {
		free(letters);
		card(line);
		exit(check_result());
	}
	dev = rig_open_dev(SHARE_HOST);
	mem = malloc((size_t)MAPS * LEN);
	MUST_BE(mem != NULL);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < MAPS; i++) {
			two_fill(mem + (size_t)i * LEN, LEN, round * MAPS + i);
			maps[i] = rig_map(dev, mem + (size_t)i * LEN, LEN, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
			share_export(maps[i], dev, &letters[i]);
		}
		two_send(line, letters, MAPS * sizeof(*letters));
		two_await(line, 'd');
		for (i = 0; i < MAPS; i++)
			CHECK_OK(doca_mmap_destroy(maps[i]));
		if (round == 1)
			files = two_open_files();
	}
	two_no_leak(files);
	two_reap(pid);
	CHECK_OK(doca_dev_close(dev));
	free(mem);
	free(letters);
	close(line);
	return check_result();
}
