/*
 * gu_api.c: captures and walks: the functions of gnomon/unwind.h except
 * initialisation (gu_start.c) and statistics (gu_describe.c). An embedder of
 * the unwinder.
 *
 *	gu_capture ─ thread's state idle ─▶ capture_stack_fast
 *	     └ else ─▶ initialised? ─▶ state found or made ─▶ capture_stack_fast
 *	                  │             └ busy, none ─▶ capture_stack_plain
 *	                  └ no ─▶ GU_STOP_EARLY
 *
 * I1  No function of unwind/ is called before gu_ready() returned true.
 * I2  Only the holder of a thread's mark `busy` uses the thread's capture
 *     state.
 * I3  A node's parent has a lower id: expanding ends for any argument.
 *
 * Thread context: as gnomon/unwind.h says of each function.
 */
#include "library/gnomon/unwind.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "arch.h"
#include "entry.h"
#include "library/gu_start.h"
#include "library/gu_threads.h"
#include "signal_frame.h"
#include "unwind/base/context.h"
#include "unwind/capture_fast.h"
#include "unwind/image/image.h"
#include "unwind/stack.h"
#include "unwind/walk.h"

#define SLOW __attribute__((noinline, cold))

/* The caller of a public function; to be used in that function itself. */
#define CALLER_RA ARCH_CALLER_RA
#define CALLER_SP ARCH_CALLER_SP
#define CALLER_FP ARCH_CALLER_FP

#define ENTERED(name) extern __typeof__(name) name ARCH_ENTRY(name)
ENTERED(gu_capture);
ENTERED(gu_capture_ucontext);
ENTERED(gu_walk);

/* The slow case: does whatever is missing. */
static SLOW uint32_t capture_otherwise(uintptr_t ra, uintptr_t sp,
				       uintptr_t fp)
{
	struct gu_thread *t;
	uint32_t context;
	bool left;

	if (!gu_ready())
		return GT_STOP_EARLY;
	t = gu_threads_self(sp, ra);
	if (!t || !t->capture ||
	    !gu_mark_take(&t->busy, t->capture, sp, ra, &left))
		return capture_stack_plain(t ? t->capture : NULL, ra, sp, fp);
	if (left)	/* the cache may be half written */
		capture_thread_reset(t->capture, t->is_main);
	context = capture_stack_fast(t->capture, ra, sp, fp);
	gu_mark_release(&t->busy);
	return context;
}

/* Such a thread's state belongs to this process (gu_area.c, I1), and has passed
 * the slow case. */
static bool is_idle(const struct gu_thread *t)
{
	return t && atomic_load_explicit(&t->busy.sp, memory_order_relaxed) ==
			    GU_IDLE && t->capture;
}

uint32_t gu_capture(void)
{
	uintptr_t ra = CALLER_RA, sp = CALLER_SP, fp = CALLER_FP;
	struct gu_thread *t = gu_threads_own();
	uint32_t context;

	if (__builtin_expect(!is_idle(t), 0)) {
		context = capture_otherwise(ra, sp, fp);
	} else {
		gu_mark_enter(&t->busy, ra, sp);
		context = capture_stack_fast(t->capture, ra, sp, fp);
		gu_mark_release(&t->busy);
	}
	/* no tail call: the walk of our own frames begins below us */
	__asm__ volatile("" ::: "memory");
	return context;
}

static void store_stop(uint32_t *stop, uint32_t value)
{
	if (stop)
		*stop = value;
}

/*
 * Walks outward from *regs, whose pc is an instruction about to run. Passes pc
 * plus one as the return address, so that walk_full looks up pc itself, and
 * stores what the tree stores for a frame beyond a signal frame. (Only the PLT
 * rule depends on the pc, and it is the same for all pcs of one instruction.)
 */
static uint32_t walk_regs(struct arch_regs *regs, uintptr_t *addresses,
			  uint32_t max, enum gt_stop *stop)
{
	uintptr_t ra = ++regs->r[ARCH_REG_PC];

	return walk_full(regs, ra, regs->r[ARCH_REG_SP], 0, 0, addresses, max,
			 stop);
}

/* The buffer for one walk in a signal handler; NULL: none is available. */
static uintptr_t *samples_take(struct gu_thread *t, uintptr_t sp, uintptr_t ra)
{
	bool left;

	if (!t || !gu_mark_take(&t->sampling, t->capture, sp, ra, &left))
		return NULL;
	if (!t->samples)
		t->samples = gu_area_alloc(GU_SAMPLES_MAX *
					   sizeof(*t->samples));
	if (!t->samples)
		gu_mark_release(&t->sampling);
	return t->samples;
}

uint32_t gu_capture_ucontext(const void *ucontext)
{
	uintptr_t sp = CALLER_SP, ra = CALLER_RA;
	struct gu_thread *t;
	struct arch_regs regs;
	uintptr_t *addresses;
	enum gt_stop stop;
	uint32_t n, context;

	if (!gu_ready())
		return GT_STOP_EARLY;
	t = gu_threads_self(sp, ra);
	addresses = samples_take(t, sp, ra);
	if (!addresses)
		return GT_STOP_NO_MEMORY;
	arch_regs_from_ucontext(&regs, ucontext);
	n = walk_regs(&regs, addresses, GU_SAMPLES_MAX, &stop);
	context = context_of(addresses, n, stop);
	gu_mark_release(&t->sampling);
	return context;
}

/* Walks by cached rules if sp is on the thread's own stack; 0: it is not. The
 * caller has the mark. */
static uint32_t walk_own(struct gu_thread *t, struct walk_start *start,
			 uintptr_t *addresses, uint32_t max, enum gt_stop *stop)
{
	uint64_t hash;

	if (!stack_is_base(t->capture, start->sp))
		return 0;
	start->hi = t->capture->hi;
	return walk_addresses(start, addresses, max, stop, &hash);
}

/* The slow case of gu_walk: does whatever walk_own lacks. */
static SLOW uint32_t walk_otherwise(struct walk_start *start,
				    uintptr_t *addresses, uint32_t max,
				    enum gt_stop *stop)
{
	struct gu_thread *t;
	struct arch_regs regs;
	uint32_t n = 0;
	bool left;

	*stop = GT_STOP_EARLY;
	if (!gu_ready())
		return 0;
	t = gu_threads_self(start->sp, start->ra);
	if (t && t->capture && max > 0 &&
	    gu_mark_take(&t->busy, t->capture, start->sp, start->ra, &left)) {
		if (left)	/* the cache may be half written */
			capture_thread_reset(t->capture, t->is_main);
		n = walk_own(t, start, addresses, max, stop);
		gu_mark_release(&t->busy);
	}
	if (n > 0)
		return n;
	arch_capture_regs(&regs);
	return walk_full(&regs, start->ra, start->sp, 0, 0, addresses, max,
			 stop);
}

size_t gu_walk(uintptr_t *addresses, size_t max, uint32_t *stop)
{
	struct walk_start start = { CALLER_RA, CALLER_SP, CALLER_FP, 0 };
	uint32_t most = max < UINT32_MAX ? (uint32_t)max : UINT32_MAX, n = 0;
	struct gu_thread *t = gu_threads_own();
	enum gt_stop why;

	if (__builtin_expect(is_idle(t), 1)) {
		gu_mark_enter(&t->busy, start.ra, start.sp);
		n = walk_own(t, &start, addresses, most, &why);
		gu_mark_release(&t->busy);
	}
	if (__builtin_expect(n == 0, 0))
		n = walk_otherwise(&start, addresses, most, &why);
	store_stop(stop, why);
	return n;
}

size_t gu_walk_ucontext(const void *ucontext, uintptr_t *addresses, size_t max,
			uint32_t *stop)
{
	enum gt_stop why = GT_STOP_EARLY;
	struct arch_regs regs;
	size_t n = 0;

	if (gu_ready()) {
		arch_regs_from_ucontext(&regs, ucontext);
		n = walk_regs(&regs, addresses,
			      max < UINT32_MAX ? (uint32_t)max : UINT32_MAX,
			      &why);
	}
	store_stop(stop, why);
	return n;
}

/* NULL: no id, or an id without a frame. */
static const struct gl_node *api_node(uint32_t id)
{
	/* Pairs with the exchange that gave the id. */
	if (id < GT_STOP_COUNT ||
	    id >= atomic_load_explicit(&gu_node_count, memory_order_acquire))
		return NULL;
	return &gu_nodes[id];
}

uintptr_t gu_address(uint32_t context)
{
	const struct gl_node *node = api_node(context);

	return node ? node->address : 0;
}

uint32_t gu_parent(uint32_t context)
{
	const struct gl_node *node = api_node(context);

	if (node && node->parent < context)	/* I3 */
		return node->parent;
	return context < GT_STOP_COUNT ? context : GT_STOP_OTHER;
}

size_t gu_expand(uint32_t context, uintptr_t *addresses, size_t max,
		 uint32_t *stop)
{
	size_t n = 0;

	for (; api_node(context) && n < max; context = gu_parent(context))
		addresses[n++] = gu_address(context);
	if (api_node(context))
		context = GT_STOP_TOO_DEEP;
	store_stop(stop, context < GT_STOP_COUNT ? context : GT_STOP_OTHER);
	return n;
}

size_t gu_depth(uint32_t context)
{
	size_t n = 0;

	for (; api_node(context); context = gu_parent(context))
		n++;
	return n;
}

int gu_reload(void)
{
	bool changed;

	if (!gu_ready())
		return -EINVAL;
	/* Captures that see the new generation drop their caches ... */
	atomic_fetch_add_explicit(&image_generation, 1,
				  memory_order_release);
	/* ... and walks, which have no cache, find the current list. */
	return image_refresh(&changed) ? 0 : -EAGAIN;
}

void gu_thread_end(void)
{
	if (gu_ready())
		gu_threads_leave();
}
