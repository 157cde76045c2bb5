/*
 * The channel from C++: contexts as objects whose destructor stops, drives and destroys, lambdas for
 * messages, exceptions that unwind through a running conversation; the destructors alone must lead to an
 * orderly end on both sides.
 *
 * clauses: comch Client life, Server life; core-base (C++ use of the headers)
 * covers: @
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "x_comch.h"

namespace {

class engine {
public:
	engine() { MUST(doca_pe_create(&pe_)); }
	~engine() { CHECK_OK(doca_pe_destroy(pe_)); }
	engine(const engine &) = delete;
	engine &operator=(const engine &) = delete;
	operator doca_pe *() const { return pe_; }

private:
	doca_pe *pe_ = nullptr;
};

class channel {
public:
	using handler = std::function<void(channel &, doca_comch_connection *, const std::string &)>;

	channel(doca_pe *pe, const std::string &name, bool server, handler on_message)
		: on_message_(std::move(on_message))
	{
		end_.own = this;
		end_.on_message = [](comch_end *end, doca_comch_connection *peer, uint8_t *bytes, uint32_t len) {
			auto *self = static_cast<channel *>(end->own);
			self->on_message_(*self, peer, std::string(reinterpret_cast<char *>(bytes), len));
		};
		if (server)
			comch_make_server(&end_, pe, name.c_str(), 16);
		else
			comch_make_client(&end_, pe, name.c_str(), 16);
		comch_run(&end_);
	}
	~channel()
	{
		comch_stop(&end_);
		comch_destroy(&end_);
	}
	channel(const channel &) = delete;
	channel &operator=(const channel &) = delete;

	void say(const std::string &text, doca_comch_connection *peer = nullptr)
	{
		comch_send(&end_, peer != nullptr ? peer : end_.peer, text.data(),
			   static_cast<uint32_t>(text.size()));
	}
	template <typename Condition> void until(Condition condition) { COMCH_UNTIL(end_.pe, condition()); }
	const comch_end &end() const { return end_; }

private:
	comch_end end_ = {};
	handler on_message_;
};

void serve(int line)
{
	std::map<doca_comch_connection *, std::vector<std::string>> heard;
	engine pe;
	channel server(pe, "raii", true, [&](channel &self, doca_comch_connection *peer, const std::string &text) {
		heard[peer].push_back(text);
		self.say(text + text, peer);
	});

	two_tell(line, 'l');
	server.until([&] { return server.end().disconnects == 3; });
	CHECK_U64(server.end().connects, 3);
	close(line);
}

void talk(doca_pe *pe, unsigned words)
{
	std::vector<std::string> answers;
	channel client(pe, "raii", false,
		       [&](channel &, doca_comch_connection *, const std::string &text) { answers.push_back(text); });

	for (unsigned i = 0; i < words; i++) {
		client.say("word " + std::to_string(i) + ";");
		client.until([&] { return answers.size() == i + 1; });
		CHECK(answers.back() == "word " + std::to_string(i) + ";word " + std::to_string(i) + ";");
		if (i == 50)
			throw std::runtime_error("enough");
	}
}

} // namespace

int main()
{
	int line = -1;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		serve(line);
		exit(check_result());
	}
	two_await(line, 'l');
	{
		engine pe;
		bool thrown = false;

		talk(pe, 10);
		try {
			talk(pe, 1000);
		} catch (const std::runtime_error &) {
			thrown = true;
		}
		CHECK(thrown);
		talk(pe, 5);
	}
	two_reap(pid);
	close(line);
	return check_result();
}
