/*
 * producer.h: state of this process's recording that all parts of the library
 * share, how threads join it (start.c) and wait for the recorder
 * (recorder_wait.c). The recorder is a process; struct producer is the target's
 * side of it. State of a single part is private to that part, in the area, too
 * (area_place).
 *
 * struct producer and all memory of area_alloc() lie in mappings that the
 * kernel replaces by zeros in a forked child (MADV_WIPEONFORK). So a child
 * finds a producer in state PRODUCER_NEW and threads without rings, whatever
 * its parent was doing: "new thread" and "new process" are one slow branch.
 * Static data of the library survives a fork and therefore only holds constants
 * of a process image: real functions, options, addresses.
 */
#ifndef GNOMON_PRODUCER_H
#define GNOMON_PRODUCER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"
#include "preload/ring/sampler.h"
#include "preload/format.h"
#include "preload/base/options.h"
#include "preload/ring/shared.h"
#include "unwind/capture.h"

/*
 *	 ┌───────────────────▼
 *	NEW ──▶ STARTING ──▶ OFF
 *	            └──────▶ ON
 * NEW → STARTING: by the first thread, with compare-and-swap. STARTING → ON,
 * OFF: by the same thread. NEW → OFF: by a forked child that must first finish
 * its parent's hook (fork_copy.h). A recorder that cannot write any more
 * closes the gate for good (gate.h), which has the effect of OFF: see
 * producer_is_on.
 */
enum producer_state {
	PRODUCER_NEW,
	PRODUCER_STARTING,
	PRODUCER_ON,
	PRODUCER_OFF
};

/* Reasons for a thread to take the slow branch at each event. */
enum thread_skip {
	THREAD_MUTE = 1,	/* may not read the counter: no events */
	THREAD_DORMANT = 2,	/* recording is off */
	THREAD_SAMPLES = 4,	/* only some blocks are recorded */
	THREAD_INACTIVE = 8,	/* no new blocks of this thread */
	THREAD_NOTES = 16,	/* blocks get their contexts (guard.h) */
	/* with THREAD_SAMPLES: the choice needs more checks, as sizes are
	 * limited, or a real function may call our hooks */
	THREAD_CHECKS = 32,
	/* the thread has not applied a change for all threads yet (skip.h) */
	THREAD_CHANGED = 64,
	THREAD_TIMED = 128	/* its events get later stamps (api_thread.c) */
};

/* State of a thread; the i-th belongs to the i-th ring. */
struct thread {
	/* NULL: take the slow branch; else `own` */
	_Alignas(BASE_LINE) struct gl_ring *ring;
	/* the producer's `shared`; read it before `ring`, which a forked child
	 * finds NULL (fork_copy.h) */
	struct gl_shared *shared;
	struct gl_ring *own;	/* NULL: not known to the recorder */
	struct capture_thread *capture;	/* NULL: walks without cache */
	struct gl_ring *nested;		/* NULL until a hook was nested */
	bool is_main;
	uint32_t skip;		/* enum thread_skip; 0: ring == own */
	struct sampler sampler;	/* its position on its line of bytes */
	int64_t since;		/* choose.until at its last recorded block */
	uint64_t last;		/* that block */
	uint64_t passed;	/* blocks since, except those that the sample
				 * left out */
	uint32_t moving;	/* entries of pending reallocs (skip.c) */
	uint32_t generation;	/* the producer's, as last seen */
	uint64_t moved;		/* the block of the last one in `moving` */
	uint32_t activity;	/* the one of sample.h, as last seen */
	uint64_t timed;		/* no event gets an earlier stamp */
	struct gl_thread *report; /* what it publishes to the recorder; NULL: a
				 * child */
	/* `nested` when a wait for it last timed out: its tail + 1, or 0, and
	 * the head of `own` */
	uint64_t vain, vain_head;
};

struct producer {
	_Atomic uint32_t state;		/* enum producer_state */
	int32_t pid;			/* of the process recorded */

	struct gl_header *live;
	/* in the live mapping, as the rings are; NULL in a forked child that
	 * has not started its recorder */
	struct gl_shared *shared;
	struct gl_ring *rings;		/* GL_RINGS_MAX of them */
	struct thread *threads;		/* as many */
	/* counts changes that concern all threads (ring_change) */
	_Atomic uint32_t generation;

	/* communication with the recorder */
	_Atomic uint32_t stalled;	/* no thread waits until `beats`
					 * changes */
	_Atomic uint64_t stalled_beats;
	_Atomic uint32_t launching;	/* 1: see recorder_wait_exec */
	_Atomic uint32_t cpus_dropped;	/* 1: see stale_cpus.h */
	bool forked;		/* this process image was recorded before a
				 * fork */
	/* capture_config.tables, unwind_ban_found */
	struct capture_tables *tables;
	_Atomic uint32_t *ban_found;

	_Atomic uint32_t lost;		/* 1: it was reported (recorder_lost) */
	_Atomic uint32_t assertion_failed;	/* 1: one failed */

	/* events before `shared` existed */
	_Alignas(BASE_LINE) _Atomic uint64_t skipped;
};

/* A page shared with all processes forked from the same one: a word that says
 * whether one of them has printed its message. NULL: no memory for it. */
#define RECORDING_REPORTED_SIZE 4096
extern BASE_HIDDEN _Atomic uint32_t *recording_reported;

/* NULL until the first start. Constant afterwards, also in children. */
extern BASE_HIDDEN struct producer *producer;

/* Read from the environment at the first start. */
extern BASE_HIDDEN struct options producer_options;

extern BASE_HIDDEN __thread struct thread *producer_tls
	__attribute__((tls_model("initial-exec")));

/*
 * The calling thread's struct with a ring; starts the recorder and registers
 * the thread if needed. NULL: not recorded (any more). Any thread, also signal
 * handlers; keeps errno.
 */
struct thread *producer_thread(void);

/* The same for a thread that is about to be forbidden the system calls that
 * getting a ring needs: it gets one even while recording is off. */
struct thread *producer_join(void);

/* Wakes the recorder if it sleeps. Any thread. */
void recorder_wake(struct producer *p);

/* ns in units of arch_cycles, roughly. Once p->live is there. */
uint64_t producer_cycles(const struct producer *p, uint64_t ns);

/*
 * Sleeps while *word == value, at most about ns; spins if sleeping is
 * forbidden. recorder_rouse ends it. Threads of the target, once p->live is
 * there.
 */
void recorder_nap(struct producer *p, const _Atomic uint32_t *word,
		  uint32_t value, uint64_t ns);

/* Sleeps at most `naps` times, while the recorder lives. */
void recorder_naps(struct producer *p, const _Atomic uint32_t *word,
		   uint32_t value, uint64_t ns, unsigned naps);

/* Sets or clears a reason why the calling thread, which has a ring of its own,
 * takes the slow branch. Async-signal-safe. */
void producer_set_skip(struct thread *thread, enum thread_skip why,
		       bool on);

/* Switches recording of this process off, permanently. */
void producer_set_off(struct producer *p);

/* Whether this process is being recorded: then p->shared is there. False for
 * NULL. Any thread, also in a forked child. */
bool producer_is_on(const struct producer *p);

/* Whether the thread has missed a change that concerns all threads. */
static inline bool producer_is_behind(const struct producer *p,
				      const struct thread *thread)
{
	return thread->generation !=
	       atomic_load_explicit(&p->generation, memory_order_relaxed);
}

/* Waits until the recorder has its own memory, for a second at most: until
 * execve the task that becomes it shares this process's memory, which makes
 * some system calls fail. */
void recorder_wait_exec(struct producer *p);

/* Waits until the trace is open or has failed to open, for a second at most. */
void recorder_wait_open(void);

/* Tells the recorder that something may have been mapped without a hook. */
void recorder_hint_maps(void);

/* Waits until the recorder has raised the limit or refused to, for a limited
 * number of naps, and not while the recorder is stalled. Both words are in the
 * shared memory. */
void recorder_want(const struct gl_shared *shared,
		   const _Atomic uint32_t *limit,
		   const _Atomic uint32_t *refused);

/* Requests room for the names of `heaps` heaps, and waits a bounded time for
 * it. */
void recorder_want_heaps(struct gl_shared *shared, uint32_t heaps);

/* Whether the recorder still lives. */
bool recorder_alive(const struct producer *p);

/* Called by a thread that finds the recorder dead: if it was killed, the
 * recording ends here, which is reported once. Any thread. */
void recorder_lost(struct producer *p);

/* Of all processes forked from here, only one prints: a message about one child
 * (a changed root directory) mostly applies to all. producer_may_report:
 * whether this process may; producer_has_reported: it has. */
bool producer_may_report(const struct producer *p);
void producer_has_reported(const struct producer *p);

/* Checks a thread with its ring, its struct gl_thread and its reasons for the
 * slow branch. With GNOMON_DEBUG_ASSERTS. */
bool producer_thread_is_valid(const struct producer *p,
			      const struct thread *thread);

#endif
