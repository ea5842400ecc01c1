/*
 * shared.h: memory shared by hooks and the recorder, in the live mapping at
 * gl_header.shared_offset. Words of fixed width in the target's byte order
 * (unwind/base/byte_order.h), no pointers except addresses of rings (`turn`), which
 * only hooks use. Futexes on them are shared futexes, as the mapping is.
 *
 * All fields start as 0. None is of use to a reader of a live file left by a
 * crash.
 */
#ifndef GNOMON_SHARED_H
#define GNOMON_SHARED_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/format.h"
#include "preload/ring/patched.h"
#include "unwind/capture.h"

#define GL_PAGE 4096		/* unit of reserved memory */
#define GL_LINE 64		/* of the processor's caches */
#define GL_SIGNALLED 16		/* kinds of requests (control.h), at most */
#define GL_EXITS 1024
#define GL_EMBEDDED 504
#define GL_HEAP_NAME 64		/* bytes, the last is 0 */

/* Two kinds of ring: of threads, and of hooks that interrupted a hook. */
enum recorder_pool { RECORDER_PRIMARY, RECORDER_NESTED, RECORDER_POOLS };

/* Bits of `gate`; its other bits are a count of requests (gate.h). */
#define GATE_CLOSED UINT64_C(1)
#define GATE_CLOSED_FOR_GOOD UINT64_C(2)
#define GATE_ONE UINT64_C(4)	/* a request, in the count */

/* The recorder takes a request some 100 us after the first, unless it is
 * delayed. */
#define GATE_SLOTS 4096

ORDER_BEGIN

struct gate_slots {
	order_64 slot[GATE_SLOTS];
	order_64 taken;	/* requests; the recorder's */
	order_64 refused;	/* requests that gate_post has refused */
};

enum arenas_state { ARENAS_IDLE, ARENAS_ASKED, ARENAS_TAKING, ARENAS_TAKEN };

/* Statistics of the program's allocator (arenas.h). */
struct arenas {
	order_32 state;	/* enum arenas_state */
	/* written in state TAKING by the thread that set that state */
	uint64_t stamp;		/* full counter */
	uint64_t cycles;	/* duration of the query */
	uint64_t value[GT_ARENAS_VALUES];
};

/* The second is written once, at the program's end. */
enum arenas_which { ARENAS_RUNNING, ARENAS_LAST, ARENAS_WHICH };

/* Whether the program's allocator can and may be queried: the program must have
 * a single thread, and never had another. */
enum arenas_can { ARENAS_FOREIGN, ARENAS_THREADS, ARENAS_ALONE };

struct gl_range {
	uint64_t start, end;	/* addresses of the target */
};

#define GL_REQUEST_ROOM 8192	/* bytes of a request's data */

enum request_kind {
	REQUEST_CALL,	/* the system call `number` (enum request_call) */
	/* capset; data: its header, and the data that the header announces */
	REQUEST_CAPABILITIES,
	/* setgroups with arg[0] groups; data: the groups from index arg[1]
	 * on */
	REQUEST_GROUPS,
	REQUEST_READABLE,		/* whether arg[0] can be read: 1 or 0 */
	/* what a filter of arg[0] instructions forbids (ban.h); data: the
	 * instructions from index arg[1] on; arg[2]: an address that identifies
	 * the sender */
	REQUEST_FILTER,
	/* the number of ranges of the program's memory from arg[0] on; data
	 * gets the first ones (struct gl_range). Without our own memory, and
	 * without our library, from arg[1] to arg[2]; arg[3]: only ranges that
	 * may have blocks, which are private, writable and without a file */
	REQUEST_MEMORY,
	REQUEST_USER_SPACE,	/* join the user namespace of thread arg[0] */
	REQUEST_CONTROL,	/* data: a struct control_request (control.h) */
	/* answers enum blocks_request_kind `number`; arg: ring, nested */
	REQUEST_BLOCKS,
	REQUEST_DUMP		/* enum dump_step `number` (dump_request.h) */
};

/* The calls of credentials.h. The kernel's numbers differ by architecture, and
 * the recorder may be of another architecture than the target. */
enum request_call {
	REQUEST_CALL_SETUID, REQUEST_CALL_SETREUID, REQUEST_CALL_SETRESUID,
	REQUEST_CALL_SETGID, REQUEST_CALL_SETREGID, REQUEST_CALL_SETRESGID,
	REQUEST_CALL_PRCTL, REQUEST_CALLS
};

/* State of a thread's request to the recorder (request.h has the drawing). One
 * at a time. */
enum gl_request_state {
	GL_REQUEST_IDLE, GL_REQUEST_POSTED, GL_REQUEST_TAKEN, GL_REQUEST_DONE
};

struct gl_request {
	_Alignas(GL_LINE) order_32 state;	/* futex; see request.c */
	uint32_t what;		/* enum request_kind */
	int64_t number;
	int64_t arg[6];
	int64_t result;		/* the answer, together with `data` */
	uint32_t bytes;		/* of `data`, including room for the answer */
	_Alignas(GL_LINE) unsigned char data[GL_REQUEST_ROOM];
};

/* State that a thread of the target publishes; the i-th belongs to the i-th
 * ring, and only that ring's owner writes it. */
struct gl_thread {
	/* at its first event; "": it must not query it */
	_Alignas(GL_LINE) char name[GT_THREAD_NAME_MAX];
	order_32 nested;	/* its second ring: id + 1; 0: none */
	uint32_t plain;			/* 1: the thread walks without a
					 * cache */
	struct capture_report captures;	/* all 0 until there is a state */
	/* blocks that the options exclude (emit_skipped.h): whether there are
	 * any, and their number by size class. Kept for later threads that get
	 * the same ring. */
	order_32 rests;
	uint64_t rest[GT_CLASSES][GT_REST_VALUES];
};

#define GL_THREADS 16	/* per allocated piece */

#define GL_FILES 7	/* descriptors that the recorder inherits */
/* Indices of gl_setup.file. The target itself opens its /proc files; its memory
 * map twice, as one of them is read in pieces. The parent's live file may be
 * removed before a child's recorder runs. */
enum gl_file {
	GL_FILE_MAPS, GL_FILE_MAPS_WHOLE, GL_FILE_SMAPS, GL_FILE_ROLLUP,
	GL_FILE_EXE, GL_FILE_PIDFD, GL_FILE_PARENT
};

/* Our own memory in the target: [at, at + size); size 0: none. */
struct gl_own {
	order_64 at, size;
};

#define GL_AREA_PIECES 40	/* of the area (area.h): the first of
				 * gl_shared.own */
#define GL_LIVE_RANGES (2 + 2 * GL_PIECES)	/* of the live mapping: the
						 * other entries */
#define GL_OWN (GL_AREA_PIECES + GL_LIVE_RANGES)

/* The recorder's argument FLAGS: not in the mapping, so the program's stores
 * cannot change it. */
enum gl_flags {
	GL_FLAG_FORKED = 1,	/* the process image was recorded before a
				 * fork */
	GL_FLAG_QUIET = 2	/* another process of this family has printed
				 * its message */
};

#define GL_ARCH_NAME 16	/* bytes, the last is 0 */

/* What the target publishes before its recorder runs; constant afterwards. */
struct gl_setup {
	int32_t file[GL_FILES];	/* enum gl_file; -1: could not be opened */
	uint32_t blocks_users;	/* enum blocks_user, requested before the
				 * start */
	int32_t live_error;	/* errno: why there is no live file, or 0 */
	uint64_t base;		/* address of this mapping in the target */
	uint64_t budget, reserved;	/* bytes of the mapping */
	uint64_t memory;	/* as the option --memory */
	uint64_t ring_bytes;	/* of the data region, of the first ring */
	uint32_t rings;		/* rings that exist: 1, or 0 */
	int32_t parent;		/* its parent's id */
	uint32_t machine;	/* its architecture, as in ELF headers */
	uint32_t exit_count;	/* counter of its slot at the parent
				 * (exit_status.h) */
	/* for a recorder of another architecture (an emulator's host): the
	 * architecture's name in traces; arch_cycles per second, or 0 */
	char arch[GL_ARCH_NAME];
	uint32_t word_bytes;
	uint32_t emulated;	/* 1: an emulator runs the process */
	uint64_t counter_hz;
	/* the file of standard error at the start; error_known: 0 or 1 */
	uint64_t error_known, error_device, error_inode;
};

#define GL_ASSERTION 192
#define ASSERTION_FAILED "assertion failed: "
#define GL_STAT 1024
#define GL_COMMAND 4096

/* Copies from /proc/PID when the recorder was started: a short process has
 * ended before the recorder can read it. */
struct gl_at_start {
	char stat[GL_STAT];	/* ended by a NUL; "" if it could not be read */
	uint32_t command_bytes;	/* of cmdline; GL_COMMAND: there may be more */
	char command[GL_COMMAND];
};

/*
 * State of the recorder, as the target sees it.
 *
 *	STARTING ──▶ READY ──▶ DONE
 *	    └──▶ FAILED
 */
enum gl_recorder_state {
	GL_RECORDER_STARTING, GL_RECORDER_READY, GL_RECORDER_FAILED,
	GL_RECORDER_DONE
};

/* gl_shared.recorder_tid before the recorder has written its own; the bit that
 * the kernel sets there when the recorder has ended (robust futexes,
 * futex(2)). */
#define GL_RECORDER_COMING UINT32_C(0x3fffffff)
#define GL_RECORDER_GONE UINT32_C(0x40000000)

/* Addresses of code that was replaced (replaced_code.h). */
struct gl_replaced {
	order_64 start, end;
};

#define GL_REPLACED 16	/* pending at one time */

struct gl_shared {
	struct gl_setup setup;

	/* ---- written by the recorder; until it runs, `recorder_*` also by the
	 * thread that starts it ---- */
	_Alignas(GL_LINE) order_32 recorder_state;	/* futex */
	order_32 recorder_tid;
	/* of the task that was started to become the recorder; 0: unknown */
	order_32 recorder_pid;
	order_32 spoke;	/* 1: it has printed a message */

	/* ---- written by the recorder ---- */
	_Alignas(GL_LINE) order_32 asleep;	/* 1: the recorder sleeps on
						 * `wake` */
	order_64 beats;		/* the recorder's progress */
	order_32 nodes_refused;	/* 1: no thread waits for more nodes */
	order_32 image_limit;	/* images with reserved records; futex */
	order_32 images_refused;
	order_32 heap_limit;	/* reserved heap_name; futex */
	order_32 heaps_refused;
	order_32 ban_found;	/* as unwind_ban, by seccomp_watch.c */
	/* futex: 1 when every message about an allocator that is not recorded
	 * has been printed (static_allocator.h) */
	order_32 static_checked;
	order_32 snapshots;	/* number of the last one; futex */
	/* last_wanted when the last snapshot for it began, and ended; futex */
	order_32 last_begun, last_done;
	order_64 live_blocks;	/* approximate */
	order_32 replaced_put;	/* total count (replaced_code.h) */
	struct gl_replaced replaced[GL_REPLACED];

	/* ---- written by hooks ---- */
	_Alignas(GL_LINE) order_32 wake;	/* futex */
	order_32 hurry;		/* 1: the program is about to end */
	order_32 maps_hints;	/* something was mapped without a hook */
	order_32 stop;		/* recording cannot continue: finish; also set
					 * by the recorder itself */
	order_32 execs;		/* calls of exec that have not failed */
	order_32 exits;		/* the process's exit status, or 0
				 * (exit_status.c) */
	order_32 partial;	/* the process never recorded all blocks */
	order_32 mutes;		/* times that a thread became mute */
	order_32 blocks_users;	/* enum blocks_user */
	/* what hooks know of system call filters (forbidden.h); initially the
	 * state before the mapping existed */
	order_32 ban_known;	/* as unwind_ban */
	order_32 filters_seen;	/* filters installed, including those of
				 * parents */
	/* also initially the state before the mapping existed */
	struct patched_list patched;
	order_32 replaced_taken;	/* of replaced_put */
	order_32 heaps_wanted;	/* of heap_limit */
	order_32 heaps_named;	/* the last heap with a name; all before it have
				 * one */
	/* requests for last snapshots of the process (process_end.h); the one
	 * that turned out not to be the last */
	order_32 last_wanted, last_void;
	/* per kind of request (control.h), the number of signals that the
	 * recorder handles at its next look */
	order_32 signalled[GL_SIGNALLED];

	/* counters for the trace, kept where they change */
	struct capture_tables tables;
	order_64 bumped;	/* early blocks (bump.h) */
	order_64 area_used;	/* bytes (area.h) */
	struct gl_own own[GL_OWN];	/* each is added once */
	order_32 arenas_can;	/* enum arenas_can */

	_Alignas(GL_LINE) order_64 skipped;	/* early events */
	order_64 ring_waits;
	order_64 nested_events;
	order_64 nested_lost;
	order_64 guard_damages;	/* that were recorded (guard.h) */
	/* of the sweep at the end, if there was one: live blocks; bytes not
	 * checked */
	order_64 guard_blocks, guard_skipped;
	order_32 guard_swept;	/* 1: there was a sweep */

	/* ---- both ---- */

	/* free lists: tag << 32 | id + 1; the tag counts changes, so that a pop
	 * and a push in between are noticed (ABA) */
	_Alignas(GL_LINE) order_64 ring_free[RECORDER_POOLS];
	order_32 ring_count[RECORDER_POOLS];	/* in the lists */
	order_32 ring_refills[RECORDER_POOLS];	/* futex */
	order_32 ring_wanted[RECORDER_POOLS];	/* a thread waits */
	order_32 ring_alarm[RECORDER_POOLS];	/* wake the recorder at fewer */
	order_32 ring_taken[RECORDER_POOLS];	/* since a refill */
	order_32 ring_exhausted[RECORDER_POOLS];
	order_32 ring_short;	/* there were fewer */

	/* ring whose events may reuse stamps, see ring.h; 0: none */
	_Alignas(GL_LINE) order_64 turn;

	/* whether recording is on (gate.h, skip.h) */
	_Alignas(GL_LINE) order_64 gate;
	_Alignas(GL_LINE) struct gate_slots posted;

	/* between a thread and the recorder, one snapshot at a time */
	_Alignas(GL_LINE) struct arenas arenas[ARENAS_WHICH];

	struct gl_request request;

	/*
	 * For children made by fork, whose recorders read it in our live file
	 * (parent_live.h). child_exits: exit statuses that hooks got from wait,
	 * in the slot of the child's pid (exit_slot.h). embedded: hashes of
	 * what was embedded (embed_seen.c), by the recorder. live_path: of this
	 * file, by the recorder; "": none.
	 */
	_Alignas(GL_LINE) order_64 child_exits[GL_EXITS];
	order_64 embedded[GL_EMBEDDED];
	char live_path[GT_PATH_MAX];

	/* which assertion of the library failed (assertion.h), written before
	 * the gate is closed; "": none */
	char assertion[GL_ASSERTION];

	/* by the thread that starts the recorder */
	struct gl_at_start at_start;

	/* offsets of the pieces of GL_THREADS structs gl_thread, in bytes from
	 * the header of the live mapping; 0: no ring has one yet */
	_Alignas(GL_LINE) uint64_t threads[GL_RINGS_MAX / GL_THREADS];

	/* by number (heaps.h), padded with 0 and written once by hooks. A page
	 * is reserved from the start, more on demand. */
	_Alignas(GL_PAGE) char heap_name[GL_HEAPS_MAX][GL_HEAP_NAME];

	/* links of the free lists: id + 1. Reserved as ids are allocated. */
	_Alignas(GL_PAGE) order_32 ring_next[GL_RINGS_MAX];
};

ORDER_END

static inline void gl_own_put(struct gl_own *own, uint64_t at, uint64_t size)
{
	atomic_store_explicit(&own->at, at, memory_order_relaxed);
	/* pairs with the acquire of profiler_ranges_find */
	atomic_store_explicit(&own->size, size, memory_order_release);
}

#define GL_HEAPS_FIRST (GL_PAGE / GL_HEAP_NAME)

/* Bytes reserved from the start. */
#define GL_SHARED_FIRST (offsetof(struct gl_shared, heap_name) + GL_PAGE)

static_assert(offsetof(struct gl_shared, heap_name) % GL_PAGE == 0 &&
	      offsetof(struct gl_shared, ring_next) % GL_PAGE == 0,
	      "what is reserved begins and ends with a page");

#endif
