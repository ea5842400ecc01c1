/*
 * gnomon/gnomon.h: the API by which a program controls its own recording, reads
 * its heap numbers and reports custom allocators. C (C99) and C++ (C++11).
 *
 *	#include <gnomon/gnomon.h>
 *	cc program.c $(pkg-config --cflags --libs gnomon)
 *	cc program.c libgnomon-stub.a	(static: needs no library at run time)
 *
 * Programs link the *stub*, whose functions do nothing. If libgnomon.so is
 * preloaded (`gnomon run`, LD_PRELOAD), it overrides the stub, and the same
 * program talks to the recorder. libgnomon-off.so is the same library, but
 * records nothing until gnomon_enable or `gnomon start`.
 *
 * RESULTS. Functions that do something return 0 or a negative <errno.h> number.
 * The stub always returns GNOMON_STUB (-ENOSYS) and writes nothing. -ENODEV:
 * this process is not recorded and cannot be (an invalid option, no memory, a
 * full disk). Each function lists its other errors. errno is never changed.
 *
 * THREADS. Any thread may call any function at any time, also constructors of
 * libraries that were loaded before ours. "Waits for the recorder" means:
 * returns when the recorder has handled the request. That mostly takes
 * microseconds to milliseconds; after some seconds the function returns
 * -ETIMEDOUT.
 *
 * SIGNALS. "Async-signal-safe" means: may be called in a signal handler,
 * whatever the signal interrupted. Functions that wait for the recorder may be
 * called there as well; they block signals meanwhile. There is one exception: a
 * system call filter of the process may forbid the calls that this needs. Then
 * such a function returns -EBUSY in a handler that interrupted another such
 * call of its own thread. All other functions state what holds for them.
 *
 * FORK. A recorded child starts like a newly started process: enabled, active
 * and limits are again as the options say, and numbers start at 0. Heaps keep
 * their numbers and names.
 *
 * MEMORY. Nothing here calls malloc (your callbacks may; their allocations are
 * recorded as usual), and nothing here is counted. Strings are copied, never
 * kept.
 *
 * UNITS. Sizes are bytes as requested; times are nanoseconds.
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

/* For arguments that are only addresses: the memory behind them is not read, so
 * it need not be initialised. */
#if defined(GNOMON_ADDRESS)
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#define GNOMON_ADDRESS(n) __attribute__((access(none, n)))
#else
#define GNOMON_ADDRESS(n)
#endif

#define GNOMON_STUB (-38)	/* -ENOSYS, on every Linux but MIPS and SPARC */
#define GNOMON_NAME_MAX 63	/* bytes of a name; longer names are cut */

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
 * Starts or stops recording. The trace stays open in between; each enable …
 * disable is one recording in it. Reports show the last recording unless
 * another is requested. Numbers start at 0 with each. Recording has started or
 * stopped when they return. 0, also if nothing changed. Wait for the recorder.
 */
GNOMON_API int gnomon_enable(void);
GNOMON_API int gnomon_disable(void);

/* Discards what was recorded so far: reports leave it out, numbers start at 0,
 * and frees of earlier blocks are recognised as such. -EAGAIN: recording is
 * off. Waits for the recorder. */
GNOMON_API int gnomon_clear(void);

/* ---- recording or not: threads ---- */

enum gnomon_who {
	GNOMON_THREAD,		/* the calling thread */
	GNOMON_ALL,		/* all threads, present and future */
	/* only future threads: their initial state. A thread counts from its
	 * first allocation while recording is on, or its first call of this
	 * API */
	GNOMON_NEW
};

/* GNOMON_THREAD: 1 if allocations of the calling thread are recorded now (the
 * thread is active and recording is enabled). Other values: 1 if future threads
 * will be active. Async-signal-safe. */
GNOMON_API int gnomon_active(enum gnomon_who who);

/*
 * Allocations of inactive threads are not recorded, only counted by size class
 * (gnomon_histograms). Their frees are recorded. For the calling thread the
 * change is complete on return. Other threads follow at one of their next
 * events (with --sample: at their next sampled event). 0, -EINVAL (who).
 * Async-signal-safe.
 */
GNOMON_API int gnomon_activate(enum gnomon_who who);
GNOMON_API int gnomon_deactivate(enum gnomon_who who);

/* ---- what is recorded ---- */

/*
 * Records only blocks of min_bytes … max_bytes, both included (max_bytes 0: no
 * upper limit; so 0, 0 is all, and 0, 128 only small blocks). Same as
 * --min-size and --max-size: other blocks are only counted by size class.
 * Applies to allocations from now on; other threads follow at one of their next
 * events. 0, -EINVAL (min > max). Async-signal-safe.
 */
GNOMON_API int gnomon_limit_sizes(uint64_t min_bytes, uint64_t max_bytes);

/* ---- moments ---- */

/* When it returns, all events before the call, of any thread, are in the trace
 * and would survive the end of the process (not of the machine). -EIO: the
 * trace cannot be written. Waits for the recorder. */
GNOMON_API int gnomon_sync(void);

/* Records a named moment, usable as a time: `--from @NAME`. -EINVAL: the name
 * is NULL, empty, or has control characters in it. Waits for the recorder. */
GNOMON_API int gnomon_marker(const char *name);

/* Records mappings, their resident memory and the allocator's own statistics
 * under a name usable as a time (NULL: no name; else as for a marker). Waits
 * for the recorder, which takes the snapshot soon after. */
GNOMON_API int gnomon_snapshot(const char *name);

/* Snapshots at an interval, as --snapshot-every; and, as --stats-every, a line
 * with the numbers of gnomon_summarize. Interval in ns, at least 10 ms (else
 * -EINVAL); 0 stops them. Wait for the recorder. */
GNOMON_API int gnomon_snapshot_every(uint64_t ns);
GNOMON_API int gnomon_stats_every(uint64_t ns);

/*
 * For tests: sets the clock of the calling thread. Its next events are recorded
 * as if they happened `ns` after the recording started, until the next call of
 * this function or until that time has come. A time in the past has no effect.
 * If threads free each other's blocks, each of them must set its clock, or the
 * order of their events is wrong. -EINVAL: later than a thousand days; -EAGAIN:
 * the thread is not recorded now. Waits for the recorder.
 */
GNOMON_API int gnomon_set_timestamp(uint64_t ns);

/* ---- numbers ---- */

/*
 * Numbers are kept only on request. If the program (or a library loaded with
 * it) refers to a function of this section, they are kept from its first
 * allocation on. Else (as with dlopen) they are kept from the first call on;
 * allocations and frees of earlier blocks are then not in them.
 *
 * The recorder keeps the numbers. They are complete up to the call: they
 * include all earlier events of the calling thread, and all events of other
 * threads that happened before the call as far as any thread could observe.
 * Blocks that sampling left out are not in them.
 *
 * Each function here may return -ENOMEM: there was no memory for some blocks
 * (--memory); the numbers lack those.
 */

struct gnomon_summary {
	uint64_t total_bytes;	/* ever allocated */
	uint64_t live_bytes;	/* not freed yet */
	uint64_t peak_bytes;	/* the most that was live at one time */
	uint64_t allocations;	/* reallocations included */
	uint64_t frees;
	uint64_t live_blocks;
	uint64_t reserved[10];	/* 0 */
};

/*
 * Of all threads, or of the blocks that the calling thread allocated (no matter
 * which thread frees them). Cheap enough to call every second. 0, -EINVAL (who,
 * NULL). Waits for the recorder.
 */
GNOMON_API int gnomon_summarize(enum gnomon_who who,
				struct gnomon_summary *summary);

#define GNOMON_CLASSES 64

/* Blocks by size. Class 0: 0 bytes; i: from 2^(i-1) to 2^i - 1; the last: also
 * everything larger. */
struct gnomon_sizes {
	uint64_t total[GNOMON_CLASSES];	/* ever allocated */
	uint64_t live[GNOMON_CLASSES];
	/* ever allocated but not recorded, because of size or thread: not in
	 * total and live */
	uint64_t rest[GNOMON_CLASSES];
};

/* As gnomon_summarize, for all threads. */
GNOMON_API int gnomon_histograms(struct gnomon_sizes *sizes);

/* The class of a size. */
static inline unsigned gnomon_class(uint64_t bytes)
{
	unsigned bits = bytes ? 64u - (unsigned)__builtin_clzll(bytes) : 0;

	return bits < GNOMON_CLASSES ? bits : GNOMON_CLASSES - 1;
}

/* ---- stacks ---- */

/* Numbers of a stack; a dump prints the requested ones, in this order. */
enum gnomon_field {
	GNOMON_COUNT = 1,	/* allocations */
	GNOMON_TOTAL = 2,	/* bytes ever allocated */
	GNOMON_LIVE = 4,	/* bytes not freed yet */
	GNOMON_PEAK = 8,	/* its most bytes at one time; an upper bound
				 * for stacks that were added up */
	GNOMON_LIVE_COUNT = 16	/* blocks not freed yet */
};

enum gnomon_form {
	/* One line per stack, outermost frame first, as flame graph tools read
	 * it: PREFIXroot;…;leaf NUMBER. Stacks that print alike are merged. */
	GNOMON_COLLAPSED,
	/*
	 * A line of numbers, then one line per frame, innermost first:
	 *	#0 0xADDRESS function+0xOFFSET (/path/of/module+0xOFFSET)
	 */
	GNOMON_DETAIL
};

/* A frame, as passed to a callback. Valid during the call. */
struct gnomon_frame {
	uint64_t address;	/* in the call instruction: return address - 1 */
	const char *module;	/* path of the program or library, "" if
				 * unknown */
	uint64_t module_offset;	/* offset of the address, as addr2line takes
				 * it */
	const char *symbol;	/* from the ELF symbol table, as the linker
				 * knows it (mangled); NULL: no symbol covers
				 * it */
	uint64_t symbol_offset;	/* offset of the address in the symbol */
};

enum gnomon_edit {
	GNOMON_KEEP,		/* show the frame, under `name` */
	GNOMON_HIDE,		/* leave the frame out */
	GNOMON_CUT		/* show it, and leave out all its callees */
};

/*
 * Called once for each address in a dump, in no particular order. `name` is the
 * name to be printed: the symbol, or module+0xOFFSET. The editor may change it
 * in place, within `room` bytes including the final 0 (256 more than its
 * length). It may do anything, also allocate, except: it must not longjmp or
 * throw out of the dump, nor end the thread; and gnomon_dump returns -EBUSY in
 * it.
 */
typedef enum gnomon_edit (*gnomon_editor)(void *data,
					  const struct gnomon_frame *frame,
					  char *name, size_t room);

/* All zero is a valid default: `struct gnomon_dump how = { 0 };` (C++:
 * `{}`). */
struct gnomon_dump {
	uint32_t form;		/* enum gnomon_form */
	uint32_t fields;	/* enum gnomon_field, or-ed; 0: GNOMON_LIVE */
	uint32_t sort;		/* a field to sort by, largest first; 0: the
				 * first of `fields` */
	uint32_t most;		/* number of stacks printed; 0: all */
	uint64_t least;		/* only stacks with at least this much of
				 * `sort`; 0: 1 */
	const char *prefix;	/* of each line of GNOMON_COLLAPSED; NULL: "" */
	const char *between_frames;	/* NULL: ";" */
	const char *before_numbers;	/* NULL: " " */
	const char *between_numbers;	/* NULL: " " */
	/*
	 * Only stacks that pass through this function (its symbol, or the name
	 * that the editor gave it), without its callers: what one call costs.
	 * NULL: all. GNOMON_HERE: the function that calls gnomon_dump.
	 */
	const char *from;
	gnomon_editor edit;	/* NULL: names as they are */
	void *edit_data;
	uint64_t reserved[6];	/* 0 */
};

#define GNOMON_HERE ((const char *)-1)

/*
 * Writes the recorded stacks with their numbers to a descriptor; NULL for
 * `how`: all zero. The recorder writes them: names come from the symbol tables
 * of program and libraries, without debug information. Takes neither the
 * loader's lock nor malloc. Not in signal handlers. Returns the number of
 * stacks printed, or
 *	-EINVAL
 *	-ENOMEM     a dump takes some memory and gives it back at its end
 *	-EBUSY      this or another thread is making a dump (one at a time)
 *	-EPERM      the program has forbidden itself files and memory
 *	-ETIMEDOUT  the recorder has ended
 *	the error of write(2); then the output is incomplete. -EINTR: a handler
 *	without SA_RESTART interrupted it (so a program can stop waiting for a
 *	pipe that nobody reads). -EAGAIN: the descriptor does not block.
 */
GNOMON_API int gnomon_dump(const struct gnomon_dump *how, int fd);

/* The same into a function, which gets complete lines, some at a time, and
 * returns 0 or a negative number that ends the dump. The restrictions of an
 * editor apply. */
typedef int (*gnomon_writer)(void *data, const char *text, size_t size);
GNOMON_API int gnomon_dump_to(const struct gnomon_dump *how,
			      gnomon_writer write, void *data);

/* ---- custom allocators ---- */

/*
 * A heap is a custom allocator: a pool, an arena, a slab. Each heap has its own
 * address space in the trace, so a heap's block may lie in a block of malloc
 * (or of another heap) without confusion. As heap blocks mostly do, the totals
 * of reports and of this API leave heaps out. `--heap NAME` shows one heap.
 *
 * Returns its number, 1 … 4095, for the life of the process; 0: no more
 * numbers, or this is the stub. Every function accepts heap 0 and records
 * nothing for it. Reports merge heaps of the same name. Async-signal-safe.
 */
GNOMON_API uint32_t gnomon_heap_create(const char *name);

/*
 * Report that a block was allocated, freed, or reallocated (`block` may be
 * equal to `old`; `old` may be NULL). Call them after an allocation and before
 * the memory is given back, as another thread may get the same address at once.
 * The caller's stack is recorded. They cost as much as recording malloc and
 * free. Async-signal-safe.
 */
GNOMON_API void gnomon_alloc(uint32_t heap, const void *block, size_t size)
	GNOMON_ADDRESS(2);
GNOMON_API void gnomon_free(uint32_t heap, const void *block)
	GNOMON_ADDRESS(2);
GNOMON_API void gnomon_realloc(uint32_t heap, const void *old,
			       const void *block, size_t size)
	GNOMON_ADDRESS(2) GNOMON_ADDRESS(3);

/*
 * Pools as in Valgrind's macros (gnomon/valgrind_pools.h): identified by the
 * address of their owner, and destroyed with all remaining blocks. gnomon
 * therefore keeps a list of their blocks, in its own memory (40 bytes each).
 * Reports show all pools of a name as one heap; NULL: "mempool". 0, -EEXIST,
 * -ENOENT, -ENOMEM; -EBUSY: another thread stayed in such a call for a second,
 * or a handler jumped out of one (longjmp). Not in signal handlers.
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
/* Block `old` is at `block` now and has this size. */
GNOMON_API int gnomon_pool_change(const void *pool, const void *old,
				  const void *block, size_t size)
	GNOMON_ADDRESS(1) GNOMON_ADDRESS(2) GNOMON_ADDRESS(3);
/* Frees all blocks that are not completely within start … start + size - 1. */
GNOMON_API int gnomon_pool_trim(const void *pool, const void *start,
				size_t size)
	GNOMON_ADDRESS(1) GNOMON_ADDRESS(2);
/* The address of the pool's owner has changed. */
GNOMON_API int gnomon_pool_move(const void *pool, const void *to)
	GNOMON_ADDRESS(1) GNOMON_ADDRESS(2);
/* 1: the pool was created and not destroyed. */
GNOMON_API int gnomon_pool_exists(const void *pool)
	GNOMON_ADDRESS(1);

#ifdef __cplusplus
}
#endif

#endif
