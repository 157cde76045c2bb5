/*
 * The pair of host and card in C++: owning wrappers, exceptions for statuses, maps kept in a vector; each
 * destructor must find a library that takes things in the order they are destroyed.
 *
 * clauses: core-memory Export / import; core-base (C++ use of the headers)
 * covers: @
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <memory>
#include <stdexcept>
#include <vector>

#include "x_share.h"

namespace {

void must(doca_error_t status)
{
	if (status != DOCA_SUCCESS)
		throw std::runtime_error(doca_error_get_descr(status));
}

struct closer {
	void operator()(doca_dev *dev) const { CHECK_OK(doca_dev_close(dev)); }
	void operator()(doca_mmap *map) const { CHECK_OK(doca_mmap_destroy(map)); }
};
using device = std::unique_ptr<doca_dev, closer>;
using mapping = std::unique_ptr<doca_mmap, closer>;

mapping exported(doca_dev *dev, std::vector<uint8_t> &bytes, letter &out)
{
	mapping map(rig_map(dev, bytes.data(), bytes.size(), DOCA_ACCESS_FLAG_PCI_READ_WRITE));

	share_export(map.get(), dev, &out);
	return map;
}

mapping imported(doca_dev *dev, const letter &in)
{
	doca_mmap *map = nullptr;

	must(doca_mmap_create_from_export(nullptr, in.desc, in.desc_len, dev, &map));
	return mapping(map);
}

void card(int line)
{
	rig rig;
	share_card(&rig, 1000, 2);
	{
		std::vector<mapping> maps;
		std::vector<letter> letters(10);

		for (auto &one : letters) {
			two_recv(line, &one, sizeof(one));
			maps.push_back(imported(rig.dev, one));
		}
		for (size_t i = 0; i < maps.size(); i++) {
			CHECK_STATUS(share_read(&rig, maps[i].get(), share_at(&letters[i], 0), 0, 1000), DOCA_SUCCESS);
			CHECK(two_is(rig.mem, 1000, static_cast<unsigned>(i)));
		}
		bool thrown = false;
		try {
			letters[0].desc[20] ^= 1;
			imported(rig.dev, letters[0]);
		} catch (const std::runtime_error &) {
			thrown = true;
		}
		CHECK(thrown);
	}
	rig_teardown(&rig);
	two_tell(line, 'd');
	close(line);
}

void host(int line)
{
	std::vector<std::vector<uint8_t>> memory(10, std::vector<uint8_t>(1000));
	device dev(rig_open_dev(SHARE_HOST));
	std::vector<mapping> maps;

	for (unsigned i = 0; i < memory.size(); i++) {
		letter out;

		two_fill(memory[i].data(), memory[i].size(), i);
		maps.push_back(exported(dev.get(), memory[i], out));
		two_send(line, &out, sizeof(out));
	}
	two_await(line, 'd');
}

} // namespace

int main()
{
	int line = -1;
	pid_t pid = two_fork(&line);

	try {
		if (pid == 0) {
			card(line);
			exit(check_result());
		}
		host(line);
	} catch (const std::exception &error) {
		check_fail(__FILE__, __LINE__, "%s", error.what());
		exit(1);
	}
	two_reap(pid);
	close(line);
	return check_result();
}
