// Prints the SHA-256 of a file, computed by the card.
#include "card.hpp"

#include <doca_sha.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

namespace {

using hasher = card::handle<doca_sha, &doca_sha_destroy>;
constexpr auto algorithm = DOCA_SHA_ALGORITHM_SHA256;

void ended(doca_sha_task_hash *task, doca_data, doca_data ctx_data)
{
	auto *status = static_cast<std::optional<doca_error_t> *>(ctx_data.ptr);
	*status = doca_task_get_status(doca_sha_task_hash_as_task(task));
	doca_task_free(doca_sha_task_hash_as_task(task));
}

bool can_hash(doca_devinfo *info)
{
	return doca_sha_cap_task_hash_get_supported(info, algorithm) == DOCA_SUCCESS;
}

std::vector<std::byte> digest(std::vector<char> text)
{
	std::vector<std::byte> result(32);
	const card::device device = card::open_first(can_hash);
	const card::map source = card::share(device.get(), std::as_writable_bytes(std::span(text)));
	const card::map target = card::share(device.get(), result);
	const card::inventory stock(card::made<doca_buf_inventory>("inventory", doca_buf_inventory_create, 2u));
	card::must(doca_buf_inventory_start(stock.get()), "inventory");

	doca_buf *raw = nullptr;
	card::must(doca_buf_inventory_buf_get_by_data(stock.get(), source.get(), text.data(), text.size(), &raw), "source");
	const card::buffer from(raw);
	card::must(doca_buf_inventory_buf_get_by_addr(stock.get(), target.get(), result.data(), result.size(), &raw),
		   "result");
	const card::buffer to(raw);

	std::optional<doca_error_t> status;
	const card::progress_engine progress(card::made<doca_pe>("progress engine", doca_pe_create));
	const hasher sha(card::made<doca_sha>("engine", doca_sha_create, device.get()));
	doca_ctx *context = doca_sha_as_ctx(sha.get());
	card::must(doca_sha_task_hash_set_conf(sha.get(), ended, ended, 1), "engine");
	card::must(doca_ctx_set_user_data(context, doca_data{.ptr = &status}), "engine");
	const card::running engine(progress.get(), context);

	doca_sha_task_hash *task = nullptr;
	card::must(doca_sha_task_hash_alloc_init(sha.get(), algorithm, from.get(), to.get(), doca_data{}, &task), "task");
	card::must(doca_task_submit(doca_sha_task_hash_as_task(task)), "task");
	while (!status)
		(void)doca_pe_progress(progress.get());
	card::must(*status, "hash");
	return result;
}

} // namespace

int main(int argc, char **argv)
try {
	if (argc != 2) {
		std::fprintf(stderr, "usage: digest FILE\n");
		return 2;
	}
	std::ifstream file(argv[1], std::ios::binary);
	if (!file) {
		std::fprintf(stderr, "%s: cannot be read\n", argv[1]);
		return 1;
	}
	for (std::byte byte : digest({std::istreambuf_iterator<char>(file), {}}))
		std::printf("%02x", std::to_integer<unsigned>(byte));
	std::printf("  %s\n", argv[1]);
	return 0;
} catch (const std::exception &failure) {
	std::fprintf(stderr, "digest: %s\n", failure.what());
	return 1;
}
