/*
 * unwinders.c: the unwinders that bench/capture_cost.c compares.
 *
 * Each hook works as an allocation hook would: a function of its own that takes
 * the stack of its caller. gnomon gets the caller's return address and
 * registers; the others start in the hook itself, so they walk one frame more,
 * as they do in the profilers that use them.
 *
 * libunwind is opened at run time and only when requested: it exports
 * backtrace() and _Unwind_Backtrace() too, and if it were linked it would
 * replace the C library's and the compiler's. So is framehop, which is not
 * built everywhere (bench/framehop.h), and which gets the caller's registers
 * like gnomon. "gu_walk" is that of the library libgnomon-unwind, as a program
 * calls it; "gnomon-walk" is the same without its entry.
 *
 * gnomon's unwinder is linked in as the objects of the preload library; this
 * file is its embedder: it provides memory for tables and context nodes.
 * GNOMON_DEBUG_BARRIER=N has the meaning it has for the preload library.
 *
 * "segments" is the alternative structure of bench/segments.h, embedded in the
 * same way.
 *
 * Compiled with frame pointers, whatever the call tree is. One thread.
 *
 * I1  Only one unwinder is opened in a process.
 */
#include "bench/unwinders.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unwind.h>

#include "arch.h"
#include "bench/framehop.h"
#include "bench/segments.h"
#include "entry.h"
#include "library/gnomon/unwind.h"
#include "unwind/barrier.h"
#include "unwind/base/memory.h"
#include "unwind/capture.h"
#include "unwind/stack.h"
#include "unwind/walk.h"

#define UNWINDER_FRAMES_MAX 2048
#define UNWINDER_NODES_MAX (1u << 23)
#define UNWINDER_MEMORY ((size_t)512 << 20)
#define UNWINDER_BLOCK 64	/* alignment that unwind_alloc promises */
#define UNWINDER_LARGE ((size_t)2 << 20)
#define UNWINDER_GU_LIBRARY "$ORIGIN/../libgnomon-unwind.so"
#define UNWINDER_STEP_LIBRARY "$ORIGIN/libbench_unw_step.so"

static void *unwinder_stack[UNWINDER_FRAMES_MAX];
static int unwinder_depth;
static uintptr_t unwinder_stack_end;

static struct gl_node *unwinder_nodes;
static _Atomic uint32_t unwinder_node_count = GT_STOP_COUNT;
static _Atomic uint32_t unwinder_node_limit = UNWINDER_NODES_MAX;
static _Atomic uint32_t unwinder_image_count;
static char *unwinder_next, *unwinder_end;
static struct capture_thread *unwinder_thread;
static struct segments *unwinder_segments;
static bool unwinder_is_walk;	/* addresses alone */
static uint32_t unwinder_context;

/* Where the kernel put argc, as the preload library has it: what calls main has
 * no table everywhere, and is known by being there. */
extern void *__libc_stack_end;

void unwinder_nothing(void)
{
	__asm__ volatile("");
}

/* The end of the stack that this function runs on, from the kernel's list of
 * mappings. (The label [stack] may mean another one, as under valgrind.) */
static uintptr_t unwinder_find_stack_end(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t start, end, found = 0;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	if (!maps)
		return 0;
	while (!found && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) == 2 &&
		    start <= here && here < end)
			found = end;
	fclose(maps);
	return found;
}

static void *unwinder_map(size_t size)
{
	void *area = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return area == MAP_FAILED ? NULL : area;
}

/* Large blocks begin with a large page, as in the library. */
static void *unwinder_alloc(size_t size)
{
	size_t unit = size < UNWINDER_LARGE / 2 ? UNWINDER_BLOCK :
						  UNWINDER_LARGE;
	uintptr_t block = ((uintptr_t)unwinder_next + unit - 1) & -unit;

	size = (size + UNWINDER_BLOCK - 1) & ~(size_t)(UNWINDER_BLOCK - 1);
	if (block > (uintptr_t)unwinder_end ||
	    size > (uintptr_t)unwinder_end - block)
		return NULL;
	unwinder_next = (char *)block + size;
	return (char *)block;
}

static int unwinder_open_gnomon(enum capture_mode mode)
{
	struct capture_config config = {
		.mode = mode,
		.node_count = &unwinder_node_count,
		.node_limit = &unwinder_node_limit,
		.node_max = UNWINDER_NODES_MAX,
		.image_count = &unwinder_image_count,
		.main_stack_end = (uintptr_t)__libc_stack_end,
	};
	const char *near = getenv("GNOMON_DEBUG_BARRIER");

	if (near)
		config.barrier_near = (uint32_t)strtoul(near, NULL, 10);
	config.nodes = unwinder_map(UNWINDER_NODES_MAX *
				    sizeof(struct gl_node));
	config.images = unwinder_map(GL_IMAGES_MAX * sizeof(struct gl_image));
	unwinder_next = unwinder_map(UNWINDER_MEMORY);
	if (!config.nodes || !config.images || !unwinder_next)
		return -1;
	unwinder_nodes = config.nodes;
	unwinder_end = unwinder_next + UNWINDER_MEMORY;
	unwind_alloc = unwinder_alloc;
	if (capture_init(&config) != 0)
		return -1;
	unwinder_thread = capture_thread_new(true, NULL);
	return unwinder_thread ? 0 : -1;
}

static int unwinder_open_auto(void)
{
	return unwinder_open_gnomon(CAPTURE_AUTO);
}

static int unwinder_open_validate(void)
{
	return unwinder_open_gnomon(CAPTURE_VALIDATE);
}

static int unwinder_open_off(void)
{
	return unwinder_open_gnomon(CAPTURE_OFF);
}

static int unwinder_open_segments(void)
{
	if (unwinder_open_gnomon(CAPTURE_OFF) != 0)
		return -1;
	unwinder_segments = segments_new(unwinder_thread);
	return unwinder_segments ? 0 : -1;
}

/* As a hook of the preload library; what is called is its entry. */
void unwinder_entry(void) __asm__("unwinder_gnomon");
void unwinder_gnomon(void) ARCH_ENTRY(unwinder_gnomon);
void unwinder_gnomon(void)
{
	unwinder_context = capture_stack(unwinder_thread, ARCH_CALLER_RA,
					 ARCH_CALLER_SP, ARCH_CALLER_FP);
}

/* As gu_walk. */
static void unwinder_gnomon_walk(void)
{
	const uintptr_t *fp = __builtin_frame_address(0);
	struct walk_start start = {
		.ra = (uintptr_t)__builtin_return_address(0),
		.sp = (uintptr_t)__builtin_dwarf_cfa(), .fp = *fp,
	};
	enum gt_stop stop;
	uint64_t hash;

	if (!stack_is_base(unwinder_thread, start.sp))
		return;
	start.hi = unwinder_thread->hi;
	unwinder_depth = (int)walk_addresses(&start,
					     (uintptr_t *)unwinder_stack,
					     UNWINDER_FRAMES_MAX, &stop, &hash);
}

static int unwinder_open_walk(void)
{
	unwinder_is_walk = true;
	return unwinder_open_gnomon(CAPTURE_OFF);
}

static void unwinder_by_segments(void)
{
	const uintptr_t *fp = __builtin_frame_address(0);

	unwinder_context = segments_capture(
		unwinder_segments, (uintptr_t)__builtin_return_address(0),
		(uintptr_t)__builtin_dwarf_cfa(), *fp);
}

bool unwinder_capture_from(uintptr_t ra, uintptr_t sp, uintptr_t fp)
{
	uint32_t id = capture_stack(unwinder_thread, ra, sp, fp);

	while (id >= GT_STOP_COUNT)
		id = unwinder_nodes[id].parent;
	return id == GT_STOP_BOTTOM;
}

/* Whether backtrace() came by a barrier there: a frame that gnomon does not
 * count. */
static bool unwinder_is_barrier(void *address)
{
	return barrier_in_stubs((uintptr_t)address);
}

static void unwinder_gnomon_checked(void)
{
	const uintptr_t *fp = __builtin_frame_address(0);
	uintptr_t ra = (uintptr_t)__builtin_return_address(0);
	uintptr_t sp = (uintptr_t)__builtin_dwarf_cfa();
	int count = backtrace(unwinder_stack, UNWINDER_FRAMES_MAX);
	uint32_t id;
	int i;

	if (unwinder_segments)
		id = segments_capture(unwinder_segments, ra, sp, *fp);
	else
		id = capture_stack(unwinder_thread, ra, sp, *fp);
	unwinder_context = id;
	for (i = 1; i < count && id >= GT_STOP_COUNT; i++) {
		if (unwinder_nodes[id].address == (uintptr_t)unwinder_stack[i])
			id = unwinder_nodes[id].parent;
		else if (!unwinder_is_barrier(unwinder_stack[i]))
			break;
	}
	if (i == count && id == GT_STOP_BOTTOM)
		return;
	fprintf(stderr,
		"bench: the stack differs from backtrace()'s at frame %d "
		"of %d (context %" PRIu32 ")\n", i, count, id);
	exit(1);
}

static const struct unwinder *unwinder_compared;

/* The same of any other unwinder: that the frames of this function's caller
 * and outward are backtrace()'s. Inward of them each has frames of its own. */
static void unwinder_addresses_checked(void)
{
	static void *theirs[UNWINDER_FRAMES_MAX];
	int i, count = backtrace(theirs, UNWINDER_FRAMES_MAX);

	unwinder_compared->hook();
	for (i = 1; i < count && i <= unwinder_depth; i++)
		if (theirs[count - i] != unwinder_stack[unwinder_depth - i])
			break;
	if (i == count)
		return;
	fprintf(stderr, "bench: the stack of %s differs from backtrace()'s at "
			"frame %d of %d, from outside (it has %d)\n",
		unwinder_compared->name, i, count, unwinder_depth);
	exit(1);
}

/* unw_backtrace, or the loop of bench/unw_step.c, which has its form. */
static int (*unwinder_unw)(void **frames, int max);

static int unwinder_open_unw(const char *path, const char *function)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, function) : NULL;

	memcpy(&unwinder_unw, &symbol, sizeof(symbol));
	return symbol ? 0 : -1;
}

static int unwinder_open_unw_backtrace(void)
{
	return unwinder_open_unw("libunwind.so.8", "unw_backtrace");
}

static int unwinder_open_unw_step(void)
{
	return unwinder_open_unw(UNWINDER_STEP_LIBRARY, "unw_step_backtrace");
}

static void unwinder_libunwind(void)
{
	unwinder_depth = unwinder_unw(unwinder_stack, UNWINDER_FRAMES_MAX);
}

static int unwinder_open_framehop(void)
{
	return framehop_open();
}

static void unwinder_framehop(void)
{
	const uintptr_t *fp = __builtin_frame_address(0);

	unwinder_depth = framehop_walk(
		(uintptr_t)__builtin_return_address(0),
		(uintptr_t)__builtin_dwarf_cfa(), *fp, unwinder_stack,
		UNWINDER_FRAMES_MAX);
}

static size_t (*unwinder_gu_walk_by)(uintptr_t *addresses, size_t max,
				     uint32_t *stop);

static int unwinder_open_gu_walk(void)
{
	void *library = dlopen(UNWINDER_GU_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "gu_init") : NULL;
	int (*init)(const struct gu_options *options);

	if (!symbol)
		return -1;
	memcpy(&init, &symbol, sizeof(symbol));
	symbol = dlsym(library, "gu_walk");
	memcpy(&unwinder_gu_walk_by, &symbol, sizeof(symbol));
	return symbol && init(NULL) == 0 ? 0 : -1;
}

static void unwinder_gu_walk(void)
{
	unwinder_depth = (int)unwinder_gu_walk_by(
		(uintptr_t *)unwinder_stack, UNWINDER_FRAMES_MAX, NULL);
}

static int unwinder_open_plain(void)
{
	unwinder_stack_end = unwinder_find_stack_end();
	return 0;
}

static void unwinder_glibc(void)
{
	unwinder_depth = backtrace(unwinder_stack, UNWINDER_FRAMES_MAX);
}

static _Unwind_Reason_Code unwinder_visit(struct _Unwind_Context *context,
					  void *unused)
{
	void *address = (void *)_Unwind_GetIP(context);

	(void)unused;
	/* the caller of the outermost frame counts as one, at 0 */
	if (!address || unwinder_depth == UNWINDER_FRAMES_MAX)
		return _URC_END_OF_STACK;
	unwinder_stack[unwinder_depth++] = address;
	return _URC_NO_REASON;
}

static void unwinder_libgcc(void)
{
	unwinder_depth = 0;
	_Unwind_Backtrace(unwinder_visit, NULL);
}

/* As the kernel and perf do: follow the chain of saved frame pointers as long
 * as it leads outward on the stack. */
static void unwinder_frame_pointers(void)
{
	const uintptr_t *fp = __builtin_frame_address(0);
	int n = 0;

	while (n < UNWINDER_FRAMES_MAX) {
		uintptr_t next = fp[0];

		unwinder_stack[n++] = (void *)fp[1];
		if (next <= (uintptr_t)fp || next % sizeof(*fp) != 0 ||
		    next >= unwinder_stack_end)
			break;
		fp = (const uintptr_t *)next;
	}
	unwinder_depth = n;
}

static const struct unwinder unwinder_table[] = {
	{ "nothing", unwinder_open_plain, unwinder_nothing },
	{ "gnomon", unwinder_open_auto, unwinder_entry },
	{ "gnomon-validate", unwinder_open_validate, unwinder_entry },
	{ "gnomon-off", unwinder_open_off, unwinder_entry },
	{ "gnomon-walk", unwinder_open_walk, unwinder_gnomon_walk },
	{ "gu_walk", unwinder_open_gu_walk, unwinder_gu_walk },
	{ "segments", unwinder_open_segments, unwinder_by_segments },
	{ "framehop", unwinder_open_framehop, unwinder_framehop },
	{ "unw_backtrace", unwinder_open_unw_backtrace, unwinder_libunwind },
	{ "unw_step", unwinder_open_unw_step, unwinder_libunwind },
	{ "backtrace", unwinder_open_plain, unwinder_glibc },
	{ "_Unwind_Backtrace", unwinder_open_plain, unwinder_libgcc },
	{ "frame-pointers", unwinder_open_plain, unwinder_frame_pointers },
};

const struct unwinder *unwinder_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(unwinder_table) / sizeof(*unwinder_table); i++)
		if (strcmp(unwinder_table[i].name, name) == 0)
			return &unwinder_table[i];
	return NULL;
}

unsigned unwinder_frames(void)
{
	uint32_t id = unwinder_context;
	unsigned n = 0;

	if (unwinder_depth)
		return (unsigned)unwinder_depth;
	for (; id >= GT_STOP_COUNT; id = unwinder_nodes[id].parent)
		n++;
	return n;
}

struct unwinder_tiers unwinder_tiers(void)
{
	struct unwinder_tiers tiers = { 0 };
	const struct capture_counts *counts;

	if (unwinder_segments) {
		const struct segment_counts *of =
			segments_counts(unwinder_segments);

		tiers.join = of->join;
		tiers.full = of->full + of->other;
	} else if (unwinder_thread) {
		counts = &capture_thread_report(unwinder_thread)->counts;
		tiers.join = counts->tier_join;
		tiers.full = counts->tier_full + counts->tier_plain;
	}
	return tiers;
}

bool unwinder_describe(struct unwinder_thread *thread)
{
	static const char *const modes[GT_MODE_COUNT] = {
		[GT_MODE_BARRIERS] = "barriers",
		[GT_MODE_VALIDATE] = "validate",
		[GT_MODE_OFF] = "off",
		[GT_MODE_HARDWARE] = "hardware",
		[GT_MODE_PLAIN] = "plain",
	};
	const struct capture_report *report;

	if (!unwinder_thread)
		return false;
	report = capture_thread_report(unwinder_thread);
	*thread = (struct unwinder_thread){
		.mode = report->mode < GT_MODE_COUNT ? modes[report->mode] : "?",
		.bytes = capture_report_bytes(report),
		.path_bytes = report->path_bytes,
		.path_bytes_max = report->path_bytes_max,
		.barriers_placed = report->barriers_placed,
		.barriers_met = report->barriers_met,
	};
	if (unwinder_segments) {
		thread->mode = "segments";
		thread->bytes += segments_bytes(unwinder_segments);
	}
	return true;
}

bool unwinder_learns(void)
{
	return unwinder_thread != NULL;
}

void (*unwinder_checked(const struct unwinder *unwinder))(void)
{
	if (unwinder->hook == unwinder_nothing ||
	    unwinder->hook == unwinder_frame_pointers)
		return NULL;
	unwinder_compared = unwinder;
	return unwinder_thread && !unwinder_is_walk ? unwinder_gnomon_checked :
						unwinder_addresses_checked;
}
