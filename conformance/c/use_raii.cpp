/*
 * The thin C++ layer that many projects write: owning handles by unique_ptr, an exception per failed
 * call, a context whose destructor stops and waits, lambdas as completions.
 *
 * clauses: core-base (C++ use of all headers); core-exec 3; core-memory; dma
 * std: c++17
 * covers: @
 */
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "check.h"

DOCA_LOG_REGISTER(CARD::RAII);

namespace card {
DOCA_LOG_REGISTER(CARD::INSIDE);

struct error : std::runtime_error {
	error(const std::string &what, doca_error_t code)
		: std::runtime_error(what + ": " + doca_error_get_descr(code)), code(code)
	{
	}
	doca_error_t code;
};

void enforce(doca_error_t result, const char *what)
{
	if (DOCA_IS_ERROR(result))
		throw error(what, result);
}

template <auto destroy>
struct deleter {
	template <typename T>
	void operator()(T *object) const
	{
		CHECK_OK(destroy(object));
	}
};

using device = std::unique_ptr<doca_dev, deleter<&doca_dev_close>>;
using memory_map = std::unique_ptr<doca_mmap, deleter<&doca_mmap_destroy>>;
using inventory = std::unique_ptr<doca_buf_inventory, deleter<&doca_buf_inventory_destroy>>;
using engine = std::unique_ptr<doca_pe, deleter<&doca_pe_destroy>>;

struct drop {
	void operator()(doca_buf *buffer) const { CHECK_OK(doca_buf_dec_refcount(buffer, nullptr)); }
};
using buffer = std::unique_ptr<doca_buf, drop>;

device open_first()
{
	DOCA_LOG_DBG("looking for a device");
	doca_devinfo **list = nullptr;
	uint32_t count = 0;
	doca_dev *opened = nullptr;

	enforce(doca_devinfo_create_list(&list, &count), "device list");
	for (uint32_t i = 0; i < count && opened == nullptr; ++i)
		if (doca_dma_cap_task_memcpy_is_supported(list[i]) == DOCA_SUCCESS)
			(void)doca_dev_open(list[i], &opened);
	enforce(doca_devinfo_destroy_list(list), "device list");
	if (opened == nullptr)
		throw error("open", DOCA_ERROR_NOT_FOUND);
	return device(opened);
}

memory_map map_over(doca_dev *dev, std::vector<uint8_t> &bytes)
{
	doca_mmap *map = nullptr;

	enforce(doca_mmap_create(&map), "create map");
	memory_map owner(map);
	enforce(doca_mmap_add_dev(map, dev), "add device");
	enforce(doca_mmap_set_memrange(map, bytes.data(), bytes.size()), "set range");
	enforce(doca_mmap_start(map), "start map");
	return owner;
}

class copier {
public:
	using done = std::function<void(doca_error_t)>;

	copier(doca_dev *dev, doca_pe *pe, uint32_t depth) : pe_(pe)
	{
		doca_data user = {};

		enforce(doca_dma_create(dev, &dma_), "create");
		ctx_ = doca_dma_as_ctx(dma_);
		user.ptr = this;
		enforce(doca_pe_connect_ctx(pe, ctx_), "connect");
		enforce(doca_ctx_set_user_data(ctx_, user), "user data");
		enforce(doca_dma_task_memcpy_set_conf(dma_, &copier::finished, &copier::finished, depth), "configure");
		enforce(doca_ctx_start(ctx_), "start");
	}
	copier(const copier &) = delete;
	copier &operator=(const copier &) = delete;

	~copier()
	{
		doca_ctx_states state = DOCA_CTX_STATE_STOPPING;
		doca_error_t result = doca_ctx_stop(ctx_);

		CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
		while (doca_ctx_get_state(ctx_, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
			(void)doca_pe_progress(pe_);
		CHECK_OK(doca_dma_destroy(dma_));
	}

	void copy(doca_buf *from, doca_buf *to, done when_done)
	{
		auto owned = std::make_unique<done>(std::move(when_done));
		doca_dma_task_memcpy *task = nullptr;
		doca_data user = {};

		user.ptr = owned.get();
		enforce(doca_dma_task_memcpy_alloc_init(dma_, from, to, user, &task), "allocate");
		doca_error_t result = doca_task_submit(doca_dma_task_memcpy_as_task(task));
		if (result != DOCA_SUCCESS)
			doca_task_free(doca_dma_task_memcpy_as_task(task));
		enforce(result, "submit");
		(void)owned.release();
	}

private:
	/* One function for success and error. */
	static void finished(doca_dma_task_memcpy *task, doca_data task_user, doca_data)
	{
		std::unique_ptr<done> when_done(static_cast<done *>(task_user.ptr));
		doca_error_t result = doca_task_get_status(doca_dma_task_memcpy_as_task(task));

		doca_task_free(doca_dma_task_memcpy_as_task(task));
		(*when_done)(result);
	}

	doca_pe *pe_;
	doca_dma *dma_ = nullptr;
	doca_ctx *ctx_ = nullptr;
};
} // namespace card

int main()
{
	std::vector<uint8_t> from(100000), to(100000);
	for (size_t i = 0; i < from.size(); ++i)
		from[i] = static_cast<uint8_t>(i * 11 / 3);

	card::device dev = card::open_first();
	card::memory_map from_map = card::map_over(dev.get(), from), to_map = card::map_over(dev.get(), to);
	doca_buf_inventory *pool = nullptr;
	card::enforce(doca_buf_inventory_create(64, &pool), "inventory");
	card::inventory inv(pool);
	card::enforce(doca_buf_inventory_start(pool), "inventory start");
	doca_pe *raw = nullptr;
	card::enforce(doca_pe_create(&raw), "engine");
	card::engine pe(raw);
	size_t finished = 0, failed = 0;
	try {
		card::copier copier(dev.get(), pe.get(), 10);
		for (size_t i = 0; i < 10; ++i) {
			doca_buf *src = nullptr, *dst = nullptr;
			card::enforce(doca_buf_inventory_buf_get_by_data(pool, from_map.get(), &from[i * 10000],
									 10000, &src), "source");
			card::buffer source(src);
			card::enforce(doca_buf_inventory_buf_get_by_addr(pool, to_map.get(), &to[i * 10000],
									 10000, &dst), "destination");
			card::buffer target(dst);
			/* The completion owns the buffers (std::function wants copies, hence shared). */
			auto keep = std::make_shared<std::pair<card::buffer, card::buffer>>(std::move(source),
											   std::move(target));
			copier.copy(src, dst, [keep, &finished, &failed](doca_error_t result) {
				result == DOCA_SUCCESS ? ++finished : ++failed;
			});
		}
		DOCA_LOG_DBG("leaving the scope with ten copies in flight");
	} catch (const card::error &problem) {
		fprintf(stderr, "%s\n", problem.what());
		CHECK(!"no exception was expected");
	}
	CHECK_U64(finished + failed, 10);

	/* A refused call arrives as an exception. */
	bool thrown = false;
	try {
		std::vector<uint8_t> nothing;
		(void)card::map_over(dev.get(), nothing);
	} catch (const card::error &problem) {
		thrown = problem.code == DOCA_ERROR_INVALID_VALUE;
	}
	CHECK(thrown);
	return check_result();
}
