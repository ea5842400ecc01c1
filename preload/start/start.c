/*
 * start.c: starts the recorder in a process, and registers threads.
 *
 * The first hook that finds the real functions starts it, so that constructors
 * of the program's libraries are recorded too; constructor.c only makes sure of
 * it. In a forked child the first hook starts it again: the area is zero there
 * (area.c).
 *
 * Called on the slow branch of every hook; any thread, also signal handlers.
 *
 * I1: a thread whose `ring` is set belongs to this process: in any other
 * process the area would be zero. I2: once a thread has its ring, it makes no
 * system call for us except futex, and none that unwind_ban names
 * (forbidden.h): the program may have installed a filter that kills it for all
 * others. The recorder does what needs more (messages, checks whether a process
 * lives). I3: the caller of producer_thread() may be a child that shares our
 * memory (vfork, clone): it never registers, because the recorder would take it
 * for dead.
 */
#include "preload/ring/producer.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/prctl.h>

#include "preload/api/api_init.h"
#include "preload/api/heaps.h"
#include "preload/base/bump.h"
#include "preload/base/message.h"
#include "preload/base/variant.h"
#include "preload/base/sys.h"
#include "preload/base/text.h"
#include "preload/base/tid.h"
#include "preload/guard/guard.h"
#include "preload/interpose/real.h"
#include "preload/process/process_end.h"
#include "preload/process/environment.h"
#include "preload/process/parent.h"
#include "preload/ring/area.h"
#include "preload/ring/arenas.h"
#include "preload/ring/request.h"
#include "preload/ring/forbidden.h"
#include "preload/ring/fork_copy.h"
#include "preload/ring/initial_stack.h"
#include "preload/ring/blocks_request.h"
#include "preload/ring/live_map.h"
#include "preload/ring/ring_take.h"
#include "preload/ring/ring_shared.h"
#include "preload/sample/skip.h"
#include "preload/start/budget.h"
#include "preload/start/launch.h"
#include "unwind/base/memory.h"
#include "unwind/elf/section.h"
#include "unwind/base/signals.h"
#include "unwind/elf/vdso.h"

#define START_NAP_NS (50 * UINT64_C(1000000))
#define START_NAPS 20

/* Whether this process image has been recording, perhaps under another pid. */
static bool start_was_on;

/* Constant from the first start on. */
enum { START_UNREAD, START_READING, START_READ, START_BAD };
static _Atomic uint32_t start_setup;
static uintptr_t start_main_pointer;	/* thread pointer; 0: unknown */
static bool start_stats;	/* see api_stats_wanted */

/* In the area: a forked child finds zeros. */
static struct start {
	/* thread pointer of the thread that starts the recorder: its own
	 * handlers do not wait for it */
	_Atomic uintptr_t thread;
	_Atomic uint32_t late;	/* a wait for it timed out */
} *start;

static void start_complain(const char *bad)
{
	char buffer[512];
	struct text text;

	text_init(&text, buffer, sizeof(buffer));
	text_put(&text, "bad value: ");
	text_put(&text, bad);
	text_put(&text, ": this process is not recorded");
	message_print(buffer);
}

/* arenas_source.take */
static void start_figures(uint64_t value[GT_ARENAS_VALUES])
{
	const struct real_mallinfo info = real.mallinfo();

	value[GT_ARENAS_SYSTEM] = info.arena;
	value[GT_ARENAS_FREE] = info.fordblks;
	value[GT_ARENAS_FREE_COUNT] = info.ordblks;
	value[GT_ARENAS_FAST] = info.fsmblks;
	value[GT_ARENAS_FAST_COUNT] = info.smblks;
	value[GT_ARENAS_TOP] = info.keepcost;
	value[GT_ARENAS_MMAPPED] = info.hblkhd;
	value[GT_ARENAS_MMAPPED_COUNT] = info.hblks;
}

/* Reads options and makes the area, once per process image. */
static bool start_read(void)
{
	char *const *environment = initial_environment();
	struct budget budget;
	const char *bad = NULL;
	long report;
	int err;

	initial_find();
	vdso_take_clock(initial.vdso);
	if (sys_gettid() == sys_getpid())
		start_main_pointer = arch_thread_pointer();
	message_init();
	options_default(&producer_options);
	producer_options.number[OPTION_OFF] = variant_off;
	if (environment &&
	    options_environment(&producer_options, environment, &bad)) {
		start_complain(bad);
		return false;
	}
	launch_environment(environment, real_own.path);
	if (environment)
		environment_init(environment, real_own.path);
	if (real.mallinfo)
		arenas_source = (struct arenas_source){ start_figures,
							real.single_threaded };
	start_stats = api_stats_wanted();
	/* before this thread has a ring, and any other */
	if (producer_options.number[OPTION_FREE_STACKS])
		real_only = false;
	err = budget_make(&producer_options, &budget);
	if (!err) {
		/* the value that the recorder uses, and that the trace
		 * contains */
		producer_options.number[OPTION_MEMORY] = budget.memory;
		err = area_map(budget.area);
	}
	if (err) {
		message_print(err == -ENOSYS ?
				    "this kernel cannot wipe memory at a "
				    "fork: this process is not recorded" :
				    "its limits leave no memory to record "
				    "this process: it is not recorded");
		return false;
	}
	start = area_place(sizeof(*start));
	request_alloc();
	sample_alloc();
	api_alloc();
	environment_alloc();
	process_end_alloc();
	report = sys_mmap(NULL, RECORDING_REPORTED_SIZE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	recording_reported =
		sys_failed(report) ? NULL : (_Atomic uint32_t *)report;
	return true;
}

/* Whether options and area are ready; one thread prepares them, others continue
 * without. */
static bool start_ready(void)
{
	uint32_t state = START_UNREAD;

	if (likely(atomic_load_explicit(&start_setup,
					memory_order_acquire) ==
		   START_READ))
		return true;
	if (!atomic_compare_exchange_strong_explicit(
		    &start_setup, &state, START_READING,
		    memory_order_acquire, memory_order_acquire))
		return state == START_READ;
	state = start_read() ? START_READ : START_BAD;
	/* pairs with the acquire above: options and area are there */
	atomic_store_explicit(&start_setup, state, memory_order_release);
	return state == START_READ;
}

/* capture_config.want_nodes */
static void start_want_nodes(void)
{
	const struct gl_header *live = producer->live;
	const struct gl_shared *shared = producer->shared;

	if (live && shared)	/* else: a child (fork_copy.h) */
		recorder_want(shared, &live->node_limit,
			      &shared->nodes_refused);
}

/* capture_config.map_nodes */
static struct gl_node *start_map_nodes(unsigned piece)
{
	return live_map_piece(LIVE_NODES, piece);
}

/* capture_config.want_images */
static void start_want_images(void)
{
	const struct gl_shared *shared = producer->shared;

	if (shared)
		recorder_want(shared, &shared->image_limit,
			      &shared->images_refused);
}

/* Publishes to the recorder the initial values of what it later learns as
 * changes. */
static void start_report(struct producer *p)
{
	struct gl_shared *shared = p->shared;

	p->tables = &shared->tables;
	forbidden_report(p);
	arenas_report(shared);
	heaps_report_all();
	atomic_store_explicit(&shared->bumped, bump_count(),
			      memory_order_relaxed);
}

static void start_refused(const char *path)
{
	char buffer[512];
	struct text text;

	text_init(&text, buffer, sizeof(buffer));
	text_put(&text, path);
	text_put(&text, ": makes no sense as rules of that image, and is left "
			"out: make it again with gnomon cfi prepare");
	message_print(buffer);
}

/* A directory of rules that does not exist was probably misspelt. */
static void start_find_rules(const char *directory)
{
	char buffer[512];
	struct text text;
	long fd;

	if (!directory[0])
		return;
	fd = sys_open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (!sys_failed(fd)) {
		arch_syscall1(__NR_close, fd);
		return;
	}
	text_init(&text, buffer, sizeof(buffer));
	text_put(&text, "GNOMON_CFI_DIR: ");
	text_put(&text, directory);
	text_put(&text, ": ");
	text_error(&text, fd);
	text_put(&text, ": no unwind rules are taken from there");
	message_print(buffer);
}

static int start_capture(struct producer *p)
{
	struct gl_header *live = p->live;
	char *base = (char *)live;
	struct capture_config config = {
		.mode = (enum capture_mode)
			producer_options.number[OPTION_SHADOW_STACK],
		.oracle = producer_options.oracle,
		.nodes = live_map_piece(LIVE_NODES, 0),
		.nodes_first = GL_NODES_FIRST / sizeof(struct gl_node),
		.map_nodes = start_map_nodes,
		.node_count = &live->node_count,
		.node_limit = &live->node_limit,
		.node_max = (live->rings_offset - live->nodes_offset) /
			    sizeof(struct gl_node),
		.images = (struct gl_image *)(base + live->images_offset),
		.image_count = &live->image_count,
		.want_nodes = start_want_nodes,
		.image_limit = &p->shared->image_limit,
		.want_images = start_want_images,
		.tables = &producer->tables,
		.find_section = section_find,
		.rule_files = options_text(&producer_options, OPTION_CFI_DIR),
		.rule_file_refused = start_refused,
		.main_stack_end = initial.stack_end,
		.barrier_near = producer_options.barrier_near,
		.no_stacks = producer_options.number[OPTION_DEPTH] == 0,
	};

	return capture_init(&config);
}

/* unwind_request */
static bool start_readable(uintptr_t address)
{
	const struct request_args args = { .what = REQUEST_READABLE,
					       .arg = { address } };
	long yes = 0;

	return request_make(producer, &args, &yes) && yes;
}

/* A different number in each process, also in children, which share the noise.
 * Makes no system call: a child may not be allowed any. */
static uint64_t start_random(const struct producer *p)
{
	uint64_t noise = arch_cycles() + ((uint64_t)p->pid << 32);

	if (producer_options.seed)
		return producer_options.seed;
	return sampler_mix(noise) ^ (initial.noise ? *initial.noise : 0);
}

/* Prints why nothing is recorded. err: 0 if `what` says everything. */
static void start_failed(const struct producer *p, const char *what, int err)
{
	char buffer[512];
	struct text text;

	if (!producer_may_report(p))
		return;
	text_init(&text, buffer, sizeof(buffer));
	text_put(&text, what);
	if (err) {
		text_put(&text, ": ");
		text_error(&text, err);
	}
	message_print(buffer);
	producer_has_reported(p);
}

/* assertion_notify. Later events may be wrong, so recording stops. */
static BASE_SLOW void start_assertion(const char *which)
{
	struct producer *p = producer;
	char buffer[GL_ASSERTION + 64];
	struct text text;

	if (!p || atomic_exchange_explicit(&p->assertion_failed, 1,
					   memory_order_relaxed))
		return;
	if (p->shared) {
		text_init(&text, p->shared->assertion, GL_ASSERTION);
		text_put(&text, which);
	}
	producer_set_off(p);
	if (!producer_may_report(p))
		return;
	text_init(&text, buffer, sizeof(buffer));
	text_put(&text, ASSERTION_FAILED);
	text_put(&text, which);
	text_put(&text, ": recording has stopped");
	message_print(buffer);
	producer_has_reported(p);
}

static bool start_begin(struct producer *p)
{
	const char *nothing = "the recorder cannot start: this process is not "
			      "recorded";
	int err;

	assertion_notify = start_assertion;
	p->pid = sys_getpid();
	skip_start(start_random(p));
	p->threads = area_alloc(GL_RINGS_MAX * sizeof(*p->threads));
	unwind_alloc = area_alloc;
	unwind_scarce = area_scarce;
	unwind_request = start_readable;
	if (!p->threads) {
		start_failed(p, nothing, 0);
		return false;
	}
	err = launch_recorder(p, start_stats ? BLOCKS_FOR_API : 0,
			      !producer_may_report(p));
	if (err) {
		start_failed(p, nothing, err);
		return false;
	}
	start_report(p);
	if (!p->forked)
		start_find_rules(options_text(&producer_options,
					      OPTION_CFI_DIR));
	err = start_capture(p);
	area_set_budget(producer_options.number[OPTION_MEMORY] / 2);
	guard_recorded(p, p->forked);
	parent_starts(p->shared);
	if (err) {
		atomic_store_explicit(&p->shared->stop, 1,
				      memory_order_release);
		recorder_wake(p);
		start_failed(p, "the unwinder cannot start", err);
	}
	return !err;
}

static bool start_follows_fork(void)
{
	uint64_t follow = producer_options.number[OPTION_FOLLOW];

	return follow == OPTION_FOLLOW_FORK || follow == OPTION_FOLLOW_ALL;
}

/*
 * Counts early events, first in p->skipped, which always exists. A thread that
 * sees the shared memory moves the count there. The fences ensure that either
 * the last thread that counts sees the shared memory, or the thread that starts
 * the recorder sees the count.
 */
static void start_skip(struct producer *p, uint64_t events)
{
	struct gl_shared *shared;

	atomic_fetch_add_explicit(&p->skipped, events, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	shared = p->shared;
	if (!shared)
		return;
	events = atomic_exchange_explicit(&p->skipped, 0,
					  memory_order_relaxed);
	atomic_fetch_add_explicit(&shared->skipped, events,
				  memory_order_relaxed);
}

/* Starts the recorder with signals blocked: a longjmp out of a handler would
 * leave the start unfinished. */
static void start_undisturbed(struct producer *p)
{
	uint32_t state = PRODUCER_NEW;

	if (!atomic_compare_exchange_strong_explicit(
		    &p->state, &state, PRODUCER_STARTING,
		    memory_order_acquire, memory_order_relaxed))
		return;
	atomic_store_explicit(&start->thread, arch_thread_pointer(),
			      memory_order_relaxed);
	p->forked = start_was_on;
	start_was_on = true;
	fork_copy_forget();
	/* pairs with the acquire of start_enter */
	if ((!p->forked || start_follows_fork()) && start_begin(p) &&
	    !atomic_load_explicit(&p->assertion_failed, memory_order_relaxed)) {
		atomic_store_explicit(&p->state, PRODUCER_ON,
				      memory_order_release);
		start_skip(p, 0);
		recorder_wake(p);	/* launch.c: it may continue */
	} else {
		producer_set_off(p);
		skip_update();
	}
	if (unwind_may(UNWIND_NO_WAIT))
		sys_futex_wake(&p->state);
}

static void start_process(struct producer *p)
{
	struct signals_held held;

	/* a child of a process that has forbidden what this needs; or one that
	 * is single-stepped by itself, as the recorder would then be, too */
	if (!unwind_may(SECCOMP_NO_START) || arch_is_stepped())
		return;
	signals_hold(&held);
	start_undisturbed(p);
	signals_release(&held);
}

/* Waits for another thread that starts it: in a child of fork several may come
 * at once. The wait is bounded, and not repeated at each event: that thread may
 * be stopped. */
static uint32_t start_await(struct producer *p)
{
	uint32_t state = PRODUCER_STARTING;
	unsigned naps;

	if (atomic_load_explicit(&start->thread, memory_order_relaxed) ==
		    arch_thread_pointer() ||
	    atomic_load_explicit(&start->late, memory_order_relaxed) ||
	    !unwind_may(UNWIND_NO_WAIT))
		return state;
	for (naps = 0; naps < START_NAPS; naps++) {
		sys_futex_wait(&p->state, PRODUCER_STARTING,
			       START_NAP_NS);
		state = atomic_load_explicit(&p->state, memory_order_acquire);
		if (state != PRODUCER_STARTING)
			return state;
	}
	atomic_store_explicit(&start->late, 1, memory_order_relaxed);
	return state;
}

/* Gets the thread's name from the kernel, which is quick here; the recorder
 * would have to open a file, if the thread still exists then. */
static void start_name(struct gl_thread *report)
{
	if (!unwind_may(UNWIND_NO_IDS) ||
	    arch_syscall2(__NR_prctl, PR_GET_NAME, (long)report->name))
		report->name[0] = '\0';
	report->name[sizeof(report->name) - 1] = '\0';
}

/* Whether the thread runs on main's stack. A forked child's only thread is the
 * main thread, but runs on the stack of the thread that forked. */
static bool start_on_main_stack(const struct thread *thread)
{
	return start_main_pointer ?
		       arch_thread_pointer() == start_main_pointer :
		       thread->is_main;
}

static struct thread *start_register(struct producer *p)
{
	struct gl_shared *shared = p->shared;
	struct gl_header *live = p->live;
	struct gl_ring *ring, *rings = p->rings;
	struct thread *thread, *threads = p->threads;
	struct gl_thread *report;
	uint32_t id;

	if (unwind_may(UNWIND_NO_IDS) && sys_getpid() != p->pid)
		return NULL;	/* I3 */
	/* a child, now or later: fork_copy.h */
	if (unlikely(!shared) || !live || !rings || !threads)
		return NULL;
	id = ring_pool_take(p, RECORDER_PRIMARY);
	report = id ? live_map_thread(shared, id - 1) : NULL;
	if (!report || !live_map_data(rings[id - 1].offset)) {
		/* no memory for a ring, or no addresses are left: each event of
		 * this thread is lost */
		if (id)
			ring_push_free(shared, RECORDER_PRIMARY, id);
		atomic_fetch_add_explicit(&live->dropped, 1,
					  memory_order_relaxed);
		return NULL;
	}
	ring = &rings[id - 1];
	thread = &threads[id - 1];
	thread->shared = shared;
	thread->report = report;
	ring->tid = tid_own();
	thread->skip = 0;
	thread->is_main = ring->tid == p->pid;
	thread->nested = NULL;
	atomic_store_explicit(&report->nested, 0, memory_order_relaxed);
	thread->vain = 0;
	if (thread->capture)
		capture_thread_reset(thread->capture,
				     start_on_main_stack(thread));
	else if (!area_scarce() && producer_options.number[OPTION_DEPTH])
		thread->capture =
			capture_thread_new(start_on_main_stack(thread),
					   &report->captures);
	report->plain = !thread->capture;
	arenas_report(shared);
	start_name(report);
	ring->pointer = real_thread();
	ring->flags = thread->is_main ? GT_THREAD_MAIN : 0;
	ring->start_stamp = arch_cycles();
	ring->stamp = ring->start_stamp << GL_KIND_BITS;
	/* pairs with the acquire of drain_scan: all that the recorder needs is
	 * there */
	__atomic_store_n(&ring->state, GL_RING_ACTIVE, __ATOMIC_RELEASE);
	thread->own = ring;
	producer_set_skip(thread, THREAD_NOTES, guard.on);
	thread->activity = UINT32_MAX;	/* a value that none has: forces a
					 * check */
	skip_thread(thread);
	if (unlikely(p->live != live)) {
		/* a child meanwhile: it has no ring */
		thread->own = thread->ring = NULL;
		return NULL;
	}
	DEBUG_ASSERT(producer_thread_is_valid(p, thread));
	producer_tls = thread;
	return thread;
}

/* For a thread that has a ring: NULL while recording is off, or if the thread
 * must not read the counter. */
static struct thread *start_return(struct producer *p,
				      struct thread *thread)
{
	bool dormant;

	if (!producer_is_on(p))
		return NULL;
	dormant = skip_dormant();
	skip_update();
	producer_set_skip(thread, THREAD_DORMANT, dormant);
	if (dormant)
		return NULL;
	if (!(thread->skip & THREAD_MUTE))
		return thread;
	atomic_fetch_add_explicit(&p->live->dropped, 1, memory_order_relaxed);
	return NULL;
}

/* Registers a thread that has no ring. */
static struct thread *start_enter(bool dormant)
{
	struct producer *p;
	uint32_t state;

	if (!start_ready())
		return NULL;
	p = producer;
	state = atomic_load_explicit(&p->state, memory_order_acquire);
	if (state == PRODUCER_NEW) {
		start_process(p);
		state = atomic_load_explicit(&p->state, memory_order_acquire);
	}
	if (state == PRODUCER_STARTING)
		state = start_await(p);
	if (state == PRODUCER_NEW || state == PRODUCER_STARTING)
		start_skip(p, 1);
	if (state != PRODUCER_ON || !producer_is_on(p))
		return NULL;
	skip_update();
	if (!dormant && skip_dormant())
		return NULL;
	return start_register(p);
}

BASE_SLOW struct thread *producer_thread(void)
{
	struct thread *thread = producer_tls;

	if (thread && thread->ring)
		return thread;	/* I1 */
	if (unlikely(!fork_copy_over(thread)))
		return NULL;
	if (thread && thread->own)
		return start_return(producer, thread);
	return start_enter(false);
}

BASE_SLOW struct thread *producer_join(void)
{
	struct thread *thread = producer_tls;

	if (unlikely(!fork_copy_over(thread)))
		return NULL;
	return thread && thread->own ? thread : start_enter(true);
}

#ifdef GNOMON_DEBUG_ASSERTS
bool producer_thread_is_valid(const struct producer *p,
			      const struct thread *thread)
{
	uint64_t id = (uint64_t)(thread - p->threads);

	if (!p->live)
		return true;	/* a child (fork_copy.h) */
	return id < GL_RINGS_MAX && thread->own == &p->rings[id] &&
	       (!thread->ring || thread->ring == thread->own) &&
	       !(thread->ring && thread->skip) &&
	       thread->own->id == id && thread->shared == p->shared &&
	       thread->report &&
	       (!thread->nested || thread->nested != thread->own);
}
#endif
