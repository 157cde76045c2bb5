/*
 * A waiter that blocks inside a state callback nested in doca_ctx_start, and one inside a task's callback
 * nested in progress: the other process's updates must reach the cell although nobody here makes progress.
 *
 * clauses: core-sync-graph Behaviour (responder blocks in a state callback)
 * covers: @
 */
#define _GNU_SOURCE
#include "rig.h"
#include "x_sync.h"

static struct doca_sync_event *event;
static unsigned waits;

static void blocked(struct rig *rig, enum doca_ctx_states now)
{
	(void)rig;
	if (now != DOCA_CTX_STATE_RUNNING)
		return;
	CHECK_OK(doca_sync_event_wait_gt(event, 4, UINT64_MAX));
	CHECK_OK(doca_sync_event_update_set(event, 6));
	CHECK_OK(doca_sync_event_wait_gt(event, UINT64_MAX - 1, UINT64_MAX));
	waits++;
}

static void blocked_in_task(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	(void)rig, (void)task;
	CHECK_OK(doca_sync_event_update_set(event, 10));
	CHECK_OK(doca_sync_event_wait_eq_yield(event, 11, UINT64_MAX));
	waits++;
}

static void requester(int line)
{
	struct doca_dev *dev = sync_open(SYNC_CARD);
	struct doca_sync_event *mine;
	struct sync_blob blob;

	two_recv(line, &blob, sizeof(blob));
	mine = sync_import(&blob, dev);
	MUST(doca_sync_event_start(mine));
	two_sleep_ms(50);
	CHECK_OK(doca_sync_event_update_set(mine, 5));
	CHECK_OK(doca_sync_event_wait_eq_yield(mine, 6, UINT64_MAX));
	two_sleep_ms(50);
	CHECK_OK(doca_sync_event_update_set(mine, UINT64_MAX));
	CHECK_OK(doca_sync_event_wait_eq_yield(mine, 10, UINT64_MAX));
	CHECK_OK(doca_sync_event_update_set(mine, 11));
	sync_end(mine);
	CHECK_OK(doca_dev_close(dev));
	close(line);
}

int main(void)
{
	struct doca_dev *dev;
	struct sync_blob blob;
	struct rig rig;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		requester(line);
		exit(check_result());
	}
	dev = sync_open(SYNC_HOST);
	event = sync_remote_pci(dev);
	MUST(doca_sync_event_start(event));
	sync_export(event, dev, &blob);
	rig_setup(&rig, 8192, 2);
	CHECK_OK(doca_ctx_stop(rig.ctx));
	rig.on_state = blocked;
	rig.on_done = blocked_in_task;
	two_send(line, &blob, sizeof(blob));
	MUST(doca_ctx_start(rig.ctx));
	CHECK_U64(waits, 1);
	(void)rig_copy(&rig, 0, 4096, 4096, 1);
	rig_drain(&rig);
	CHECK_U64(waits, 2);
	rig_teardown(&rig);
	two_reap(pid);
	sync_end(event);
	CHECK_OK(doca_dev_close(dev));
	close(line);
	return check_result();
}
