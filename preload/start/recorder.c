/*
 * recorder.c: starting the recorder in a process, and letting threads in.
 *
 * The first hook that finds the real functions starts it, so that constructors
 * of the program's libraries are recorded too; constructor.c only makes sure of
 * it. In a forked child the first hook starts it again: the area is
 * zero there (area.c).
 *
 * Called on the slow branch of every hook; any thread, also signal handlers.
 *
 * I1: a thread whose `ring` is set belongs to this process: the area of
 *     another would be zero.
 * I2: once a thread has its ring, no system call but futex is made for it, and
 *     none that unwind_ban names (preload/process/seccomp.h): a program may
 *     have forbidden itself all others, on pain of death. What needs more
 *     (messages, looking whether somebody lives) is the writer's.
 * I3: the caller of recorder_thread() may be a child that shares our memory
 *     (vfork, clone): it never registers, because the writer would take it
 *     for dead.
 */
#include "preload/base/section.h"
#include "preload/ring/recorder.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/prctl.h>

#include "preload/api/api_numbers.h"
#include "preload/api/heaps.h"
#include "preload/base/bump.h"
#include "preload/base/message.h"
#include "preload/base/options_agree.h"
#include "preload/base/product.h"
#include "preload/base/sys.h"
#include "preload/base/text.h"
#include "preload/base/tid.h"
#include "preload/guard/guard.h"
#include "preload/interpose/real.h"
#include "preload/process/environment.h"
#include "preload/process/seccomp.h"
#include "preload/ring/area.h"
#include "preload/ring/fork_copy.h"
#include "preload/ring/live_map.h"
#include "preload/ring/patience.h"
#include "preload/ring/pool_take.h"
#include "preload/ring/ring_shared.h"
#include "preload/sample/aside.h"
#include "preload/start/budget.h"
#include "preload/start/launch.h"
#include "unwind/memory.h"
#include "unwind/signals.h"

#define RECORDER_WINDOW_NS 2000	/* of the live header's window_ticks */
#define RECORDER_CYCLES_NS 4	/* of a fast counter, a nanosecond */
#define RECORDER_CYCLES_MOST 8	/* of any */
#define RECORDER_WANT_NAP_NS (10 * UINT64_C(1000000))
#define RECORDER_WANT_NAPS 20
#define RECORDER_SETTLE_NS (20 * UINT64_C(1000000))
#define RECORDER_SETTLE_NAPS 50
#define RECORDER_PARTED_NS (10 * UINT64_C(1000000))
#define RECORDER_PARTED_NAPS 100
#define RECORDER_START_NAP_NS (50 * UINT64_C(1000000))
#define RECORDER_START_NAPS 20

struct options recorder_options;
_Atomic uint32_t *recording_told;
__thread struct thread *recorder_tls
	__attribute__((tls_model("initial-exec")));

/* Where the kernel put argc, argv, envp; glibc only. */
extern void *__libc_stack_end __attribute__((weak));
extern char **__environ __attribute__((weak));

/* Whether this process image has been recording, perhaps under another pid. */
static bool recorder_was_on;

/* Constant from the first start on. */
enum { RECORDER_UNREAD, RECORDER_READING, RECORDER_READ, RECORDER_BAD };
static _Atomic uint32_t recorder_setup;
static uintptr_t recorder_stack_end;
static uintptr_t recorder_main_pointer;	/* thread pointer; 0: not known */
static const char *recorder_execfn;
static const uint64_t *recorder_noise;	/* the kernel's */

/* Path of this process's trace; in a child until it starts, its parent's. */
static char recorder_trace[GT_PATH_MAX];
/* The same for the live file. */
static char recorder_live[GT_PATH_MAX];

_Atomic uint32_t *recording_told;

const char *recorder_executed(void)
{
	return recorder_execfn;
}

uintptr_t recorder_main_stack_end(void)
{
	return recorder_stack_end;
}

char *const *recorder_environment(void)
{
	if (&__libc_stack_end && __libc_stack_end) {
		long *argc = __libc_stack_end;

		return (char **)(argc + 1 + *argc + 1);
	}
	/* at this time it still is the kernel's array, on the stack */
	return &__environ ? __environ : NULL;
}

static uintptr_t recorder_find_stack_end(char *const *environment)
{
	return &__libc_stack_end && __libc_stack_end ?
		       (uintptr_t)__libc_stack_end : (uintptr_t)environment;
}

/* Behind the environment; only where that surely is the kernel's array. */
static void recorder_find_auxiliary(char *const *environment)
{
	const ElfW(auxv_t) *entry;

	if (!&__libc_stack_end || !__libc_stack_end)
		return;
	while (*environment)
		environment++;
	for (entry = (const void *)(environment + 1);
	     entry->a_type != AT_NULL; entry++) {
		if (entry->a_type == AT_EXECFN)
			recorder_execfn = (const char *)entry->a_un.a_val;
		if (entry->a_type == AT_RANDOM)
			recorder_noise = (const uint64_t *)entry->a_un.a_val;
	}
}

static void recorder_complain(const char *what, const char *detail,
			      const char *then)
{
	char buffer[512];
	struct text text;

	text_init(&text, buffer, sizeof(buffer));
	text_put(&text, what);
	text_put(&text, detail);
	text_put(&text, then);
	message_say(buffer);
}

static int recorder_take_memory(void)
{
	struct budget budget;
	int err = budget_make(&recorder_options, &budget);

	if (err)
		return err;
	/* what the writer goes by, and the trace says */
	recorder_options.number[OPTION_MEMORY] = budget.memory;
	return area_map(budget.area);
}

/* What is wrong with options that are well formed; NULL: nothing. */
static const char *recorder_wrong(void)
{
	return options_disagree(&recorder_options);
}

/* Options and area, once per process image. */
static bool recorder_read(void)
{
	char *const *environment = recorder_environment();
	const char *bad = NULL, *wrong;
	long told;
	int err;

	recorder_stack_end = recorder_find_stack_end(environment);
	if (sys_gettid() == sys_getpid())
		recorder_main_pointer = arch_thread_pointer();
	message_init();
	options_default(&recorder_options);
	recorder_options.number[OPTION_OFF] = product_off;
	if (environment &&
	    options_environment(&recorder_options, environment, &bad)) {
		recorder_complain("bad value: ", bad,
				  ": this process is not recorded");
		return false;
	}
	wrong = recorder_wrong();
	if (wrong) {
		recorder_complain(wrong, ": this process is not recorded", "");
		return false;
	}
	launch_environment(environment, real_own_map()->l_name);
	if (environment) {
		recorder_find_auxiliary(environment);
		environment_init(environment, real_own_map()->l_name);
	}
	/* before this thread has a ring, and any other */
	if (recorder_options.number[OPTION_FREE_STACKS])
		real_only = false;
	err = recorder_take_memory();
	if (err) {
		message_say(err == -ENOSYS ?
				    "this kernel cannot wipe memory at a "
				    "fork: this process is not recorded" :
				    "its limits leave no memory to record "
				    "this process: it is not recorded");
		return false;
	}
	sample_place();
	told = sys_mmap(NULL, RECORDING_TOLD_SIZE, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	recording_told = sys_failed(told) ? NULL : (_Atomic uint32_t *)told;
	return true;
}

/* Whether the set-up is there; one thread makes it, others go without. */
static bool recorder_ready(void)
{
	uint32_t state = RECORDER_UNREAD;

	if (likely(atomic_load_explicit(&recorder_setup,
					memory_order_acquire) ==
		   RECORDER_READ))
		return true;
	if (!atomic_compare_exchange_strong_explicit(
		    &recorder_setup, &state, RECORDER_READING,
		    memory_order_acquire, memory_order_acquire))
		return state == RECORDER_READ;
	state = recorder_read() ? RECORDER_READ : RECORDER_BAD;
	/* pairs with the acquire above: options and area are there */
	atomic_store_explicit(&recorder_setup, state, memory_order_release);
	return state == RECORDER_READ;
}

/* Whether waiting is in vain: a program whose every stack is new must not
 * wait for nodes at each. */
static bool recorder_in_vain(const struct recorder *r,
			     const struct gl_shared *shared,
			     const _Atomic uint32_t *refused)
{
	return atomic_load_explicit(refused, memory_order_relaxed) ||
	       !recorder_writer_alive(r) || gate_is_off(shared);
}

static uint64_t recorder_patience_ns(void)
{
	return recorder_options.number[OPTION_OVERFLOW] ==
			       OPTION_OVERFLOW_DROP ?
		       RECORDER_WANT_NAP_NS * RECORDER_WANT_NAPS : PATIENCE_NS;
}

/* Until the writer has moved the limit, or refused to, or for some naps, or
 * does not move. */
static void recorder_want(const struct gl_shared *shared,
			  const _Atomic uint32_t *limit,
			  const _Atomic uint32_t *refused)
{
	uint32_t old = atomic_load_explicit(limit, memory_order_acquire);
	struct recorder *r = recorder;
	struct patience patience = patience_begin(r, recorder_patience_ns());
	unsigned naps = 0;

	while (naps < RECORDER_WANT_NAPS) {
		if (recorder_in_vain(r, shared, refused) || patience_lost(r))
			return;
		recorder_wake(r);
		recorder_nap(r, limit, old, RECORDER_WANT_NAP_NS);
		if (atomic_load_explicit(limit, memory_order_acquire) != old)
			return;
		if (patience_renewed(r, &patience))
			naps++;
		else if (patience_ended(&patience))
			patience_lose(r);
	}
}

/* capture_config.want_nodes */
static void recorder_want_nodes(void)
{
	const struct gl_header *live = recorder->live;
	const struct gl_shared *shared = recorder->shared;

	if (live && shared)	/* else: a child (fork_copy.h) */
		recorder_want(shared, &live->node_limit,
			      &shared->nodes_refused);
}

/* capture_config.map_nodes */
static struct gl_node *recorder_map_nodes(unsigned piece)
{
	return live_map_piece(LIVE_NODES, piece);
}

/* capture_config.want_images */
static void recorder_want_images(void)
{
	const struct gl_shared *shared = recorder->shared;

	if (shared)
		recorder_want(shared, &shared->image_limit,
			      &shared->images_refused);
}

void recorder_want_heaps(struct gl_shared *shared, uint32_t heaps)
{
	uint32_t wanted = atomic_load_explicit(&shared->heaps_wanted,
					       memory_order_relaxed);

	while (wanted < heaps &&
	       !atomic_compare_exchange_weak_explicit(
		       &shared->heaps_wanted, &wanted, heaps,
		       memory_order_release, memory_order_relaxed))
		;
	recorder_want(shared, &shared->heap_limit, &shared->heaps_refused);
}

/* What there is already of what the writer is told where it changes. */
static void recorder_tell(struct recorder *r)
{
	struct gl_shared *shared = r->shared;

	r->tables = &shared->tables;
	seccomp_tell(r);
	arenas_tell(shared);
	heaps_tell_all();
	atomic_store_explicit(&shared->bumped, bump_count(),
			      memory_order_relaxed);
}

static int recorder_capture(struct recorder *r)
{
	struct gl_header *live = r->live;
	char *base = (char *)live;
	struct capture_config config = {
		.mode = (enum capture_mode)
			recorder_options.number[OPTION_SHADOW_STACK],
		.oracle = recorder_options.oracle,
		.nodes = live_map_piece(LIVE_NODES, 0),
		.nodes_first = GL_NODES_FIRST / sizeof(struct gl_node),
		.map_nodes = recorder_map_nodes,
		.node_count = &live->node_count,
		.node_limit = &live->node_limit,
		.node_max = (live->rings_offset - live->nodes_offset) /
			    sizeof(struct gl_node),
		.images = (struct gl_image *)(base + live->images_offset),
		.image_count = &live->image_count,
		.want_nodes = recorder_want_nodes,
		.image_limit = &r->shared->image_limit,
		.want_images = recorder_want_images,
		.tables = &recorder->tables,
		.find_section = section_find,
		.main_stack_end = recorder_stack_end,
		.barrier_near = recorder_options.barrier_near,
		.no_stacks = recorder_options.number[OPTION_DEPTH] == 0,
	};

	return capture_init(&config);
}

/* unwind_ask */
static bool recorder_readable(uintptr_t address)
{
	const struct ask_question question = { .what = ASK_READABLE,
					       .arg = { address } };
	long yes = 0;

	return ask_writer(recorder, &question, &yes) && yes;
}

/* Of all that forks from here, whatever its number, one speaks: what concerns
 * a child (a changed root directory) mostly concerns all of them. */
static bool recorder_may_speak(const struct recorder *r)
{
	return !r->forked || !recording_told ||
	       !atomic_load_explicit(recording_told, memory_order_relaxed);
}

static void recorder_spoke(const struct recorder *r)
{
	if (r->forked && recording_told)
		atomic_store_explicit(recording_told, 1, memory_order_relaxed);
}

/* Another one in each process, also in children, which share the noise. No
 * system call: a child may not be allowed any. */
static uint64_t recorder_random(const struct recorder *r)
{
	uint64_t noise = arch_cycles() + ((uint64_t)r->pid << 32);

	if (recorder_options.seed)
		return recorder_options.seed;
	return choose_mix(noise) ^ (recorder_noise ? *recorder_noise : 0);
}

static bool recorder_begin(struct recorder *r)
{
	int err;

	fork_copy_forget();
	r->pid = sys_getpid();
	memcpy(r->parent_trace, recorder_trace, sizeof(recorder_trace));
	memcpy(r->parent_live, recorder_live, sizeof(recorder_live));
	aside_start(recorder_random(r));
	r->threads = area_alloc(GL_RINGS_MAX * sizeof(*r->threads));
	unwind_alloc = area_alloc;
	unwind_scarce = area_scarce;
	unwind_ask = recorder_readable;
	api_numbers_begin(r);
	err = r->threads ? launch_recorder(r, !recorder_may_speak(r)) :
			   -ENOMEM;
	if (!err) {
		recorder_tell(r);
		err = recorder_capture(r);
		if (err) {
			text_message(r->message, sizeof(r->message),
				     "the unwinder cannot start", NULL, err);
			atomic_store_explicit(&r->shared->stop, 1,
					      memory_order_release);
			recorder_wake(r);
		}
		area_settle(recorder_options.number[OPTION_MEMORY] / 2);
		guard_recorded(r, r->forked);
		/* of the parent's nothing holds any more */
		recorder_trace[0] = recorder_live[0] = '\0';
	}
	if (err && recorder_may_speak(r)) {
		message_say(r->message[0] ? r->message :
			    "the recorder cannot start: this process is not "
			    "recorded");
		recorder_spoke(r);
	}
	return !err;
}

void recorder_parted(struct recorder *r)
{
	unsigned naps;

	for (naps = 0; naps < RECORDER_PARTED_NAPS &&
		       atomic_load_explicit(&r->launching,
					    memory_order_relaxed); naps++)
		recorder_nap(r, &r->launching, 1, RECORDER_PARTED_NS);
}

void recorder_settle(void)
{
	struct recorder *r = recorder;
	const struct gl_shared *shared = r ? r->shared : NULL;
	unsigned naps;

	if (!shared)
		return;
	/* pairs with the release of writer_tell */
	for (naps = 0; naps < RECORDER_SETTLE_NAPS &&
		       atomic_load_explicit(&shared->recorder_state,
					    memory_order_acquire) ==
			       GL_RECORDER_STARTING &&
		       recorder_writer_alive(r); naps++)
		recorder_nap(r, &shared->recorder_state, GL_RECORDER_STARTING,
			     RECORDER_SETTLE_NS);
}

void recorder_forks(void)
{
	const struct recorder *r = recorder;
	const struct gl_shared *shared = r ? r->shared : NULL;

	if (!shared || recorder_trace[0])
		return;
	recorder_settle();
	memcpy(recorder_live, shared->live_path, sizeof(recorder_live));
	/* pairs with the release of writer_tell */
	if (atomic_load_explicit(&shared->recorder_state,
				 memory_order_acquire) == GL_RECORDER_READY)
		memcpy(recorder_trace, r->live->trace_path,
		       sizeof(recorder_trace));
}

static bool recorder_follows_fork(void)
{
	uint64_t follow = recorder_options.number[OPTION_FOLLOW];

	return follow == OPTION_FOLLOW_FORK || follow == OPTION_FOLLOW_ALL;
}

void recorder_set_off(struct recorder *r)
{
	if (r->shared)
		gate_shut_for_good(r->shared);
	atomic_store_explicit(&r->state, RECORDER_OFF, memory_order_release);
	aside_follow();
}

/*
 * Counts early events, first where there is always a place. Whoever sees that
 * something is shared takes them there. The fences see to it that the last who
 * counts sees it, or who has started the recorder sees the count.
 */
static void recorder_skip(struct recorder *r, uint64_t events)
{
	struct gl_shared *shared;

	atomic_fetch_add_explicit(&r->skipped, events, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	shared = r->shared;
	if (!shared)
		return;
	events = atomic_exchange_explicit(&r->skipped, 0,
					  memory_order_relaxed);
	atomic_fetch_add_explicit(&shared->skipped, events,
				  memory_order_relaxed);
}

/* Signals are kept out: a handler that jumped out of this would leave it to
 * nobody. */
static void recorder_start_undisturbed(struct recorder *r)
{
	uint32_t state = RECORDER_NEW;

	if (!atomic_compare_exchange_strong_explicit(
		    &r->state, &state, RECORDER_STARTING,
		    memory_order_acquire, memory_order_relaxed))
		return;
	atomic_store_explicit(&r->starter, arch_thread_pointer(),
			      memory_order_relaxed);
	r->forked = recorder_was_on;
	if (r->forked && !recorder_follows_fork()) {
		fork_copy_forget();
		recorder_set_off(r);
		return;
	}
	recorder_was_on = true;
	/* pairs with the acquire of recorder_enter */
	if (recorder_begin(r)) {
		atomic_store_explicit(&r->state, RECORDER_ON,
				      memory_order_release);
		recorder_skip(r, 0);
	} else {
		recorder_set_off(r);
	}
	if (unwind_may(UNWIND_NO_WAIT))
		sys_futex_wake(&r->state);
}

static void recorder_start(struct recorder *r)
{
	struct signals_held held;

	/* a child of a process that forbade itself what this needs; or has
	 * itself stepped, as the writer would be then */
	if (!unwind_may(SECCOMP_NO_START) || arch_is_stepped())
		return;
	signals_hold(&held);
	recorder_start_undisturbed(r);
	signals_release(&held);
}

/* Another thread is about to start it: in a child of fork several may come at
 * once. Not for ever, and not at each event: that one may be stopped. */
static uint32_t recorder_await(struct recorder *r)
{
	uint32_t state = RECORDER_STARTING;
	unsigned naps;

	if (atomic_load_explicit(&r->starter, memory_order_relaxed) ==
		    arch_thread_pointer() ||
	    atomic_load_explicit(&r->starter_late, memory_order_relaxed) ||
	    !unwind_may(UNWIND_NO_WAIT))
		return state;
	for (naps = 0; naps < RECORDER_START_NAPS; naps++) {
		sys_futex_wait(&r->state, RECORDER_STARTING,
			       RECORDER_START_NAP_NS);
		state = atomic_load_explicit(&r->state, memory_order_acquire);
		if (state != RECORDER_STARTING)
			return state;
	}
	atomic_store_explicit(&r->starter_late, 1, memory_order_relaxed);
	return state;
}

/* The kernel knows, and here it is a quick question; the writer would have to
 * open a file, if the thread is still there by then. */
static void recorder_name(struct gl_thread *told)
{
	if (!unwind_may(UNWIND_NO_IDS) ||
	    arch_syscall2(__NR_prctl, PR_GET_NAME, (long)told->name))
		told->name[0] = '\0';
	told->name[sizeof(told->name) - 1] = '\0';
}

/* A child's only thread goes on, on its stack, as the thread that forked: so
 * it is the main thread, but may be on another stack than that of main. */
static bool recorder_on_main_stack(const struct thread *thread)
{
	return recorder_main_pointer ?
		       arch_thread_pointer() == recorder_main_pointer :
		       thread->is_main;
}

static struct thread *recorder_register(struct recorder *r)
{
	struct gl_shared *shared = r->shared;
	struct gl_header *live = r->live;
	struct gl_ring *ring, *rings = r->rings;
	struct thread *thread, *threads = r->threads;
	struct gl_thread *told;
	uint32_t id;

	if (unwind_may(UNWIND_NO_IDS) && sys_getpid() != r->pid)
		return NULL;	/* I3 */
	/* a child, now or later: fork_copy.h */
	if (unlikely(!shared) || !live || !rings || !threads)
		return NULL;
	id = pool_take(r, RECORDER_PRIMARY);
	if (!id) {
		/* no memory for a ring: each event of this thread is lost */
		atomic_fetch_add_explicit(&live->dropped, 1,
					  memory_order_relaxed);
		return NULL;
	}
	ring = &rings[id - 1];
	told = live_map_thread(shared, id - 1);
	if (!told || !live_map_data(ring->offset)) {
		/* addresses are used up: as above */
		ring_push_free(shared, RECORDER_PRIMARY, id);
		atomic_fetch_add_explicit(&live->dropped, 1,
					  memory_order_relaxed);
		return NULL;
	}
	thread = &threads[id - 1];
	thread->shared = shared;
	thread->told = told;
	ring->tid = tid_own();
	thread->aside = 0;
	thread->is_main = ring->tid == r->pid;
	thread->nested = NULL;
	atomic_store_explicit(&told->nested, 0, memory_order_relaxed);
	thread->vain = 0;
	if (thread->capture)
		capture_thread_reset(thread->capture,
				     recorder_on_main_stack(thread));
	else if (!area_scarce() && recorder_options.number[OPTION_DEPTH])
		thread->capture =
			capture_thread_new(recorder_on_main_stack(thread),
					   &told->captures);
	told->plain = !thread->capture;
	arenas_tell(shared);
	recorder_name(told);
	ring->pointer = arch_thread_pointer();
	ring->flags = thread->is_main ? GT_THREAD_MAIN : 0;
	ring->start_stamp = arch_cycles();
	ring->stamp = ring->start_stamp << GL_KIND_BITS;
	/* pairs with the acquire of feed_scan: what it needs is there */
	__atomic_store_n(&ring->state, GL_RING_ACTIVE, __ATOMIC_RELEASE);
	thread->own = ring;
	recorder_put_aside(thread, THREAD_NOTES, guard.on);
	thread->activity = UINT32_MAX;	/* as none is: to be looked at */
	aside_thread(thread);
	if (unlikely(r->live != live)) {
		/* a child since: it has no ring */
		thread->own = thread->ring = NULL;
		return NULL;
	}
	recorder_tls = thread;
	return thread;
}

/* A thread that stands aside, if it has its ring back, or what is to be
 * recorded of it has been chosen already. */
static struct thread *recorder_return(struct recorder *r,
				      struct thread *thread)
{
	bool dormant;

	if (!recorder_is_on(r))
		return NULL;
	dormant = aside_dormant();
	aside_follow();
	recorder_put_aside(thread, THREAD_DORMANT, dormant);
	if (dormant)
		return NULL;
	if (!(thread->aside & THREAD_MUTE))
		return thread;
	atomic_fetch_add_explicit(&r->live->dropped, 1, memory_order_relaxed);
	return NULL;
}

/* Of a thread that has no ring. */
static struct thread *recorder_enter(bool dormant)
{
	struct recorder *r;
	uint32_t state;

	if (!recorder_ready())
		return NULL;
	r = recorder;
	state = atomic_load_explicit(&r->state, memory_order_acquire);
	if (state == RECORDER_NEW) {
		recorder_start(r);
		state = atomic_load_explicit(&r->state, memory_order_acquire);
	}
	if (state == RECORDER_STARTING)
		state = recorder_await(r);
	if (state == RECORDER_NEW || state == RECORDER_STARTING)
		recorder_skip(r, 1);
	if (state != RECORDER_ON || !recorder_is_on(r))
		return NULL;
	aside_follow();
	if (!dormant && aside_dormant())
		return NULL;
	return recorder_register(r);
}

BASE_SLOW struct thread *recorder_thread(void)
{
	struct thread *thread = recorder_tls;

	if (thread && thread->ring)
		return thread;	/* I1 */
	if (unlikely(!fork_copy_over(thread)))
		return NULL;
	if (thread && thread->own)
		return recorder_return(recorder, thread);
	return recorder_enter(false);
}

BASE_SLOW struct thread *recorder_join(void)
{
	struct thread *thread = recorder_tls;

	if (unlikely(!fork_copy_over(thread)))
		return NULL;
	return thread && thread->own ? thread : recorder_enter(true);
}

bool recorder_is_on(const struct recorder *r)
{
	/* pairs with the release of recorder_start_undisturbed */
	return r && atomic_load_explicit(&r->state, memory_order_acquire) ==
			    RECORDER_ON &&
	       r->shared && !gate_is_off(r->shared);
}

void recorder_hint_maps(void)
{
	struct gl_shared *shared = recorder ? recorder->shared : NULL;

	if (shared)
		atomic_fetch_add_explicit(&shared->maps_hints, 1,
					  memory_order_relaxed);
}

void recorder_wake(struct recorder *r)
{
	struct gl_shared *shared = r->shared;

	if (unlikely(!shared))
		return;		/* a child (fork_copy.h) */
	seccomp_take_over();
	/* both sequentially consistent, like their counterparts in
	 * writer_sleep: either it sees the count, or we see it asleep */
	atomic_fetch_add_explicit(&shared->wake, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&shared->asleep, memory_order_seq_cst) &&
	    unwind_may(UNWIND_NO_WAIT))
		sys_futex_wake(&shared->wake);
}

uint64_t recorder_cycles(const struct recorder *r, uint64_t ns)
{
	const struct gl_header *live = r->live;

	if (unlikely(!live))
		return 0;	/* a child (fork_copy.h) */
	if (unlikely(!live->window_ticks))
		return ns * RECORDER_CYCLES_NS;	/* nobody knows yet */
	/* what stands there is written over by whom it may be: a wait ends */
	return base_min((ns / RECORDER_WINDOW_NS * live->window_ticks)
				<< (live->tick_shift & 31),
			ns * RECORDER_CYCLES_MOST);
}

void recorder_nap(struct recorder *r, const _Atomic uint32_t *word,
		  uint32_t value, uint64_t ns)
{
	uint64_t start, cycles;

	if (unwind_may(UNWIND_NO_WAIT)) {
		sys_futex_wait(word, value, ns);
		return;
	}
	start = arch_cycles();
	cycles = recorder_cycles(r, ns);
	while (atomic_load_explicit(word, memory_order_acquire) == value &&
	       arch_cycles() - start < cycles &&
	       !unwind_may(UNWIND_NO_WAIT))
		arch_pause();
}

void recorder_put_aside(struct thread *thread, enum thread_aside why, bool on)
{
	thread->aside = on ? thread->aside | why : thread->aside & ~why;
	thread->ring = thread->aside ? NULL : thread->own;
}

void recorder_mute(bool mute)
{
	struct thread *thread = recorder_join();

	if (!thread || !(thread->aside & THREAD_MUTE) == !mute)
		return;
	if (mute)
		atomic_fetch_add_explicit(&thread->shared->mutes, 1,
					  memory_order_relaxed);
	recorder_put_aside(thread, THREAD_MUTE, mute);
}

/* It has not said that it is there. Who is made to wait looks: it may have ended
 * before it could. */
static BASE_SLOW bool recorder_is_coming(struct gl_shared *shared)
{
	uint32_t coming = GL_RECORDER_COMING, pid;

	pid = atomic_load_explicit(&shared->recorder_pid,
				   memory_order_relaxed);
	if (!pid || !unwind_may(SECCOMP_NO_START) ||
	    arch_syscall2(__NR_kill, pid, 0) != -ESRCH)
		return true;
	/* it may have said so meanwhile, and ended */
	return !atomic_compare_exchange_strong_explicit(
		       &shared->recorder_tid, &coming, 0,
		       memory_order_relaxed, memory_order_relaxed) &&
	       coming && !(coming & GL_RECORDER_GONE);
}

bool recorder_writer_alive(const struct recorder *r)
{
	struct gl_shared *shared = r->shared;
	uint32_t tid = !shared ? 0 :
		       atomic_load_explicit(&shared->recorder_tid,
					    memory_order_relaxed);

	if (unlikely(tid == GL_RECORDER_COMING))
		return recorder_is_coming(shared);
	return tid && !(tid & GL_RECORDER_GONE);
}

BASE_SLOW void recorder_lost(struct recorder *r)
{
	struct gl_shared *shared = r->shared;
	uint32_t tid = atomic_load_explicit(&shared->recorder_tid,
					    memory_order_acquire);
	uint32_t state = atomic_load_explicit(&shared->recorder_state,
					      memory_order_acquire);
	/* of one thread, once: its stack may be small */
	static char buffer[GT_PATH_MAX + 256];
	struct text text;

	/* one that has given up has said why, before it let go of its word */
	if ((tid && !(tid & GL_RECORDER_GONE)) || state == GL_RECORDER_DONE ||
	    state == GL_RECORDER_FAILED ||
	    atomic_exchange_explicit(&r->lost, 1, memory_order_relaxed))
		return;
	gate_shut_for_good(shared);
	/* at least the event at hand: what there is is not all */
	atomic_fetch_add_explicit(&r->live->dropped, 1, memory_order_relaxed);
	if (!recorder_may_speak(r))
		return;
	text_init(&text, buffer, sizeof(buffer));
	text_put(&text, "the recorder was killed: recording has stopped");
	if (shared->live_path[0]) {
		text_put(&text, "; who reads the trace finds the last events "
				"in ");
		text_put(&text, shared->live_path);
	}
	message_say(buffer);
	recorder_spoke(r);
}

void recorder_leave(void)
{
	struct recorder *r = recorder;

	if (!recorder_is_on(r))
		return;
	arenas_leave(r);
	atomic_store_explicit(&r->shared->hurry, 1, memory_order_relaxed);
	recorder_wake(r);
	launch_hear(r);
	if (atomic_load_explicit(&r->shared->spoke, memory_order_relaxed))
		recorder_spoke(r);
}
