/*
 * capture.c: captures a stack by the cheapest tier that succeeds.
 *
 *	path cache ─ hit ────────────────────────────▶ context
 *	    │ miss, also with the wrapper's caller as key
 *	replace_inner ─ one or two new frames ───────▶ context, learn
 *	    │ else; if many were new at the last capture:
 *	predict.h ─ prediction holds ─────────────────▶ context
 *	    │ no prediction, or few were new
 *	join ─ few new frames ───────────────────────▶ context, learn
 *	    │ anything unusual
 *	walk_fast ─ joined/ended ─▶ shadow_update ───▶ context, learn
 *	    │ needs all registers
 *	walk_full ───────────────────────────────────▶ context, not remembered
 *
 * I1  A thread's remembered stacks are valid for one value of
 *     image_generation. When the value has changed, the image list is updated
 *     and they are dropped.
 * I2  The oracle's result is never used, only compared.
 *
 * Thread context: the hooks of any thread; the plain capture also in signal
 * handlers that interrupted a capture of the same thread.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "unwind/abandoned.h"
#include "unwind/base/assertion.h"
#include "unwind/base/context.h"
#include "unwind/capture_fast.h"
#include "unwind/hardware_stack.h"
#include "unwind/image/image.h"
#include "unwind/join.h"
#include "unwind/placement.h"
#include "unwind/predict.h"
#include "unwind/shadow.h"

#define PLAIN_BUFFERS 8
#define PLAIN_CROWDED_FRAMES 128u	/* 1 KiB of stack */
#define ORACLE_WHOLE 32768u	/* after so many frames only some stacks are
				 * compared */
#define PLAIN_FRAMES 16384u	/* virtual until used: 128 KiB a buffer */

/*
 * A plain walk's buffer. `owner`: the walk's sp, 0 if the buffer is free.
 * `thread` and `ra` (0: not known) identify the walk, which a jump may leave
 * (siglongjmp).
 */
struct plain_buffer {
	_Atomic uintptr_t owner;
	uintptr_t thread, ra;
	uintptr_t *addresses;
};

static struct {
	struct capture_config config;
	_Atomic uint32_t images_generation;	/* the image list is of this
						 * generation */
	struct plain_buffer plain[PLAIN_BUFFERS];
} capture;

int capture_init(const struct capture_config *config)
{
	unsigned i;
	int err;

	capture.config = *config;
	for (i = 0; i < PLAIN_BUFFERS; i++) {
		atomic_store_explicit(&capture.plain[i].owner, 0,
				      memory_order_relaxed);
		capture.plain[i].addresses = unwind_alloc(
			PLAIN_FRAMES * sizeof(uintptr_t));
		if (!capture.plain[i].addresses)
			return -12;	/* ENOMEM */
	}
	atomic_store_explicit(&capture.images_generation,
			      atomic_load(&image_generation),
			      memory_order_relaxed);
	placement_init(config);
	err = rules_init();
	if (!err)
		err = walk_init(config->main_stack_end);
	if (!err)
		err = context_init(config, walk_step);
	if (!err)
		err = predict_init();
	if (!err)
		err = image_init(config, walk_flush);
	return err;
}

/* `fast` is compared by the inlined lookup: with the oracle, or a hardware
 * shadow stack, it never matches, so that no capture is answered there. */
static void set_generation(struct capture_thread *t, uint32_t generation)
{
	t->generation = generation;
	t->fast = capture.config.oracle || t->mode == GT_MODE_HARDWARE ?
			  ~generation : generation;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool capture_thread_is_valid(const struct capture_thread *t)
{
	return t->lo <= t->hi && t->hi % ARCH_WORD == 0 && t->floor <= t->hi &&
	       (t->fast == t->generation || t->fast == ~t->generation) &&
	       t->mode < GT_MODE_COUNT && t->report->mode == t->mode &&
	       t->joins == (t->mode != GT_MODE_OFF &&
			    t->mode != GT_MODE_HARDWARE &&
			    !capture.config.oracle) &&
	       path_is_valid(t) && shadow_is_valid(t);
}
#endif

void capture_thread_reset(struct capture_thread *t, bool on_main_stack)
{
	uintptr_t end = arch_thread_pointer();

	if (on_main_stack && capture.config.main_stack_end)
		end = capture.config.main_stack_end;
	t->hi = end & ~(uintptr_t)(ARCH_WORD - 1);
	t->lo = t->hi;
	t->floor = 0;
	t->joined = t->walked = t->predicted_far = t->redrawn = 0;
	t->moved = false;
	t->predicted_sp = t->predicted_ra = 0;
	shadow_clear(t);
	placement_thread_start(t);
	/* The image list's generation, so that the first capture updates an
	 * outdated list. */
	set_generation(t, atomic_load_explicit(&capture.images_generation,
					       memory_order_acquire));
	path_clear(t);
	DEBUG_ASSERT(capture_thread_is_valid(t));
}

void capture_stack_replaced(struct capture_thread *t)
{
	DEBUG_ASSERT(t->barrier_count <= BARRIERS_MAX);
	/* Without barriers every word is compared anyway. (This may be a
	 * handler that interrupted a capture; if the handler jumps out of it,
	 * everything is dropped.) */
	if (!t->barrier_count)
		return;
	t->moved = true;
	/* a handler on this thread, or the thread's own next capture */
	atomic_signal_fence(memory_order_release);
	t->fast = ~t->generation;
}

void capture_thread_drop(struct capture_thread *t)
{
	shadow_clear(t);
	path_clear(t);
}

struct capture_thread *capture_thread_new(bool on_main_stack,
					  struct capture_report *report)
{
	struct capture_thread *t = unwind_alloc(sizeof(*t));

	if (!report)
		report = unwind_alloc(sizeof(*report));
	if (!t || !report)
		return NULL;
	t->report = report;
	if (path_init(t) || !stack_grow(t))
		return NULL;
	capture_thread_reset(t, on_main_stack);
	DEBUG_ASSERT(t->count == 1 && !t->barrier_count);
	return t;
}

const struct capture_report *capture_thread_report(
	const struct capture_thread *t)
{
	return t->report;
}

/* Whether a jump has left the walk that owns this buffer. */
static bool plain_is_left(const struct plain_buffer *b,
			  const struct capture_thread *t, uintptr_t owner,
			  uintptr_t sp)
{
	return b->thread == arch_thread_pointer() && b->ra &&
	       abandoned(t, owner, b->ra, sp);
}

static struct plain_buffer *plain_take(const struct capture_thread *t,
				       uintptr_t ra, uintptr_t sp)
{
	unsigned i;

	DEBUG_ASSERT(sp != 0);	/* 0 means free */
	for (i = 0; i < PLAIN_BUFFERS; i++) {
		struct plain_buffer *b = &capture.plain[i];
		uintptr_t owner = atomic_load_explicit(&b->owner,
						       memory_order_relaxed);

		if (owner && !plain_is_left(b, t, owner, sp))
			continue;
		/* a handler in between finds the buffer taken, with an unknown
		 * owner */
		if (owner)
			b->ra = 0;
		atomic_signal_fence(memory_order_seq_cst);
		if (!atomic_compare_exchange_strong_explicit(
			    &b->owner, &owner, sp, memory_order_acquire,
			    memory_order_relaxed))
			continue;
		b->thread = arch_thread_pointer();
		atomic_signal_fence(memory_order_seq_cst);
		b->ra = ra;
		return b;
	}
	return NULL;
}

static void plain_release(struct plain_buffer *b)
{
	DEBUG_ASSERT(atomic_load_explicit(&b->owner, memory_order_relaxed));
	DEBUG_ASSERT(b->thread == arch_thread_pointer());
	b->ra = 0;
	atomic_store_explicit(&b->owner, 0, memory_order_release);
}

/* For the case that hundreds of threads without a state are walking: walks into
 * a buffer on the stack; the innermost frames if there are more. */
static __attribute__((noinline)) uint32_t plain_crowded(uintptr_t ra,
							uintptr_t sp)
{
	uintptr_t addresses[PLAIN_CROWDED_FRAMES];
	struct arch_regs regs;
	enum gt_stop stop;
	uint32_t n;

	arch_capture_regs(&regs);
	n = walk_full(&regs, ra, sp, 0, 0, addresses, PLAIN_CROWDED_FRAMES,
		      &stop);
	DEBUG_ASSERT(n <= PLAIN_CROWDED_FRAMES);
	return context_of(addresses, n, stop);
}

uint32_t capture_stack_plain(const struct capture_thread *thread, uintptr_t ra,
			     uintptr_t sp, uintptr_t fp)
{
	struct plain_buffer *b;
	struct arch_regs regs;
	enum gt_stop stop;
	uint32_t n, context;

	(void)fp;
	if (capture.config.no_stacks)
		return GT_STOP_DEPTH;
	b = plain_take(thread, ra, sp);
	if (!b)
		return plain_crowded(ra, sp);
	arch_capture_regs(&regs);
	n = walk_full(&regs, ra, sp, 0, 0, b->addresses, PLAIN_FRAMES, &stop);
	ASSERT(n <= PLAIN_FRAMES && stop < GT_STOP_COUNT);
	context = context_of(b->addresses, n, stop);
	plain_release(b);
	return context;
}

/* Walks with all registers, into the thread's scratch. */
static __attribute__((noinline)) uint32_t
full_walk(struct capture_thread *t, uintptr_t ra, uintptr_t sp, bool base,
	  enum gt_stop *stop)
{
	uintptr_t own = (uintptr_t)__builtin_frame_address(0);
	struct arch_regs regs;
	uint32_t n, max;

	for (;;) {
		/* Further in only our own frames are read. */
		uintptr_t lo = base ? own - 16 * UNWIND_PAGE : 0;

		if (lo < t->lo)
			lo = t->lo;
		DEBUG_ASSERT(!base || lo < t->hi);
		max = t->capacity *
		      (uint32_t)(sizeof(struct frame) / sizeof(uintptr_t));
		arch_capture_regs(&regs);
		n = walk_full(&regs, ra, sp, base ? lo : 0, base ? t->hi : 0,
			      (uintptr_t *)t->scratch, max, stop);
		DEBUG_ASSERT(n <= max && *stop < GT_STOP_COUNT);
		if (n < max)
			return n;
		if (!stack_grow(t))
			break;
	}
	if (*stop == GT_STOP_TOO_DEEP && t->capacity < FRAMES_MAX)
		*stop = GT_STOP_NO_MEMORY;
	return n;
}

/* An outermost address in no image counts as a frame if the bytes before it
 * look like a call. They are the program's memory: they may look different next
 * time, although the stack is the same. */
static bool context_differs_by_word(uint32_t context, uint32_t left,
				    enum gt_stop stop)
{
	if (stop == GT_STOP_JIT)
		return left == 1 && context == GT_STOP_NO_IMAGE;
	return stop == GT_STOP_NO_IMAGE && left == 0 &&
	       context >= GT_STOP_COUNT &&
	       context_node(context)->parent == GT_STOP_JIT;
}

static bool context_equals(uint32_t context, const uintptr_t *addresses,
			   uint32_t n, enum gt_stop stop)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (context < GT_STOP_COUNT ||
		    context_node(context)->address != addresses[i])
			return context_differs_by_word(context, n - i, stop);
		context = context_node(context)->parent;
	}
	return context == (uint32_t)stop ||
	       context_differs_by_word(context, 0, stop);
}

/* Compares all stacks of a short run, and a share of a long run's. */
static bool is_oracle_due(struct capture_thread *t)
{
	if (t->checked >= ORACLE_WHOLE &&
	    ++t->unchecked < capture.config.oracle)
		return false;
	t->unchecked = 0;
	return true;
}

static __attribute__((noinline)) void
consult_oracle(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
	       uint32_t context)
{
	enum gt_stop stop;
	uint32_t n = full_walk(t, ra, sp, stack_is_base(t, sp), &stop);

	t->checked += n;
	t->report->counts.oracle_checks++;
	if (!context_equals(context, (const uintptr_t *)t->scratch, n, stop))
		t->report->counts.oracle_differences++;
}

/* Establishes I1. False: the images are changing, and nothing may be
 * remembered. */
static bool catch_up(struct capture_thread *t, uint32_t generation)
{
	bool changed;

	DEBUG_ASSERT(t->generation != generation);
	if (atomic_load_explicit(&capture.images_generation,
				 memory_order_acquire) != generation) {
		if (!image_refresh(&changed))
			return false;
		atomic_store_explicit(&capture.images_generation, generation,
				      memory_order_release);
	}
	path_clear(t);
	shadow_clear(t);
	if (t->hardware)
		hardware_forget(t->hardware);
	placement_reconsider(t);
	set_generation(t, generation);
	DEBUG_ASSERT(capture_thread_is_valid(t));
	return true;
}

static uint32_t walk_hard(struct capture_thread *t, uintptr_t ra,
			  uintptr_t sp, bool base)
{
	enum gt_stop stop;
	uint32_t n = full_walk(t, ra, sp, base, &stop);

	DEBUG_ASSERT(stop < GT_STOP_COUNT);
	t->report->counts.tier_plain++;
	t->report->counts.frames_walked += n;
	t->report->counts.stops[stop]++;
	return context_of((const uintptr_t *)t->scratch, n, stop);
}

/* A walk that is not remembered; 0: the rules are not plain enough. */
static uint32_t walk_only(struct capture_thread *t, uintptr_t ra,
			  uintptr_t sp, uintptr_t fp)
{
	uint32_t max = t->capacity *
		       (uint32_t)(sizeof(struct frame) / sizeof(uintptr_t));
	const struct walk_start start = { ra, sp, fp, t->hi };
	uint32_t n, context = walk_context(&start, (uintptr_t *)t->scratch, max,
					   &n);

	if (!context)
		return 0;
	t->report->counts.tier_full++;
	t->report->counts.frames_walked += n;
	t->report->counts.stops[GT_STOP_BOTTOM]++;
	return context;
}

uint32_t capture_expected(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
			  uintptr_t fp, struct first_walk *first)
{
	const struct walk_start start = { ra, sp, fp, t->hi };
	uint32_t context = walk_expected(t, &start, first);

	DEBUG_ASSERT(sp >= t->lo && sp < t->hi && t->mode != GT_MODE_OFF);
	if (!context || path_wanted(t, ra, sp, context))
		return 0;
	predict_answered(t, first->count, first->met, first->sp, first->ra);
	return context;
}

static __attribute__((noinline)) uint32_t
walk_anew(struct capture_thread *t, uintptr_t ra, uintptr_t sp, uintptr_t fp)
{
	bool base = stack_is_base(t, sp);
	bool remember = base && t->mode != GT_MODE_OFF;
	struct first_walk first = { .prediction.at = NULL };
	struct walk w;
	enum walk_end end;
	uint32_t context = 0;

	if (remember && t->walked > PREDICT_FRAMES)
		context = capture_expected(t, ra, sp, fp, &first);
	else if (base && !remember)
		context = walk_only(t, ra, sp, fp);
	if (context)
		return context;
	w.ra = ra;
	w.sp = sp;
	w.fp = fp;
	w.base = base;
	w.alone = !remember;
	if (remember)
		shadow_pop(t, sp);
	end = walk_fast(t, &w);
	if (end == WALK_NEEDS_FULL)
		return walk_hard(t, ra, sp, base);
	DEBUG_ASSERT(w.count > 0 && w.stop < GT_STOP_COUNT);
	DEBUG_ASSERT(end != WALK_JOINED || remember);
	t->walked = w.count;
	t->report->counts.frames_walked += w.count;
	if (end == WALK_JOINED) {
		t->report->counts.tier_join++;
	} else {
		t->report->counts.tier_full++;
		t->report->counts.stops[w.stop]++;
	}
	if (w.forget || !remember) {
		context = shadow_context_only(t, &w, end);
		if (!base && end == WALK_ENDED && w.stop == GT_STOP_BOTTOM &&
		    !w.forget && !w.forbidden_why && t->mode != GT_MODE_OFF)
			path_learn(t, ra, sp, context, w.count);
		if (remember && w.forbidden_why)
			placement_forbid(t, w.forbidden_why);
		return context;
	}
	context = shadow_update(t, &w, end);
	t->predicted_far = 0;
	if (2 * w.count <= t->count)
		t->redrawn = 0;
	else if (t->redrawn < PREDICT_REDRAWN)
		t->redrawn++;
	if (t->count == 1)	/* no memory for it */
		return context;
	DEBUG_ASSERT((uint32_t)t->frames[t->count - 1].mark == context);
	if (first.prediction.at)
		predict_learn(&first.prediction, context);
	if (__builtin_expect(w.forbidden_why, 0))
		placement_forbid(t, w.forbidden_why);
	t->report->barriers_met += t->barrier_count != 0;
	join_remember(t, ra, sp, context);
	return context;
}

/* Captures from the hardware shadow stack; if that fails, by a walk (which
 * places no barriers: the mode forbids it). */
static __attribute__((noinline)) uint32_t
read_hardware(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
	      uintptr_t fp)
{
	struct hardware_stack *h = t->hardware;
	const uint64_t *top = hardware_top(), *end;
	uint32_t context;
	bool ok = false;

	DEBUG_ASSERT(t->mode == GT_MODE_HARDWARE && !t->joins);
	if (!h || !top || !stack_is_base(t, sp))
		return walk_anew(t, ra, sp, fp);
	end = hardware_end(h, top);
	context = end ? hardware_capture(h, top, end, ra, &ok) : 0;
	DEBUG_ASSERT(!ok || context != GT_STOP_BOTTOM);
	if (ok) {
		t->report->counts.tier_hardware++;
		return context;
	}
	context = walk_anew(t, ra, sp, fp);
	hardware_learn(h, top, ra, context);
	return context;
}

/* The result of the tiers that the inlined lookup skipped, for the oracle and
 * after a jump; 0: none. */
static uint32_t find_cached(struct capture_thread *t, uintptr_t ra,
			    uintptr_t sp, uintptr_t fp)
{
	const struct path *p = path_find(t, ra, sp);
	uint32_t context = p ? p->context : 0;

	DEBUG_ASSERT(t->mode != GT_MODE_OFF && t->mode != GT_MODE_HARDWARE);
	DEBUG_ASSERT(context == 0 || context >= GT_STOP_COUNT);
	if (!context && stack_is_base(t, sp))
		context = join_capture(t, ra, sp, fp);
	return context;
}

uint32_t capture_rare(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		      uintptr_t fp)
{
	/* Pairs with the increment before the loader is entered. */
	uint32_t generation = atomic_load_explicit(&image_generation,
						   memory_order_acquire);
	bool looked = !capture.config.oracle && !t->moved;
	uint32_t context = 0;

	if (t->generation != generation && !catch_up(t, generation)) {
		t->report->counts.stops[GT_STOP_LOADER]++;
		return walk_hard(t, ra, sp, false);
	}
	DEBUG_ASSERT(t->generation == generation);	/* I1 */
	if (t->moved) {
		t->moved = false;
		set_generation(t, generation);
		shadow_recheck(t);
	}
	if (t->mode == GT_MODE_HARDWARE)
		context = read_hardware(t, ra, sp, fp);
	else if (!looked && t->mode != GT_MODE_OFF)
		context = find_cached(t, ra, sp, fp);
	if (!context)
		context = walk_anew(t, ra, sp, fp);
	if (capture.config.oracle && is_oracle_due(t))
		consult_oracle(t, ra, sp, context);
	return context;
}

uint32_t capture_stack(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		       uintptr_t fp)
{
	return capture_stack_fast(t, ra, sp, fp);
}
