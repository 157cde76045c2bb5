/*
 * Random chaining, cutting, duplicating, counting and dropping of buffers over two inventories, against
 * a model that holds every list as an array.
 *
 * clauses: core-memory Buffer object (lists, counts), Buffer inventory
 * covers: @
 */
#include "rig.h"

#define LISTS 10
#define ELEMENTS 40

struct list {
	struct doca_buf *buf[ELEMENTS * 2];
	unsigned from[ELEMENTS * 2]; /* inventory of each element */
	unsigned count;
	uint16_t refs;
};

static struct list lists[LISTS];
static struct doca_buf_inventory *inv[2];
static unsigned out[2];
static struct rig rig;
static uint32_t seed;

static uint32_t roll(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)seed * below) >> 32);
}

static void look(const struct list *list)
{
	struct doca_buf *buf = NULL;
	uint16_t refs = 0;
	uint32_t count = 0;
	unsigned i;

	if (list->count == 0)
		return;
	CHECK_OK(doca_buf_get_list_len(list->buf[0], &count));
	CHECK_U64(count, list->count);
	CHECK_OK(doca_buf_get_refcount(list->buf[0], &refs));
	CHECK_U64(refs, list->refs);
	for (i = 0; i < list->count; i++) {
		CHECK_OK(doca_buf_get_next_in_list(list->buf[i], &buf));
		CHECK_PTR(buf, i + 1 < list->count ? list->buf[i + 1] : NULL);
	}
	i = roll(list->count);
	CHECK_OK(doca_buf_get_last_in_list(list->buf[i], &buf));
	CHECK_PTR(buf, list->buf[list->count - 1]);
}

static void get(struct list *list)
{
	unsigned which = roll(2);
	doca_error_t result;

	if (list->count != 0)
		return;
	result = doca_buf_inventory_buf_get_by_data(inv[which], rig.map, rig.mem + roll(100), 1 + roll(100),
						    &list->buf[0]);
	CHECK_STATUS(result, out[which] < ELEMENTS ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY);
	if (result != DOCA_SUCCESS)
		return;
	list->from[0] = which;
	list->count = 1;
	list->refs = 1;
	out[which]++;
}

static void chain(struct list *one, struct list *two)
{
	unsigned at;
	doca_error_t want = DOCA_SUCCESS;

	if (one == two || one->count == 0 || two->count == 0)
		return;
	at = roll(4) == 0 ? roll(two->count) : 0; /* sometimes a member in the place of the head */
	if (at != 0 || two->refs != 1)
		want = DOCA_ERROR_NOT_PERMITTED;
	if (roll(2))
		CHECK_STATUS(doca_buf_chain_list(one->buf[0], two->buf[at]), want);
	else
		CHECK_STATUS(doca_buf_chain_list_tail(one->buf[0], one->buf[one->count - 1], two->buf[at]), want);
	if (want != DOCA_SUCCESS)
		return;
	memcpy(one->buf + one->count, two->buf, two->count * sizeof(two->buf[0]));
	memcpy(one->from + one->count, two->from, two->count * sizeof(two->from[0]));
	one->count += two->count;
	two->count = 0;
}

static void cut(struct list *list, struct list *rest)
{
	unsigned at;

	if (list->count == 0 || rest->count != 0 || list == rest)
		return;
	at = roll(list->count);
	CHECK_STATUS(doca_buf_unchain_list(list->buf[0], list->buf[at]), at == 0 ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS);
	if (at == 0)
		return;
	rest->count = list->count - at;
	rest->refs = 1;
	memcpy(rest->buf, list->buf + at, rest->count * sizeof(rest->buf[0]));
	memcpy(rest->from, list->from + at, rest->count * sizeof(rest->from[0]));
	list->count = at;
}

static void count(struct list *list)
{
	uint16_t before = 0;
	unsigned at, i;

	if (list->count == 0)
		return;
	at = roll(list->count);
	if (at != 0) {
		CHECK_STATUS(doca_buf_inc_refcount(list->buf[at], NULL), DOCA_ERROR_NOT_PERMITTED);
		CHECK_STATUS(doca_buf_dec_refcount(list->buf[at], NULL), DOCA_ERROR_NOT_PERMITTED);
	} else if (roll(3) == 0) {
		CHECK_OK(doca_buf_inc_refcount(list->buf[0], &before));
		CHECK_U64(before, list->refs++);
	} else {
		CHECK_OK(doca_buf_dec_refcount(list->buf[0], &before));
		CHECK_U64(before, list->refs--);
		if (list->refs == 0) {
			for (i = 0; i < list->count; i++)
				out[list->from[i]]--;
			list->count = 0;
		}
	}
}

static void duplicate(struct list *list, struct list *copy)
{
	unsigned which = roll(2), i;
	doca_error_t want = DOCA_SUCCESS;
	struct doca_buf *buf = NULL;

	if (list->count == 0 || copy->count != 0 || list == copy)
		return;
	if (out[which] + list->count > ELEMENTS)
		want = DOCA_ERROR_NO_MEMORY;
	CHECK_STATUS(doca_buf_inventory_buf_dup(inv[which], list->buf[0], &buf), want);
	if (want != DOCA_SUCCESS || buf == NULL)
		return;
	for (i = 0; i < list->count && buf != NULL; i++) {
		copy->buf[i] = buf;
		copy->from[i] = which;
		CHECK_OK(doca_buf_get_next_in_list(buf, &buf));
	}
	CHECK_PTR(buf, NULL);
	copy->count = i;
	copy->refs = 1;
	out[which] += i;
}

int main(void)
{
	uint32_t free_now = 0, live = 0;
	unsigned i, which;

	rig_setup(&rig, 4096, 1);
	for (which = 0; which < 2; which++) {
		MUST(doca_buf_inventory_create(ELEMENTS, &inv[which]));
		MUST(doca_buf_inventory_start(inv[which]));
	}
	seed = 2026;
	for (i = 0; i < 100000; i++) {
		struct list *a = &lists[roll(LISTS)], *b = &lists[roll(LISTS)];

		switch (roll(8)) {
		case 0:
		case 1:
		case 2:
			get(a);
			break;
		case 3:
		case 4:
			chain(a, b);
			break;
		case 5:
			cut(a, b);
			break;
		case 6:
			count(a);
			break;
		default:
			duplicate(a, b);
			break;
		}
		look(a);
		look(b);
		if (i % 100 == 0) {
			for (which = 0; which < 2; which++) {
				CHECK_OK(doca_buf_inventory_get_num_free_elements(inv[which], &free_now));
				CHECK_U64(free_now, ELEMENTS - out[which]);
			}
			CHECK_OK(doca_mmap_get_num_bufs(rig.map, &live));
			CHECK_U64(live, out[0] + out[1]);
		}
	}
	for (i = 0; i < LISTS; i++)
		while (lists[i].count != 0 && doca_buf_dec_refcount(lists[i].buf[0], NULL) == DOCA_SUCCESS)
			;
	CHECK_OK(doca_buf_inventory_destroy(inv[0]));
	CHECK_OK(doca_buf_inventory_destroy(inv[1]));
	rig_teardown(&rig);
	return check_result();
}
