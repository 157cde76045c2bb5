/*
 * A context under random but lawful use, compared step by step with a model of the contract: which
 * call is allowed in which state, in which order tasks come back and with what, what callbacks may do,
 * which transitions are reported. Each seed gives the same sequence every time.
 *
 * clauses: core-exec 1-5; dma Behaviour (failed task stops the context)
 * covers: @
 */
#include "rig.h"

#define POOL 12
#define PIECE 2000

/* The model. */
static enum doca_ctx_states state;
static uint64_t expected[POOL + 1]; /* user data of tasks in flight, oldest first */
static unsigned in_flight, owned;
static int failed;
static unsigned reported; /* transitions */
static int idle_due;	  /* STOPPING with nothing outstanding: one more progress call */
static int in_callback;

static struct doca_dma_task_memcpy *kept[POOL];
static int taken[POOL]; /* each task has a destination of its own */
static uint64_t next_user;
static uint32_t seed;
static struct rig rig;

static uint32_t roll(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)seed * below) >> 32);
}

static void move_to(enum doca_ctx_states next)
{
	state = next;
	if (next == DOCA_CTX_STATE_IDLE)
		failed = idle_due = 0;
}

static void on_state(struct rig *r, enum doca_ctx_states now)
{
	enum doca_ctx_states from = r->from[r->changes - 1];

	CHECK_U64(r->changes, ++reported);
	switch (now) {
	case DOCA_CTX_STATE_RUNNING:
		CHECK_U64(from, DOCA_CTX_STATE_IDLE);
		break;
	case DOCA_CTX_STATE_STOPPING:
		CHECK_U64(from, DOCA_CTX_STATE_RUNNING);
		break;
	case DOCA_CTX_STATE_IDLE:
		CHECK_U64(from, DOCA_CTX_STATE_STOPPING);
		CHECK_U64(in_flight + owned, 0);
		break;
	default:
		CHECK(!"no such state for this engine");
	}
	move_to(now);
}

static void stop(void)
{
	doca_error_t result, want = DOCA_ERROR_IN_PROGRESS;
	unsigned before = reported;

	if (state == DOCA_CTX_STATE_IDLE)
		want = DOCA_SUCCESS;
	else if (state == DOCA_CTX_STATE_RUNNING && in_flight + owned == 0 && !in_callback)
		want = DOCA_SUCCESS;
	before += state == DOCA_CTX_STATE_RUNNING ? (want == DOCA_SUCCESS ? 2 : 1) : 0;
	result = doca_ctx_stop(rig.ctx);
	CHECK_STATUS(result, want);
	CHECK_U64(reported, before);
	CHECK_U64(state, want == DOCA_SUCCESS ? DOCA_CTX_STATE_IDLE : DOCA_CTX_STATE_STOPPING);
}

static void submit(struct doca_dma_task_memcpy *task)
{
	struct doca_buf *src = (struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task);
	union doca_data user = {.u64 = next_user++};
	int bad = roll(12) == 0;
	size_t len = 1 + roll(PIECE);
	doca_error_t result;

	MUST(doca_buf_inventory_buf_reuse_by_data(src, rig.mem + roll(1000), len));
	if (bad)
		MUST(doca_buf_reset_data_len(src));
	MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
	user.u64 = user.u64 * 2 + (unsigned)bad;
	doca_task_set_user_data(doca_dma_task_memcpy_as_task(task), user);
	if (roll(3) == 0) {
		result = doca_task_try_submit(doca_dma_task_memcpy_as_task(task));
		if (state == DOCA_CTX_STATE_RUNNING && bad) {
			CHECK_STATUS(result, DOCA_ERROR_INVALID_VALUE);
			kept[owned++] = task;
			return;
		}
	} else {
		result = doca_task_submit(doca_dma_task_memcpy_as_task(task));
	}
	CHECK_STATUS(result, state == DOCA_CTX_STATE_RUNNING ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE);
	if (result == DOCA_SUCCESS)
		expected[in_flight++] = user.u64;
	else
		kept[owned++] = task;
}

/* Room for one more destination; there are as many as tasks. */
static size_t take_room(void)
{
	unsigned i = 0;

	while (taken[i])
		i++;
	taken[i] = 1;
	return (4 + i) * PIECE;
}

static void release(struct doca_dma_task_memcpy *task)
{
	void *room = NULL;

	MUST(doca_buf_get_head(doca_dma_task_memcpy_get_dst(task), &room));
	taken[((size_t)((uint8_t *)room - rig.mem)) / PIECE - 4] = 0;
	CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
	CHECK_OK(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	if (!in_callback && state == DOCA_CTX_STATE_STOPPING && in_flight + owned == 0)
		idle_due = 1;
}

static void done(struct rig *r, struct doca_dma_task_memcpy *task)
{
	struct doca_buf *src = (struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task);
	struct doca_buf *dst = doca_dma_task_memcpy_get_dst(task);
	unsigned at = (r->good + r->bad - 1) % RIG_LOG;
	void *from = NULL, *to = NULL;
	size_t len = 0, put = 0;

	in_callback = 1;
	MUST_BE(in_flight > 0);
	CHECK_U64(r->order[at], expected[0]);
	MUST(doca_buf_get_data(src, &from));
	MUST(doca_buf_get_data_len(src, &len));
	MUST(doca_buf_get_data(dst, &to));
	MUST(doca_buf_get_data_len(dst, &put));
	if (r->status[at] == DOCA_SUCCESS) {
		CHECK_U64(expected[0] & 1, 0);
		CHECK_U64(put, len);
		CHECK_BYTES(to, from, len);
	} else {
		CHECK_STATUS(r->status[at], DOCA_ERROR_IO_FAILED);
		/* Bad itself, or flushed because of a stop or of a failure before it. */
		CHECK((expected[0] & 1) != 0 || state == DOCA_CTX_STATE_STOPPING);
		CHECK_U64(put, 0);
		failed = 1;
	}
	memmove(expected, expected + 1, --in_flight * sizeof(expected[0]));
	CHECK_U64(rig_inflight(r), in_flight);
	switch (roll(6)) {
	case 0:
		submit(task);
		break;
	case 1:
		kept[owned++] = task;
		break;
	case 2:
		release(task);
		if (roll(8) == 0 && state != DOCA_CTX_STATE_IDLE)
			stop();
		break;
	default:
		release(task);
		break;
	}
	in_callback = 0;
}

static void progress(void)
{
	unsigned before = rig.good + rig.bad;
	int due = idle_due;
	uint8_t moved = rig_progress(&rig);

	if (rig.good + rig.bad != before) {
		CHECK_U64(moved, 1);
		/* A failure that was delivered stops the context; nothing outstanding means idle at once. */
		if (failed)
			CHECK(state != DOCA_CTX_STATE_RUNNING);
		if (state == DOCA_CTX_STATE_STOPPING)
			CHECK(in_flight + owned > 0);
	} else if (due) {
		CHECK_U64(moved, 1);
		CHECK_U64(state, DOCA_CTX_STATE_IDLE);
	} else {
		CHECK_U64(moved, 0);
	}
}

static void step(void)
{
	struct doca_dma_task_memcpy *task = NULL;
	union doca_data none = {0};
	enum doca_ctx_states before;
	doca_error_t result;

	switch (roll(12)) {
	case 0:
		before = state;
		result = doca_ctx_start(rig.ctx);
		CHECK_STATUS(result, before == DOCA_CTX_STATE_IDLE ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE);
		if (before == DOCA_CTX_STATE_IDLE)
			CHECK_U64(state, DOCA_CTX_STATE_RUNNING);
		break;
	case 1:
		if (roll(6) == 0)
			stop();
		break;
	case 2:
	case 3:
		if (owned > 0)
			submit(kept[--owned]);
		break;
	case 4:
		if (owned > 0)
			release(kept[--owned]);
		break;
	case 5:
	case 6:
	case 7:
		result = doca_dma_task_memcpy_alloc_init(rig.dma, NULL, NULL, none, &task);
		if (state != DOCA_CTX_STATE_RUNNING) {
			CHECK_STATUS(result, DOCA_ERROR_BAD_STATE);
		} else if (in_flight + owned == POOL) {
			CHECK_STATUS(result, DOCA_ERROR_NO_MEMORY);
		} else {
			MUST(result);
			doca_dma_task_memcpy_set_src(task, rig_src(&rig, 0, 1));
			doca_dma_task_memcpy_set_dst(task, rig_dst(&rig, take_room(), PIECE));
			submit(task);
		}
		break;
	default:
		progress();
		break;
	}
	CHECK_U64(rig_state(&rig), state);
	CHECK_U64(rig_inflight(&rig), in_flight);
}

int main(void)
{
	unsigned i;

	for (seed = 1; seed < 200; seed++) {
		uint32_t start = seed;
		int failures = check_failures;

		rig_setup(&rig, 16 * PIECE, POOL);
		rig.free_tasks = rig.drop_bufs = 0;
		rig.on_done = done;
		rig.on_state = on_state;
		state = DOCA_CTX_STATE_RUNNING;
		reported = rig.changes;
		in_flight = owned = 0;
		next_user = 0;
		memset(taken, 0, sizeof(taken));
		for (i = 0; i < 2000 && check_failures == failures; i++) {
			step();
			if (rig.good + rig.bad > RIG_LOG - 10)
				rig.good = rig.bad = 0;
			if (rig.changes > 60)
				rig.changes = reported = 0;
		}
		if (check_failures != failures)
			fprintf(stderr, "  ... with seed %u, step %u\n", start, i);
		while (state != DOCA_CTX_STATE_IDLE) {
			if (owned > 0)
				release(kept[--owned]);
			else if (state == DOCA_CTX_STATE_RUNNING)
				stop();
			else
				progress();
		}
		rig.on_done = NULL;
		rig_teardown(&rig);
		seed = start;
	}
	return check_result();
}
