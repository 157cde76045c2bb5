// A thin C++20 layer over the C interface: handles that give back what they hold, errors as exceptions, bytes as spans.
//
// Objects go in the opposite order of their declaration, which is the order that the contract asks for: declare the
// device first, then memory, then buffers, then engine and progress engine.
#pragma once

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace card {

class error : public std::runtime_error {
public:
	error(const std::string &what, doca_error_t code)
		: std::runtime_error(what + ": " + doca_error_get_descr(code)), code_(code)
	{
	}
	doca_error_t code() const noexcept { return code_; }

private:
	doca_error_t code_;
};

inline void must(doca_error_t status, const char *what)
{
	if (status != DOCA_SUCCESS)
		throw error(what, status);
}

// An owning handle from the function that gives the object back. What that answers is of no use while cleaning up.
template <auto give_back>
struct deleter {
	template <typename T>
	void operator()(T *object) const noexcept
	{
		(void)give_back(object);
	}
};
template <typename T, auto give_back>
using handle = std::unique_ptr<T, deleter<give_back>>;

using device = handle<doca_dev, &doca_dev_close>;
using map = handle<doca_mmap, &doca_mmap_destroy>;
using inventory = handle<doca_buf_inventory, &doca_buf_inventory_destroy>;
using progress_engine = handle<doca_pe, &doca_pe_destroy>;

struct release {
	void operator()(doca_buf *buffer) const noexcept { (void)doca_buf_dec_refcount(buffer, nullptr); }
};
using buffer = std::unique_ptr<doca_buf, release>;

// The result of a function that makes an object: `made<doca_pe>("engine", doca_pe_create)`.
template <typename T, typename Make, typename... Arguments>
	requires std::invocable<Make, Arguments..., T **>
T *made(const char *what, Make make, Arguments... arguments)
{
	T *object = nullptr;
	must(make(arguments..., &object), what);
	return object;
}

// The first device for which `can` holds.
device open_first(std::predicate<doca_devinfo *> auto can)
{
	doca_devinfo **list = nullptr;
	std::uint32_t count = 0;
	must(doca_devinfo_create_list(&list, &count), "devices");
	handle<doca_devinfo *, &doca_devinfo_destroy_list> owner(list);
	for (doca_devinfo *info : std::span(list, count))
		if (can(info))
			return device(made<doca_dev>("open", doca_dev_open, info));
	throw error("devices", DOCA_ERROR_NOT_FOUND);
}

// Memory that a device may read and write.
inline map share(doca_dev *with, std::span<std::byte> bytes)
{
	map shared(made<doca_mmap>("map", doca_mmap_create));
	must(doca_mmap_add_dev(shared.get(), with), "map");
	must(doca_mmap_set_memrange(shared.get(), bytes.data(), bytes.size()), "map");
	must(doca_mmap_start(shared.get()), "map");
	return shared;
}

// A context that runs from its construction on and is stopped, with everything in flight, at its end.
class running {
public:
	running(doca_pe *engine, doca_ctx *context) : engine_(engine), context_(context)
	{
		must(doca_pe_connect_ctx(engine, context), "connect");
		must(doca_ctx_start(context), "start");
	}
	running(const running &) = delete;
	running &operator=(const running &) = delete;
	~running()
	{
		doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
		(void)doca_ctx_stop(context_);
		while (doca_ctx_get_state(context_, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
			(void)doca_pe_progress(engine_);
	}

private:
	doca_pe *engine_;
	doca_ctx *context_;
};

} // namespace card
