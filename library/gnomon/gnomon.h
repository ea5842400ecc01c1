/*
 * gnomon/gnomon.h: a program steers its own recording, asks for its numbers,
 * and tells of memory that malloc does not know. C (C99) and C++ (C++11).
 *
 *	#include <gnomon/gnomon.h>
 *	cc program.c $(pkg-config --cflags --libs gnomon)	or, without a
 *	library to be found when it runs,	cc program.c libgnomon-stub.a
 *
 * What a program is linked with is the *stub*, in which every function does
 * nothing. Where libgnomon.so is preloaded (`gnomon run`, LD_PRELOAD), it takes
 * the stub's place, and the same program speaks with the recorder.
 * libgnomon-off.so is the same library, but records nothing until
 * gnomon_enable or `gnomon start`.
 *
 * RESULTS. Functions that do something return 0, or a negative number of
 * <errno.h>: GNOMON_STUB (-ENOSYS) of the stub, always, with nothing written;
 * -ENODEV where this process is not recorded and cannot be (a wrong option, no
 * memory, a disk that is full); what else is said of each. errno is never
 * touched.
 *
 * THREADS. All functions may be called by any thread at any time: by
 * constructors of libraries that were loaded before ours, too. What says "asks
 * the writer" waits for the recorder to do it, mostly for some microseconds
 * to some milliseconds, and seconds at the worst: then it returns -ETIMEDOUT.
 *
 * SIGNALS. "Async-signal-safe" means: may be called in a signal handler,
 * whatever was interrupted. What asks the writer may be called there as well;
 * meanwhile no signal is let in. Only where the process has forbidden itself
 * what that takes (a filter of system calls) it returns -EBUSY in a handler
 * that interrupted another such question of its own thread. The rest says so.
 *
 * FORK. A child that is recorded begins as if it had been started by itself:
 * what was enabled, activated, limited is again as the options say; heaps keep
 * their numbers and names; numbers begin at 0.
 *
 * MEMORY. Nothing here calls malloc (callbacks of yours may; that is recorded
 * like any other), and nothing here is counted. Strings are copied, never kept.
 *
 * UNITS. Sizes are bytes as asked for; times are nanoseconds.
 */
#ifndef GNOMON_GNOMON_H
#define GNOMON_GNOMON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GNOMON_API
#define GNOMON_API __attribute__((visibility("default")))
#endif

/* Of an argument that is only an address: what lies there is not looked at, so
 * it need not be initialised. */
#if defined(GNOMON_ADDRESS)
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#define GNOMON_ADDRESS(n) __attribute__((access(none, n)))
#else
#define GNOMON_ADDRESS(n)
#endif

#define GNOMON_STUB (-38)	/* -ENOSYS, on every Linux but MIPS and SPARC */
#define GNOMON_NAME_MAX 63	/* bytes of a name; longer ones are cut */

/* ---- is it there ---- */

/* 1: libgnomon.so or libgnomon-off.so is in this process. 0: this is the stub.
 * Async-signal-safe. */
GNOMON_API int gnomon_loaded(void);

/* "0.2.0"; "" of the stub. Static. Async-signal-safe. */
GNOMON_API const char *gnomon_version(void);

/* ---- recording or not: the whole process ---- */

/* 1: allocations are being recorded. Async-signal-safe. */
GNOMON_API int gnomon_enabled(void);

/*
 * Begins to record, or stops. The trace stays open in between; each
 * enable … disable is one recording in it, and reports show the last one if
 * nothing else is asked for. Numbers begin at 0 with each. Done when they
 * return. 0; also if it was so already. Ask the writer.
 */
GNOMON_API int gnomon_enable(void);
GNOMON_API int gnomon_disable(void);

/* What was recorded so far no longer counts: reports leave it out, numbers
 * begin at 0, and frees of blocks from before are known as such. -EAGAIN:
 * nothing is being recorded. Asks the writer. */
GNOMON_API int gnomon_clear(void);

/* ---- recording or not: threads ---- */

enum gnomon_who {
	GNOMON_THREAD,		/* the calling thread */
	GNOMON_ALL,		/* all threads, and those to come */
	/* only those to come: what they begin as. A thread begins when it first
	 * allocates while something is recorded, or calls a function of these */
	GNOMON_NEW
};

/* 1: what the calling thread (GNOMON_THREAD) allocates now is recorded: it is
 * active, and recording is enabled; what new threads will be (others).
 * Async-signal-safe. */
GNOMON_API int gnomon_active(enum gnomon_who who);

/*
 * What inactive threads allocate is not recorded: it is counted by size class
 * (gnomon_histograms), nothing else. What they free is recorded. Of the calling
 * thread it is done when they return; others follow at one of their next
 * events (where --sample is on, the next one of the sample). 0, -EINVAL (who).
 * Async-signal-safe.
 */
GNOMON_API int gnomon_activate(enum gnomon_who who);
GNOMON_API int gnomon_deactivate(enum gnomon_who who);

/* ---- what is recorded ---- */

/*
 * Only blocks of min_bytes … max_bytes, both included (max_bytes 0: no upper
 * limit; so 0, 0 is all, and 0, 128 only small ones). As --min-size and
 * --max-size: other blocks are counted by size class, nothing else. For
 * allocations from now on; other threads follow at one of their next events.
 * 0, -EINVAL (min > max). Async-signal-safe.
 */
GNOMON_API int gnomon_limit_sizes(uint64_t min_bytes, uint64_t max_bytes);

/* ---- moments ---- */

/* Everything that happened before the call, in any thread, is in the trace
 * when it returns, and would survive the end of the process (not of the
 * machine). -EIO: the trace cannot be written. Asks the writer. */
GNOMON_API int gnomon_sync(void);

/* A moment with a name, usable as a time: `--from @NAME`. -EINVAL: the name is
 * NULL, empty, or has control characters in it. Asks the writer. */
GNOMON_API int gnomon_marker(const char *name);

/* Mappings with what is resident of them, and what the allocator holds, under
 * a name (NULL: none; as that of a marker) that is usable as a time. Asks the
 * writer, who takes it soon after. */
GNOMON_API int gnomon_snapshot(const char *name);

/* The same at an interval, as --snapshot-every; and as --stats-every, a line
 * with the numbers of gnomon_summarize. In ns, at least 10 ms (else -EINVAL);
 * 0: no more. Ask the writer. */
GNOMON_API int gnomon_snapshot_every(uint64_t ns);
GNOMON_API int gnomon_stats_every(uint64_t ns);

/*
 * For tests: the next event of the calling thread is recorded as if it had
 * happened `ns` after the recording began, and so are those after it, until the
 * next call of this or until it is that time. Nothing happens in the past: a
 * time that is over is none. What threads do to each other's blocks has the
 * right order only if they are all told. -EINVAL: later than a thousand days;
 * -EAGAIN: the thread is not recorded now. Asks the writer.
 */
GNOMON_API int gnomon_set_timestamp(uint64_t ns);

/* ---- numbers ---- */

/*
 * Numbers are kept only where somebody wants them. In a program (or a library
 * loaded with it) that names one of the functions of this section, that is
 * from its first allocation on; else, as with dlopen, from the first call on:
 * then blocks from before are not in them, and are not when they are freed.
 * They are the recorder's own book-keeping, by its writer, and are complete up
 * to the call: what the calling thread did before it is counted, and what
 * other threads did before it in any order that they could know of. What a
 * sample leaves out is not in them.
 *
 * All of them: -ENOMEM: there was no memory for some blocks (--memory); the
 * answer lacks them.
 */

struct gnomon_summary {
	uint64_t total_bytes;	/* ever allocated */
	uint64_t live_bytes;	/* not freed yet */
	uint64_t peak_bytes;	/* the most that was live at one time */
	uint64_t allocations;	/* reallocations are counted, too */
	uint64_t frees;
	uint64_t live_blocks;
	uint64_t reserved[10];	/* 0 */
};

/*
 * Of all threads, or of what the calling thread allocated (whoever frees it).
 * Cheap: asking every second is nothing. 0, -EINVAL (who, NULL). Asks the
 * writer.
 */
GNOMON_API int gnomon_summarize(enum gnomon_who who,
				struct gnomon_summary *summary);

#define GNOMON_CLASSES 64

/* Blocks by size. Class 0: 0 bytes; i: from 2^(i-1) to 2^i - 1; the last:
 * everything larger, too. */
struct gnomon_sizes {
	uint64_t total[GNOMON_CLASSES];	/* ever allocated */
	uint64_t live[GNOMON_CLASSES];
	/* ever allocated but not recorded, for its size or its thread: not in
	 * the above */
	uint64_t rest[GNOMON_CLASSES];
};

/* As gnomon_summarize, of all threads. */
GNOMON_API int gnomon_histograms(struct gnomon_sizes *sizes);

/* The class of a size. */
static inline unsigned gnomon_class(uint64_t bytes)
{
	unsigned bits = bytes ? 64u - (unsigned)__builtin_clzll(bytes) : 0;

	return bits < GNOMON_CLASSES ? bits : GNOMON_CLASSES - 1;
}

/* ---- stacks ---- */

/* Numbers of a stack; a dump prints those asked for, in this order. */
enum gnomon_field {
	GNOMON_COUNT = 1,	/* allocations */
	GNOMON_TOTAL = 2,	/* bytes ever allocated */
	GNOMON_LIVE = 4,	/* bytes not freed yet */
	GNOMON_PEAK = 8,	/* the most bytes of it at one time; of stacks
				 * that were added up an upper bound */
	GNOMON_LIVE_COUNT = 16	/* blocks not freed yet */
};

enum gnomon_form {
	/* A line a stack, outermost frame first, as flame graph tools read it:
	 * PREFIXroot;…;leaf NUMBER. Stacks that look the same are one. */
	GNOMON_COLLAPSED,
	/* A line of numbers, then a line for each frame, innermost first:
	 *	#0 0xADDRESS function+0xOFFSET (/path/of/module+0xOFFSET) */
	GNOMON_DETAIL
};

/* A frame, as a callback sees it. Valid during the call. */
struct gnomon_frame {
	uint64_t address;	/* in the call instruction: return address - 1 */
	const char *module;	/* path of program or library, "" unknown */
	uint64_t module_offset;	/* of the address, as addr2line takes it */
	const char *symbol;	/* of the ELF symbol table, as the linker knows
				 * it (mangled); NULL: none covers it */
	uint64_t symbol_offset;	/* of the address in it */
};

enum gnomon_edit {
	GNOMON_KEEP,		/* show the frame, under the name left */
	GNOMON_HIDE,		/* leave the frame out */
	GNOMON_CUT		/* show it, and leave out all that it called */
};

/*
 * Called once for each address that a dump meets, in no particular order.
 * `name` is what would be printed: the symbol, or module+0xOFFSET; it may be
 * changed in place, within `room` bytes with its 0: 256 more than it has. May
 * do as it likes, allocate, too; but may not jump out of the dump, nor end the
 * thread; gnomon_dump returns -EBUSY there.
 */
typedef enum gnomon_edit (*gnomon_editor)(void *data,
					  const struct gnomon_frame *frame,
					  char *name, size_t room);

/* All zero is a good choice: `struct gnomon_dump how = { 0 };` (C++: `{}`). */
struct gnomon_dump {
	uint32_t form;		/* enum gnomon_form */
	uint32_t fields;	/* enum gnomon_field, or-ed; 0: GNOMON_LIVE */
	uint32_t sort;		/* one of them, largest first; 0: the first of
				 * `fields` */
	uint32_t most;		/* stacks printed; 0: all */
	uint64_t least;		/* only stacks with so much of `sort`; 0: 1 */
	const char *prefix;	/* of each line of GNOMON_COLLAPSED; NULL: "" */
	const char *between_frames;	/* NULL: ";" */
	const char *before_numbers;	/* NULL: " " */
	const char *between_numbers;	/* NULL: " " */
	/*
	 * Only stacks that pass through this function (its symbol, or what the
	 * editor made of it), without what called it: the costs of one call.
	 * NULL: all. GNOMON_HERE: the function that calls gnomon_dump.
	 */
	const char *from;
	gnomon_editor edit;	/* NULL: names as they are */
	void *edit_data;
	uint64_t reserved[6];	/* 0 */
};

#define GNOMON_HERE ((const char *)-1)

/*
 * Writes the stacks that were recorded with their numbers to a descriptor; NULL
 * for `how`: all zero. How many stacks were printed, or -EINVAL; -ENOMEM (a
 * dump takes some memory, given back at its end); what write(2) said, then it
 * is not complete (-EINTR, too: a handler without SA_RESTART ended it, the way
 * out where nobody reads a pipe; -EAGAIN of one that does not block); -EBUSY:
 * this thread, or another, is at it (one at a time); -EPERM: the program has
 * forbidden itself files and memory; -ETIMEDOUT: the recorder has ended. Not
 * in signal handlers. The recorder makes it: names are those in the files of
 * program and libraries, without debug information. Neither the loader's lock
 * nor malloc is wanted.
 */
GNOMON_API int gnomon_dump(const struct gnomon_dump *how, int fd);

/* The same into a function, which gets whole lines, some at a time, and
 * returns 0 or a negative number that ends the dump. It may do what an editor
 * may. */
typedef int (*gnomon_writer)(void *data, const char *text, size_t size);
GNOMON_API int gnomon_dump_to(const struct gnomon_dump *how,
			      gnomon_writer write, void *data);

/* ---- memory that is not malloc's ---- */

/*
 * A heap is whatever hands out memory by itself: a pool, an arena, a slab. Its
 * blocks have addresses of their own, so a block of a heap may lie in one of
 * malloc (or of another heap) without confusion; and as they mostly do, sums
 * leave them out, of reports as of this API. `--heap NAME` shows one heap.
 *
 * Returns its number, 1 … 4095, for the life of the process; 0: there are no
 * more, or this is the stub. 0 is a good heap everywhere: nothing is recorded
 * of it. Heaps of the same name are one in reports. Async-signal-safe.
 */
GNOMON_API uint32_t gnomon_heap_create(const char *name);

/*
 * A block came into being, went, became another (`block` may be where `old`
 * was; an `old` of NULL is none). To be called after an allocation and before
 * the memory is given back, as another thread may get the same address at
 * once. The caller's stack is recorded. Cost what malloc and free cost.
 * Async-signal-safe.
 */
GNOMON_API void gnomon_alloc(uint32_t heap, const void *block, size_t size)
	GNOMON_ADDRESS(2);
GNOMON_API void gnomon_free(uint32_t heap, const void *block)
	GNOMON_ADDRESS(2);
GNOMON_API void gnomon_realloc(uint32_t heap, const void *old,
			       const void *block, size_t size)
	GNOMON_ADDRESS(2) GNOMON_ADDRESS(3);

/*
 * Pools as Valgrind's macros know them (gnomon/valgrind_pools.h): known by the
 * address of their owner, and destroyed as a whole, with all blocks that are
 * left. Their blocks are remembered for that, in memory of ours (32 bytes
 * each). All pools of a name are one heap in reports; NULL: "mempool". 0,
 * -EEXIST, -ENOENT, -ENOMEM; -EBUSY: for a second another thread was amid such
 * a call and did not move, or a handler jumped out of it. Not in signal
 * handlers.
 */
GNOMON_API int gnomon_pool_create(const void *pool, const char *name)
	GNOMON_ADDRESS(1);
GNOMON_API int gnomon_pool_destroy(const void *pool)
	GNOMON_ADDRESS(1);
GNOMON_API int gnomon_pool_alloc(const void *pool, const void *block,
				 size_t size)
	GNOMON_ADDRESS(1) GNOMON_ADDRESS(2);
GNOMON_API int gnomon_pool_free(const void *pool, const void *block)
	GNOMON_ADDRESS(1) GNOMON_ADDRESS(2);
/* `old` is `block` now, of this size. */
GNOMON_API int gnomon_pool_change(const void *pool, const void *old,
				  const void *block, size_t size)
	GNOMON_ADDRESS(1) GNOMON_ADDRESS(2) GNOMON_ADDRESS(3);
/* All blocks go that lie outside of start … start + size - 1 as a whole. */
GNOMON_API int gnomon_pool_trim(const void *pool, const void *start,
				size_t size)
	GNOMON_ADDRESS(1) GNOMON_ADDRESS(2);
/* The pool's owner has moved. */
GNOMON_API int gnomon_pool_move(const void *pool, const void *to)
	GNOMON_ADDRESS(1) GNOMON_ADDRESS(2);
/* 1: it was created, and not destroyed. */
GNOMON_API int gnomon_pool_exists(const void *pool)
	GNOMON_ADDRESS(1);

#ifdef __cplusplus
}
#endif

#endif
