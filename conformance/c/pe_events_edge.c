/*
 * The notification handle under edge-triggered epoll, the way reactors use it: never a lost wake-up,
 * with and without clearing between rounds (in the mode where the next request clears), and from a
 * loop that watches several engines.
 *
 * clauses: core-exec 7 (edge-triggered use, ALL mode: clear optional)
 * covers: @
 */
#include <sys/epoll.h>

#include "rig.h"

#define ENGINES 3
#define ROUNDS 1000
#define SIZE ((size_t)3 << 20)

static struct rig rigs[ENGINES];

static void watch(int epoll, struct rig *rig, size_t number)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = number};
	doca_notification_handle_t fd = -1;

	MUST(doca_pe_get_notification_handle(rig->pe, &fd));
	MUST_BE(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

static void rounds(int epoll, int clear, uint32_t largest)
{
	unsigned want[ENGINES], round, i;
	uint32_t seed = 7;

	for (i = 0; i < ENGINES; i++)
		want[i] = rigs[i].good;
	for (round = 0; round < (largest > 100000 ? ROUNDS / 10 : ROUNDS); round++) {
		struct epoll_event event[ENGINES];
		unsigned open = 0;
		int ready, k;

		for (i = 0; i < ENGINES; i++) {
			uint32_t copies = (seed = seed * 1664525 + 1013904223) >> 30;

			/* Sometimes the request comes first, sometimes the work. */
			if (round % 2 == 0)
				CHECK_OK(doca_pe_request_notification(rigs[i].pe));
			want[i] += copies;
			while (copies-- > 0)
				(void)rig_copy(&rigs[i], 0, SIZE, 1 + (seed >> 3) % largest, 0);
			if (round % 2 == 1)
				CHECK_OK(doca_pe_request_notification(rigs[i].pe));
		}
		for (;;) {
			for (open = 0, i = 0; i < ENGINES; i++)
				open += rigs[i].good < want[i];
			if (open == 0)
				break;
			ready = epoll_wait(epoll, event, ENGINES, -1);
			CHECK(ready >= 1);
			for (k = 0; k < ready; k++) {
				struct rig *rig = &rigs[event[k].data.u64];

				if (clear)
					CHECK_OK(doca_pe_clear_notification(rig->pe, 0));
				while (rig_progress(rig) != 0)
					;
				CHECK_OK(doca_pe_request_notification(rig->pe));
			}
		}
		for (i = 0; i < ENGINES; i++)
			CHECK_U64(rigs[i].good, want[i]);
	}
}

int main(void)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	size_t i;

	MUST_BE(epoll >= 0);
	for (i = 0; i < ENGINES; i++) {
		rig_setup(&rigs[i], 2 * SIZE, 4);
		watch(epoll, &rigs[i], i);
	}
	rounds(epoll, 1, 8000);
	rounds(epoll, 1, SIZE);
	for (i = 0; i < ENGINES; i++)
		CHECK_OK(doca_pe_set_event_mode(rigs[i].pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	rounds(epoll, 1, 8000);
	rounds(epoll, 0, 8000);
	rounds(epoll, 0, SIZE);
	for (i = 0; i < ENGINES; i++)
		rig_teardown(&rigs[i]);
	close(epoll);
	return check_result();
}
