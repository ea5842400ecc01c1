/*
 * shared.h: what hooks and the writer tell each other, in the live mapping at
 * gl_header.shared_offset. Words of fixed width in the target's byte order
 * (unwind/order.h), no pointer but addresses of rings (`turn`), which only hooks
 * use. Futexes on them are shared ones, as the mapping is.
 *
 * All of it is 0 at first. Nothing of it is of use to who reads a left-over
 * live file.
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

#define GL_PAGE 4096		/* of memory that is reserved */
#define GL_LINE 64		/* of the processor's caches */
#define GL_SIGNALLED 16		/* kinds of requests (control.h), at most */
#define GL_EXITS 1024
#define GL_EMBEDDED 504
#define GL_HEAP_NAME 64		/* bytes, the last is 0 */

/* Two kinds of ring: of threads, and of hooks that interrupted a hook. */
enum recorder_pool { RECORDER_PRIMARY, RECORDER_NESTED, RECORDER_POOLS };

/* Bits of `gate`, of which the rest is a count of requests (gate.h). */
#define GATE_SHUT UINT64_C(1)
#define GATE_OFF UINT64_C(2)	/* shut for good */
#define GATE_ONE UINT64_C(4)	/* a request, in the count */

/* The writer comes some 100 us after the first, unless it is held up. */
#define GATE_SLOTS 4096

ORDER_BEGIN

struct gate_slots {
	order_64 slot[GATE_SLOTS];
	order_64 taken;	/* requests; the writer's */
	order_64 late;	/* requests that could not be noted */
};

enum arenas_state { ARENAS_IDLE, ARENAS_ASKED, ARENAS_TAKING, ARENAS_TAKEN };

/* What the program's allocator holds (arenas.h). */
struct arenas {
	order_32 state;	/* enum arenas_state */
	/* written in TAKING by the thread that set it */
	uint64_t stamp;		/* full counter */
	uint64_t cycles;	/* that it took */
	uint64_t value[GT_ARENAS_VALUES];
};

/* The second is written once, at the program's end. */
enum arenas_which { ARENAS_RUNNING, ARENAS_LAST, ARENAS_WHICH };

/* Whether the program's allocator can be asked, and may: the program has a
 * single thread, and had no other before. */
enum arenas_can { ARENAS_FOREIGN, ARENAS_THREADS, ARENAS_ALONE };

struct gl_range {
	uint64_t start, end;	/* addresses of the target */
};

#define GL_REQUEST_ROOM 8192	/* bytes of a request's data */

enum ask_what {
	ASK_CALL,		/* the system call `number` (enum ask_call) */
	/* capset; data: its header, and what that announces */
	ASK_CAPABILITIES,
	/* setgroups with arg[0] groups; data: those from number arg[1] on */
	ASK_GROUPS,
	ASK_READABLE,		/* whether arg[0] can be read: 1 or 0 */
	/* what a filter of arg[0] instructions forbids (ban.h); data: those from
	 * number arg[1] on; arg[2] is the asker's */
	ASK_FILTER,
	/* how many ranges of the program's memory there are from arg[0] on, the
	 * first of which are put into data (struct gl_range): all but what is
	 * ours, and our library, from arg[1] to arg[2]; arg[3]: only what may
	 * have blocks, which is private, writable and of no file */
	ASK_MEMORY,
	ASK_USER_SPACE,		/* join the user namespace of thread arg[0] */
	ASK_CONTROL,		/* data: a struct control_request (control.h) */
	/* answers enum ledger_question `number`; arg: ring, nested */
	ASK_LEDGER,
	ASK_DUMP		/* enum dump_step `number` (dump_part.h) */
};

/* Those of ids.h; the kernel's own numbers are others on each architecture, and
 * the recorder may be of another one than the target. */
enum ask_call {
	ASK_CALL_SETUID, ASK_CALL_SETREUID, ASK_CALL_SETRESUID,
	ASK_CALL_SETGID, ASK_CALL_SETREGID, ASK_CALL_SETRESGID,
	ASK_CALL_PRCTL, ASK_CALLS
};

/* What a thread asks the recorder (ask.h, which has the drawing). One at a
 * time. */
enum gl_request_state {
	GL_REQUEST_IDLE, GL_REQUEST_POSTED, GL_REQUEST_TAKEN, GL_REQUEST_DONE
};

struct gl_request {
	_Alignas(GL_LINE) order_32 state;	/* futex; see ask.c */
	uint32_t what;		/* enum ask_what */
	int64_t number;
	int64_t arg[6];
	int64_t result;		/* the answer, with `data` as it is then */
	uint32_t bytes;		/* of `data`, with the room for the answer */
	_Alignas(GL_LINE) unsigned char data[GL_REQUEST_ROOM];
};

/* What a thread of the target says of itself; the i-th belongs to the i-th
 * ring, and is written by that one's owner alone. */
struct gl_thread {
	/* at its first event; "": it was not allowed to ask */
	_Alignas(GL_LINE) char name[GT_THREAD_NAME_MAX];
	order_32 nested;	/* its second ring: id + 1; 0: none */
	uint32_t plain;			/* without a state for captures */
	struct capture_report captures;	/* all 0 until there is a state */
	/* blocks never recorded, by choice (emit_rest.h): whether there are any, and
	 * by class how many. Kept for later threads in the same place. */
	order_32 rests;
	uint64_t rest[GT_CLASSES][GT_REST_VALUES];
};

#define GL_THREADS 16	/* of them in one piece */

#define GL_FILES 7	/* descriptors that the recorder inherits */
/* Their places in gl_told.file. /proc files are the target's, opened by itself;
 * two of its memory map, as one is read in pieces. The parent's live file may be
 * removed before a child's recorder runs. */
enum gl_file {
	GL_FILE_MAPS, GL_FILE_MAPS_WHOLE, GL_FILE_SMAPS, GL_FILE_ROLLUP,
	GL_FILE_EXE, GL_FILE_PIDFD, GL_FILE_PARENT
};

/* Addresses of the target that are ours: [at, at + size); size 0: none. */
struct gl_own {
	order_64 at, size;
};

#define GL_AREA_PIECES 40	/* of the area (area.h), the first of gl_shared.own */
#define GL_LIVE_RANGES (2 + 2 * GL_PIECES)	/* of the live mapping, the rest */
#define GL_OWN (GL_AREA_PIECES + GL_LIVE_RANGES)

/* The recorder's argument FLAGS: where the program's own stores do not go. */
enum gl_flags {
	GL_FLAG_FORKED = 1,	/* of a process image that was recorded before */
	GL_FLAG_QUIET = 2	/* another process of this family has spoken */
};

#define GL_ARCH_NAME 16	/* bytes, the last is 0 */

/* What the target says before its recorder runs, and does not change. */
struct gl_told {
	int32_t file[GL_FILES];	/* enum gl_file; -1: could not be opened */
	uint32_t ledger_wants;	/* enum ledger_why, of before */
	int32_t live_error;	/* why there is no live file, or 0 */
	uint64_t base;		/* where this mapping lies in the target */
	uint64_t budget, reserved;	/* bytes of the mapping */
	uint64_t memory;	/* as the option --memory */
	uint64_t ring_bytes;	/* of the data region, of the first ring */
	uint32_t rings;		/* that there are: 1, or 0 */
	int32_t parent;		/* its parent's id */
	uint32_t machine;	/* its architecture, as ELF files say it */
	uint32_t exit_count;	/* of its place there (exit_status.h) */
	/* for a recorder of another architecture (an emulator's host): as a
	 * trace calls it; arch_cycles of a second, or 0 */
	char arch[GL_ARCH_NAME];
	uint32_t word_bytes;
	uint32_t emulated;	/* 1: an emulator runs the process */
	uint64_t counter_hz;
	/* standard error as it was at the start; known: 0 or 1 */
	uint64_t error_known, error_device, error_inode;
};

#define GL_CLAIM 192
#define CLAIM_FAILED "a claim of the recorder's does not hold: "
#define GL_STAT 1024
#define GL_COMMAND 4096

/* Of /proc/PID when the recorder was started: a short process has ended before
 * it can look. */
struct gl_born {
	char stat[GL_STAT];	/* ended by a NUL; "" if it could not be read */
	uint32_t command_bytes;	/* of cmdline; GL_COMMAND: there may be more */
	char command[GL_COMMAND];
};

/*
 * The recorder's life, as the target sees it.
 *
 *	STARTING ──▶ READY ──▶ DONE
 *	    └──▶ FAILED
 */
enum gl_recorder_state {
	GL_RECORDER_STARTING, GL_RECORDER_READY, GL_RECORDER_FAILED,
	GL_RECORDER_DONE
};

/* gl_shared.recorder_tid before the recorder has written its own; the bit that
 * the kernel sets there when it has ended (robust futexes, futex(2)). */
#define GL_RECORDER_COMING UINT32_C(0x3fffffff)
#define GL_RECORDER_GONE UINT32_C(0x40000000)

/* Addresses of code that was replaced (replaced.h). */
struct gl_replaced {
	order_64 start, end;
};

#define GL_REPLACED 16	/* told at one time */

struct gl_shared {
	struct gl_told told;

	/* ---- written by the recorder; `recorder_*` also by who starts it,
	 * until it runs ---- */
	_Alignas(GL_LINE) order_32 recorder_state;	/* futex */
	order_32 recorder_tid;
	/* of the task that was to become it; 0: not known */
	order_32 recorder_pid;
	order_32 spoke;	/* it has told the user something */

	/* ---- written by the writer ---- */
	_Alignas(GL_LINE) order_32 asleep;	/* waits on `wake` */
	order_64 beats;		/* its progress */
	order_32 nodes_refused;	/* nobody waits for more of them */
	order_32 image_limit;	/* images with reserved records; futex */
	order_32 images_refused;
	order_32 heap_limit;	/* reserved heap_name; futex */
	order_32 heaps_refused;
	order_32 ban_found;	/* as unwind_ban, by seccomp_watch.c */
	/* futex: 1 when nothing is left to be said about an allocator that
	 * is not seen (foreign.h) */
	order_32 foreign_done;
	order_32 snapshots;	/* number of the last one; futex */
	/* last_wanted as it was when the last look for it began, and ended;
	 * futex */
	order_32 last_begun, last_done;
	order_64 live_blocks;	/* about */
	order_32 replaced_put;	/* how many, ever (replaced.h) */
	struct gl_replaced replaced[GL_REPLACED];

	/* ---- written by hooks ---- */
	_Alignas(GL_LINE) order_32 wake;	/* futex */
	order_32 hurry;		/* the program is about to end */
	order_32 maps_hints;	/* something was mapped unseen */
	order_32 stop;		/* recording cannot go on: finish;
					 * also by the writer itself */
	order_32 execs;		/* calls of exec that have not failed */
	order_32 exits;		/* its status, or 0 (exit_status.c) */
	order_32 partial;	/* by choice, since it began */
	order_32 mutes;		/* times that a thread fell mute */
	order_32 ledger_wants;	/* enum ledger_why */
	/* what hooks know of filters of system calls (forbidden.h); at first as
	 * it was before anything was shared */
	order_32 ban_known;	/* as unwind_ban */
	order_32 filters_seen;	/* those of a parent count */
	/* likewise at first as it was before */
	struct patched_list patched;
	order_32 replaced_taken;	/* of replaced_put */
	order_32 heaps_wanted;	/* of heap_limit */
	order_32 heaps_named;	/* the last; so have all before it */
	/* how many last looks at the process are asked for (ending.h); which
	 * of them was not the last after all */
	order_32 last_wanted, last_void;
	/* by what they ask for (control.h), how many signals came that are
	 * served when the writer looks */
	order_32 signalled[GL_SIGNALLED];

	/* figures that are kept where they change, for the trace */
	struct capture_tables tables;
	order_64 bumped;	/* early blocks (bump.h) */
	order_64 area_used;	/* bytes (area.h) */
	struct gl_own own[GL_OWN];	/* each is put there once */
	order_32 arenas_can;	/* enum arenas_can */

	_Alignas(GL_LINE) order_64 skipped;	/* early events */
	order_64 ring_waits;
	order_64 nested_events;
	order_64 nested_lost;
	order_64 guard_damages;	/* that were told of (guard.h) */
	/* by the sweep at the end, if there was one: live blocks; bytes not
	 * looked at */
	order_64 guard_blocks, guard_skipped;
	order_32 guard_swept;	/* 1: there was */

	/* ---- both ---- */

	/* free lists: tag << 32 | id + 1; the tag counts changes, so that a
	 * list that was popped and pushed in between is noticed */
	_Alignas(GL_LINE) order_64 ring_free[RECORDER_POOLS];
	order_32 ring_count[RECORDER_POOLS];	/* in the lists */
	order_32 ring_refills[RECORDER_POOLS];	/* futex */
	order_32 ring_hungry[RECORDER_POOLS];	/* a thread waits */
	order_32 ring_alarm[RECORDER_POOLS];	/* fewer: wake */
	order_32 ring_taken[RECORDER_POOLS];	/* since a refill */
	order_32 ring_exhausted[RECORDER_POOLS];
	order_32 ring_short;	/* there were fewer */

	/* whose events need no stamp of their own, see ring.h; 0: nobody's */
	_Alignas(GL_LINE) order_64 turn;

	/* whether anything is recorded at the time (gate.h, aside.h) */
	_Alignas(GL_LINE) order_64 gate;
	_Alignas(GL_LINE) struct gate_slots posted;

	/* between a thread and the writer, a snapshot at a time */
	_Alignas(GL_LINE) struct arenas arenas[ARENAS_WHICH];

	struct gl_request request;

	/*
	 * For children made by fork, whose writers read it in our live file
	 * (parent_live.h): what wait told of how they ended, in the place that
	 * a child's number gives (exit_place.h), by hooks; and hashes of what
	 * was embedded (embed_seen.c), by the writer, as is the file's path,
	 * "" where there is none.
	 */
	_Alignas(GL_LINE) order_64 exits_told[GL_EXITS];
	order_64 embedded[GL_EMBEDDED];
	char live_path[GT_PATH_MAX];

	/* by who finds it, before the gate is shut: which claim of the
	 * library does not hold (claim.h); "": none */
	char claim[GL_CLAIM];

	/* by who starts the recorder */
	struct gl_born born;

	/* where the structs gl_thread of so many rings are, in bytes from the
	 * header of the live mapping; 0: no ring has one yet */
	_Alignas(GL_LINE) uint64_t threads[GL_RINGS_MAX / GL_THREADS];

	/* by number (heaps.h), filled up with 0 and written once by hooks. A
	 * page is reserved from the start, more on demand. */
	_Alignas(GL_PAGE) char heap_name[GL_HEAPS_MAX][GL_HEAP_NAME];

	/* links of the free lists: id + 1. Reserved as ids are given out. */
	_Alignas(GL_PAGE) order_32 ring_next[GL_RINGS_MAX];
};

ORDER_END

static inline void gl_own_put(struct gl_own *own, uint64_t at, uint64_t size)
{
	atomic_store_explicit(&own->at, at, memory_order_relaxed);
	/* pairs with the acquire of own_ranges_find */
	atomic_store_explicit(&own->size, size, memory_order_release);
}

#define GL_HEAPS_FIRST (GL_PAGE / GL_HEAP_NAME)

/* What is reserved from the start. */
#define GL_SHARED_FIRST (offsetof(struct gl_shared, heap_name) + GL_PAGE)

static_assert(offsetof(struct gl_shared, heap_name) % GL_PAGE == 0 &&
	      offsetof(struct gl_shared, ring_next) % GL_PAGE == 0,
	      "what is reserved begins and ends with a page");

#endif
