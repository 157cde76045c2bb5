/*
 * C++ as people write it: handles in unique_ptr with deleters, status as exceptions, callbacks as
 * lambdas behind a user pointer, a future per task; SHA and DMA on one engine that a thread of its own
 * turns.
 *
 * clauses: core-exec Tasks; engine-dma-sha
 * covers: @
 */
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_sha.h>

#include "check.h"

namespace
{

struct failure : std::runtime_error {
	doca_error_t status;
	explicit failure(doca_error_t code) : std::runtime_error(doca_error_get_descr(code)), status(code)
	{
	}
};

void must(doca_error_t status)
{
	if (status != DOCA_SUCCESS)
		throw failure(status);
}

template <typename T, doca_error_t (*Destroy)(T *)> struct deleter {
	void operator()(T *object) const
	{
		CHECK_OK(Destroy(object));
	}
};

template <typename T, doca_error_t (*Destroy)(T *)> using handle = std::unique_ptr<T, deleter<T, Destroy>>;

using device = handle<doca_dev, doca_dev_close>;
using map = handle<doca_mmap, doca_mmap_destroy>;
using inventory = handle<doca_buf_inventory, doca_buf_inventory_destroy>;
using engine = handle<doca_pe, doca_pe_destroy>;
using dma_context = handle<doca_dma, doca_dma_destroy>;
using sha_context = handle<doca_sha, doca_sha_destroy>;

struct buf_deleter {
	void operator()(doca_buf *buf) const
	{
		CHECK_OK(doca_buf_dec_refcount(buf, nullptr));
	}
};
using buffer = std::unique_ptr<doca_buf, buf_deleter>;

device open_first(const std::function<bool(doca_devinfo *)> &fits)
{
	doca_devinfo **list = nullptr;
	uint32_t count = 0;
	must(doca_devinfo_create_list(&list, &count));
	std::unique_ptr<doca_devinfo *, void (*)(doca_devinfo **)> keep(
		list, [](doca_devinfo **all) { CHECK_OK(doca_devinfo_destroy_list(all)); });
	for (uint32_t i = 0; i < count; i++) {
		if (!fits(list[i]))
			continue;
		doca_dev *dev = nullptr;
		must(doca_dev_open(list[i], &dev));
		return device(dev);
	}
	throw failure(DOCA_ERROR_NOT_FOUND);
}

class service
{
public:
	service()
		: dev_(open_first([](doca_devinfo *info) {
			  return doca_dma_cap_task_memcpy_is_supported(info) == DOCA_SUCCESS &&
				 doca_sha_cap_task_hash_get_supported(info, DOCA_SHA_ALGORITHM_SHA512) == DOCA_SUCCESS;
		  })),
		  memory_(1 << 20)
	{
		doca_pe *pe = nullptr;
		must(doca_pe_create(&pe));
		pe_.reset(pe);
		doca_mmap *mmap = nullptr;
		must(doca_mmap_create(&mmap));
		map_.reset(mmap);
		must(doca_mmap_add_dev(mmap, dev_.get()));
		must(doca_mmap_set_memrange(mmap, memory_.data(), memory_.size()));
		must(doca_mmap_start(mmap));
		doca_buf_inventory *inv = nullptr;
		must(doca_buf_inventory_create(256, &inv));
		inv_.reset(inv);
		must(doca_buf_inventory_start(inv));
		doca_dma *dma = nullptr;
		must(doca_dma_create(dev_.get(), &dma));
		dma_.reset(dma);
		must(doca_dma_task_memcpy_set_conf(
			dma,
			[](doca_dma_task_memcpy *task, doca_data user, doca_data) {
				finish(doca_dma_task_memcpy_as_task(task), user);
			},
			[](doca_dma_task_memcpy *task, doca_data user, doca_data) {
				finish(doca_dma_task_memcpy_as_task(task), user);
			},
			64));
		must(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
		must(doca_ctx_start(doca_dma_as_ctx(dma)));
		doca_sha *sha = nullptr;
		must(doca_sha_create(dev_.get(), &sha));
		sha_.reset(sha);
		must(doca_sha_task_hash_set_conf(
			sha,
			[](doca_sha_task_hash *task, doca_data user, doca_data) {
				finish(doca_sha_task_hash_as_task(task), user);
			},
			[](doca_sha_task_hash *task, doca_data user, doca_data) {
				finish(doca_sha_task_hash_as_task(task), user);
			},
			6));
		must(doca_pe_connect_ctx(pe, doca_sha_as_ctx(sha)));
		must(doca_ctx_start(doca_sha_as_ctx(sha)));
		thread_ = std::thread([this] { run(); });
	}

	~service()
	{
		stop_ = true;
		thread_.join();
		CHECK_OK(doca_ctx_stop(doca_dma_as_ctx(dma_.get())));
		CHECK_OK(doca_ctx_stop(doca_sha_as_ctx(sha_.get())));
	}

	/* Copies the text inside the card's memory and hashes the copy. Any thread. */
	std::future<std::vector<uint8_t>> digest(std::string text)
	{
		auto answer = std::make_shared<std::promise<std::vector<uint8_t>>>();
		post([this, answer, text = std::move(text)] {
			const size_t slot = next_++ % 64 * 8192;
			memcpy(&memory_[slot], text.data(), text.size());
			auto src = std::make_shared<buffer>(data(slot, text.size()));
			auto dst = std::make_shared<buffer>(room(slot + 4096, text.size()));
			copy(src->get(), dst->get(), [this, answer, src, dst, slot](doca_error_t status) {
				if (status != DOCA_SUCCESS)
					return answer->set_exception(std::make_exception_ptr(failure(status)));
				auto out = std::make_shared<buffer>(room(slot + 8000, 64));
				hash(dst->get(), out->get(), [this, answer, dst, out, slot](doca_error_t hashed) {
					if (hashed != DOCA_SUCCESS)
						return answer->set_exception(std::make_exception_ptr(failure(hashed)));
					answer->set_value(std::vector<uint8_t>(&memory_[slot + 8000],
									       &memory_[slot + 8000] + 64));
				});
			});
		});
		return answer->get_future();
	}

private:
	using done = std::function<void(doca_error_t)>;

	static void finish(doca_task *task, doca_data user)
	{
		std::unique_ptr<done> call(static_cast<done *>(user.ptr));
		const doca_error_t status = doca_task_get_status(task);
		doca_task_free(task);
		(*call)(status);
	}

	void copy(doca_buf *src, doca_buf *dst, done then)
	{
		doca_dma_task_memcpy *task = nullptr;
		doca_data user = {};
		user.ptr = new done(std::move(then));
		must(doca_dma_task_memcpy_alloc_init(dma_.get(), src, dst, user, &task));
		must(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	}

	void hash(doca_buf *src, doca_buf *dst, done then)
	{
		doca_sha_task_hash *task = nullptr;
		doca_data user = {};
		user.ptr = new done(std::move(then));
		must(doca_sha_task_hash_alloc_init(sha_.get(), DOCA_SHA_ALGORITHM_SHA512, src, dst, user, &task));
		must(doca_task_submit(doca_sha_task_hash_as_task(task)));
	}

	buffer data(size_t at, size_t len)
	{
		doca_buf *buf = nullptr;
		must(doca_buf_inventory_buf_get_by_data(inv_.get(), map_.get(), &memory_[at], len, &buf));
		return buffer(buf);
	}

	buffer room(size_t at, size_t len)
	{
		doca_buf *buf = nullptr;
		must(doca_buf_inventory_buf_get_by_addr(inv_.get(), map_.get(), &memory_[at], len, &buf));
		return buffer(buf);
	}

	void post(std::function<void()> work)
	{
		std::lock_guard<std::mutex> lock(mutex_);
		queue_.push_back(std::move(work));
	}

	void run()
	{
		size_t flying = 0;
		while (!stop_ || flying != 0) {
			std::vector<std::function<void()>> work;
			{
				std::lock_guard<std::mutex> lock(mutex_);
				/* As many as there are slots for. */
				while (!queue_.empty() && work.size() + flying < 32) {
					work.push_back(std::move(queue_.front()));
					queue_.erase(queue_.begin());
				}
			}
			for (auto &one : work)
				one();
			if (doca_pe_progress(pe_.get()) == 0)
				std::this_thread::yield();
			must(doca_pe_get_num_inflight_tasks(pe_.get(), &flying));
		}
	}

	device dev_;
	std::vector<uint8_t> memory_;
	map map_;
	inventory inv_;
	engine pe_;
	dma_context dma_;
	sha_context sha_;
	std::thread thread_;
	std::mutex mutex_;
	std::vector<std::function<void()>> queue_;
	std::atomic<bool> stop_{false};
	size_t next_ = 0;
};

} // namespace

int main()
{
	/* SHA-512 of "abc", as its standard prints it. */
	static const uint8_t abc[8] = {0xdd, 0xaf, 0x35, 0xa1, 0x93, 0x61, 0x7a, 0xba};
	for (int turn = 0; turn < 3; turn++) {
		service cards;
		std::vector<std::future<std::vector<uint8_t>>> answers;
		for (int i = 0; i < 300; i++)
			answers.push_back(cards.digest(i % 3 == 0 ? "abc" : "text " + std::to_string(i)));
		const std::vector<uint8_t> first = answers[0].get();
		CHECK_U64(first.size(), 64);
		CHECK_BYTES(first.data(), abc, 8);
		for (int i = 1; i < 300; i++) {
			const std::vector<uint8_t> one = answers[i].get();
			CHECK_U64(one == first, i % 3 == 0);
		}
	}
	try {
		open_first([](doca_devinfo *) { return false; });
		CHECK(false);
	} catch (const failure &none) {
		CHECK_STATUS(none.status, DOCA_ERROR_NOT_FOUND);
		CHECK_TEXT(none.what(), doca_error_get_descr(DOCA_ERROR_NOT_FOUND));
	}
	return check_result();
}
