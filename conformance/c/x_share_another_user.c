/*
 * A process of another user with a perfect copy of a descriptor gets nothing: the border of trust is the
 * user. (Needs the right to change the user; else it is skipped.)
 *
 * clauses: core-memory Export / import (not permitted); trust border
 * covers: @
 */
#define _GNU_SOURCE
#include "x_share.h"
#include "x_sync.h"

#define BYTES 4096

static void stranger(int line)
{
	struct doca_sync_event *event = NULL;
	struct doca_mmap *remote = NULL;
	struct sync_blob blob;
	struct letter letter;
	struct doca_dev *dev;

	two_recv(line, &letter, sizeof(letter));
	two_recv(line, &blob, sizeof(blob));
	if (setgid(65534) != 0 || setuid(65534) != 0)
		_exit(77);
	dev = rig_open_dev(SHARE_CARD);
	CHECK_REFUSED(doca_mmap_create_from_export(NULL, letter.desc, letter.desc_len, dev, &remote));
	CHECK_PTR(remote, NULL);
	CHECK_REFUSED(doca_sync_event_create_from_export(dev, blob.bytes, (size_t)blob.len, &event));
	CHECK_PTR(event, NULL);
	CHECK_OK(doca_dev_close(dev));
	_exit(check_result());
}

int main(void)
{
	struct doca_sync_event *event;
	struct doca_mmap *map;
	struct letter letter;
	struct sync_blob blob;
	struct doca_dev *dev;
	uint8_t memory[BYTES];
	int line, status = 0;
	pid_t pid;

	if (geteuid() != 0)
		SKIP("the user cannot be changed here");
	pid = two_fork(&line);
	if (pid == 0)
		stranger(line);
	two_fill(memory, BYTES, 1);
	dev = rig_open_dev(SHARE_HOST);
	map = rig_map(dev, memory, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	share_export(map, dev, &letter);
	event = sync_remote_pci(dev);
	MUST(doca_sync_event_start(event));
	sync_export(event, dev, &blob);
	two_send(line, &letter, sizeof(letter));
	two_send(line, &blob, sizeof(blob));
	MUST_BE(waitpid(pid, &status, 0) == pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP("the user cannot be changed here");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(two_is(memory, BYTES, 1));
	CHECK_U64(sync_value(event), 0);
	sync_end(event);
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
	close(line);
	return check_result();
}
