/*
 * An event-driven program: drain, arm, sleep in epoll, clear, again; a producer side that keeps a
 * window of copies in flight. No polling at all: whoever loses a wake-up hangs here.
 *
 * clauses: core-exec 7, 5
 * covers: @
 */
#include <errno.h>
#include <sys/epoll.h>

#include "rig.h"

#define WINDOW 8
#define COPIES 3000
#define PIECE 512

static unsigned submitted;

static void next_copy(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	union doca_data user;

	if (submitted == COPIES) {
		CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
		CHECK_OK(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL));
		doca_task_free(doca_dma_task_memcpy_as_task(task));
		return;
	}
	/* The same task once more, the destination emptied, another cookie. */
	user.u64 = submitted++;
	doca_task_set_user_data(doca_dma_task_memcpy_as_task(task), user);
	MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	(void)rig;
}

static void sleep_until_ready(struct doca_pe *pe, int epoll)
{
	struct epoll_event event;
	int ready;

	CHECK_OK(doca_pe_request_notification(pe));
	do
		ready = epoll_wait(epoll, &event, 1, -1);
	while (ready < 0 && errno == EINTR);
	CHECK_U64(ready, 1);
	CHECK_OK(doca_pe_clear_notification(pe, 0));
}

int main(void)
{
	struct rig rig;
	struct epoll_event event = {.events = EPOLLIN};
	doca_notification_handle_t handle = doca_event_invalid_handle;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	unsigned i;

	rig_setup(&rig, 2 * WINDOW * PIECE, WINDOW);
	rig.free_tasks = 0;
	rig.drop_bufs = 0;
	rig.on_done = next_copy;
	MUST(doca_pe_get_notification_handle(rig.pe, &handle));
	MUST_BE(handle >= 0 && epoll >= 0);
	MUST_BE(epoll_ctl(epoll, EPOLL_CTL_ADD, handle, &event) == 0);

	for (i = 0; i < WINDOW; i++) {
		(void)rig_copy(&rig, i * PIECE, (WINDOW + i) * PIECE, PIECE, i);
		submitted++;
	}
	while (rig.good < COPIES) {
		while (rig_progress(&rig) != 0)
			;
		if (rig.good < COPIES)
			sleep_until_ready(rig.pe, epoll);
	}
	CHECK_U64(rig.good, COPIES);
	CHECK_U64(rig.bad, 0);
	for (i = 0; i < COPIES; i++)
		CHECK_U64(rig.order[i], i);
	CHECK_BYTES(rig.mem + WINDOW * PIECE, rig.mem, WINDOW * PIECE);
	rig_teardown(&rig);
	close(epoll);
	return check_result();
}
