/*
 * real.h: the real functions. For every function we interpose, this is the
 * definition that the program would reach without us: the next one after
 * libgnomon.so in the loader's order, so another preloaded allocator is used as
 * before.
 *
 * Until real_resolve() has returned true all pointers are NULL. Constant from
 * then on; kept by a forked child.
 */
#ifndef GNOMON_REAL_H
#define GNOMON_REAL_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/base.h"
#include "unwind/elf/elfmap.h"

/* The result of mallinfo2. Declared here because glibc before 2.33 lacks it,
 * and a library built with such a glibc may run with a newer one. */
struct real_mallinfo {
	size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks,
		uordblks, fordblks, keepcost;
};

#define REAL_PAGE 4096u	/* what valloc and pvalloc align to */

struct real {
	/* reallocarray may be NULL */
#define CORE(result, name, parameters, arguments) result (*name) parameters;
#include "preload/interpose/hooked.def"
	/* NULL if the allocator is not glibc's own, or glibc is old */
	struct real_mallinfo (*mallinfo)(void);
	/* <sys/single_threaded.h>: not 0 while the process has only its first
	 * thread. NULL whenever mallinfo is NULL. */
	const volatile char *single_threaded;
	/* One of the functions is not glibc's: such functions may call each
	 * other through the loader, and so call our hooks (musl's calloc calls
	 * malloc). glibc's do not. */
	bool reenters;
	/* Our own code: a call that seems to come from here was a tail jump of
	 * a real function. */
	uintptr_t own_start, own_size;
	/* enum real_headers: whether the word before a block is a chunk header
	 * as in glibc on 64-bit machines. */
	uint32_t headers;
};

/* TRIAL until some headers were checked (hooks_slow.c). */
enum real_headers {
	REAL_HEADERS_NONE,
	REAL_HEADERS_TRIAL,
	REAL_HEADERS_TRUSTED
};

extern BASE_HIDDEN struct real real;

/* Images mapped at the start that stay mapped; without program headers: there
 * is no such image. Set with the real functions. */
extern BASE_HIDDEN struct elfmap real_own;	/* this library */
/* An allocator's library that was preloaded before us, so that the program
 * finds its functions first. It is treated as if it came after us, and made to
 * (optional.h). */
extern BASE_HIDDEN struct elfmap real_front;
extern BASE_HIDDEN struct elfmap real_provider;	/* of malloc */

/* The original table, if a layer was put between the hooks and the allocator
 * (hooks_guard.c); else NULL. Set by the constructor. */
extern BASE_HIDDEN const struct real *real_below;

/* Set with the real functions if the arena (bump.h) has allocated no block:
 * then no block ever needs to be distinguished from the real allocator's.
 * Cleared if stacks of frees are recorded, since it means that free has nothing
 * to check. */
extern BASE_HIDDEN bool real_only;

/* Functions that do not belong to an allocator, by their rows in the table.
 * stubs.S numbers them in the same way. */
enum real_slot {
#define SLOTTED(name) REAL_##name,
#define BEHIND(name) REAL_##name,
#include "preload/interpose/hooked.def"
	REAL_SLOTS
};
extern BASE_HIDDEN void *real_slots[REAL_SLOTS];
extern BASE_HIDDEN const char *const real_names[REAL_SLOTS];

/*
 * Looks up all functions, once. False: too early, this library is not relocated
 * yet, or there is no definition behind it. Never allocates.
 */
bool real_resolve(void);

/*
 * The function of this name behind ours in the images mapped now, and the image
 * that contains it, if `image` is not NULL; NULL: none. Any thread, also while
 * it or another thread holds the loader's lock. *image may be read only during
 * the visit, unless the image stays.
 */
void *real_behind(const char *name, struct elfmap *image);
void *real_function(const char *name);

/*
 * For the library's constructor. real_preceded: whether an image before ours
 * has a definition, which the program then uses instead of ours. real_is_libc:
 * whether the image is the GNU C library. real_allocators: visits the images
 * behind ours that have one of the functions above and precede the GNU C
 * library, where symbol lookup ends. real_code: an image's last executable
 * segment.
 */
bool real_preceded(const char *name);
bool real_is_libc(const struct elfmap *map);
void real_allocators(void (*visit)(const struct elfmap *image));
void real_code(const struct elfmap *map, uintptr_t *start, uintptr_t *size);

/* Whether both are the same image. Both must stay loaded. */
static inline bool real_same(const struct elfmap *a, const struct elfmap *b)
{
	return a->phdr == b->phdr;
}

/* The real function; NULL: there is none, or it is too early. */
static inline void *real_of(enum real_slot which)
{
	if (unlikely(!real_slots[which]) && !real_resolve())
		return NULL;
	return real_slots[which];
}

/* The same, also for functions of libraries that were loaded late. */
void *real_late(enum real_slot which);

/* The calling thread's pthread_t; on some machines it is not the thread
 * pointer. Any thread, also signal handlers. */
uintptr_t real_thread(void);

/* Either function by name, with the type of our hook. */
#define REAL(name) ((__typeof__(name) *)real_of(REAL_##name))
#define REAL_LATE(name) ((__typeof__(name) *)real_late(REAL_##name))

#endif
