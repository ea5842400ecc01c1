/*
 * gnomon/unwind.h: a fast unwinder: the call stack of the calling thread. C and
 * C++.
 *
 *	#include <gnomon/unwind.h>
 *	cc program.c $(pkg-config --cflags --libs gnomon-unwind)
 *
 * Two ways to take a stack:
 *
 *	capture   the complete stack as one number, its *context id*. Made for
 *	          frequent calls: a stack that was captured before costs some
 *	          ten to fifty nanoseconds; else only the changed frames are
 *	          walked. Ids can be stored, counted, compared, and expanded
 *	          into addresses at any later time.
 *	walk      the addresses themselves, into your array. Nothing is cached.
 *
 * ADDRESSES. Stacks are lists of addresses, innermost first: the calling
 * function comes first, main or a thread's start function last. Each is a
 * return address: the instruction after a call. Always look up `address - 1` to
 * find the function or line. A function that a signal interrupted has made no
 * call; its address is the interrupted pc plus one, so `address - 1` is the pc
 * itself.
 *
 * CONTEXT IDS. A context is (address, parent): the innermost frame and the
 * context of its caller. Ids below GU_STOP_COUNT have no frame; they are the
 * outer end of a stack and say why it ended there (enum gu_stop). A complete
 * stack ends with GU_STOP_BOTTOM. Equal ids mean equal stacks. Equal stacks
 * have equal ids with these exceptions: two threads meet a new stack at the
 * same moment; a stack is captured again after a fork, or after its code was
 * unloaded and loaded again. An id stays valid until the process ends, also
 * after its code is unloaded, and in forked children.
 *
 * MEMORY. Nothing here calls malloc. gu_init maps all memory, within a budget.
 * Pages become resident on first use and are kept until the process ends.
 *
 * THREADS. Any thread may call any function at any time, unless stated
 * otherwise. No thread needs to be registered.
 *
 * SIGNALS. "Async-signal-safe" below means: may be called in a signal handler,
 * whatever the signal interrupted, also a function of this library. No lock is
 * taken, neither of this library nor of the C library or the loader; only
 * gu_init calls dl_iterate_phdr.
 *
 * FORK. A child may continue to use everything. Its first call initialises the
 * library again, which takes some tens of microseconds. (A handler that
 * interrupted this library may fork, but its child must not return from it.)
 *
 * errno is never changed. Errors are negative numbers of <errno.h>.
 */
#ifndef GNOMON_UNWIND_H
#define GNOMON_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GU_API __attribute__((visibility("default")))

/* How captures work. All modes give the same stacks. */
enum gu_mode {
	/* Stacks are cached, and each word is compared before a cached stack is
	 * used. The program's memory is only read. */
	GU_MODE_VALIDATE,
	/* As VALIDATE; in addition, on deep stacks a return address far out may
	 * be replaced by a barrier (a stub that jumps to the original address).
	 * Frames beyond an intact barrier need no comparison, so the cost does
	 * not grow with depth. Where barriers are impossible (hardware shadow
	 * stacks, some runtimes) the library works without them; see
	 * gu_thread_describe. Not for programs that read or rewrite return
	 * addresses themselves. */
	GU_MODE_AUTO,
	/* No cache: each stack is walked in full, for comparison. */
	GU_MODE_OFF
};

/* Why a stack ended where it did. */
enum gu_stop {
	GU_STOP_BOTTOM,		/* the outermost frame: the stack is complete */
	GU_STOP_NO_IMAGE,	/* an address outside all known code */
	GU_STOP_NO_RULE,	/* code without unwind table or frame pointer */
	GU_STOP_BAD_READ,	/* a word of the stack cannot be read */
	GU_STOP_NO_PROGRESS,	/* the caller's frame is not further out */
	GU_STOP_TOO_DEEP,	/* more frames than fit (into your array) */
	GU_STOP_BAD_TABLE,	/* an unwind table is invalid */
	GU_STOP_LOADER,		/* libraries were loaded or unloaded
				 * meanwhile */
	GU_STOP_NO_MEMORY,	/* the budget is used up, or a signal
				 * interrupted the thread's own allocation */
	GU_STOP_EARLY,		/* before gu_init, or while it runs */
	GU_STOP_OTHER,
	GU_STOP_JIT,		/* code generated at run time, without a
				 * table */
	GU_STOP_COUNT = 16
};

/* All zero is a valid default: `struct gu_options options = { 0 };` (C++:
 * `{}`). */
struct gu_options {
	uint32_t mode;		/* enum gu_mode */
	/* Most contexts (distinct frames of distinct stacks). They take 16
	 * bytes each, within memory_bytes and at most half of it. 0: an eighth
	 * of memory_bytes, a million by default. */
	uint32_t contexts_max;
	/* The budget: address space; only used pages become resident. 0: 128
	 * MiB. At least 16 MiB. */
	uint64_t memory_bytes;
	uint64_t reserved[6];	/* 0 */
};

/*
 * Initialises the library, once in a process; options may be NULL. Takes some
 * tens of microseconds, more with many libraries. 0, or
 *	-EALREADY  it is initialised, or another thread is initialising it
 *	-EINVAL    an option is out of range, or a reserved field is not 0
 *	-ENOMEM    the kernel refuses the memory
 *	-ENOSYS    the kernel is older than Linux 4.14
 * After an error it may be tried again. Not in signal handlers, and not while
 * holding a lock that a callback of dl_iterate_phdr may take. Before gu_init,
 * all other functions safely return GU_STOP_EARLY, 0 or -EINVAL.
 */
GU_API int gu_init(const struct gu_options *options);

/*
 * The context id of the calling function's stack; that function is the
 * innermost frame. Never fails: in the worst case the id is below
 * GU_STOP_COUNT. Async-signal-safe.
 */
GU_API uint32_t gu_capture(void);

/*
 * The context id of the stack that a signal interrupted, without the handler's
 * own frames. `ucontext` is the third argument of a handler installed with
 * SA_SIGINFO; it is only read. Walks each time (a few microseconds), so it
 * suits sampling rather than the frequent calls that gu_capture is for. Up to
 * 16384 frames. Async-signal-safe.
 */
GU_API uint32_t gu_capture_ucontext(const void *ucontext);

/*
 * Stores at most `max` addresses of a context into addresses[], innermost
 * first. Returns how many. *stop (may be NULL) is why the stack ends after
 * them; GU_STOP_TOO_DEEP: there are more, see gu_depth. A number that is no
 * context id has no frames and GU_STOP_OTHER. Async-signal-safe.
 */
GU_API size_t gu_expand(uint32_t context, uintptr_t *addresses, size_t max,
			uint32_t *stop);

/* How many frames a context has. Async-signal-safe. */
GU_API size_t gu_depth(uint32_t context);

/*
 * One step of gu_expand: the innermost address of a context, and the context of
 * its caller. For an id below GU_STOP_COUNT the address is 0 and the parent the
 * id itself; for any other invalid id, 0 and GU_STOP_OTHER. Async-signal-safe.
 *
 *	for (id = context; id >= GU_STOP_COUNT; id = gu_parent(id))
 *		use(gu_address(id));
 */
GU_API uintptr_t gu_address(uint32_t context);
GU_API uint32_t gu_parent(uint32_t context);

/*
 * Stores the calling function's stack into addresses[], at most `max`
 * addresses. Returns how many; *stop (may be NULL) as in gu_expand. Caches only
 * the bounds of the thread's stack: within them a walk makes no system call and
 * takes some 4 ns a frame. Elsewhere (on other stacks, beyond signal frames)
 * the walk restores all registers, which takes microseconds. Async-signal-safe.
 */
GU_API size_t gu_walk(uintptr_t *addresses, size_t max, uint32_t *stop);

/*
 * The same from the registers in a ucontext_t: of a signal (see
 * gu_capture_ucontext), or as getcontext or swapcontext stored them, as long as
 * that stack exists. addresses[0] - 1 is its pc. Async-signal-safe.
 */
GU_API size_t gu_walk_ucontext(const void *ucontext, uintptr_t *addresses,
			       size_t max, uint32_t *stop);

/*
 * Reads the list of loaded libraries again. Call it after each dlclose
 * (required: other code may be mapped at the same addresses) and after each
 * dlopen and dlmopen (optional: an unknown code address also makes the library
 * read the list). 0: the list is up to date; -EAGAIN: another thread is
 * updating it, and the next capture will check again; -EINVAL: before gu_init.
 * Not in signal handlers.
 */
GU_API int gu_reload(void);

/*
 * The calling thread will capture no more: its state may serve another thread.
 * Optional: the state of a thread that ended is found when another thread needs
 * one. If the thread captures again nevertheless, it starts with a new state.
 * Not in signal handlers.
 */
GU_API void gu_thread_end(void);

/* Of the whole process, since gu_init (or since the fork). */
struct gu_stats {
	uint64_t memory_bytes;	/* the budget */
	uint64_t memory_used_bytes;
	uint64_t contexts, contexts_max;
	uint64_t images;	/* programs and libraries seen */
	uint64_t threads;	/* threads that captured and have not ended, as
				 * far as known */
	uint64_t threads_kept;	/* states free for future threads */
	/* Captures that had to walk: until a cached frame; to the end; to the
	 * end with all registers. */
	uint64_t walks_joined, walks_full, walks_registers;
	uint64_t frames_walked;
	uint64_t stops[GU_STOP_COUNT];	/* walks to the end, by enum gu_stop */
	uint64_t reserved[8];
};

/* Fills *stats; stats must not be NULL. Numbers of other threads may be slightly
 * old. 0, or -EINVAL: before gu_init. Async-signal-safe. */
GU_API int gu_describe(struct gu_stats *stats);

/* How the calling thread captures, and what that uses. */
struct gu_thread_stats {
	/* The mode and the reason for it, as text for a report. Static. */
	const char *mode, *why;
	uint64_t memory_bytes;	/* all that is kept for this thread */
	uint64_t paths, paths_max;	/* complete stacks cached; capacity */
	uint64_t path_bytes, path_bytes_max;	/* size of the cache; its
						 * limit */
	uint64_t barriers_placed, barriers_met;
	uint64_t reserved[8];
};

/* 0; -EINVAL: before gu_init. A thread without captures gets its state now.
 * Async-signal-safe. */
GU_API int gu_thread_describe(struct gu_thread_stats *stats);

/* A short text for an enum gu_stop, for messages: "complete", "stack
 * unreadable", …; static, never NULL. Async-signal-safe. */
GU_API const char *gu_stop_text(uint32_t stop);

#ifdef __cplusplus
}
#endif

#endif
