/*
 * gu_start.c: initialises the library, once in a process and once more in each
 * forked child.
 *
 *	gu_init ─▶ NEW ─▶ STARTING ─▶ ON
 *	fork ───────▲        └─▶ OFF    (gu_state->phase; wiped by the kernel)
 *
 * A child initialises the unwinder over the existing nodes, so that ids stay
 * valid, but with new tables.
 *
 * Thread context: gu_init as gnomon/unwind.h says; gu_start_slow any, also
 * signal handlers.
 */
#include "library/gu_start.h"

#include <asm/unistd.h>
#include <errno.h>
#include <link.h>
#include <sys/mman.h>

#include "arch.h"
#include "library/gnomon/unwind.h"
#include "library/gu_threads.h"
#include "unwind/base/memory.h"
#include "unwind/elf/section.h"

#define START_MEMORY (UINT64_C(128) << 20)
#define START_MEMORY_MIN (UINT64_C(16) << 20)
#define START_MEMORY_MAX (UINT64_C(1) << 40)
#define START_NODE_SHARE 8	/* of the budget, by default */
#define START_PAGE 4096u

extern void *__libc_stack_end __attribute__((weak));
extern char **__environ __attribute__((weak));

/* The unwinder's own reference is weak and would not pull the function into a
 * static link. */
static int (*const start_loader)(int (*)(struct dl_phdr_info *, size_t, void *),
			       void *) __attribute__((used)) =
	dl_iterate_phdr;

/* Per process image. Children keep these, as they keep the nodes' mapping. */
struct capture_config gu_config;
uint64_t gu_memory_bytes;
static _Atomic uint32_t start_taken;	/* gu_init runs, or has run */
_Atomic uint32_t gu_node_count;
static _Atomic uint32_t start_node_limit;

static int start_begin(void)
{
	struct capture_config config = gu_config;

	atomic_fetch_add_explicit(&gu_setups, 1, memory_order_relaxed);
	gu_state->threads = gu_area_alloc(GU_THREADS_BYTES);
	config.images = gu_area_alloc(GL_IMAGES_MAX * sizeof(*config.images));
	if (!gu_state->threads || !config.images)
		return -ENOMEM;
	config.image_count = &gu_state->image_count;
	return capture_init(&config);
}

/* Called by whoever has set the phase to STARTING. */
static bool start_finish(void)
{
	uint32_t phase = start_begin() ? GU_PHASE_OFF : GU_PHASE_ON;

	/* Pairs with the acquire in gu_ready. */
	atomic_store_explicit(&gu_state->phase, phase, memory_order_release);
	return phase == GU_PHASE_ON;
}

bool gu_start_slow(void)
{
	uint32_t phase = GU_PHASE_NEW;

	if (!atomic_compare_exchange_strong_explicit(
		    &gu_state->phase, &phase, GU_PHASE_STARTING,
		    memory_order_acquire, memory_order_acquire))
		return phase == GU_PHASE_ON;
	return start_finish();
}

static bool options_are_sane(const struct gu_options *o)
{
	size_t i;

	for (i = 0; i < sizeof(o->reserved) / sizeof(*o->reserved); i++)
		if (o->reserved[i])
			return false;
	return o->mode <= GU_MODE_OFF && o->memory_bytes >= START_MEMORY_MIN &&
	       o->memory_bytes <= START_MEMORY_MAX &&
	       o->contexts_max > GT_STOP_COUNT &&
	       o->contexts_max <=
		       o->memory_bytes / 2 / sizeof(struct gl_node);
}

static uint64_t whole_pages(uint64_t n)
{
	return (n + START_PAGE - 1) & ~(uint64_t)(START_PAGE - 1);
}

/* The stack end: where the kernel put argc. Without glibc: the environment,
 * which follows argc and argv, unless it was moved. A wrong value only slows
 * down the main thread's walks. */
static uintptr_t main_stack_end(void)
{
	if (&__libc_stack_end && __libc_stack_end)
		return (uintptr_t)__libc_stack_end;
	return &__environ ? (uintptr_t)__environ : 0;
}

/* Under an emulator the usual probe regards all memory as readable. If no probe
 * works, walks end at the first word that is not known to be on a stack. */
static void start_probe(void)
{
	uintptr_t none = (uintptr_t)arch_mmap(NULL, START_PAGE, PROT_NONE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1,
					      0);

	if (none > UINTPTR_MAX - START_PAGE)	/* an error */
		return;
	unwind_choose_probe(none, (uintptr_t)&none);
	arch_syscall2(__NR_munmap, (long)none, START_PAGE);
}

static int start_open(const struct gu_options *o)
{
	static const enum capture_mode modes[] = {
		[GU_MODE_VALIDATE] = CAPTURE_VALIDATE,
		[GU_MODE_AUTO] = CAPTURE_AUTO,
		[GU_MODE_OFF] = CAPTURE_OFF,
	};
	struct gu_state *state;
	int err;

	err = gu_area_map(whole_pages(o->memory_bytes),
			  whole_pages((uint64_t)o->contexts_max *
				      sizeof(struct gl_node)), &state);
	if (err)
		return err;
	start_probe();
	gu_memory_bytes = o->memory_bytes;
	gu_config = (struct capture_config){
		.mode = modes[o->mode],
		.nodes = gu_nodes,
		.node_count = &gu_node_count,
		.node_limit = &start_node_limit,
		.node_max = o->contexts_max,
		.find_section = section_find,
	};
	gu_config.main_stack_end = main_stack_end();
	atomic_store(&gu_node_count, GT_STOP_COUNT);
	atomic_store(&start_node_limit, o->contexts_max);
	unwind_alloc = gu_area_alloc;
	atomic_store(&state->phase, GU_PHASE_STARTING);
	/* Pairs with the acquire in gu_ready. */
	__atomic_store_n(&gu_state, state, __ATOMIC_RELEASE);
	if (start_finish())
		return 0;
	/* another thread may read it: it stays mapped */
	__atomic_store_n(&gu_state, NULL, __ATOMIC_RELEASE);
	return -ENOMEM;
}

int gu_init(const struct gu_options *options)
{
	struct gu_options o = { 0 };
	int err = -EINVAL;

	if (atomic_exchange(&start_taken, 1))
		return -EALREADY;
	if (options)
		o = *options;
	if (!o.memory_bytes)
		o.memory_bytes = START_MEMORY;
	if (!o.contexts_max && o.memory_bytes <= START_MEMORY_MAX)
		o.contexts_max = (uint32_t)(o.memory_bytes / START_NODE_SHARE /
					    sizeof(struct gl_node));
	if (options_are_sane(&o))
		err = start_open(&o);
	if (err)
		atomic_store(&start_taken, 0);
	return err;
}
