/*
 * gu_api.c: the functions of gnomon/unwind.h; an embedder of the unwinder.
 *
 *	gu_capture ─ thread's state idle ─▶ capture_stack_fast
 *	     └ else ─▶ set up? ─▶ state found or made ─▶ capture_stack_fast
 *	                  │             └ busy, none ─▶ capture_stack_plain
 *	                  └ no ─▶ GU_STOP_EARLY
 *
 * A forked child finds gu_state zero (gu_area.c): its first call sets the
 * unwinder up once more, over the nodes that are there.
 *
 * I1  gu_state->phase is ON before anything of unwind/ is called.
 * I2  A thread's capture state is used by who holds its mark `busy`.
 * I3  A node's parent has a lower id: expanding ends, whatever was asked.
 *
 * Thread context: as gnomon/unwind.h says of each function.
 */
#include "library/gnomon/unwind.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "arch.h"
#include "library/gu_area.h"
#include "library/gu_threads.h"
#include "preload/section.h"
#include "ucontext.h"
#include "unwind/capture_fast.h"
#include "unwind/context.h"
#include "unwind/image.h"
#include "unwind/memory.h"
#include "unwind/walk.h"

#define API_MEMORY (UINT64_C(128) << 20)
#define API_MEMORY_MIN (UINT64_C(16) << 20)
#define API_MEMORY_MAX (UINT64_C(1) << 40)
#define API_NODE_SHARE 8	/* of the budget, if nobody says */
#define API_PAGE 4096u

#define SLOW __attribute__((noinline, cold))

/* The caller of a public function; in that function itself. */
#define CALLER_RA ((uintptr_t)__builtin_return_address(0))
#define CALLER_SP ((uintptr_t)__builtin_dwarf_cfa())
#define CALLER_FP (*(const uintptr_t *)__builtin_frame_address(0))

_Static_assert((int)GU_STOP_COUNT == (int)GT_STOP_COUNT &&
	       (int)GU_STOP_BOTTOM == (int)GT_STOP_BOTTOM &&
	       (int)GU_STOP_NO_IMAGE == (int)GT_STOP_NO_IMAGE &&
	       (int)GU_STOP_NO_RULE == (int)GT_STOP_NO_RULE &&
	       (int)GU_STOP_BAD_READ == (int)GT_STOP_BAD_READ &&
	       (int)GU_STOP_NO_PROGRESS == (int)GT_STOP_NO_PROGRESS &&
	       (int)GU_STOP_TOO_DEEP == (int)GT_STOP_TOO_DEEP &&
	       (int)GU_STOP_BAD_TABLE == (int)GT_STOP_BAD_TABLE &&
	       (int)GU_STOP_LOADER == (int)GT_STOP_LOADER &&
	       (int)GU_STOP_NO_MEMORY == (int)GT_STOP_NO_MEMORY &&
	       (int)GU_STOP_EARLY == (int)GT_STOP_EARLY &&
	       (int)GU_STOP_OTHER == (int)GT_STOP_OTHER &&
	       (int)GU_STOP_JIT == (int)GT_STOP_JIT,
	       "the public names of the same reasons");

extern void *__libc_stack_end __attribute__((weak));
extern char **__environ __attribute__((weak));

/* The unwinder's own reference is weak: it would not bring the function into
 * a static link. */
static int (*const api_loader)(int (*)(struct dl_phdr_info *, size_t, void *),
			       void *) __attribute__((used)) =
	dl_iterate_phdr;

/* Of the process image, kept by children: the nodes' mapping is. */
static struct capture_config api_config;
static uint64_t api_memory;
static _Atomic uint32_t api_taken;	/* gu_init runs, or has run */
static _Atomic uint32_t api_node_count, api_node_limit;

static int api_begin(void)
{
	struct capture_config config = api_config;

	gu_state->threads = gu_area_alloc(GU_THREADS_BYTES);
	config.images = gu_area_alloc(GL_IMAGES_MAX * sizeof(*config.images));
	if (!gu_state->threads || !config.images)
		return -ENOMEM;
	config.image_count = &gu_state->image_count;
	return capture_init(&config);
}

/* I1. */
static SLOW bool api_start(void)
{
	uint32_t phase = GU_PHASE_NEW;

	if (!atomic_compare_exchange_strong_explicit(
		    &gu_state->phase, &phase, GU_PHASE_STARTING,
		    memory_order_acquire, memory_order_acquire))
		return phase == GU_PHASE_ON;
	phase = api_begin() ? GU_PHASE_OFF : GU_PHASE_ON;
	/* Pairs with the acquire in api_ready. */
	atomic_store_explicit(&gu_state->phase, phase, memory_order_release);
	return phase == GU_PHASE_ON;
}

static inline bool api_ready(void)
{
	/* Pairs with the release in gu_area_map. */
	struct gu_state *state = __atomic_load_n(&gu_state, __ATOMIC_ACQUIRE);

	if (!state)
		return false;
	if (__builtin_expect(atomic_load_explicit(&state->phase,
						  memory_order_acquire) ==
				     GU_PHASE_ON,
			     1))
		return true;
	return api_start();
}

static bool options_are_sane(const struct gu_options *o)
{
	size_t i;

	for (i = 0; i < sizeof(o->reserved) / sizeof(*o->reserved); i++)
		if (o->reserved[i])
			return false;
	return o->mode <= GU_MODE_OFF && o->memory_bytes >= API_MEMORY_MIN &&
	       o->memory_bytes <= API_MEMORY_MAX &&
	       o->contexts_max > GT_STOP_COUNT &&
	       o->contexts_max <=
		       o->memory_bytes / 2 / sizeof(struct gl_node);
}

static uint64_t whole_pages(uint64_t n)
{
	return (n + API_PAGE - 1) & ~(uint64_t)(API_PAGE - 1);
}

/* Where the kernel put argc; without glibc, the environment behind it, if it
 * has not moved. Anything else makes the main thread's walks slower. */
static uintptr_t main_stack_end(void)
{
	if (&__libc_stack_end && __libc_stack_end)
		return (uintptr_t)__libc_stack_end;
	return &__environ ? (uintptr_t)__environ : 0;
}

static int api_open(const struct gu_options *o)
{
	static const enum capture_mode modes[] = {
		[GU_MODE_VALIDATE] = CAPTURE_VALIDATE,
		[GU_MODE_AUTO] = CAPTURE_AUTO,
		[GU_MODE_OFF] = CAPTURE_OFF,
	};
	int err;

	err = gu_area_map(whole_pages(o->memory_bytes),
			  whole_pages((uint64_t)o->contexts_max *
				      sizeof(struct gl_node)));
	if (err)
		return err;
	api_memory = o->memory_bytes;
	api_config = (struct capture_config){
		.mode = modes[o->mode],
		.nodes = gu_nodes,
		.node_count = &api_node_count,
		.node_limit = &api_node_limit,
		.node_max = o->contexts_max,
		.find_section = section_find,
	};
	api_config.main_stack_end = main_stack_end();
	atomic_store(&api_node_count, GT_STOP_COUNT);
	atomic_store(&api_node_limit, o->contexts_max);
	unwind_alloc = gu_area_alloc;
	if (api_start())
		return 0;
	gu_area_unmap();
	return -ENOMEM;
}

int gu_init(const struct gu_options *options)
{
	struct gu_options o = { 0 };
	int err = -EINVAL;

	if (atomic_exchange(&api_taken, 1))
		return -EALREADY;
	if (options)
		o = *options;
	if (!o.memory_bytes)
		o.memory_bytes = API_MEMORY;
	if (!o.contexts_max && o.memory_bytes <= API_MEMORY_MAX)
		o.contexts_max = (uint32_t)(o.memory_bytes / API_NODE_SHARE /
					    sizeof(struct gl_node));
	if (options_are_sane(&o))
		err = api_open(&o);
	if (err)
		atomic_store(&api_taken, 0);
	return err;
}

/* Not the fast case: whatever it is that is missing. */
static SLOW uint32_t capture_otherwise(uintptr_t ra, uintptr_t sp,
				       uintptr_t fp)
{
	struct gu_thread *t;
	uint32_t context;
	bool left;

	if (!api_ready())
		return GT_STOP_EARLY;
	t = gu_threads_self(sp, ra);
	if (!t || !t->capture || !gu_mark_take(&t->busy, sp, ra, &left))
		return capture_stack_plain(ra, sp, fp);
	if (left)	/* what was remembered may be half written */
		capture_thread_reset(t->capture, t->is_main);
	context = capture_stack_fast(t->capture, ra, sp, fp);
	gu_mark_release(&t->busy);
	return context;
}

uint32_t gu_capture(void)
{
	uintptr_t ra = CALLER_RA, sp = CALLER_SP, fp = CALLER_FP;
	struct gu_thread *t = gu_self;
	uint32_t context;

	/* A thread with an idle mark belongs to this process (gu_area.c, I1)
	 * and has been through the slow case. */
	if (__builtin_expect(!t || atomic_load_explicit(&t->busy.sp,
							memory_order_relaxed) !=
					   GU_IDLE || !t->capture, 0)) {
		context = capture_otherwise(ra, sp, fp);
	} else {
		t->busy.ra = ra;
		atomic_signal_fence(memory_order_seq_cst);
		atomic_store_explicit(&t->busy.sp, sp, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
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
 * Outward from *regs, whose pc is an instruction about to run. It is put as
 * the return address that would stand behind it: one more, so that walk_full
 * looks up pc itself, and stores what the tree stores after a signal frame.
 * (Of rules that look at the pc, only the PLT's do, and all pcs of one
 * instruction there have the same answer.)
 */
static uint32_t walk_regs(struct arch_regs *regs, uintptr_t *addresses,
			  uint32_t max, enum gt_stop *stop)
{
	uintptr_t ra = ++regs->r[ARCH_REG_PC];

	return walk_full(regs, ra, regs->r[ARCH_REG_SP], 0, 0, addresses, max,
			 stop);
}

/* Of one walk in a signal handler; NULL: none to be had. */
static uintptr_t *samples_take(struct gu_thread *t, uintptr_t sp, uintptr_t ra)
{
	bool left;

	if (!t || !gu_mark_take(&t->sampling, sp, ra, &left))
		return NULL;
	if (!t->samples)
		t->samples = gu_area_alloc(GU_SAMPLES_MAX *
					   sizeof(*t->samples));
	if (!t->samples)
		gu_mark_release(&t->sampling);
	return t->samples;
}

static uint32_t context_of(const uintptr_t *addresses, uint32_t n,
			   enum gt_stop stop)
{
	uint64_t hash = context_hash_root(stop);
	uint32_t context = stop;

	while (n-- > 0) {
		hash = context_hash(hash, addresses[n]);
		context = context_child(context, addresses[n], hash);
	}
	return context;
}

uint32_t gu_capture_ucontext(const void *ucontext)
{
	uintptr_t sp = CALLER_SP, ra = CALLER_RA;
	struct gu_thread *t;
	struct arch_regs regs;
	uintptr_t *addresses;
	enum gt_stop stop;
	uint32_t context;

	if (!api_ready())
		return GT_STOP_EARLY;
	t = gu_threads_self(sp, ra);
	addresses = samples_take(t, sp, ra);
	if (!addresses)
		return GT_STOP_NO_MEMORY;
	arch_regs_from_ucontext(&regs, ucontext);
	context = walk_regs(&regs, addresses, GU_SAMPLES_MAX, &stop);
	context = context_of(addresses, context, stop);
	gu_mark_release(&t->sampling);
	return context;
}

size_t gu_walk(uintptr_t *addresses, size_t max, uint32_t *stop)
{
	uintptr_t ra = CALLER_RA, sp = CALLER_SP;
	enum gt_stop why = GT_STOP_EARLY;
	struct arch_regs regs;
	size_t n = 0;

	if (api_ready()) {
		arch_capture_regs(&regs);
		n = walk_full(&regs, ra, sp, 0, 0, addresses,
			      max < UINT32_MAX ? (uint32_t)max : UINT32_MAX,
			      &why);
	}
	store_stop(stop, why);
	return n;
}

size_t gu_walk_ucontext(const void *ucontext, uintptr_t *addresses, size_t max,
			uint32_t *stop)
{
	enum gt_stop why = GT_STOP_EARLY;
	struct arch_regs regs;
	size_t n = 0;

	if (api_ready()) {
		arch_regs_from_ucontext(&regs, ucontext);
		n = walk_regs(&regs, addresses,
			      max < UINT32_MAX ? (uint32_t)max : UINT32_MAX,
			      &why);
	}
	store_stop(stop, why);
	return n;
}

/* NULL: no id, or without a frame. */
static const struct gl_node *api_node(uint32_t id)
{
	/* Pairs with the exchange that gave the id. */
	if (id < GT_STOP_COUNT ||
	    id >= atomic_load_explicit(&api_node_count, memory_order_acquire))
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

	if (!api_ready())
		return -EINVAL;
	/* Captures drop what they remember after they saw this ... */
	atomic_fetch_add_explicit(&capture_generation, 1,
				  memory_order_release);
	/* ... and walks, which remember nothing, find a list of today. */
	return image_refresh(&changed) ? 0 : -EAGAIN;
}

void gu_thread_end(void)
{
	if (api_ready())
		gu_threads_leave();
}

static void add_thread(struct gu_stats *s, const struct gu_thread *t)
{
	const struct capture_counts *counts;
	unsigned i;

	if (gu_threads_owned(t))
		s->threads++;
	else
		s->threads_kept++;
	if (!t->capture)
		return;
	counts = capture_thread_counts(t->capture);
	s->walks_joined += counts->tier_join;
	s->walks_full += counts->tier_full;
	s->walks_registers += counts->tier_plain;
	s->frames_walked += counts->frames_walked;
	for (i = 0; i < GT_STOP_COUNT; i++)
		s->stops[i] += counts->stops[i];
}

int gu_describe(struct gu_stats *stats)
{
	const struct gu_thread *t;
	uint32_t i;

	if (!api_ready())
		return -EINVAL;
	*stats = (struct gu_stats){
		.memory_bytes = api_memory,
		.memory_used_bytes = gu_area_used(),
		.contexts = context_count() - GT_STOP_COUNT,
		.contexts_max = api_config.node_max - GT_STOP_COUNT,
		.images = atomic_load_explicit(&gu_state->image_count,
					       memory_order_acquire),
	};
	stats->memory_used_bytes +=
		context_count() * sizeof(struct gl_node);
	for (i = 0; (t = gu_threads_get(i)); i++)
		add_thread(stats, t);
	return 0;
}

int gu_thread_describe(struct gu_thread_stats *stats)
{
	static const char *const modes[GT_MODE_COUNT] = {
		[GT_MODE_BARRIERS] = "barriers",
		[GT_MODE_VALIDATE] = "validate",
		[GT_MODE_OFF] = "off",
		[GT_MODE_HARDWARE] = "hardware shadow stack",
		[GT_MODE_PLAIN] = "plain walks",
	};
	static const char *const whys[GT_WHY_COUNT] = {
		[GT_WHY_DEFAULT] = "nothing speaks against it",
		[GT_WHY_ASKED] = "asked for",
		[GT_WHY_HARDWARE] = "a hardware shadow stack is active",
		[GT_WHY_UNWINDER] = "an exception unwinder cannot pass barriers",
		[GT_WHY_RUNTIME] = "a runtime walks or moves its stacks",
		[GT_WHY_HIJACKED] = "another tool replaces return addresses",
		[GT_WHY_STUBS] = "no barrier can be made",
		[GT_WHY_MEMORY] = "the memory budget is used up",
	};
	struct capture_thread_info info = { .mode = GT_MODE_PLAIN,
					    .why = GT_WHY_MEMORY };
	struct gu_thread *t;

	if (!api_ready())
		return -EINVAL;
	t = gu_threads_self(CALLER_SP, CALLER_RA);
	if (t && t->capture)
		capture_thread_describe(t->capture, &info);
	*stats = (struct gu_thread_stats){
		.mode = modes[info.mode],
		.why = whys[info.why],
		.memory_bytes = info.state_bytes,
		.paths = info.path_ways_used,
		.paths_max = info.path_ways,
		.path_bytes = info.path_bytes,
		.path_bytes_max = info.path_bytes_max,
		.barriers_placed = info.barriers_placed,
		.barriers_met = info.barriers_met,
	};
	return 0;
}

const char *gu_stop_text(uint32_t stop)
{
	static const char *const texts[GU_STOP_COUNT] = {
		[GU_STOP_BOTTOM] = "complete",
		[GU_STOP_NO_IMAGE] = "no known code",
		[GU_STOP_NO_RULE] = "code without unwind table",
		[GU_STOP_BAD_READ] = "stack unreadable",
		[GU_STOP_NO_PROGRESS] = "frames go in circles",
		[GU_STOP_TOO_DEEP] = "deeper than there is room",
		[GU_STOP_BAD_TABLE] = "damaged unwind table",
		[GU_STOP_LOADER] = "libraries were changing",
		[GU_STOP_NO_MEMORY] = "memory budget used up",
		[GU_STOP_EARLY] = "not set up",
		[GU_STOP_OTHER] = "unknown",
		[GU_STOP_JIT] = "code made at run time",
	};

	return stop < GU_STOP_COUNT && texts[stop] ? texts[stop] : "unknown";
}
