/*
 * recorder.h: what all parts of the library know about the recording of this
 * process, how threads join it (start.c) and wait for the writer
 * (recorder_wait.c). What one part alone knows is its own, in the area, too
 * (area_place).
 *
 * struct recorder and all memory of area_alloc() lie in mappings that the
 * kernel replaces by zeros in a forked child (MADV_WIPEONFORK). So a child
 * finds a recorder in state RECORDER_NEW and threads without rings, whatever
 * its parent was doing: "new thread" and "new process" are one slow branch.
 * Static data of the library survives a fork and therefore only holds what is
 * constant in a process image: real functions, options, addresses.
 */
#ifndef GNOMON_RECORDER_H
#define GNOMON_RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"
#include "preload/ring/choose.h"
#include "preload/format.h"
#include "preload/base/options.h"
#include "preload/ring/shared.h"
#include "unwind/capture.h"

/*
 *	 ┌───────────────────▼
 *	NEW ──▶ STARTING ──▶ OFF
 *	            └──────▶ ON
 * NEW → STARTING: the first thread that gets there, by compare-and-swap.
 * STARTING → ON, OFF: the same thread. NEW → OFF: a forked child that is to
 * finish its parent's hook first (fork_copy.h). When the writer cannot write any
 * more it shuts the gate for good (gate.h), which comes to OFF: see
 * recorder_is_on.
 */
enum recorder_state {
	RECORDER_NEW,
	RECORDER_STARTING,
	RECORDER_ON,
	RECORDER_OFF
};

/* Why a thread takes the slow branch at each event. */
enum thread_aside {
	THREAD_MUTE = 1,	/* may not read the counter: no events */
	THREAD_DORMANT = 2,	/* nothing is recorded at the time */
	THREAD_CHOOSES = 4,	/* not every block is recorded */
	THREAD_INACTIVE = 8,	/* no new blocks of this thread */
	THREAD_NOTES = 16,	/* blocks have notes of their own (guard.h) */
	/* with THREAD_CHOOSES: it takes a closer look to choose, as sizes are
	 * limited, or a real function may come back to hooks */
	THREAD_LOOKS = 32,
	/* what holds for all threads is not what holds for it yet (aside.h) */
	THREAD_CHANGED = 64,
	THREAD_TIMED = 128	/* its events happen later (api_thread.c) */
};

/* What a thread has of its own; the i-th belongs to the i-th ring. */
struct thread {
	/* NULL: take the slow branch; else `own` */
	_Alignas(BASE_LINE) struct gl_ring *ring;
	/* the recorder's; to be read before `ring`, which a forked child finds
	 * NULL (fork_copy.h) */
	struct gl_shared *shared;
	struct gl_ring *own;	/* NULL: not known to the writer */
	struct capture_thread *capture;	/* NULL: plain walks only */
	struct gl_ring *nested;		/* NULL until a hook was nested */
	bool is_main;
	uint32_t aside;		/* enum thread_aside; 0: ring == own */
	struct choose choose;	/* where it is on its line of bytes */
	int64_t since;		/* choose.until at its last recorded block */
	uint64_t last;		/* that block */
	uint64_t passed;	/* others since, but for a sample's */
	uint32_t moving;	/* of reallocs under way (aside.c) */
	uint32_t generation;	/* recorder's: as it knows it */
	uint64_t moved;		/* the block of the last of them */
	uint32_t activity;	/* of all (sample.h): as it knows it */
	uint64_t timed;		/* stamp before which nothing happens */
	struct gl_thread *told;	/* what it tells the writer; NULL: a child */
	/* where `nested` was when it was last waited for in vain: its tail + 1,
	 * or 0, and the head of `own` */
	uint64_t vain, vain_head;
};

struct recorder {
	_Atomic uint32_t state;		/* enum recorder_state */
	int32_t pid;			/* of the process recorded */

	struct gl_header *live;
	/* in the live mapping, as the rings are; NULL in a forked child that
	 * has not started */
	struct gl_shared *shared;
	struct gl_ring *rings;		/* GL_RINGS_MAX of them */
	struct thread *threads;		/* as many */
	/* counts changes of what holds for all threads (ring_change) */
	_Atomic uint32_t generation;

	/* talk with the writer */
	_Atomic uint32_t stalled;	/* nobody waits until beats moves */
	_Atomic uint64_t stalled_beats;
	_Atomic uint32_t launching;	/* 1: see recorder_parted */
	_Atomic uint32_t cpus_dropped;	/* 1: see stale_cpus.h */
	bool forked;		/* of a process image that was recorded before */
	/* capture_config.tables, unwind_ban_found */
	struct capture_tables *tables;
	_Atomic uint32_t *ban_found;

	_Atomic uint32_t lost;		/* 1: it has been said (recorder_lost) */
	_Atomic uint32_t claimed;	/* 1: a claim has failed (claim.h) */

	/* events before anything was shared */
	_Alignas(BASE_LINE) _Atomic uint64_t skipped;
};

/* A page shared with all that was forked from the same process: a word that
 * says whether one of them has spoken. NULL: no memory for it. */
#define RECORDING_TOLD_SIZE 4096
extern BASE_HIDDEN _Atomic uint32_t *recording_told;

/* NULL until the first start. Constant afterwards, also in children. */
extern BASE_HIDDEN struct recorder *recorder;

/* Read from the environment at the first start. */
extern BASE_HIDDEN struct options recorder_options;

extern BASE_HIDDEN __thread struct thread *recorder_tls
	__attribute__((tls_model("initial-exec")));

/*
 * The calling thread's struct with a ring; starts the recorder and makes the
 * thread known where that has not happened. NULL: not recorded (any more).
 * Any thread, also signal handlers; keeps errno.
 */
struct thread *recorder_thread(void);

/* The same for a thread that is going to be forbidden what it takes to get a
 * ring: it gets it even if nothing is recorded at the time. */
struct thread *recorder_join(void);

/* Wakes the writer if it sleeps. Any thread. */
void recorder_wake(struct recorder *r);

/* So much of arch_cycles, about. Once r->live is there. */
uint64_t recorder_cycles(const struct recorder *r, uint64_t ns);

/*
 * Sleeps while *word == value, at most about ns; spins where that is not
 * allowed. recorder_rouse ends it. Threads of the target, once r->live is
 * there.
 */
void recorder_nap(struct recorder *r, const _Atomic uint32_t *word,
		  uint32_t value, uint64_t ns);

/* So many times at most, while the writer lives. */
void recorder_naps(struct recorder *r, const _Atomic uint32_t *word,
		   uint32_t value, uint64_t ns, unsigned naps);

/* Sets or clears a reason why the calling thread, which has a ring of its own,
 * takes the slow branch. */
void recorder_put_aside(struct thread *thread, enum thread_aside why,
			bool on);

/* Nothing is recorded of this process any more. */
void recorder_set_off(struct recorder *r);

/* Whether this process is being recorded: then r->shared is there. r: NULL is
 * no. Any thread, also in a forked child. */
bool recorder_is_on(const struct recorder *r);

/* Whether what holds for all threads has changed since the thread looked. */
static inline bool recorder_is_behind(const struct recorder *r,
				      const struct thread *thread)
{
	return thread->generation !=
	       atomic_load_explicit(&r->generation, memory_order_relaxed);
}

/* Waits until the recorder is on its own, for a second at most: until execve the
 * task that becomes it shares this process's memory, which some calls do not
 * stand. */
void recorder_parted(struct recorder *r);

/* Waits until the trace is open, or cannot be, for a second at most. */
void recorder_settle(void);

/* Something may have been mapped that no hook has seen. */
void recorder_hint_maps(void);

/* Waits until the writer has moved the limit, or refused to, or for some naps, or
 * while it does not move. Both words are of what is shared. */
void recorder_want(const struct gl_shared *shared,
		   const _Atomic uint32_t *limit,
		   const _Atomic uint32_t *refused);

/* Asks for room for the names of so many heaps, and waits a bounded time for
 * it. */
void recorder_want_heaps(struct gl_shared *shared, uint32_t heaps);

/* Whether the writer still lives. */
bool recorder_writer_alive(const struct recorder *r);

/* Who finds that it is not: should it have been killed, the recording ends here,
 * which is said once. Any thread. */
void recorder_lost(struct recorder *r);

/* Of all that forks from here, whatever its number, one speaks: what concerns
 * a child (a changed root directory) mostly concerns all of them. Whether this
 * one may; it has done so. */
bool recorder_may_speak(const struct recorder *r);
void recorder_spoke(const struct recorder *r);

/* A thread with its ring, what it tells, and why it stands aside. With
 * GNOMON_CLAIMS. */
bool recorder_thread_is_valid(const struct recorder *r,
			      const struct thread *thread);

#endif
