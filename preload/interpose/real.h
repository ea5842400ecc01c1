/*
 * real.h: the allocator behind ours. For every function we interpose, the
 * definition that the program would have reached without us: the next one
 * after libgnomon.so in the loader's order, so another preloaded allocator is
 * honoured.
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
#include "unwind/elfmap.h"

/* What mallinfo2 returns. Declared here: glibc before 2.33 has none, and what
 * is built with such a one may run with a later one. */
struct real_mallinfo {
	size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks,
		uordblks, fordblks, keepcost;
};

#define REAL_PAGE 4096u	/* what valloc and pvalloc align to */

struct real {
	/* reallocarray may be NULL */
#define CORE(result, name, parameters, arguments) result (*name) parameters;
#include "preload/interpose/hooked.def"
	/* NULL where the allocator is not glibc's own, or an old one */
	struct real_mallinfo (*mallinfo)(void);
	/* <sys/single_threaded.h>: not 0 while the process has no thread but
	 * the first. NULL where there is no mallinfo either. */
	const volatile char *single_threaded;
	/* One of them is not glibc's: such functions may call each other
	 * through the loader, and so come back to our hooks (musl's calloc
	 * calls malloc). glibc's do not. */
	bool reenters;
	/* Our own code: where a real function seems to be called back from
	 * that left by a jump, in place of a call. */
	uintptr_t own_start, own_size;
	/* enum real_headers: whether the word before a block is the header of
	 * a chunk as glibc has it on machines of 64 bits. */
	uint32_t headers;
};

/* On trial until some were seen to be right (hooks_slow.c). */
enum real_headers {
	REAL_HEADERS_NONE,
	REAL_HEADERS_TRIAL,
	REAL_HEADERS_TRUSTED
};

extern BASE_HIDDEN struct real real;

/* Images that were mapped at the start, and stay; without program headers:
 * there is none. Set with the others. */
extern BASE_HIDDEN struct elfmap real_own;	/* this library */
/* An allocator's library that was preloaded before us, so that the program
 * finds its functions first. It is taken as if it stood behind us, and made so
 * (appear.h). */
extern BASE_HIDDEN struct elfmap real_front;
extern BASE_HIDDEN struct elfmap real_provider;	/* of malloc */

/* The table as it was, where something stands between the hooks and the
 * allocator (hooks_guard.c); NULL: nothing does. Set by the constructor. */
extern BASE_HIDDEN const struct real *real_below;

/* Set together with them if the arena (bump.h) has given no block: then none
 * has to be told apart from the real allocator's, ever. Taken back where stacks
 * of frees are recorded: what it says is that free has nothing to look at. */
extern BASE_HIDDEN bool real_only;

/* Functions that are no allocator's, by their rows in the table. stubs.S counts
 * them likewise. */
enum real_slot {
#define SLOTTED(name) REAL_##name,
#define BEHIND(name) REAL_##name,
#include "preload/interpose/hooked.def"
	REAL_SLOTS
};
extern BASE_HIDDEN void *real_slots[REAL_SLOTS];
extern BASE_HIDDEN const char *const real_names[REAL_SLOTS];

/*
 * Looks everything up, unless that is done. False: too early, this library
 * is not relocated yet, or there is nothing behind it. Never allocates.
 */
bool real_resolve(void);

/*
 * The function of this name behind ours, in what is mapped now, and the image
 * that it lies in, if `image` is not NULL; NULL: none. Any thread, also with
 * its own or another's hand on the loader's lock. That image is read while it is
 * visited only, unless it stays.
 */
void *real_behind(const char *name, struct elfmap *image);
void *real_function(const char *name);

/*
 * For the library's constructor. real_preceded: whether an image before ours
 * has a definition, which the program then finds in place of ours. real_is_libc:
 * the GNU C library. real_allocators: visits those behind ours that have one of
 * the functions above and lie before the GNU C library, beyond which nobody
 * looks. real_code: an image's executable segment, the last one.
 */
bool real_preceded(const char *name);
bool real_is_libc(const struct elfmap *map);
void real_allocators(void (*visit)(const struct elfmap *image));
void real_code(const struct elfmap *map, uintptr_t *start, uintptr_t *size);

/* Whether both, which stay, are the same image. */
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

/* The same, also one of a library that was loaded late. */
void *real_late(enum real_slot which);

/* The calling thread's pthread_t, which is not the thread pointer on every
 * machine. Any thread, also signal handlers. */
uintptr_t real_thread(void);

/* Either by its name, with the type of our own. */
#define REAL(name) ((__typeof__(name) *)real_of(REAL_##name))
#define REAL_LATE(name) ((__typeof__(name) *)real_late(REAL_##name))

#endif
