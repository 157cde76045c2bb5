/*
 * What a plan of faults makes of an RDMA connection: FAULT_EFFECT says which plan the program was started with. Without
 * one, nothing happens to anything.
 *
 * clauses: none; for plans of faults
 * covers: @
 */
#define _GNU_SOURCE
#include "fault_rig.h"
#include "rdma_rig.h"

static struct side a, b;
static struct doca_rdma_connection *ab, *ba;
static struct doca_buf *rooms[4];

/* Sends one message; true when it arrived. */
static int message(uint64_t value)
{
	struct doca_buf *from = side_data(&a, a.map, a.mem, 100), *to = side_room(&b, b.map, b.mem, 100);

	unsigned good = a.good, bad = a.bad;

	rooms[value] = to;

	CHECK_OK(side_receive(&b, to, value));
	CHECK_OK(side_send(&a, ab, from, value));
	UNTIL2(&a, &b, a.good + a.bad == good + bad + 1);
	DROP(from);
	return a.good == good + 1;
}

int main(void)
{
	struct doca_pe *pe = NULL;
	uint64_t i;

	MUST(doca_pe_create(&pe));
	side_prepare(&a, "0000:03:00.0", pe, 4096, 16);
	side_prepare(&b, "0000:b1:00.0", pe, 4096, 16);
	side_manage(&a);
	side_manage(&b);
	side_start(&a);
	side_start(&b);
	side_join(&a, &b, &ab, &ba);
	for (i = 1; i <= 3; i++) {
		int arrived = message(i);

		if (is("not_ready_for_long") && i == 2)
			CHECK(!arrived && a.last_status == DOCA_ERROR_IO_FAILED);
		else if (is("disconnect") && i >= 2)
			CHECK(!arrived);
		else
			CHECK(arrived);
		if (is("disconnect") && i == 2) {
			/* Both learn of it. */
			UNTIL2(&a, &b, a.ended == 1 && b.ended == 1);
			break;
		}
	}
	side_stop(&a);
	side_stop(&b);
	for (i = 0; i < 4; i++)
		if (rooms[i] != NULL)
			DROP(rooms[i]);
	side_teardown(&a, 0);
	side_teardown(&b, 0);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
