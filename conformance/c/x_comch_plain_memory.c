/*
 * Messages are plain memory, both ways: the bytes of a send may be overwritten or leave the stack right
 * after submit; the bytes that arrive lie aligned for structs, may be written to, one byte further too,
 * and are the receiver's until its callback returns.
 *
 * clauses: comch Control messages (payload, recv_buffer)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define ROUNDS 500

struct note { /* receivers cast the bytes to structs */
	uint64_t number;
	uint64_t twice;
	char text[32];
};

static void heard(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	struct note *note = (struct note *)(void *)bytes;
	char want[32];

	(void)peer;
	CHECK_U64((uintptr_t)bytes % 8, 0);
	snprintf(want, sizeof(want), "note %u", end->messages - 1);
	CHECK_U64(len, offsetof(struct note, text) + strlen(want));
	CHECK_U64(note->number, end->messages - 1);
	CHECK_U64(note->twice, 2 * note->number);
	bytes[len] = 0; /* as programs do that expect a text */
	CHECK_TEXT(note->text, want);
	memset(bytes, 0xdd, len + 1);
}

__attribute__((noinline)) static void send_from_stack(struct comch_end *end, unsigned number)
{
	struct note note;

	memset(&note, 0, sizeof(note));
	note.number = number;
	note.twice = 2ull * number;
	snprintf(note.text, sizeof(note.text), "note %u", number);
	comch_send(end, end->peer, &note, (uint32_t)(offsetof(struct note, text) + strlen(note.text)));
	memset(&note, 0xaa, sizeof(note));
}

static void serve(int line)
{
	struct comch_end end = {.on_message = heard};
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	comch_make_server(&end, pe, "plain", 1);
	comch_run(&end);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, end.connects == 1);
	two_sleep_ms(100); /* the other side fills the queue */
	COMCH_UNTIL(pe, end.disconnects == 1);
	CHECK_U64(end.messages, ROUNDS);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

int main(void)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;
	unsigned i;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		serve(line);
		exit(check_result());
	}
	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, "plain", 64);
	comch_run(&end);
	for (i = 0; i < ROUNDS; i++)
		send_from_stack(&end, i);
	comch_stop(&end); /* with messages still on the way */
	CHECK_U64(end.sent, ROUNDS);
	CHECK_U64(end.failed, 0);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	two_reap(pid);
	close(line);
	return check_result();
}
