/*
 * Puts notes together. A thread is either the program's or, between note_enter() and note_end(), the library's: what the
 * library calls of its own face is no call of the program.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include <doca_buf.h>

#include "note.h"

/* An entry: its head, which is filled in at the end, and the rest. */
struct note {
	uint8_t *bytes;
	size_t len, room;
	int broken; /* no memory for all of it */
};

struct head {
	uint32_t len;
	uint8_t kind;
	uint8_t words;
	uint16_t index;
	uint32_t thread;
	uint32_t reserved;
};

static __thread struct {
	struct note note;
	uint32_t thread;
	int inside; /* the library has the thread */
	/* A progress call that has not called anybody yet. */
	const void *pe;
	unsigned function;
	uintptr_t place;
} mine __attribute__((tls_model("initial-exec")));

static int on;
extern const uint64_t softdpu_record_key;

static void renew(void)
{
	mine.thread = 0;
	on = softdpu_record_begin(softdpu_record_key);
}

static void on_end(int status, void *unused)
{
	(void)unused;
	softdpu_record_end(status);
}

__attribute__((constructor)) static void on_begin(void)
{
	on = softdpu_record_begin(softdpu_record_key);
	if (!on)
		return;
	pthread_atfork(NULL, NULL, renew);
	on_exit(on_end, NULL);
}

void *note_find(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (found == NULL) {
		void *library = dlopen("libsoftdpu.so.2", RTLD_LAZY | RTLD_NOLOAD);

		found = library != NULL ? dlsym(library, name) : NULL;
	}
	if (found == NULL)
		abort();
	return found;
}

/* Room for so many bytes more. */
static int grow(struct note *note, size_t more)
{
	size_t room = note->room;
	uint8_t *bytes;

	if (note->len + more <= room)
		return 1;
	while (room < note->len + more)
		room = room == 0 ? 1024 : 2 * room;
	bytes = realloc(note->bytes, room);
	if (bytes == NULL) {
		note->broken = 1;
		return 0;
	}
	note->bytes = bytes;
	note->room = room;
	return 1;
}

static struct note *head(unsigned kind, unsigned index, unsigned words, uint64_t first)
{
	struct note *note = &mine.note;
	struct head head = {.kind = (uint8_t)kind, .words = (uint8_t)words, .index = (uint16_t)index};

	if (mine.thread == 0)
		mine.thread = (uint32_t)gettid();
	head.thread = mine.thread;
	note->len = 0;
	note->broken = 0;
	if (!grow(note, sizeof(head)))
		return note;
	memcpy(note->bytes, &head, sizeof(head));
	note->len = sizeof(head);
	note_word(note, first);
	return note;
}

void note_word(struct note *note, uint64_t word)
{
	if (note == NULL || !grow(note, sizeof(word)))
		return;
	memcpy(note->bytes + note->len, &word, sizeof(word));
	note->len += sizeof(word);
}

void note_bytes(struct note *note, unsigned parameter, size_t element, const void *bytes, size_t len)
{
	struct { uint16_t parameter, element; uint32_t len; } part = {(uint16_t)parameter, (uint16_t)element, 0};
	struct iovec here, there;
	size_t room;

	if (note == NULL || bytes == NULL)
		return;
	len = len > 1u << 20 ? 1u << 20 : len;
	room = sizeof(part) + ((len + 7) & ~(size_t)7);
	if (!grow(note, room))
		return;
	memset(note->bytes + note->len, 0, room);
	if (len <= 8) {
		memcpy(note->bytes + note->len + sizeof(part), bytes, len);
	} else {
		/* What the library refuses it may not have looked at: the kernel copies what is there. */
		here = (struct iovec){note->bytes + note->len + sizeof(part), len};
		there = (struct iovec){(void *)(uintptr_t)bytes, len};
		if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)len)
			return;
	}
	part.len = (uint32_t)len;
	memcpy(note->bytes + note->len, &part, sizeof(part));
	note->len += room;
}

void note_text(struct note *note, unsigned parameter, size_t element, const char *text)
{
	if (note != NULL && text != NULL)
		note_bytes(note, parameter, element, text, strnlen(text, 4096));
}

void note_sent(struct note *note)
{
	uint32_t len;

	if (note == NULL)
		return;
	if (note->broken) {
		softdpu_record_lost();
		return;
	}
	len = (uint32_t)note->len;
	memcpy(note->bytes, &len, sizeof(len));
	softdpu_record_append(note->bytes, note->len);
}

struct note *note_begin(unsigned function, unsigned words, uintptr_t place)
{
	struct note *note;

	if (!on || mine.inside)
		return NULL;
	softdpu_record_place(place);
	note = head(NOTE_CALL, function, words, place);
	return note;
}

void note_enter(void)
{
	mine.inside = 1;
}

struct note *note_end(unsigned function, uint64_t result)
{
	mine.inside = 0;
	return head(NOTE_RETURN, function, 0, result);
}

/* The note of a progress call, once there is something to tell of it. */
static void note_pending(void)
{
	struct note *note;

	if (mine.pe == NULL)
		return;
	softdpu_record_place(mine.place);
	note = head(NOTE_CALL, mine.function, 1, mine.place);
	note_word(note, (uint64_t)(uintptr_t)mine.pe);
	mine.pe = NULL;
	note_sent(note);
}

/* Calls that found nothing to do are counted only: a program that polls makes millions of them. */
uint8_t note_progress(unsigned function, uint8_t (*real)(struct doca_pe *), struct doca_pe *pe, uintptr_t place)
{
	uint8_t moved;

	if (!on || mine.inside || pe == NULL)
		return real(pe);
	mine.pe = pe;
	mine.function = function;
	mine.place = place;
	mine.inside = 1;
	moved = real(pe);
	mine.inside = 0;
	if (moved == 0 && mine.pe != NULL) {
		mine.pe = NULL;
		softdpu_record_idle(pe);
		return 0;
	}
	note_pending();
	note_sent(head(NOTE_RETURN, function, 0, moved));
	return moved;
}

int note_leave(void)
{
	int outer = mine.inside;

	if (on)
		note_pending();
	mine.inside = 0;
	return outer;
}

struct note *note_called(unsigned type, unsigned words, uint64_t function)
{
	return on ? head(NOTE_CALLED, type, words, function) : NULL;
}

struct note *note_returned(unsigned type, uint64_t result)
{
	return on ? head(NOTE_RETURNED, type, 0, result) : NULL;
}

void note_back(int outer)
{
	mine.inside = outer;
}

int note_slot(struct slots *slots, uintptr_t function)
{
	int slot;

	if (function == 0 || !on)
		return -1;
	slot = slot_of(slots, function);
	if (slot < 0)
		softdpu_record_lost();
	return slot;
}

size_t softdpu_record_pieces(const void *list, struct softdpu_record_piece *pieces, size_t most)
{
	const struct doca_buf *buf = list;
	struct doca_buf *next;
	size_t n = 0;

	while (buf != NULL && n < most) {
		void *addr;
		size_t len;

		if (NOTE_REAL(doca_buf_get_data)(buf, &addr) != DOCA_SUCCESS ||
		    NOTE_REAL(doca_buf_get_data_len)(buf, &len) != DOCA_SUCCESS)
			break;
		pieces[n].addr = addr;
		pieces[n++].len = len;
		next = NULL;
		if (NOTE_REAL(doca_buf_get_next_in_list)((struct doca_buf *)buf, &next) != DOCA_SUCCESS)
			break;
		buf = next;
	}
	return n;
}
