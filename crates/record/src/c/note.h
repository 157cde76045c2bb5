/*
 * What the generated functions are made of that stand in for the library's own while a program is recorded.
 *
 * A note is one entry of the file, put together in memory of the thread and handed over whole: numbers first, then what
 * stands behind pointers. The forms are those of src/file/entry.rs.
 */
#ifndef SOFTDPU_RECORD_NOTE_H
#define SOFTDPU_RECORD_NOTE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <doca_pe.h>

/* Kinds of entries. */
enum { NOTE_CALL = 1, NOTE_RETURN, NOTE_CALLED, NOTE_RETURNED, NOTE_IDLE };

/* The place of a text that a function returned. */
#define NOTE_RESULT 0xffff

struct note;

/* The functions of the program of one type, one for each of the functions that stand in for them. */
struct slots {
	_Atomic uintptr_t functions[32];
};

/* The library's own function, found once. */
#define NOTE_REAL(f) \
	({ \
		static void *real_; \
		void *at_ = __atomic_load_n(&real_, __ATOMIC_RELAXED); \
		if (at_ == NULL) { \
			at_ = note_find(#f); \
			__atomic_store_n(&real_, at_, __ATOMIC_RELAXED); \
		} \
		(__typeof__(&f))at_; \
	})

#define NOTE_PLACE ((uintptr_t)__builtin_return_address(0))

void *note_find(const char *name);

/* A call begins. NULL when it is the library that calls, or when nothing is recorded. */
struct note *note_begin(unsigned function, unsigned words, uintptr_t place);
/* The library has the thread, until the call ends. */
void note_enter(void);
struct note *note_end(unsigned function, uint64_t result);
uint8_t note_progress(unsigned function, uint8_t (*real)(struct doca_pe *), struct doca_pe *pe, uintptr_t place);

/* A function of the program is called, outside of the library; note_back() with what note_leave() gave. */
int note_leave(void);
struct note *note_called(unsigned type, unsigned words, uint64_t function);
struct note *note_returned(unsigned type, uint64_t result);
void note_back(int outer);

/* Parts of a note; a NULL note takes nothing. */
void note_word(struct note *note, uint64_t word);
void note_bytes(struct note *note, unsigned parameter, size_t element, const void *bytes, size_t len);
void note_text(struct note *note, unsigned parameter, size_t element, const char *text);
void note_sent(struct note *note);

/* The place of a function among those that are known; -1: there is none left. */
static inline int slot_of(struct slots *slots, uintptr_t function)
{
	uintptr_t nobody;
	int i;

	for (i = 0; i < 32; i++) {
		nobody = 0;
		if (slots->functions[i] == function ||
		    __atomic_compare_exchange_n(&slots->functions[i], &nobody, function, 0, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST) ||
		    nobody == function)
			return i;
	}
	return -1;
}

/* What stands in for a function: -1 when there are too many of the type, or none. */
int note_slot(struct slots *slots, uintptr_t function);

/* The length of so many elements; an absurd number is capped, as it is refused. */
static inline size_t note_size(uint64_t count, size_t each)
{
	return count > (1u << 20) ? 1u << 20 : (size_t)count * each;
}

static inline uint64_t note_double(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* The other end, src/hooks.rs. */
int softdpu_record_begin(uint64_t key);
void softdpu_record_end(int status);
void softdpu_record_append(const uint8_t *entry, size_t len);
void softdpu_record_idle(const void *pe);
void softdpu_record_place(uintptr_t place);
void softdpu_record_task(const void *task);
void softdpu_record_buffer(const void *task, uint32_t role, const void *buf);
void softdpu_record_memory(const void *task, int after);
void softdpu_record_lost(void);

/* Bytes of the program. */
struct softdpu_record_piece {
	const void *addr;
	size_t len;
};

/* From there back: the data of the buffers of a list. */
size_t softdpu_record_pieces(const void *buf, struct softdpu_record_piece *pieces, size_t most);

#endif
