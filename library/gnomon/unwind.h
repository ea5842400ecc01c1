/*
 * gnomon/unwind.h: the stack of the calling thread, fast. C and C++.
 *
 *	#include <gnomon/unwind.h>
 *	cc program.c $(pkg-config --cflags --libs gnomon-unwind)
 *
 * Two ways to take a stack:
 *
 *	capture   the whole stack becomes one number, its *context id*. Made
 *	          for programs that ask again and again: a stack that was met
 *	          before costs some ten to fifty nanoseconds, of another only
 *	          the frames that changed are walked. Ids can be stored,
 *	          counted, compared, and expanded into addresses at any later
 *	          time.
 *	walk      the addresses themselves, into an array of yours. Nothing is
 *	          remembered.
 *
 * WHAT AN ADDRESS IS. Stacks are lists of addresses, innermost first (the
 * function that asked comes first, main or a thread's start last). Each is a
 * return address: the instruction after a call. To find the function or the
 * line of one, look up `address - 1`, always. Where a signal interrupted a
 * function there is no call; there the address is one more than the
 * interrupted pc, so that `address - 1` is the pc itself.
 *
 * CONTEXT IDS. A context is (address, parent): the innermost frame and the
 * context of its caller. Ids below GU_STOP_COUNT have no frame; they stand at
 * the outer end of a stack and say why it ended there (enum gu_stop).
 * GU_STOP_BOTTOM is what a complete stack ends with. Equal ids mean equal
 * stacks. Equal stacks have equal ids, but for two threads that meet a new
 * one at the same moment, and stacks met again after a fork, or after their
 * code was unloaded and loaded again. An id stays valid until the process
 * ends, also when the code it speaks of is gone, and in forked children.
 *
 * MEMORY. Nothing here calls malloc. All memory is mapped by gu_init, within
 * a budget, becomes real as it is used and is kept until the process ends.
 *
 * THREADS. All functions may be called by any thread at any time, if nothing
 * else is said. No thread needs to be announced.
 *
 * SIGNALS. "Async-signal-safe" below means: may be called in a signal handler,
 * whatever was interrupted, also a function of this library. No lock is taken,
 * nor is one of the C library's or the loader's: dl_iterate_phdr is called by
 * gu_init only.
 *
 * FORK. A child may go on using everything. Its first call sets the library
 * up anew, which takes some tens of microseconds. (A handler that interrupted
 * this library may fork, but its child may not return from it.)
 *
 * errno is never touched. Errors are negative numbers of <errno.h>.
 */
#ifndef GNOMON_UNWIND_H
#define GNOMON_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GU_API __attribute__((visibility("default")))

/* How captures are made. All of them give the same stacks. */
enum gu_mode {
	/* Stacks are remembered, and compared word by word before they are
	 * believed. The program's memory is only read. */
	GU_MODE_VALIDATE,
	/* As VALIDATE; and on deep stacks a return address far out may be
	 * replaced by a barrier (a jump to where it led), so that what lies
	 * beyond need not be compared: the cost no longer grows with the
	 * depth. Where the library finds that this cannot be right (hardware
	 * shadow stacks, some runtimes) it does without; see
	 * gu_thread_describe. Not to be chosen by a program that itself
	 * reads or rewrites return addresses. */
	GU_MODE_AUTO,
	/* Nothing is remembered, each stack is walked in full: to compare. */
	GU_MODE_OFF
};

/* Why a stack ended where it did. */
enum gu_stop {
	GU_STOP_BOTTOM,		/* the outermost frame: it is complete */
	GU_STOP_NO_IMAGE,	/* an address in no code that is known */
	GU_STOP_NO_RULE,	/* code without unwind table or frame pointer */
	GU_STOP_BAD_READ,	/* a word of the stack cannot be read */
	GU_STOP_NO_PROGRESS,	/* the caller's frame would not lie outward */
	GU_STOP_TOO_DEEP,	/* more frames than fit (into your array) */
	GU_STOP_BAD_TABLE,	/* an unwind table makes no sense */
	GU_STOP_LOADER,		/* libraries were changing underneath */
	GU_STOP_NO_MEMORY,	/* the budget is used up, or a signal came just
				 * while the thread got more memory */
	GU_STOP_EARLY,		/* before gu_init, or while it runs */
	GU_STOP_OTHER,
	GU_STOP_JIT,		/* code made at run time, without a table */
	GU_STOP_COUNT = 16
};

/* All zero is a good choice: `struct gu_options options = { 0 };` (C++: `{}`),
 * then set what you care about. */
struct gu_options {
	uint32_t mode;		/* enum gu_mode */
	/* How many contexts (distinct frames of distinct stacks) can exist. 16
	 * bytes each, within memory_bytes and at most half of it. 0: an eighth
	 * of it, a million by default. */
	uint32_t contexts_max;
	/* The budget: address space, of which only what is used becomes memory.
	 * 0: 128 MiB. At least 16 MiB. */
	uint64_t memory_bytes;
	uint64_t reserved[6];	/* 0 */
};

/*
 * Sets the library up, once in a process; options may be NULL. Takes some tens of
 * microseconds, more with many libraries. 0, or
 *	-EALREADY  it is set up, or another thread is at it
 *	-EINVAL    an option is out of its range, a reserved one not 0
 *	-ENOMEM    the kernel refuses the memory
 *	-ENOSYS    the kernel is older than Linux 4.14
 * After an error it may be tried again. Not in signal handlers, and not with a
 * lock that a callback of dl_iterate_phdr may want. Before it, all
 * other functions answer GU_STOP_EARLY, 0 or -EINVAL, and do no harm.
 */
GU_API int gu_init(const struct gu_options *options);

/*
 * The context id of the stack of the function that calls this, which is its
 * innermost frame. Never fails: in the worst case the id is one below
 * GU_STOP_COUNT. Async-signal-safe.
 */
GU_API uint32_t gu_capture(void);

/*
 * The context id of the stack that a signal interrupted, without the handler's
 * own frames. `ucontext` is the third argument of a handler installed with
 * SA_SIGINFO; it is only read. Walks each time (a microsecond or a few), so
 * it suits samples better than gu_capture's thousands a millisecond. Up to
 * 16384 frames. Async-signal-safe.
 */
GU_API uint32_t gu_capture_ucontext(const void *ucontext);

/*
 * The addresses of a context, innermost first, at most `max` of them, into
 * addresses[]. Returns how many. *stop (may be NULL) says why the stack ends
 * behind them; GU_STOP_TOO_DEEP: there are more, see gu_depth. A number that
 * is no context id has no frames and GU_STOP_OTHER. Async-signal-safe.
 */
GU_API size_t gu_expand(uint32_t context, uintptr_t *addresses, size_t max,
			uint32_t *stop);

/* How many frames a context has. Async-signal-safe. */
GU_API size_t gu_depth(uint32_t context);

/*
 * One step of gu_expand: the innermost address of a context, and the context
 * of its caller. For an id below GU_STOP_COUNT, or no id at all: address 0,
 * and GU_STOP_OTHER or the id itself as its parent. Async-signal-safe.
 *
 *	for (id = context; id >= GU_STOP_COUNT; id = gu_parent(id))
 *		use(gu_address(id));
 */
GU_API uintptr_t gu_address(uint32_t context);
GU_API uint32_t gu_parent(uint32_t context);

/*
 * The stack of the function that calls this, at most `max` addresses into
 * addresses[]. Returns how many; *stop (may be NULL) as of gu_expand. Nothing is
 * remembered but how far the thread's stack reaches: then a walk makes no system
 * call and takes some 4 ns a frame. Where that is not enough (on other stacks,
 * behind signal frames) all registers are followed, in microseconds.
 * Async-signal-safe.
 */
GU_API size_t gu_walk(uintptr_t *addresses, size_t max, uint32_t *stop);

/*
 * The same from the registers in a ucontext_t: what a signal interrupted (see
 * gu_capture_ucontext), or what getcontext or swapcontext stored, as long as
 * its stack is there. addresses[0] - 1 is its pc. Async-signal-safe.
 */
GU_API size_t gu_walk_ucontext(const void *ucontext, uintptr_t *addresses,
			       size_t max, uint32_t *stop);

/*
 * Says that the libraries in the process have changed. Call it after each
 * dlopen and dlmopen (not strictly needed: code that nobody knows makes the
 * library look) and after each dlclose (needed: something else may come to lie
 * at the same addresses). Returns when the list is up to date: 0;
 * -EAGAIN: another thread is bringing it up to date at this moment, and the
 * next capture will look again; -EINVAL: before gu_init. Not in signal
 * handlers.
 */
GU_API int gu_reload(void);

/*
 * The calling thread will capture no more: what is kept for it serves another
 * thread. May be left out: what a thread leaves behind when it ends is found
 * when another one needs it. May be called early, too: the next capture begins
 * afresh. Not in signal handlers.
 */
GU_API void gu_thread_end(void);

/* Of the whole process, since it was set up (or forked). */
struct gu_stats {
	uint64_t memory_bytes;	/* the budget */
	uint64_t memory_used_bytes;
	uint64_t contexts, contexts_max;
	uint64_t images;	/* programs and libraries seen */
	uint64_t threads;	/* threads at work, as far as known */
	uint64_t threads_kept;	/* states left for threads to come */
	/* Captures that had to walk: until they met the frames remembered; to
	 * the end; to the end by all registers. */
	uint64_t walks_joined, walks_full, walks_registers;
	uint64_t frames_walked;
	uint64_t stops[GU_STOP_COUNT];	/* walks to the end, by enum gu_stop */
	uint64_t reserved[8];
};

/* Numbers of other threads may be some events old. 0, or -EINVAL: before
 * gu_init. Async-signal-safe. */
GU_API int gu_describe(struct gu_stats *stats);

/* What the calling thread's captures use. */
struct gu_thread_stats {
	/* How they are made and why so, as words for a report. Static. */
	const char *mode, *why;
	uint64_t memory_bytes;	/* all that is kept for this thread */
	uint64_t paths, paths_max;	/* whole stacks remembered; room for */
	uint64_t path_bytes, path_bytes_max;	/* that room; how far it grows */
	uint64_t barriers_placed, barriers_met;
	uint64_t reserved[8];
};

/* 0; -EINVAL: before gu_init. A thread that captured nothing yet counts as
 * beginning now. Async-signal-safe. */
GU_API int gu_thread_describe(struct gu_thread_stats *stats);

/* A word or two for an enum gu_stop, for messages: "complete", "stack
 * unreadable", …; static, never NULL. Async-signal-safe. */
GU_API const char *gu_stop_text(uint32_t stop);

#ifdef __cplusplus
}
#endif

#endif
