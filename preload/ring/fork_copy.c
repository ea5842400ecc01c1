/*
 * fork_copy.c: see fork_copy.h.
 *
 *	two mappings, made before the fork: a plan with the addresses of the
 *	parts, and
 *
 *	| marks | area: what is used | shared | images | rings' headers | nodes |
 *	                  │              └───────────────┬──────────────────┘
 *	child:            ▼                              ▼
 *	              the area       private pages at the live mapping's addresses
 *
 * The area and the nodes are in pieces. The area's used part is sparse: a mark
 * for each page says whether it is in the copy.
 *
 * The contents of rings are not copied: hooks only write there.
 *
 * Other threads of the parent continue meanwhile. So copies of their data may
 * be inconsistent, as after a fork at any other moment; the data of the caller
 * is as it left it.
 *
 * I1: static data here, except fork_copy_forking, is set in a child before it
 * has a second thread, and later only by the thread that forked.
 */
#include "preload/ring/fork_copy.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "preload/base/ban.h"
#include "preload/base/sys.h"
#include "preload/ring/area.h"
#include "preload/ring/live_map.h"
#include "preload/ring/ring.h"

#define FORK_COPY_PAGE 4096

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

const struct thread *fork_copy_thread;
static uint64_t fork_copy_skipped;	/* events of that thread so far */

/* Thread pointer of the thread between fork_copy_take and fork_copy_place; 0:
 * none. Of several, the first. */
static _Atomic uintptr_t fork_copy_forking;

/* Private pages replace the parent's live mapping. */
static bool fork_copy_filled;

/* Parts of the area, then of the live mapping. */
#define FORK_COPY_PARTS (GL_AREA_PIECES + 3 + GL_PIECES)

struct fork_copy_plan {
	struct live_range part[FORK_COPY_PARTS];
	unsigned areas, parts;	/* of the area; in all */
	char *at;		/* marks, followed by the copies */
	uint64_t size, marks_size;
};

static bool fork_copy_inside(uintptr_t sp)
{
	const struct thread *thread = producer_tls;

	return thread && thread->own && !ring_idle(thread->own) &&
	       !ring_stale(thread, thread->own, sp);
}

static bool fork_copy_is_on(const struct producer *p)
{
	/* pairs with the release of start_undisturbed: p->live */
	return atomic_load_explicit(&p->state, memory_order_acquire) ==
		       PRODUCER_ON &&
	       p->live;
}

static void fork_copy_add(struct fork_copy_plan *plan, void *at, uint64_t bytes)
{
	ASSERT(plan->parts < FORK_COPY_PARTS);
	plan->part[plan->parts++] = (struct live_range){ at, bytes };
}

static void fork_copy_find_area(struct fork_copy_plan *plan)
{
	struct area_range piece;

	while (area_piece(plan->parts, &piece))
		fork_copy_add(plan, piece.at, piece.taken);
	plan->areas = plan->parts;
}

static void fork_copy_find_nodes(struct fork_copy_plan *plan, uint64_t bytes)
{
	unsigned i;

	for (i = 0; i < GL_PIECES; i++) {
		uint64_t start = gl_piece_start(GL_NODES_FIRST, i);
		char *at = start < bytes ? live_map_piece(LIVE_NODES, i) :
					   NULL;

		if (!at)
			return;
		fork_copy_add(plan, at,
			      base_min(bytes, gl_piece_start(GL_NODES_FIRST,
							     i + 1)) -
				      start);
	}
}

/* Finds the parts that hooks may read: only reserved pages. */
static void fork_copy_find(struct fork_copy_plan *plan, struct producer *p)
{
	const struct gl_header *h = p->live;
	char *live = (char *)p->live;
	uint64_t nodes = base_min(
		atomic_load_explicit(&h->node_count, memory_order_acquire),
		atomic_load_explicit(&h->node_limit, memory_order_acquire));
	uint64_t images = base_min(
		atomic_load_explicit(&h->image_count, memory_order_acquire),
		atomic_load_explicit(&p->shared->image_limit,
				     memory_order_acquire));
	uint64_t rings = atomic_load_explicit(&h->ring_count,
					      memory_order_acquire);

	fork_copy_add(plan, live, h->shared_offset + GL_SHARED_FIRST);
	fork_copy_add(plan, live + h->images_offset,
		      images * sizeof(struct gl_image));
	fork_copy_add(plan, live + h->rings_offset,
		      h->data_offset - h->rings_offset +
			      rings * sizeof(struct gl_ring));
	fork_copy_find_nodes(plan, nodes * sizeof(struct gl_node));
}

static uint64_t fork_copy_pages_of(uint64_t bytes)
{
	return base_round_up(bytes, FORK_COPY_PAGE) / FORK_COPY_PAGE;
}

/*
 * Marks the used pages of the area, which are few. The kernel does not
 * distinguish untouched pages from swapped ones: if anything is swapped, all
 * pages are read, which takes milliseconds.
 */
static void fork_copy_mark(const struct fork_copy_plan *plan)
{
	uint8_t *marks = (uint8_t *)plan->at;
	bool known = unwind_may(SECCOMP_NO_PAGES);
	struct sysinfo system;
	unsigned i;

	/* in this order: a page may be swapped out in between */
	for (i = 0; i < plan->areas && known; i++) {
		known = !arch_syscall3(__NR_mincore, (long)plan->part[i].at,
				       plan->part[i].bytes, (long)marks);
		marks += fork_copy_pages_of(plan->part[i].bytes);
	}
	if (!known || arch_syscall1(__NR_sysinfo, (long)&system) ||
	    system.freeswap != system.totalswap)
		memset(plan->at, 1, plan->marks_size);
}

static void fork_copy_marked(const char *marks, char *to, const char *from,
			     uint64_t bytes)
{
	uint64_t pages = fork_copy_pages_of(bytes), i;

	for (i = 0; i < pages; i++)
		if (marks[i])
			memcpy(to + i * FORK_COPY_PAGE,
			       from + i * FORK_COPY_PAGE, FORK_COPY_PAGE);
}

/* Copies between the parts and the mapping, in either direction. */
static void fork_copy_move(struct fork_copy_plan *plan, bool back)
{
	char *at = plan->at + plan->marks_size, *marks = plan->at;
	unsigned i;

	for (i = 0; i < plan->parts; i++) {
		char *home = plan->part[i].at;
		uint64_t bytes = plan->part[i].bytes;
		char *to = back ? home : at, *from = back ? at : home;

		if (i < plan->areas)
			fork_copy_marked(marks, to, from, bytes);
		else
			memcpy(to, from, bytes);
		marks += fork_copy_pages_of(bytes);
		at += base_round_up(bytes, FORK_COPY_PAGE);
	}
	DEBUG_ASSERT(at == plan->at + plan->size);
}

static void *fork_copy_map(void *at, uint64_t size, int more)
{
	long got = sys_mmap(at, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | more,
			    -1, 0);

	return sys_failed(got) ? NULL : (void *)got;
}

/* Maps memory for the copies of the plan. */
static bool fork_copy_make_room(struct fork_copy_plan *plan)
{
	uint64_t pages = 0;
	unsigned i;

	for (i = 0; i < plan->parts; i++) {
		plan->size += base_round_up(plan->part[i].bytes,
					    FORK_COPY_PAGE);
		if (i + 1 == plan->areas)
			pages = plan->size / FORK_COPY_PAGE;
	}
	plan->marks_size = base_round_up(pages, FORK_COPY_PAGE);
	plan->size += plan->marks_size;
	plan->at = fork_copy_map(NULL, plan->size, 0);
	return plan->at != NULL;
}

void fork_copy_take(struct fork_copy *copy, uintptr_t sp)
{
	struct producer *p = producer;
	uintptr_t nobody = 0;

	memset(copy, 0, sizeof(*copy));
	if (!p || !unwind_may(UNWIND_NO_FILES | UNWIND_NO_IDS |
			      UNWIND_NO_ADVICE))
		return;
	if (!fork_copy_thread) {
		if (!fork_copy_is_on(p) || sys_getpid() != p->pid)
			return;
		copy->live = true;
	}
	if (!fork_copy_inside(sp))
		return;
	copy->plan = fork_copy_map(NULL, sizeof(*copy->plan), 0);
	if (!copy->plan)
		return;
	fork_copy_find_area(copy->plan);
	/* else the parent's private copies are inherited */
	if (copy->live)
		fork_copy_find(copy->plan, p);
	if (!fork_copy_make_room(copy->plan)) {
		fork_copy_drop(copy);
		return;
	}
	fork_copy_mark(copy->plan);
	fork_copy_move(copy->plan, false);
	/* pthread_atfork handlers may allocate in the child */
	atomic_compare_exchange_strong_explicit(
		&fork_copy_forking, &nobody, arch_thread_pointer(),
		memory_order_relaxed, memory_order_relaxed);
}

void fork_copy_drop(struct fork_copy *copy)
{
	struct fork_copy_plan *plan = copy->plan;
	uintptr_t own = arch_thread_pointer();

	atomic_compare_exchange_strong_explicit(
		&fork_copy_forking, &own, 0, memory_order_relaxed,
		memory_order_relaxed);
	copy->plan = NULL;
	if (!plan)
		return;
	if (plan->at)
		sys_munmap(plan->at, plan->size);
	sys_munmap(plan, sizeof(*plan));
}

static bool fork_copy_fill_range(const struct live_range *range)
{
	void *at = fork_copy_map(range->at, range->bytes, MAP_FIXED_NOREPLACE);

	if (!at)
		return false;
	if (at != range->at) {
		/* kernels before 4.17 take the address as a hint */
		sys_munmap(at, range->bytes);
		return false;
	}
	sys_madvise(at, range->bytes, MADV_DONTDUMP);
	return true;
}

static void fork_copy_empty(void)
{
	struct live_range range[GL_LIVE_RANGES];
	unsigned count = live_map_ranges(range);

	while (count--)
		sys_munmap(range[count].at, range[count].bytes);
	live_map_forget();
}

/* Fills the addresses of the live mapping, which are free unless the kernel
 * could not exclude the mapping from children. Returns whether private pages
 * are there now. */
static bool fork_copy_fill(const struct fork_copy *copy)
{
	struct live_range range[GL_LIVE_RANGES];
	unsigned count, i;

	if (!copy->live)
		return fork_copy_thread != NULL;
	count = live_map_ranges(range);
	for (i = 0; i < count; i++)
		if (!fork_copy_fill_range(&range[i])) {
			while (i--)
				sys_munmap(range[i].at, range[i].bytes);
			live_map_forget();
			return false;
		}
	fork_copy_filled = true;
	return true;
}

/*
 * An emulator may claim that it excludes mappings from children, and not do it,
 * as user mode qemu 7.2 does. Then the child has the parent's recorder, and
 * this function does what the kernel would have done. On a real kernel the area
 * is wiped in every child that gets here, so it has no pid. Private pages in
 * place of the live mapping are inherited in either case.
 */
static void fork_copy_part(const struct producer *p)
{
	struct live_range range[GL_LIVE_RANGES];
	unsigned count;

	if (!p || likely(!p->pid) || !unwind_may(UNWIND_NO_IDS) ||
	    sys_getpid() == p->pid)
		return;
	count = p->live && !fork_copy_filled ? live_map_ranges(range) : 0;
	while (count--)
		sys_munmap(range[count].at, range[count].bytes);
	area_wipe();
}

void fork_copy_place(struct fork_copy *copy)
{
	struct producer *p = producer;
	bool fresh;
	unsigned i;

	fork_copy_part(p);
	fresh = p && atomic_load_explicit(&p->state, memory_order_relaxed) ==
			     PRODUCER_NEW;
	/* an old copy: a fork without hooks happened meanwhile */
	if (fresh && fork_copy_fill(copy) && copy->plan) {
		fork_copy_move(copy->plan, true);
		atomic_store_explicit(&p->shared->gate, 0,
				      memory_order_relaxed);
		/* a ring that was made meanwhile may be missing in the copy */
		for (i = 0; i < RECORDER_POOLS; i++)
			atomic_store_explicit(&p->shared->ring_free[i], 0,
					      memory_order_relaxed);
		atomic_store_explicit(&p->shared->recorder_tid, 0,
				      memory_order_relaxed);
		atomic_store_explicit(&p->state, PRODUCER_OFF,
				      memory_order_relaxed);
		producer_tls->ring = NULL;
		fork_copy_thread = producer_tls;
		fork_copy_skipped = 0;
	} else {
		fork_copy_thread = NULL;
	}
	fork_copy_drop(copy);
	/* any other thread is not in this process */
	atomic_store_explicit(&fork_copy_forking, 0, memory_order_relaxed);
}

void fork_copy_scan(uintptr_t sp)
{
	const struct thread *thread = producer_tls;

	if (thread == fork_copy_thread && thread->own &&
	    !ring_idle(thread->own) && ring_stale(thread, thread->own, sp))
		ring_leave(thread->own);
}

/* Whether the thread is inside fork, in the child: the copies are placed
 * later. */
static bool fork_copy_waits(void)
{
	return atomic_load_explicit(&fork_copy_forking,
				    memory_order_relaxed) ==
		       arch_thread_pointer() &&
	       atomic_load_explicit(&producer->state, memory_order_relaxed) ==
		       PRODUCER_NEW;
}

bool fork_copy_over(const struct thread *thread)
{
	if (likely(!fork_copy_thread))
		return likely(!fork_copy_forking) || !fork_copy_waits();
	if (thread != fork_copy_thread || !unwind_may(SECCOMP_NO_START) ||
	    (thread->own && !ring_idle(thread->own))) {
		fork_copy_skipped++;
		return false;
	}
	area_wipe();
	atomic_store_explicit(&producer->skipped, fork_copy_skipped,
			      memory_order_relaxed);
	fork_copy_thread = NULL;
	return true;
}

void fork_copy_forget(void)
{
	if (fork_copy_filled)
		fork_copy_empty();
	fork_copy_filled = false;
	live_map_forget();
}
