/*
 * The exporter is killed, in one round at rest, in others while the importer copies at full speed: copies
 * either succeed with the right bytes or fail with IO_FAILED, never crash or hang; its descriptor is
 * stale; the next exporter can be imported as if nothing had happened.
 *
 * clauses: core-memory Export / import (exporter exit)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"

#define BYTES (1u << 20)
#define ROUNDS 12

static void owner(int line)
{
	struct doca_dev *dev = rig_open_dev(SHARE_HOST);
	uint8_t *mem = malloc(BYTES);
	struct letter letter;

	MUST_BE(mem != NULL);
	two_fill(mem, BYTES, 9);
	share_export(rig_map(dev, mem, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE), dev, &letter);
	two_send(line, &letter, sizeof(letter));
	for (;;)
		pause();
}

int main(void)
{
	struct letter letters[ROUNDS], letter;
	pid_t pids[ROUNDS];
	int lines[ROUNDS];
	struct rig rig;
	unsigned round;

	/* All children first: nothing of the library has been called yet. */
	for (round = 0; round < ROUNDS; round++) {
		pids[round] = two_fork(&lines[round]);
		if (pids[round] == 0)
			owner(lines[round]);
	}
	share_card(&rig, BYTES, 2);
	for (round = 0; round < ROUNDS; round++) {
		struct doca_mmap *remote, *again = NULL;
		unsigned copies = 0;
		doca_error_t status;

		two_recv(lines[round], &letters[round], sizeof(letter));
		letter = letters[round];
		remote = share_import(&letter, rig.dev);
		CHECK_STATUS(share_read(&rig, remote, share_at(&letter, 0), 0, BYTES), DOCA_SUCCESS);
		CHECK(two_is(rig.mem, BYTES, 9));
		if (round == 0) {
			two_kill(pids[round]);
		} else {
			MUST_BE(kill(pids[round], SIGKILL) == 0);
			do { /* the kill falls into one of these */
				memset(rig.mem, 0, BYTES);
				status = share_read(&rig, remote, share_at(&letter, 0), 0, BYTES);
				CHECK_STATUS2(status, DOCA_SUCCESS, DOCA_ERROR_IO_FAILED);
				if (status == DOCA_SUCCESS)
					CHECK(two_is(rig.mem, BYTES, 9));
			} while (status == DOCA_SUCCESS && ++copies < 20);
			two_kill(pids[round]);
		}
		/* Dead for certain; the library notices by itself, sooner or later. */
		for (copies = 0; copies < 2000; copies++) {
			struct doca_buf *src = NULL;

			if (doca_buf_inventory_buf_get_by_data(rig.inv, remote, share_at(&letter, 0), 1, &src) !=
			    DOCA_SUCCESS)
				break;
			CHECK_OK(doca_buf_dec_refcount(src, NULL));
			if (share_read(&rig, remote, share_at(&letter, 0), 0, 1) != DOCA_SUCCESS)
				break;
			two_sleep_ms(10);
		}
		CHECK(copies < 2000);
		CHECK_STATUS(doca_mmap_create_from_export(NULL, letters[round].desc, letters[round].desc_len, rig.dev,
							  &again),
			     DOCA_ERROR_INVALID_VALUE);
		CHECK_OK(doca_mmap_destroy(remote));
		close(lines[round]);
	}
	rig_teardown(&rig);
	return check_result();
}
