/*
 * Memory that the program gives back or protects while a memory map stands over it. The allocator and the system are asked
 * as always; memory outside of every map costs two compares.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim.h"

/* The lowest and the highest byte under any started map; written by the other end. */
_Atomic uintptr_t softdpu_check_lowest = UINTPTR_MAX, softdpu_check_highest;

static inline int is_under_a_map(const void *addr, size_t len)
{
	uintptr_t begin = (uintptr_t)addr;

	return begin <= atomic_load_explicit(&softdpu_check_highest, memory_order_relaxed) &&
	       begin + len > atomic_load_explicit(&softdpu_check_lowest, memory_order_relaxed);
}

/* Without REAL: these are not the library's functions. */
#define NEXT(f) \
	({ \
		static void *next_; \
		void *at_ = __atomic_load_n(&next_, __ATOMIC_RELAXED); \
		if (at_ == NULL) { \
			at_ = dlsym(RTLD_NEXT, #f); \
			__atomic_store_n(&next_, at_, __ATOMIC_RELAXED); \
		} \
		(__typeof__(&f))at_; \
	})

/* Keeps errno, as free does. */
void free(void *memory)
{
	if (memory != NULL && is_under_a_map(memory, 1)) {
		int kept = errno;

		softdpu_check_memory(memory, malloc_usable_size(memory), 0, PLACE);
		errno = kept;
	}
	NEXT(free)(memory);
}

/* The new place is the allocator's choice, also where it is the old one by chance. */
void *realloc(void *memory, size_t len)
{
	if (memory != NULL && is_under_a_map(memory, 1))
		softdpu_check_memory(memory, malloc_usable_size(memory), 4, PLACE);
	return NEXT(realloc)(memory, len);
}

void *reallocarray(void *memory, size_t count, size_t len)
{
	if (memory != NULL && is_under_a_map(memory, 1))
		softdpu_check_memory(memory, malloc_usable_size(memory), 4, PLACE);
	return NEXT(reallocarray)(memory, count, len);
}

/* Growing in place takes nothing away, shrinking in place the tail. */
void *mremap(void *addr, size_t len, size_t new_len, int flags, ...)
{
	void *to = NULL;

	if ((flags & MREMAP_FIXED) != 0) {
		va_list rest;

		va_start(rest, flags);
		to = va_arg(rest, void *);
		va_end(rest);
	}
	if ((flags & MREMAP_FIXED) == 0 && new_len <= len) {
		size_t page = (size_t)sysconf(_SC_PAGESIZE), kept = (new_len + page - 1) / page * page;
		char *tail = (char *)addr + kept;

		if (kept < len && is_under_a_map(tail, len - kept))
			softdpu_check_memory(tail, len - kept, 5, PLACE);
	} else if ((flags & MREMAP_MAYMOVE) != 0 && is_under_a_map(addr, len)) {
		softdpu_check_memory(addr, len, 5, PLACE);
	}
	return NEXT(mremap)(addr, len, new_len, flags, to);
}

/* Advice after which the bytes are others: of MADV_DONTNEED, only those that nobody else sees. */
int madvise(void *addr, size_t len, int advice)
{
	if ((advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE) && is_under_a_map(addr, len))
		softdpu_check_memory(addr, len, advice == MADV_DONTNEED ? 7 : 6, PLACE);
	return NEXT(madvise)(addr, len, advice);
}

int munmap(void *addr, size_t len)
{
	if (is_under_a_map(addr, len))
		softdpu_check_memory(addr, len, 1, PLACE);
	return NEXT(munmap)(addr, len);
}

int mprotect(void *addr, size_t len, int protection)
{
	if ((protection & (PROT_READ | PROT_WRITE)) != (PROT_READ | PROT_WRITE) && is_under_a_map(addr, len))
		softdpu_check_memory(addr, len, (protection & PROT_READ) != 0 ? 2 : 3, PLACE);
	return NEXT(mprotect)(addr, len, protection);
}
