/*
 * A host that sees the host's functions alone and a card that sees its own alone: the server can only be
 * made on the card, the client finds it from the host; a program built for the wrong side finds no device.
 *
 * clauses: comch Device models, Roles and topology; core-exec 10
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

static unsigned able(int server)
{
	struct doca_devinfo **list = NULL;
	uint32_t count = 0, i;
	unsigned found = 0;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count; i++) {
		doca_error_t status = server ? doca_comch_cap_server_is_supported(list[i]) :
					       doca_comch_cap_client_is_supported(list[i]);

		CHECK_STATUS2(status, DOCA_SUCCESS, DOCA_ERROR_NOT_SUPPORTED);
		found += status == DOCA_SUCCESS;
	}
	MUST(doca_devinfo_destroy_list(list));
	return found;
}

static void echo(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	comch_send(end, peer, bytes, len);
}

static void card(int line)
{
	struct comch_end end = {.on_message = echo};
	struct doca_pe *pe = NULL;

	setenv("SOFTDPU_SIDE", "dpu", 1);
	setenv("SOFTDPU_PROFILE", "bf3", 1);
	CHECK(able(1) > 0);
	MUST(doca_pe_create(&pe));
	comch_make_server(&end, pe, "sides", 4);
	comch_run(&end);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, end.disconnects == 1);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

int main(void)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	two_await(line, 'l');
	setenv("SOFTDPU_SIDE", "host", 1);
	setenv("SOFTDPU_PROFILE", "bf3", 1);
	CHECK_U64(able(1), 0);
	CHECK(able(0) > 0);
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, "sides", 4);
	comch_run(&end);
	comch_send(&end, end.peer, "across", 6);
	COMCH_UNTIL(pe, end.messages == 1);
	CHECK_BYTES(end.last, "across", 6);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	two_reap(pid);
	close(line);
	return check_result();
}
