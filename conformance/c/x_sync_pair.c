/*
 * The pair of programs that passes a turn over the PCIe: the owner adds 0 to 1 and waits for 2, the
 * importer waits for 1 and sets 2; a hundred times, owner and importer each in one of the two modes, all
 * four combinations, each in a pair of processes of its own.
 *
 * clauses: core-sync-graph Sync event: export, Behaviour (everybody may do everything; modes per side)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_sync.h"

#define TURNS 100

/* One side in either mode. */
struct side {
	int async;
	struct doca_sync_event *event;
	struct sync_rig rig;
};

static void side_start(struct side *side)
{
	if (!side->async) {
		MUST(doca_sync_event_start(side->event));
		return;
	}
	sync_make(&side->rig, side->event, 1);
	MUST(doca_ctx_start(side->rig.ctx));
}

static void side_wait(struct side *side, uint64_t value)
{
	struct doca_sync_event_task_wait_eq *task = NULL;
	union doca_data user = {.u64 = value};

	if (!side->async) {
		CHECK_OK(value % 4 < 2 ? doca_sync_event_wait_eq(side->event, value, UINT64_MAX) :
					 doca_sync_event_wait_gt_yield(side->event, value - 1, UINT64_MAX));
		return;
	}
	MUST(doca_sync_event_task_wait_eq_alloc_init(side->event, value, UINT64_MAX, user, &task));
	sync_run(&side->rig, doca_sync_event_task_wait_eq_as_doca_task(task));
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
}

static void side_add(struct side *side, uint64_t want)
{
	struct doca_sync_event_task_notify_add *task = NULL;
	uint64_t before = UINT64_MAX;
	union doca_data user = {.u64 = 0};

	if (!side->async) {
		CHECK_OK(doca_sync_event_update_add(side->event, 1, &before));
	} else {
		MUST(doca_sync_event_task_notify_add_alloc_init(side->event, 1, &before, user, &task));
		sync_run(&side->rig, doca_sync_event_task_notify_add_as_doca_task(task));
		doca_task_free(doca_sync_event_task_notify_add_as_doca_task(task));
	}
	CHECK_U64(before, want);
}

static void side_set(struct side *side, uint64_t value)
{
	struct doca_sync_event_task_notify_set *task = NULL;
	union doca_data user = {.u64 = 0};

	if (!side->async) {
		CHECK_OK(doca_sync_event_update_set(side->event, value));
		return;
	}
	MUST(doca_sync_event_task_notify_set_alloc_init(side->event, value, user, &task));
	sync_run(&side->rig, doca_sync_event_task_notify_set_as_doca_task(task));
	doca_task_free(doca_sync_event_task_notify_set_as_doca_task(task));
}

static void side_end(struct side *side)
{
	if (side->async)
		sync_unmake(&side->rig);
	else
		sync_end(side->event);
}

static void importer(int line, int async)
{
	struct doca_dev *dev = sync_open(SYNC_CARD);
	struct side side = {.async = async};
	struct sync_blob blob;
	uint64_t turn;

	CHECK_OK(doca_sync_event_cap_is_create_from_export_supported(doca_dev_as_devinfo(dev)));
	two_recv(line, &blob, sizeof(blob));
	side.event = sync_import(&blob, dev);
	CHECK_REFUSED(doca_sync_event_add_publisher_location_cpu(side.event, dev));
	side_start(&side);
	for (turn = 0; turn < TURNS; turn++) {
		side_wait(&side, 2 * turn + 1);
		side_set(&side, 2 * turn + 2);
	}
	side_end(&side);
	CHECK_OK(doca_dev_close(dev));
	close(line);
}

static void owner(struct doca_dev *dev, int line, int async)
{
	struct side side = {.async = async};
	struct sync_blob blob;
	uint64_t turn;

	side.event = sync_remote_pci(dev);
	side_start(&side);
	sync_export(side.event, dev, &blob); /* after start, in both modes */
	two_send(line, &blob, sizeof(blob));
	for (turn = 0; turn < TURNS; turn++) {
		side_add(&side, 2 * turn);
		side_wait(&side, 2 * turn + 2);
	}
	side_end(&side);
}

int main(void)
{
	struct doca_dev *dev;
	int lines[4], i;
	pid_t pids[4];

	for (i = 0; i < 4; i++) {
		pids[i] = two_fork(&lines[i]);
		if (pids[i] == 0) {
			importer(lines[i], i & 1);
			exit(check_result());
		}
	}
	dev = sync_open(SYNC_HOST);
	CHECK_OK(doca_sync_event_cap_is_export_to_remote_pci_supported(doca_dev_as_devinfo(dev)));
	for (i = 0; i < 4; i++) {
		owner(dev, lines[i], i >> 1);
		two_reap(pids[i]);
		close(lines[i]);
	}
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
