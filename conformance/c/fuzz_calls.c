/*
 * Random sequences of calls with good, NULL, dead and foreign handles, out-of-range numbers and wrong
 * states. Nothing crashes, nothing hangs, every accepted task comes back exactly once, and at the end
 * everything can be taken down. Each seed gives the same sequence every time.
 *
 * clauses: handle rules of all families; core-exec 3, 5
 * covers: @
 */
#include "rig.h"

#define SLOTS 12
#define BYTES 4096

static uint32_t seed;
static struct doca_mmap *maps[SLOTS];
static struct doca_buf_inventory *invs[SLOTS];
static struct doca_buf *bufs[SLOTS];
static struct rig rigs[3];
static struct doca_dev *dev;
static struct doca_pe *pe;
static uint8_t mem[SLOTS][BYTES];
static unsigned accepted;

/* Every handle that was ever given out: at the end all of them are let go. */
static void *kept[3][1024];
static unsigned kept_count[3];

enum { MAP, INVENTORY, BUFFER };

static void keep(int kind, void *handle, doca_error_t result)
{
	if (result != DOCA_SUCCESS)
		return;
	MUST_BE(kept_count[kind] < 1024);
	kept[kind][kept_count[kind]++] = handle;
}

static uint32_t roll(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)seed * below) >> 32);
}

/* Mostly a fitting handle; sometimes none, or one of another kind. Slots keep dead handles too. */
static void *any(void *fitting)
{
	void *const foreign[] = {dev, pe, maps[0], invs[0], bufs[0], rigs[0].dma};

	switch (roll(12)) {
	case 0:
		return NULL;
	case 1:
		return foreign[roll(6)] == fitting ? NULL : foreign[roll(6)];
	default:
		return fitting;
	}
}

static size_t odd_len(void)
{
	static const size_t len[] = {0, 1, 17, 100, BYTES, BYTES + 1, SIZE_MAX, SIZE_MAX / 2};

	return len[roll(8)];
}

static void map_call(void)
{
	uint32_t i = roll(SLOTS);
	struct doca_mmap *map = any(maps[i]);
	const void *desc;
	doca_error_t result;
	size_t len;

	switch (roll(9)) {
	case 0:
		result = doca_mmap_create(&maps[i]);
		keep(MAP, maps[i], result);
		break;
	case 1:
		(void)doca_mmap_set_memrange(map, roll(6) ? mem[i] : NULL, roll(3) ? BYTES : 0);
		break;
	case 2:
		(void)doca_mmap_add_dev(map, any(dev));
		break;
	case 3:
		(void)doca_mmap_rm_dev(map, any(dev));
		break;
	case 4:
		(void)doca_mmap_set_permissions(map, roll(0x82));
		break;
	case 5:
	case 6:
		(void)doca_mmap_start(map);
		break;
	case 7:
		(void)(roll(2) ? doca_mmap_stop(map) : doca_mmap_destroy(map));
		break;
	default:
		(void)doca_mmap_export_pci(map, any(dev), &desc, &len);
		break;
	}
}

static void buf_call(void)
{
	uint32_t i = roll(SLOTS), j = roll(SLOTS);
	struct doca_buf_inventory *inv = any(invs[roll(SLOTS)]);
	doca_error_t result;
	uint32_t number;

	switch (roll(12)) {
	case 0:
		result = doca_buf_inventory_create(roll(20), &invs[i]);
		keep(INVENTORY, invs[i], result);
		break;
	case 1:
		(void)doca_buf_inventory_start(inv);
		break;
	case 2:
		(void)(roll(4) ? doca_buf_inventory_stop(inv) : doca_buf_inventory_destroy(inv));
		break;
	case 3:
		(void)doca_buf_inventory_expand(inv, roll(4));
		break;
	case 4:
	case 5:
	case 6:
		result = doca_buf_inventory_buf_get_by_args(inv, any(maps[j]), mem[j] + roll(50), odd_len(),
							    mem[j] + roll(70), odd_len(), &bufs[i]);
		keep(BUFFER, bufs[i], result);
		break;
	case 7:
		(void)doca_buf_chain_list(any(bufs[i]), any(bufs[j]));
		break;
	case 8:
		(void)doca_buf_unchain_list(any(bufs[i]), any(bufs[j]));
		break;
	case 9:
		(void)doca_buf_dec_refcount(any(bufs[i]), NULL);
		break;
	case 10:
		(void)doca_buf_set_data(any(bufs[i]), mem[j] + roll(100), odd_len());
		break;
	default:
		result = doca_buf_inventory_buf_dup(inv, any(bufs[i]), &bufs[j]);
		keep(BUFFER, bufs[j], result);
		(void)doca_buf_get_list_len(any(bufs[i]), &number);
		break;
	}
}

static void task_call(void)
{
	struct rig *rig = &rigs[roll(3)];
	struct doca_dma_task_memcpy *task = NULL;
	union doca_data user = {.u64 = 1};
	doca_error_t result;

	switch (roll(8)) {
	case 0:
		(void)doca_ctx_start(any(rig->ctx));
		break;
	case 1:
		if (roll(4) == 0)
			(void)doca_ctx_stop(any(rig->ctx));
		break;
	case 2:
		(void)doca_dma_destroy(roll(2) ? NULL : (struct doca_dma *)pe);
		break;
	default:
		result = doca_dma_task_memcpy_alloc_init(any(rig->dma), NULL, NULL, user, &task);
		if (result != DOCA_SUCCESS)
			break;
		doca_dma_task_memcpy_set_src(task, any(bufs[roll(SLOTS)]));
		doca_dma_task_memcpy_set_dst(task, any(bufs[roll(SLOTS)]));
		result = roll(2) ? doca_task_submit(doca_dma_task_memcpy_as_task(task))
				 : doca_task_try_submit(doca_dma_task_memcpy_as_task(task));
		if (result == DOCA_SUCCESS)
			accepted++;
		else
			doca_task_free(doca_dma_task_memcpy_as_task(task));
		break;
	}
	if (roll(3) == 0)
		(void)doca_pe_progress(pe);
}

static unsigned back(void)
{
	unsigned sum = 0, i;

	for (i = 0; i < 3; i++)
		sum += rigs[i].good + rigs[i].bad;
	return sum;
}

/* Heads release their members, so a second look finds nothing more. */
static void let_go(void)
{
	uint16_t count;
	unsigned i;

	for (i = 0; i < kept_count[BUFFER]; i++)
		while (doca_buf_dec_refcount(kept[BUFFER][i], NULL) == DOCA_SUCCESS)
			;
	for (i = 0; i < kept_count[BUFFER]; i++)
		CHECK_STATUS(doca_buf_get_refcount(kept[BUFFER][i], &count), DOCA_ERROR_INVALID_VALUE);
	for (i = 0; i < kept_count[INVENTORY]; i++)
		CHECK_STATUS2(doca_buf_inventory_destroy(kept[INVENTORY][i]), DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE);
	for (i = 0; i < kept_count[MAP]; i++)
		CHECK_STATUS2(doca_mmap_destroy(kept[MAP][i]), DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE);
	memset(kept_count, 0, sizeof(kept_count));
}

static void one_sequence(uint32_t start, unsigned steps)
{
	unsigned i;
	size_t inflight = 1;

	seed = start;
	accepted = 0;
	memset(maps, 0, sizeof(maps));
	memset(invs, 0, sizeof(invs));
	memset(bufs, 0, sizeof(bufs));
	MUST(doca_pe_create(&pe));
	for (i = 0; i < 3; i++) {
		memset(&rigs[i], 0, sizeof(rigs[i]));
		rig_make_ctx(&rigs[i], dev, pe, 8);
		rigs[i].free_tasks = 1;
	}
	for (i = 0; i < steps; i++) {
		switch (roll(3)) {
		case 0:
			map_call();
			break;
		case 1:
			buf_call();
			break;
		default:
			task_call();
			break;
		}
	}
	while (inflight != 0) {
		(void)doca_pe_progress(pe);
		MUST(doca_pe_get_num_inflight_tasks(pe, &inflight));
	}
	if (back() != accepted)
		check_fail(__FILE__, __LINE__, "seed %u: %u accepted, %u came back", start, accepted, back());
	for (i = 0; i < 3; i++) {
		(void)doca_ctx_stop(rigs[i].ctx);
		rig_until_idle(&rigs[i]);
		CHECK_OK(doca_dma_destroy(rigs[i].dma));
	}
	CHECK_OK(doca_pe_destroy(pe));
	pe = NULL;
	let_go();
}

int main(void)
{
	uint32_t start;

	dev = rig_open_dev(NULL);
	for (start = 1; start <= 150; start++)
		one_sequence(start, 600);
	CHECK_OK(doca_dev_close(dev)); /* nobody uses it any more */
	return check_result();
}
