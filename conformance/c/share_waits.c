/*
 * Memory whose owner has to copy, and an owner that stands still: tasks on it wait, with a worker of the card, and
 * progress goes on with everything else. The one task of a context that a worker holds is short, so that nothing but
 * the memory can be the reason.
 *
 * clauses: core-memory Export / import; core-exec doca_pe_progress
 * covers: @
 * env: SOFTDPU_REACH=worker
 */
#define _GNU_SOURCE
#include <signal.h>

#include "sha_rig.h"
#include "share_rig.h"

#define BYTES 4096

static struct doca_sha_task_hash *hash(struct sha_rig *rig, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_sha_task_hash *task = NULL;
	union doca_data user = {0};

	MUST(doca_sha_task_hash_alloc_init(rig->sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, user, &task));
	MUST(doca_task_submit(doca_sha_task_hash_as_task(task)));
	return task;
}

int main(void)
{
	struct share_host host;
	struct sha_rig far, near;
	struct doca_mmap *remote;
	struct doca_buf *src, *dst;
	struct doca_sha_task_hash *waiting;
	uint8_t want[32], got[32];
	unsigned i;
	int status;

	share_start(&host, 0, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	sha_setup(&far, BYTES + 64, 4);
	sha_setup(&near, BYTES + 64, 4);
	share_hear(&host);
	remote = share_import(&host, far.dev);
	for (i = 0; i < BYTES; i++)
		near.mem[i] = share_pattern(i);

	MUST_BE(kill(host.pid, SIGSTOP) == 0);
	MUST_BE(waitpid(host.pid, &status, WUNTRACED) == host.pid && WIFSTOPPED(status));
	MUST(doca_buf_inventory_buf_get_by_data(far.inv, remote, (void *)(uintptr_t)host.letter.addr, 100, &src));
	dst = sha_dst(&far, 0, 32);
	waiting = hash(&far, src, dst);
	for (i = 0; i < 200; i++) {
		(void)doca_pe_progress(far.pe);
		sha_one_shot(&near, DOCA_SHA_ALGORITHM_SHA256, 0, 100, want);
	}
	/* Nothing could have become of it: its bytes are with a process that stands still. */
	CHECK_U64(far.good + far.bad, 0);

	MUST_BE(kill(host.pid, SIGCONT) == 0);
	sha_wait(&far, 1);
	CHECK_U64(far.good, 1);
	memcpy(got, far.mem, 32);
	CHECK_BYTES(got, want, 32);
	doca_task_free(doca_sha_task_hash_as_task(waiting));
	sha_drop(src);
	sha_drop(dst);

	CHECK_OK(doca_mmap_destroy(remote));
	share_end(&host, 0);
	sha_teardown(&near);
	sha_teardown(&far);
	return check_result();
}
