/*
 * placement.c: which return addresses become barriers.
 *
 *	frames[1]                                      frames[count - 1]
 *	outermost ──────── far ─────── far ──── near ─── distance ──▶ innermost
 *
 * A barrier costs a mispredicted return, and the paths that go through its
 * slot have to be learned anew; it saves the comparison of all words outward
 * of it, which is only worth it for stacks that do not fit into a path. So one
 * is placed where BEYOND frames or more lie outward of it, up to the next
 * barrier; and in very deep stacks some more further out, at distances that
 * grow fourfold, so that when the innermost has been returned through, the
 * next is not far (as stack barriers of Go 1.5 to 1.8 were spaced). A barrier
 * that is returned through soon moves outward, unless joins met it often; one
 * that stands long, inward.
 *
 * Where none is put (docs/notes/capture.md says why for each): near the hook, in
 * the loader and the C library, into and out of frames whose rule is not
 * plain, outside images with rules, in threads whose stacks have met code of
 * no image, in a child made by vfork, while an image is mapped that cannot
 * stand it (image_barriers_verdict), and where a return leads into a frame
 * that an exception's handler may belong to.
 *
 * The last is for libgcc. Its phase 1 looks for the handler's frame and notes
 * it by the stack pointer that its callee leaves behind; phase 2 runs the
 * cleanups on the way there, and knows the frame again by that. A cleanup may
 * allocate, and so place a barrier: over the return into the handler's frame,
 * the new stub's own frame would be the first to have that stack pointer, and
 * no table of ours could give it another: it is its callee's. It has no
 * handler, and libgcc aborts. Likewise one that stood in phase 1 must not be
 * taken away in phase 2. Nothing tells that a cleanup runs in phase 2, the
 * unwinder's frames are gone then; but whether phase 1 may have stopped at a
 * frame is a matter of its return address alone (lsda.h).
 *
 * Thread context: the thread that owns the state; not reentrant.
 */
#include <stdatomic.h>
#include <asm/unistd.h>

#include "unwind/barrier.h"
#include "unwind/claim.h"
#include "unwind/hardware.h"
#include "unwind/image.h"
#include "unwind/lsda.h"
#include "unwind/memory.h"
#include "unwind/path.h"
#include "unwind/placement.h"
#include "unwind/shadow.h"

#define DISTANCE_FIRST 16u	/* those further in are never touched */
#define DISTANCE_MAX 192u
#define BEYOND 10u
#define FAR_TIMES 8u		/* of the distance: the next one out */
#define FAR_GROWTH 4u
#define TRIES 8u		/* frames further out, where one is forbidden */
/* 8 us: to lose one costs 0.1, and some paths have to be learned anew. */
#define AGE_SHORT (8 * ARCH_TICKS_PER_US)
#define SAVED_FEW 2000u	/* frames not compared, at 0.3 ns: as much as to
				 * lose one and to place the next */
#define AGE_LONG (800 * ARCH_TICKS_PER_US)
#define VERDICT_BITS 10		/* 8 KB */

static struct {
	enum capture_mode mode;
	enum gt_mode_why why;	/* GT_WHY_DEFAULT: barriers may stand */
	bool oracle;
	uint32_t near;
	long pid;
} placement;

/*
 * What lsda_may_catch said, which takes some 0.4 us and more in large
 * functions, while barriers are placed over the same returns again and again.
 * A word is a return address << 1 | verdict, or 0; all are of one value of
 * capture_generation.
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
	placement.why = config->no_barriers;
	if (config->mode != CAPTURE_AUTO)
		placement.why = GT_WHY_ASKED;
	else if (placement.why == GT_WHY_DEFAULT && !barrier_init())
		placement.why = GT_WHY_STUBS;
}

static void set_why(struct capture_thread *t, enum gt_mode_why why)
{
	CLAIM(why < GT_WHY_COUNT);
	t->mode = why == GT_WHY_DEFAULT ? GT_MODE_BARRIERS : GT_MODE_VALIDATE;
	if (placement.mode == CAPTURE_OFF)
		t->mode = GT_MODE_OFF;
	t->joins = t->mode != GT_MODE_OFF && !placement.oracle;
	t->report->mode = t->mode;
	t->report->why = why;
	CLAIM_FULL(t->mode != GT_MODE_BARRIERS ||
		   placement.why == GT_WHY_DEFAULT);
}

/* No barriers from now on; with nothing remembered, the next walk goes all the
 * way out and takes away those that stand (I6 of shadow.c). */
static void give_up(struct capture_thread *t, enum gt_mode_why why)
{
	set_why(t, why);
	CLAIM(t->mode != GT_MODE_BARRIERS);
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

void placement_strange(struct capture_thread *t, enum gt_mode_why why)
{
	if (t->mode == GT_MODE_BARRIERS)
		give_up(t, why);
}

void placement_reconsider(struct capture_thread *t)
{
	enum gt_mode_why why = image_barriers_verdict();

	if (t->mode == GT_MODE_BARRIERS && why != GT_WHY_DEFAULT)
		give_up(t, why);
}

/* Both sides of the call: who returns, and who is returned to. */
static bool code_allows(uintptr_t ra)
{
	const struct image *image = image_find(ra - 1);

	return image && image_rules(image) && image_pass_barrier(image) &&
	       walk_rule_is_plain(ra);
}

/*
 * Drops the verdicts of another generation. One that is stored late all the
 * same holds for code that the storing thread is in, so nobody has unloaded
 * it; and when that happens, the next generation drops it.
 */
static void renew_verdicts(void)
{
	uint32_t now = atomic_load_explicit(&capture_generation,
					    memory_order_acquire), i;

	/* Pairs with the release below: then all older ones are gone. */
	if (atomic_load_explicit(&verdicts.generation,
				 memory_order_acquire) == now)
		return;
	for (i = 0; i < 1u << VERDICT_BITS; i++)
		atomic_store_explicit(&verdicts.word[i], 0,
				      memory_order_relaxed);
	atomic_store_explicit(&verdicts.generation, now, memory_order_release);
}

/* Whether the frame returned to may hold an exception's handler. */
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

	CLAIM_FULL(at > 0);
	/* a word that is more than an address is signed, whatever rules say */
	return at + 1 < t->count &&
	       *(const uintptr_t *)f->slot == f->raw &&
	       f->raw <= ARCH_ADDRESS_MAX &&
	       !barrier_is_stub(f->raw) && code_allows(ra) &&
	       code_allows(barrier_origin(f[1].raw)) && !may_catch(ra);
}

/* Puts one at `at` or a little further out, but inward of `limit`. */
static void put_near(struct capture_thread *t, uint32_t at, uint32_t limit)
{
	uint32_t tries;
	uintptr_t stub;

	CLAIM_FULL(at < t->count && limit < t->count);
	for (tries = 0; tries < TRIES && at > limit; tries++, at--) {
		if (!frame_allows(t, at))
			continue;
		stub = barrier_stub(t->frames[at].raw);
		CLAIM_FULL(!stub || barrier_is_stub(stub));
		if (stub)
			shadow_place_barrier(t, at, stub);
		else
			set_why(t, GT_WHY_STUBS);
		return;
	}
}

/* The place of the innermost one, 0 if there is none. */
static uint32_t innermost(const struct capture_thread *t)
{
	return t->barrier_count ? t->barrier[t->barrier_count - 1] : 0;
}

/*
 * Before new ones are placed: moves the distance by how long the innermost
 * one of the last walk stood. Time is measured, not captures: those that hit a
 * path leave no count.
 */
static void adapt(struct capture_thread *t)
{
	uint64_t age, saved;

	if (innermost(t) >= t->barrier_innermost)
		return;
	age = arch_cycles() - t->barrier_since;
	saved = (t->report->barriers_met - t->barrier_met) *
		t->barrier_innermost;
	if (age < AGE_SHORT && saved < SAVED_FEW &&
	    t->barrier_distance < DISTANCE_MAX)
		t->barrier_distance *= 2;
	else if (age > AGE_LONG && t->barrier_distance > DISTANCE_FIRST)
		t->barrier_distance /= 2;
	CLAIM_FULL(t->barrier_distance >= DISTANCE_FIRST &&
		   t->barrier_distance <= 2 * DISTANCE_MAX);
}

static bool process_allows(struct capture_thread *t)
{
	bool changed;

	if (hardware_active()) {
		/* It would fault on the first return through a stub. */
		placement_hardware(t);
		return false;
	}
	/* Captures inside a dlopen may have used up its increment before the
	 * image was in the loader's list. */
	if (image_list_is_stale() && !image_refresh(&changed))
		return false;
	placement_reconsider(t);
	/* who may not ask for its id any more cannot be told from a child
	 * that shares its memory */
	return t->mode == GT_MODE_BARRIERS && unwind_may(UNWIND_NO_IDS) &&
	       arch_syscall0(__NR_getpid) == placement.pid;
}

static void put_all(struct capture_thread *t, uint32_t inner, uint32_t beyond)
{
	uint32_t last = innermost(t), count = t->count;
	uint32_t at, gap = inner * FAR_TIMES;

	t->barrier_reach = inner + beyond + 1;
	/* a handler may change it in between: it is read once */
	if (count <= last + t->barrier_reach || !process_allows(t))
		return;
	at = count - 1 - inner;
	CLAIM_FULL(at > last);
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

	adapt(t);
	if (placement.near)
		put_all(t, placement.near, 1);
	else
		put_all(t, t->barrier_distance, BEYOND);
	inner = innermost(t);
	CLAIM_FULL(inner < t->count);
	/* also where the last one stood in the same place */
	if (t->report->barriers_placed != placed ||
	    inner != t->barrier_innermost) {
		t->barrier_since = arch_cycles();
		t->barrier_met = t->report->barriers_met;
	}
	t->barrier_innermost = inner;
}
