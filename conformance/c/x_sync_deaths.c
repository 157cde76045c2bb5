/*
 * Either side of an exported event is killed. An importer's death changes nothing for the owner and leaves
 * its last update in place. The owner's death gives the importer defined answers, never a crash; its wait
 * tasks can be stopped; the descriptor is stale.
 *
 * clauses: core-sync-graph Behaviour (an updated cell survives the importer; the exporter ends it)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_sync.h"

static void doomed_importer(int line)
{
	struct doca_dev *dev = sync_open(SYNC_CARD);
	struct doca_sync_event *event;
	struct sync_blob blob;

	two_recv(line, &blob, sizeof(blob));
	event = sync_import(&blob, dev);
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_update_set(event, 44));
	two_tell(line, 'u');
	for (;;) {
		uint64_t before;

		MUST(doca_sync_event_update_add(event, 2, &before));
	}
}

static void doomed_owner(int line)
{
	struct doca_dev *dev = sync_open(SYNC_HOST);
	struct doca_sync_event *event = sync_remote_pci(dev);
	struct sync_blob blob;

	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_update_set(event, 7));
	sync_export(event, dev, &blob);
	two_send(line, &blob, sizeof(blob));
	pause();
}

static void owner_lives_on(int line, pid_t pid)
{
	struct doca_dev *dev = sync_open(SYNC_HOST);
	struct doca_sync_event *event = sync_remote_pci(dev);
	struct sync_blob blob;
	uint64_t value;

	MUST(doca_sync_event_start(event));
	sync_export(event, dev, &blob);
	two_send(line, &blob, sizeof(blob));
	two_await(line, 'u');
	CHECK_OK(doca_sync_event_wait_gt(event, 1000, UINT64_MAX));
	two_kill(pid);
	value = sync_value(event);
	CHECK_U64(value % 2, 0);
	two_sleep_ms(20);
	CHECK_U64(sync_value(event), value);
	CHECK_OK(doca_sync_event_update_set(event, 1));
	CHECK_U64(sync_value(event), 1);
	sync_end(event);
	CHECK_OK(doca_dev_close(dev));
}

static void importer_lives_on(int line, pid_t pid)
{
	struct doca_dev *dev = sync_open(SYNC_CARD);
	struct doca_sync_event *event, *second, *third = NULL;
	struct doca_sync_event_task_wait_eq *wait = NULL;
	union doca_data user = {.u64 = 5};
	struct sync_blob blob, kept;
	struct sync_rig rig;
	uint64_t value = 0;
	int i;

	two_recv(line, &blob, sizeof(blob));
	kept = blob;
	event = sync_import(&blob, dev);
	MUST(doca_sync_event_start(event));
	CHECK_U64(sync_value(event), 7);
	blob = kept;
	second = sync_import(&blob, dev);
	sync_make(&rig, second, 2);
	MUST(doca_ctx_start(rig.ctx));
	MUST(doca_sync_event_task_wait_eq_alloc_init(second, 999, UINT64_MAX, user, &wait));
	MUST(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(wait)));
	sync_progress(&rig);
	two_kill(pid);
	/* Whatever is answered, it is an answer. */
	for (i = 0; i < 50; i++) {
		(void)doca_sync_event_get(event, &value);
		(void)doca_sync_event_update_set(event, 8);
		(void)doca_sync_event_update_add(event, 1, &value);
		(void)doca_pe_progress(rig.pe);
		two_sleep_ms(2);
	}
	for (i = 0; i < 500; i++) {
		if (doca_sync_event_create_from_export(dev, kept.bytes, (size_t)kept.len, &third) != DOCA_SUCCESS)
			break;
		CHECK_OK(doca_sync_event_destroy(third));
		two_sleep_ms(10);
	}
	CHECK_STATUS(doca_sync_event_create_from_export(dev, kept.bytes, (size_t)kept.len, &third),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS2(doca_ctx_stop(rig.ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	while (sync_inflight(&rig) != 0)
		(void)doca_pe_progress(rig.pe);
	CHECK_U64(rig.bad, 1);
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(wait));
	while (sync_state(&rig) != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(rig.pe);
	CHECK_OK(doca_sync_event_destroy(second));
	CHECK_OK(doca_pe_destroy(rig.pe));
	sync_end(event);
	CHECK_OK(doca_dev_close(dev));
}

int main(void)
{
	int importer_line, owner_line;
	pid_t importer = two_fork(&importer_line), owner;

	if (importer == 0)
		doomed_importer(importer_line);
	owner = two_fork(&owner_line);
	if (owner == 0)
		doomed_owner(owner_line);
	owner_lives_on(importer_line, importer);
	importer_lives_on(owner_line, owner);
	close(importer_line);
	close(owner_line);
	return check_result();
}
