/*
 * The notification handle with level-triggered polling: arming before and after work became ready,
 * clearing, repeating, spurious calls, both event modes, one handle for many contexts, no CPU time
 * spent while asleep.
 *
 * clauses: core-exec 7; doca_pe_get_notification_handle, request, clear, set_event_mode
 * covers: @
 */
#define _GNU_SOURCE
#include <poll.h>
#include <time.h>

#include "rig.h"

static int readable(int fd, int timeout_ms)
{
	struct pollfd item = {.fd = fd, .events = POLLIN};

	return poll(&item, 1, timeout_ms) == 1;
}

static double cpu_seconds(void)
{
	struct timespec now;

	MUST_BE(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void settle(struct rig *rig)
{
	while (rig_progress(rig) != 0)
		;
}

static void one_mode(struct rig *rig, enum doca_pe_event_mode mode)
{
	struct rig second = {0};
	doca_notification_handle_t fd = -1, again = -1;
	unsigned i, good;
	double before;

	CHECK_OK(doca_pe_set_event_mode(rig->pe, mode));
	CHECK_OK(doca_pe_get_notification_handle(rig->pe, &fd));
	CHECK_OK(doca_pe_get_notification_handle(rig->pe, &again));
	CHECK_U64(fd, again);

	/* Armed first, work later. */
	settle(rig);
	CHECK_OK(doca_pe_request_notification(rig->pe));
	CHECK_OK(doca_pe_request_notification(rig->pe));
	(void)rig_copy(rig, 0, 2048, 64, 1);
	CHECK(readable(fd, -1));
	CHECK(readable(fd, -1)); /* level: until cleared */
	CHECK_OK(doca_pe_clear_notification(rig->pe, 0));
	good = rig->good;
	while (rig->good == good)
		rig_progress(rig);

	/* Work first, armed later: signalled all the same, at once or soon. */
	for (i = 0; i < 20; i++) {
		(void)rig_copy(rig, 0, 2048, i % 2 ? 64 : 1024, 1);
		if (i % 3 == 0)
			usleep(300);
		CHECK_OK(doca_pe_request_notification(rig->pe));
		CHECK(readable(fd, -1));
		CHECK_OK(doca_pe_clear_notification(rig->pe, fd));
		good = rig->good;
		while (rig->good == good)
			rig_progress(rig);
	}

	/* Nothing to do: quiet after clear, armed or not, and asleep. */
	settle(rig);
	CHECK_OK(doca_pe_clear_notification(rig->pe, 0));
	CHECK_OK(doca_pe_clear_notification(rig->pe, 0));
	CHECK(!readable(fd, 0));
	CHECK_OK(doca_pe_request_notification(rig->pe));
	if (readable(fd, 0)) { /* one spurious wake-up is harmless */
		CHECK_OK(doca_pe_clear_notification(rig->pe, 0));
		settle(rig);
		CHECK_OK(doca_pe_request_notification(rig->pe));
	}
	usleep(50000); /* whoever still naps from the work before goes to sleep */
	before = cpu_seconds();
	CHECK(!readable(fd, 1000));
	CHECK(cpu_seconds() - before < 0.01);
	CHECK_OK(doca_pe_clear_notification(rig->pe, 0));

	/* A second context reports through the same handle. */
	rig_make_ctx(&second, rig->dev, rig->pe, 2);
	second.inv = rig->inv;
	second.map = rig->map;
	second.mem = rig->mem;
	second.free_tasks = second.drop_bufs = 1;
	MUST(doca_ctx_start(second.ctx));
	settle(rig);
	CHECK_OK(doca_pe_request_notification(rig->pe));
	(void)rig_copy(&second, 0, 2048, 64, 1);
	CHECK(readable(fd, -1));
	CHECK_OK(doca_pe_clear_notification(rig->pe, 0));
	while (second.good == 0)
		(void)doca_pe_progress(rig->pe);
	/* A state that still has to change is work as well. */
	for (i = 0; i < 2; i++)
		(void)rig_copy(&second, 0, 2048, 64, 1);
	CHECK_STATUS(doca_ctx_stop(second.ctx), DOCA_ERROR_IN_PROGRESS);
	while (rig_state(&second) != DOCA_CTX_STATE_IDLE) {
		if (doca_pe_progress(rig->pe) != 0)
			continue;
		CHECK_OK(doca_pe_request_notification(rig->pe));
		CHECK(readable(fd, -1));
		CHECK_OK(doca_pe_clear_notification(rig->pe, 0));
	}
	CHECK_U64(second.good + second.bad, 3);
	CHECK_OK(doca_dma_destroy(second.dma));
}

static struct doca_task *late;

static void keep(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	(void)rig;
	late = doca_dma_task_memcpy_as_task(task);
}

/* The last free of a stopping context makes work: IDLE is to be reported. */
static void free_wakes(struct rig *rig)
{
	doca_notification_handle_t fd = -1;

	MUST(doca_pe_get_notification_handle(rig->pe, &fd));
	rig->free_tasks = 0;
	rig->on_done = keep;
	(void)rig_copy(rig, 0, 2048, 64, 1);
	rig_drain(rig);
	CHECK_STATUS(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	settle(rig);
	CHECK_OK(doca_pe_clear_notification(rig->pe, 0));
	doca_task_free(late);
	CHECK_OK(doca_pe_request_notification(rig->pe));
	CHECK(readable(fd, -1));
	CHECK_OK(doca_pe_clear_notification(rig->pe, 0));
	rig_until_idle(rig);
}

int main(void)
{
	struct rig rig;
	doca_notification_handle_t fd;

	rig_setup(&rig, 4096, 4);
	one_mode(&rig, DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE);
	one_mode(&rig, DOCA_PE_EVENT_MODE_PROGRESS_ALL);
	CHECK_STATUS(doca_pe_set_event_mode(rig.pe, (enum doca_pe_event_mode)7), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_pe_set_event_mode(NULL, DOCA_PE_EVENT_MODE_PROGRESS_ALL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_pe_get_notification_handle(NULL, &fd), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_pe_get_notification_handle(rig.pe, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_pe_request_notification(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_pe_clear_notification(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	free_wakes(&rig);
	rig_teardown(&rig);
	return check_result();
}
