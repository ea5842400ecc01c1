/*
 * fork_copy.c: see fork_copy.h.
 *
 *	one mapping, made before the fork:
 *
 *	| marks | area: what is used | header | images | nodes | rings' headers |
 *	                  │              └──────────────┬────────────────┘
 *	child:            ▼                             ▼
 *	              the area        private pages at the live mapping's address
 *
 * The area's used part is sparse: a mark for each page says whether it is in
 * the copy.
 *
 * What rings hold is not copied: hooks only write there.
 *
 * Other threads of the parent go on meanwhile. So the copies of what they write
 * may not fit together, as after a fork at any other moment of theirs; what the
 * caller itself works on is as it left it.
 *
 * I1: static data here, but for fork_copy_forking, is set in a child before it
 *     has a second thread, and later only by the thread that forked.
 */
#include "preload/ring/fork_copy.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "preload/base/ban.h"
#include "preload/base/sys.h"
#include "preload/ring/area.h"
#include "preload/ring/ring.h"

#define FORK_COPY_PAGE 4096

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

const struct thread *fork_copy_thread;
static uint64_t fork_copy_skipped;	/* events of that thread so far */

/* Thread pointer of who is between taking a copy and placing it; 0: nobody. Of
 * several at once, the first. */
static _Atomic uintptr_t fork_copy_forking;

/* What lies in place of the parent's live mapping. */
static struct fork_copy_range fork_copy_pages;

static bool fork_copy_inside(uintptr_t sp)
{
	const struct thread *thread = recorder_tls;

	return thread && thread->own && !ring_idle(thread->own) &&
	       !ring_stale(thread, thread->own, sp);
}

static bool fork_copy_is_on(const struct recorder *r)
{
	/* pairs with the release of start_undisturbed: r->live */
	return atomic_load_explicit(&r->state, memory_order_acquire) ==
		       RECORDER_ON &&
	       r->live;
}

static struct fork_copy_range fork_copy_area(void)
{
	return (struct fork_copy_range){ (char *)recorder, area_used() };
}

/* As much of each as hooks may look at: only pages that are reserved. */
static void fork_copy_find(struct fork_copy *copy, struct recorder *r)
{
	const struct gl_header *h = r->live;
	char *live = (char *)r->live;
	uint64_t nodes = base_min(
		atomic_load_explicit(&h->node_count, memory_order_acquire),
		atomic_load_explicit(&h->node_limit, memory_order_acquire));
	uint64_t images = base_min(
		atomic_load_explicit(&h->image_count, memory_order_acquire),
		atomic_load_explicit(&r->shared->image_limit,
				     memory_order_acquire));
	uint64_t rings = atomic_load_explicit(&h->ring_count,
					      memory_order_acquire);

	copy->part[FORK_COPY_AREA] = fork_copy_area();
	copy->part[FORK_COPY_SHARED].at = live;
	copy->part[FORK_COPY_SHARED].bytes =
		h->shared_offset + GL_SHARED_FIRST;
	copy->part[FORK_COPY_IMAGES].at = live + h->images_offset;
	copy->part[FORK_COPY_IMAGES].bytes = images * sizeof(struct gl_image);
	copy->part[FORK_COPY_NODES].at = live + h->nodes_offset;
	copy->part[FORK_COPY_NODES].bytes = nodes * sizeof(struct gl_node);
	copy->part[FORK_COPY_RINGS].at = live + h->rings_offset;
	copy->part[FORK_COPY_RINGS].bytes = h->data_offset - h->rings_offset +
					    rings * sizeof(struct gl_ring);
}

static uint64_t fork_copy_pages_of(uint64_t bytes)
{
	return base_round_up(bytes, FORK_COPY_PAGE) / FORK_COPY_PAGE;
}

/*
 * Marks the pages of the area that are in use, which are few. The kernel does
 * not tell untouched pages from swapped ones: where anything is swapped, all
 * are looked at, which takes milliseconds.
 */
static void fork_copy_mark(const struct fork_copy *copy)
{
	const struct fork_copy_range *area = &copy->part[FORK_COPY_AREA];
	uint8_t *marks = (uint8_t *)copy->at;
	struct sysinfo system;

	/* in this order: a page may be swapped out in between */
	if (!unwind_may(SECCOMP_NO_PAGES) ||
	    arch_syscall3(__NR_mincore, (long)area->at, area->bytes,
			  (long)marks) ||
	    arch_syscall1(__NR_sysinfo, (long)&system) ||
	    system.freeswap != system.totalswap)
		memset(marks, 1, fork_copy_pages_of(area->bytes));
}

static void fork_copy_area_bytes(const struct fork_copy *copy, char *to,
				 const char *from)
{
	uint64_t pages = fork_copy_pages_of(copy->part[FORK_COPY_AREA].bytes);
	uint64_t i;

	for (i = 0; i < pages; i++)
		if (copy->at[i])
			memcpy(to + i * FORK_COPY_PAGE,
			       from + i * FORK_COPY_PAGE, FORK_COPY_PAGE);
}

/* Between where the parts belong and the mapping, one way or the other. */
static void fork_copy_move(struct fork_copy *copy, bool back)
{
	char *at = copy->at + copy->marks_size;
	unsigned i;

	for (i = 0; i < FORK_COPY_PARTS; i++) {
		char *home = copy->part[i].at;
		uint64_t bytes = copy->part[i].bytes;
		char *to = back ? home : at, *from = back ? at : home;

		if (i == FORK_COPY_AREA)
			fork_copy_area_bytes(copy, to, from);
		else
			memcpy(to, from, bytes);
		at += base_round_up(bytes, FORK_COPY_PAGE);
	}
}

static void *fork_copy_map(void *at, uint64_t size, int more)
{
	long got = sys_mmap(at, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | more,
			    -1, 0);

	return sys_failed(got) ? NULL : (void *)got;
}

void fork_copy_take(struct fork_copy *copy, uintptr_t sp)
{
	struct recorder *r = recorder;
	uintptr_t nobody = 0;
	unsigned i;

	memset(copy, 0, sizeof(*copy));
	if (!r || !unwind_may(SECCOMP_NO_FILES | UNWIND_NO_IDS |
			      UNWIND_NO_ADVICE))
		return;
	if (!fork_copy_thread) {
		if (!fork_copy_is_on(r) || sys_getpid() != r->pid)
			return;
		copy->live.at = (char *)r->live;
		copy->live.bytes = r->live->size;
	}
	if (!fork_copy_inside(sp))
		return;
	if (copy->live.bytes)
		fork_copy_find(copy, r);
	else	/* the other copies are inherited as they are */
		copy->part[FORK_COPY_AREA] = fork_copy_area();
	copy->marks_size = base_round_up(
		fork_copy_pages_of(copy->part[FORK_COPY_AREA].bytes),
		FORK_COPY_PAGE);
	copy->size = copy->marks_size;
	for (i = 0; i < FORK_COPY_PARTS; i++)
		copy->size += base_round_up(copy->part[i].bytes,
					    FORK_COPY_PAGE);
	copy->at = fork_copy_map(NULL, copy->size, 0);
	if (!copy->at)
		return;
	fork_copy_mark(copy);
	fork_copy_move(copy, false);
	/* what pthread_atfork was given may allocate in the child */
	atomic_compare_exchange_strong_explicit(
		&fork_copy_forking, &nobody, arch_thread_pointer(),
		memory_order_relaxed, memory_order_relaxed);
}

void fork_copy_drop(struct fork_copy *copy)
{
	uintptr_t own = arch_thread_pointer();

	atomic_compare_exchange_strong_explicit(
		&fork_copy_forking, &own, 0, memory_order_relaxed,
		memory_order_relaxed);
	if (copy->at)
		sys_munmap(copy->at, copy->size);
	copy->at = NULL;
}

/* Nothing is where the live mapping was, unless the kernel did not know how to
 * keep it from children. Whether there are private pages now. */
static bool fork_copy_fill(const struct fork_copy *copy)
{
	void *at;

	if (!copy->live.bytes)
		return fork_copy_thread != NULL;
	at = fork_copy_map(copy->live.at, copy->live.bytes,
			   MAP_FIXED_NOREPLACE);
	if (!at)
		return false;
	if (at != copy->live.at) {
		/* kernels before 4.17 take it for a wish */
		sys_munmap(at, copy->live.bytes);
		return false;
	}
	sys_madvise(at, copy->live.bytes, MADV_DONTDUMP);
	fork_copy_pages = copy->live;
	return true;
}

void fork_copy_place(struct fork_copy *copy)
{
	struct recorder *r = recorder;
	bool fresh = r && atomic_load_explicit(&r->state,
					       memory_order_relaxed) ==
				  RECORDER_NEW;
	unsigned i;

	/* one that is not fresh made a fork that was not seen meanwhile */
	if (fresh && fork_copy_fill(copy) && copy->at) {
		fork_copy_move(copy, true);
		atomic_store_explicit(&r->shared->gate, 0,
				      memory_order_relaxed);
		/* a ring that was made meanwhile may not be in the copy */
		for (i = 0; i < RECORDER_POOLS; i++)
			atomic_store_explicit(&r->shared->ring_free[i], 0,
					      memory_order_relaxed);
		atomic_store_explicit(&r->shared->recorder_tid, 0,
				      memory_order_relaxed);
		atomic_store_explicit(&r->state, RECORDER_OFF,
				      memory_order_relaxed);
		recorder_tls->ring = NULL;
		fork_copy_thread = recorder_tls;
		fork_copy_skipped = 0;
	} else {
		fork_copy_thread = NULL;
	}
	fork_copy_drop(copy);
	/* whoever else it was, is not in this process */
	atomic_store_explicit(&fork_copy_forking, 0, memory_order_relaxed);
}

void fork_copy_look(uintptr_t sp)
{
	const struct thread *thread = recorder_tls;

	if (thread == fork_copy_thread && thread->own &&
	    !ring_idle(thread->own) && ring_stale(thread, thread->own, sp))
		ring_leave(thread->own);
}

/* Whether this is called by a fork, in the child: the copies come later. */
static bool fork_copy_waits(void)
{
	return atomic_load_explicit(&fork_copy_forking,
				    memory_order_relaxed) ==
		       arch_thread_pointer() &&
	       atomic_load_explicit(&recorder->state, memory_order_relaxed) ==
		       RECORDER_NEW;
}

bool fork_copy_over(const struct thread *thread)
{
	uint64_t used;

	if (likely(!fork_copy_thread))
		return likely(!fork_copy_forking) || !fork_copy_waits();
	if (thread != fork_copy_thread || !unwind_may(SECCOMP_NO_START) ||
	    (thread->own && !ring_idle(thread->own))) {
		fork_copy_skipped++;
		return false;
	}
	used = area_used();
	/* locked memory is not given back */
	if (sys_madvise(recorder, area_size_bytes(), MADV_DONTNEED))
		memset(recorder, 0, used);
	atomic_store_explicit(&recorder->skipped, fork_copy_skipped,
			      memory_order_relaxed);
	fork_copy_thread = NULL;
	return true;
}

void fork_copy_forget(void)
{
	if (fork_copy_pages.bytes)
		sys_munmap(fork_copy_pages.at, fork_copy_pages.bytes);
	fork_copy_pages.bytes = 0;
}
