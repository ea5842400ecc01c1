/*
 * placement.c: decides which return addresses become barriers.
 *
 *	frames[1]                                      frames[count - 1]
 *	outermost ──────── far ─────── far ──── near ─── distance ──▶ innermost
 *
 * A barrier costs a mispredicted return, and paths through its slot must be
 * learned again. It saves comparing all words outward of it, which pays only
 * for stacks that do not fit into a path. So one is placed where at least
 * BEYOND frames lie between it and the next barrier outward. In very deep
 * stacks more are placed further out, at distances that grow fourfold: when the
 * innermost has been returned through, the next is not far (as stack barriers
 * of Go 1.5 to 1.8 were spaced). A barrier that is returned through soon moves
 * outward, unless joins met it often; one that stands long moves inward.
 *
 * No barrier is placed (docs/notes/capture.md gives the reasons): near the
 * hook, in the loader and the C library, into and out of frames whose rule is
 * not plain, outside images with rules, in threads whose stacks pass through
 * code of no image, in a child of vfork, while a mapped image forbids barriers
 * (image_forbidden_why), and where a return leads into a frame that may contain
 * an exception handler.
 *
 * The last case is due to libgcc. Its phase 1 searches the handler's frame and
 * records it by the stack pointer that its callee's return leaves; phase 2 runs
 * the cleanups on the way, and recognises the frame by that stack pointer. A
 * cleanup may allocate, and so place a barrier. If it replaced the return into
 * the handler's frame, the stub's own frame would be the first with that stack
 * pointer, and no unwind table of ours could change it. That frame has no
 * handler, and libgcc aborts. Likewise a barrier that stood in phase 1 must not
 * be removed in phase 2. We cannot detect that a cleanup runs in phase 2, as
 * the unwinder's frames are gone then. But whether phase 1 may have stopped at
 * a frame depends on its return address alone (lsda.h).
 *
 * Thread context: the thread that owns the state; not reentrant.
 */
#include <stdatomic.h>
#include <asm/unistd.h>

#include "unwind/barrier.h"
#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/hardware_stack.h"
#include "unwind/image/image.h"
#include "unwind/image/lsda.h"
#include "unwind/path.h"
#include "unwind/placement.h"
#include "unwind/shadow.h"

#define DISTANCE_FIRST 16u	/* frames further in never get a barrier */
#define DISTANCE_MAX 192u
#define BEYOND 10u
#define FAR_TIMES 8u		/* times the distance: the next barrier
				 * outward */
#define FAR_GROWTH 4u
#define TRIES 8u		/* frames further out to try, where one is
				 * forbidden */
/* 8 us: losing a barrier costs 0.1, and some paths must be learned again. */
#define AGE_SHORT (8 * ARCH_TICKS_PER_US)
#define SAVED_FEW 2000u	/* comparisons saved, at 0.3 ns each: the cost of
				 * losing a barrier and placing the next */
#define AGE_LONG (800 * ARCH_TICKS_PER_US)
#define VERDICT_BITS 10		/* 8 KB */

static struct {
	enum capture_mode mode;
	enum gt_mode_why why;	/* GT_WHY_DEFAULT: barriers are allowed */
	bool oracle;
	uint32_t near;
	long pid;
} placement;

/*
 * A cache of lsda_may_catch's results, which take some 0.4 us, more in large
 * functions, while barriers are placed at the same returns again and again. A
 * word is a return address << 1 | result, or 0; all are of one value of
 * image_generation.
 */
static struct {
	_Atomic uint64_t word[1u << VERDICT_BITS];
	_Atomic uint32_t generation;
} verdicts;

void placement_init(const struct capture_config *config)
{
	placement.mode = config->mode;
	placement.oracle = config->oracle > 0;
	placement.near = config->barrier_near;
	placement.pid = arch_syscall0(__NR_getpid);
	placement.why = config->forbidden_why;
	if (config->mode != CAPTURE_AUTO)
		placement.why = GT_WHY_ASKED;
	else if (placement.why == GT_WHY_DEFAULT && !barrier_init())
		placement.why = GT_WHY_STUBS;
}

static void set_why(struct capture_thread *t, enum gt_mode_why why)
{
	ASSERT(why < GT_WHY_COUNT);
	t->mode = why == GT_WHY_DEFAULT ? GT_MODE_BARRIERS : GT_MODE_VALIDATE;
	if (placement.mode == CAPTURE_OFF)
		t->mode = GT_MODE_OFF;
	t->joins = t->mode != GT_MODE_OFF && !placement.oracle;
	t->report->mode = t->mode;
	t->report->why = why;
	DEBUG_ASSERT(t->mode != GT_MODE_BARRIERS ||
		     placement.why == GT_WHY_DEFAULT);
}

/* No barriers from now on. With nothing remembered, the next walk goes to the
 * outermost frame and removes the barriers on its way (I6 of shadow.c). */
static void give_up(struct capture_thread *t, enum gt_mode_why why)
{
	set_why(t, why);
	ASSERT(t->mode != GT_MODE_BARRIERS);
	path_clear(t);
	shadow_clear(t);
}

void placement_hardware(struct capture_thread *t)
{
	t->report->mode = t->mode = GT_MODE_HARDWARE;
	t->report->why = GT_WHY_HARDWARE;
	t->joins = false;
	if (!t->hardware)
		t->hardware = hardware_new();
	if (!t->hardware)
		return;
	hardware_reset(t->hardware);
	t->report->hardware_bytes = hardware_bytes(t->hardware);
}

void placement_thread_start(struct capture_thread *t)
{
	set_why(t, placement.why);
	t->barrier_distance = DISTANCE_FIRST;
	t->barrier_innermost = t->barrier_reach = 0;
	t->report->barriers_placed = t->report->barriers_met = 0;
	t->barrier_met = 0;
	if (placement.mode == CAPTURE_AUTO && hardware_active())
		placement_hardware(t);
}

void placement_forbid(struct capture_thread *t, enum gt_mode_why why)
{
	if (t->mode == GT_MODE_BARRIERS)
		give_up(t, why);
}

void placement_reconsider(struct capture_thread *t)
{
	enum gt_mode_why why = image_forbidden_why();

	if (t->mode == GT_MODE_BARRIERS && why != GT_WHY_DEFAULT)
		give_up(t, why);
}

/* Checks the code on one side of a return: the function that returns, or the
 * one that is returned to. */
static bool code_allows(uintptr_t ra)
{
	const struct image *image = image_find(ra - 1);

	return image && image_rules(image) && image_allows_barriers(image) &&
	       walk_rule_is_plain(ra);
}

/*
 * Drops the results of another generation. A thread may still store an old one
 * late. That one is for code that the thread is executing, so it is still
 * mapped; when it is unmapped, the next generation drops the result.
 */
static void renew_verdicts(void)
{
	uint32_t now = atomic_load_explicit(&image_generation,
					    memory_order_acquire), i;

	/* Pairs with the release below: all older results are gone then. */
	if (atomic_load_explicit(&verdicts.generation,
				 memory_order_acquire) == now)
		return;
	for (i = 0; i < 1u << VERDICT_BITS; i++)
		atomic_store_explicit(&verdicts.word[i], 0,
				      memory_order_relaxed);
	atomic_store_explicit(&verdicts.generation, now, memory_order_release);
}

/* Whether the frame that is returned to may contain an exception handler. */
static bool may_catch(uintptr_t ra)
{
	/* Multiplicative hashing (Knuth, volume 3, 6.4). */
	uint64_t hash = ra * UINT64_C(0x9e3779b97f4a7c15);
	_Atomic uint64_t *at = &verdicts.word[hash >> (64 - VERDICT_BITS)];
	uint64_t word = atomic_load_explicit(at, memory_order_relaxed);
	const struct image *image;

	if (word >> 1 != ra) {
		image = image_find(ra - 1);
		word = (uint64_t)ra << 1 |
		       (!image || lsda_may_catch(image, ra));
		atomic_store_explicit(at, word, memory_order_relaxed);
	}
	return word & 1;
}

static bool frame_allows(const struct capture_thread *t, uint32_t at)
{
	const struct shadow_frame *f = &t->frames[at];
	uintptr_t ra = arch_return_address(f->raw);

	DEBUG_ASSERT(at > 0);
	/* a word with more bits than an address is signed, whatever the rules
	 * say */
	return at + 1 < t->count &&
	       *(const uintptr_t *)f->slot == f->raw &&
	       f->raw <= ARCH_ADDRESS_MAX &&
	       !barrier_in_stubs(f->raw) && code_allows(ra) &&
	       code_allows(barrier_origin(f[1].raw)) && !may_catch(ra);
}

/* Places a barrier at `at` or a little further out, but inward of `limit`. */
static void put_near(struct capture_thread *t, uint32_t at, uint32_t limit)
{
	uint32_t tries;
	uintptr_t stub;

	DEBUG_ASSERT(at < t->count && limit < t->count);
	for (tries = 0; tries < TRIES && at > limit; tries++, at--) {
		if (!frame_allows(t, at))
			continue;
		stub = barrier_stub(t->frames[at].raw);
		DEBUG_ASSERT(!stub || barrier_in_stubs(stub));
		if (stub)
			shadow_place_barrier(t, at, stub);
		else
			set_why(t, GT_WHY_STUBS);
		return;
	}
}

/* The index of the innermost barrier, 0 if there is none. */
static uint32_t innermost_barrier(const struct capture_thread *t)
{
	return t->barrier_count ? t->barrier[t->barrier_count - 1] : 0;
}

/*
 * Before new barriers are placed: adapts the distance to how long the last
 * walk's innermost barrier stood. It measures time, not captures: captures that
 * hit a path are not counted.
 */
static void adapt_distance(struct capture_thread *t)
{
	uint64_t age, saved;

	if (innermost_barrier(t) >= t->barrier_innermost)
		return;
	age = arch_cycles() - t->barrier_since;
	saved = (t->report->barriers_met - t->barrier_met) *
		t->barrier_innermost;
	if (age < AGE_SHORT && saved < SAVED_FEW &&
	    t->barrier_distance < DISTANCE_MAX)
		t->barrier_distance *= 2;
	else if (age > AGE_LONG && t->barrier_distance > DISTANCE_FIRST)
		t->barrier_distance /= 2;
	DEBUG_ASSERT(t->barrier_distance >= DISTANCE_FIRST &&
		     t->barrier_distance <= 2 * DISTANCE_MAX);
}

static bool process_allows(struct capture_thread *t)
{
	bool changed;

	if (hardware_active()) {
		/* The first return through a stub would fault. */
		placement_hardware(t);
		return false;
	}
	/* Captures inside a dlopen may have handled its increment before the
	 * image was in the loader's list. */
	if (image_list_is_stale() && !image_refresh(&changed))
		return false;
	placement_reconsider(t);
	/* if getpid is forbidden, this may be a child that shares our memory */
	return t->mode == GT_MODE_BARRIERS && unwind_may(UNWIND_NO_IDS) &&
	       arch_syscall0(__NR_getpid) == placement.pid;
}

static void put_all(struct capture_thread *t, uint32_t inner, uint32_t beyond)
{
	uint32_t last = innermost_barrier(t), count = t->count;
	uint32_t at, gap = inner * FAR_TIMES;

	t->barrier_reach = inner + beyond + 1;
	/* read once: a handler may change it in between */
	if (count <= last + t->barrier_reach || !process_allows(t))
		return;
	at = count - 1 - inner;
	DEBUG_ASSERT(at > last);
	renew_verdicts();
	if (!placement.near)
		for (; at > last + gap + beyond; gap *= FAR_GROWTH)
			put_near(t, at - gap, last);
	put_near(t, at, last);
}

void placement_consider_slow(struct capture_thread *t)
{
	uint64_t placed = t->report->barriers_placed;
	uint32_t inner;

	adapt_distance(t);
	if (placement.near)
		put_all(t, placement.near, 1);
	else
		put_all(t, t->barrier_distance, BEYOND);
	inner = innermost_barrier(t);
	DEBUG_ASSERT(inner < t->count);
	/* also if the new one is in the same place as the last */
	if (t->report->barriers_placed != placed ||
	    inner != t->barrier_innermost) {
		t->barrier_since = arch_cycles();
		t->barrier_met = t->report->barriers_met;
	}
	t->barrier_innermost = inner;
}
