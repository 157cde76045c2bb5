/*
 * One-sided to the bone: the owner of a map and of an event is frozen (SIGSTOP), not only blocked. The event
 * is added to and waited for all the same; bytes are copied both ways or, where the machine allows nobody
 * to reach into another process, the copies fail in the end and hang nobody. Thawed, the owner finds it so.
 *
 * clauses: core-memory Export / import (one-sided access); core-sync-graph Behaviour
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"
#include "x_sync.h"

#define BYTES 300000

static void owner(int line)
{
	struct doca_dev *dev = rig_open_dev(SHARE_HOST);
	struct doca_sync_event *event = sync_remote_pci(dev);
	uint8_t *mem = malloc(BYTES);
	struct doca_mmap *map;
	struct letter letter;
	struct sync_blob blob;
	char series = 0;

	MUST_BE(mem != NULL);
	two_fill(mem, BYTES, 1);
	map = rig_map(dev, mem, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	share_export(map, dev, &letter);
	MUST(doca_sync_event_start(event));
	sync_export(event, dev, &blob);
	two_send(line, &letter, sizeof(letter));
	two_send(line, &blob, sizeof(blob));
	two_recv(line, &series, 1); /* frozen meanwhile */
	CHECK(two_is(mem, BYTES, series));
	CHECK_U64(sync_value(event), 5);
	sync_end(event);
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	free(mem);
	close(line);
}

int main(void)
{
	struct doca_sync_event *event;
	struct doca_mmap *remote;
	struct letter letter;
	struct sync_blob blob;
	struct rig rig;
	uint64_t before = 9;
	doca_error_t read;
	char series = 1;
	int line, status;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		owner(line);
		exit(check_result());
	}
	share_card(&rig, BYTES, 2);
	two_recv(line, &letter, sizeof(letter));
	two_recv(line, &blob, sizeof(blob));
	remote = share_import(&letter, rig.dev);
	event = sync_import(&blob, rig.dev);
	MUST(doca_sync_event_start(event));
	MUST_BE(kill(pid, SIGSTOP) == 0);
	MUST_BE(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
	read = share_read(&rig, remote, share_at(&letter, 0), 0, BYTES);
	CHECK_STATUS2(read, DOCA_SUCCESS, DOCA_ERROR_IO_FAILED);
	if (read == DOCA_SUCCESS) {
		CHECK(two_is(rig.mem, BYTES, 1));
		two_fill(rig.mem, BYTES, 2);
		CHECK_STATUS(share_write(&rig, remote, share_at(&letter, 0), 0, BYTES), DOCA_SUCCESS);
		series = 2;
	}
	CHECK_OK(doca_sync_event_update_add(event, 5, &before));
	CHECK_U64(before, 0);
	CHECK_OK(doca_sync_event_wait_eq(event, 5, UINT64_MAX));
	sync_end(event);
	CHECK_OK(doca_mmap_destroy(remote));
	MUST_BE(kill(pid, SIGCONT) == 0);
	two_tell(line, series);
	two_reap(pid);
	rig_teardown(&rig);
	close(line);
	return check_result();
}
