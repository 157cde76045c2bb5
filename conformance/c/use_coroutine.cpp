/*
 * C++20 coroutines over the engine: each copy is awaited, failures arrive as values, a window of
 * coroutines runs on one progress engine, stopping is awaited as well.
 *
 * clauses: core-exec 5, 3; core-base (C++20 use of the headers)
 * std: c++20
 * covers: @
 */
#include <coroutine>
#include <exception>
#include <vector>

#include "rig.h"

namespace {

struct fire_and_forget {
	struct promise_type {
		fire_and_forget get_return_object() { return {}; }
		std::suspend_never initial_suspend() noexcept { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
};

struct waiter {
	std::coroutine_handle<> resume;
	doca_error_t status = DOCA_ERROR_UNKNOWN;
};

void finished(doca_dma_task_memcpy *task, doca_data task_user, doca_data)
{
	auto *waiting = static_cast<waiter *>(task_user.ptr);

	waiting->status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	waiting->resume.resume();
}

struct copy : waiter {
	copy(doca_dma *dma, doca_buf *from, doca_buf *to) : dma(dma), from(from), to(to) {}
	bool await_ready() const noexcept { return false; }
	bool await_suspend(std::coroutine_handle<> handle)
	{
		doca_dma_task_memcpy *task = nullptr;

		resume = handle;
		status = doca_dma_task_memcpy_alloc_init(dma, from, to, doca_data{.ptr = static_cast<waiter *>(this)},
							 &task);
		if (status == DOCA_SUCCESS) {
			status = doca_task_submit(doca_dma_task_memcpy_as_task(task));
			if (status != DOCA_SUCCESS)
				doca_task_free(doca_dma_task_memcpy_as_task(task));
		}
		return status == DOCA_SUCCESS; /* else go on at once */
	}
	doca_error_t await_resume() const noexcept { return status; }
	doca_dma *dma;
	doca_buf *from, *to;
};

struct lane_result {
	unsigned good = 0, bad = 0, refused = 0;
	bool ended = false;
};

/* One lane: copies piece after piece until its share is done or the context goes. */
fire_and_forget lane(rig &rig, size_t first, size_t step, size_t pieces, size_t piece, lane_result &result)
{
	for (size_t i = first; i < pieces; i += step) {
		doca_buf *from = rig_src(&rig, i * piece, piece), *to = rig_dst(&rig, (pieces + i) * piece, piece);
		doca_error_t status = co_await copy(rig.dma, from, to);

		CHECK_OK(doca_buf_dec_refcount(from, nullptr));
		CHECK_OK(doca_buf_dec_refcount(to, nullptr));
		if (status == DOCA_SUCCESS)
			++result.good;
		else if (status == DOCA_ERROR_BAD_STATE)
			++result.refused;
		else
			++result.bad;
		if (status != DOCA_SUCCESS)
			break;
	}
	result.ended = true;
}

constexpr size_t pieces = 200, piece = 777, lanes = 8;

void prepare(rig &rig, doca_pe *pe, doca_dev *dev)
{
	doca_data user = {};

	user.ptr = &rig;
	MUST(doca_dma_create(dev, &rig.dma));
	rig.ctx = doca_dma_as_ctx(rig.dma);
	MUST(doca_pe_connect_ctx(pe, rig.ctx));
	MUST(doca_dma_task_memcpy_set_conf(rig.dma, finished, finished, lanes));
	MUST(doca_ctx_set_user_data(rig.ctx, user));
	MUST(doca_ctx_start(rig.ctx));
}

} // namespace

int main()
{
	static rig rig;
	std::vector<lane_result> results(lanes);
	unsigned good = 0, bad = 0;

	rig_setup(&rig, 2 * pieces * piece, lanes);
	CHECK_OK(doca_ctx_stop(rig.ctx));
	CHECK_OK(doca_dma_destroy(rig.dma));
	prepare(rig, rig.pe, rig.dev);

	for (size_t i = 0; i < lanes; ++i)
		lane(rig, i, lanes, pieces, piece, results[i]);
	rig_drain(&rig);
	for (const auto &result : results) {
		CHECK(result.ended);
		good += result.good;
	}
	CHECK_U64(good, pieces);
	CHECK_BYTES(rig.mem + pieces * piece, rig.mem, pieces * piece);

	/* Stopped half-way: each lane ends, by a flushed copy or by a refused one. */
	for (auto &result : results)
		result = lane_result();
	for (size_t i = 0; i < lanes; ++i)
		lane(rig, i, lanes, pieces, piece, results[i]);
	for (size_t i = 0; i < 20; ++i)
		rig_progress(&rig);
	CHECK_STATUS(doca_ctx_stop(rig.ctx), DOCA_ERROR_IN_PROGRESS);
	rig_until_idle(&rig);
	for (const auto &result : results) {
		CHECK(result.ended);
		CHECK(result.bad + result.refused == 1);
		bad += result.bad;
	}
	CHECK(bad <= lanes);
	rig_teardown(&rig);
	return check_result();
}
