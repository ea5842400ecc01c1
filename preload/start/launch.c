/*
 * launch.c: see launch.h.
 *
 *	thread ── clone(VM | VFORK) ──▶ helper ── clone(VM) ──▶ task ── execve ─▶ recorder
 *	  ▲                               │ makes the live file    │ sleeps, opens what
 *	  └──────────── ends at once ◀────┘ and maps it            └ the recorder inherits
 *
 * The helper shares the target's memory, but has a copy of its descriptor
 * table, of which it closes nearly all. So it does not matter which descriptors
 * the target has open, how many it may have, or what its other threads open and
 * close meanwhile. Mappings of the helper are mapped in the target. It has
 * ended, and the thread has reaped it, when the thread continues. So the
 * recorder is not a child of the target, whose waits for all children do not
 * return it. (A process that adopts orphans gets it as a child anyway.) Under
 * valgrind or an emulator there are no such tasks: there the thread does the
 * helper's work itself, in its own descriptor table, and the recorder comes
 * from two plain forks (launch_fork.c).
 *
 * I1: between the clones and execve only system calls are made, with all
 * signals blocked: the memory is the target's. I2: the arguments of execve, and
 * the stack of its caller, lie in static data or in the area, and are used for
 * nothing else: no thread waits for them.
 */
#include "preload/start/launch.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "preload/base/message.h"
#include "preload/base/options.h"
#include "preload/base/proc.h"
#include "preload/base/sys.h"
#include "preload/base/text.h"
#include "preload/patch/patch.h"
#include "preload/process/exit_status.h"
#include "preload/ring/area.h"
#include "preload/ring/forbidden.h"
#include "preload/ring/gate.h"
#include "preload/ring/live_map.h"
#include "preload/start/launch_job.h"
#include "unwind/base/memory.h"
#include "unwind/base/signals.h"

/* Size of a forked child's first ring: most children have few events, and
 * clearing pages is most of the cost of a ring. It grows. */
#define LAUNCH_RING_SMALL (UINT64_C(64) << 10)
#define LAUNCH_SLEEP_NS (2 * UINT64_C(1000000))
#define LAUNCH_EXEC_NS (20 * UINT64_C(1000000))
#define LAUNCH_EXEC_NAPS 10
#define LAUNCH_TASK "gnomon-start"

/* ---- the helper ---- */

/* Fills in the mapping's fields for the recorder and readers. */
static void launch_report(struct launch *launch)
{
	struct producer *p = launch->p;
	struct gl_header *live = launch->made.header;
	struct gl_shared *shared = (struct gl_shared *)((char *)live +
							live->shared_offset);
	struct gl_at_start *at_start = &shared->at_start;
	const uint64_t *number = producer_options.number;
	struct gl_setup *setup = &shared->setup;
	long n;

	live->monotonic0_ns = sys_moment(&live->counter0);
	live->realtime0_ns = sys_clock(CLOCK_REALTIME);
	live->pid = p->pid;
	live->trace_id = sys_random();
	*setup = (struct gl_setup){
		.blocks_users = launch->blocks_users,
		.live_error = launch->made.err,
		.base = (uintptr_t)live,
		.budget = launch->where.memory / 2,
		.reserved = launch->made.reserved,
		.memory = launch->where.memory,
		.ring_bytes = launch->made.ring_bytes,
		.rings = launch->made.ring_bytes != 0,
		.exit_count = exit_status_start(p->pid),
		.parent = launch->parent,
	};
	area_report_pieces(shared);
	live_map_begin(live, launch->made.whole);
	forbidden_report_start(shared);
	/* settings that apply from the first event on, before the recorder
	 * runs */
	shared->blocks_users = launch->blocks_users;
	if (number[OPTION_OFF] || number[OPTION_DELAY])
		gate_close(shared);
	if (proc_read_of(p->pid, "stat", at_start->stat,
			 sizeof(at_start->stat)) <= 0)
		at_start->stat[0] = '\0';
	/* /proc/self: the owner of the memory, in any pid namespace */
	n = proc_read("/proc/self/cmdline", at_start->command,
		      sizeof(at_start->command));
	at_start->command_bytes = n > 0 ? n : 0;
	if (launch->made.path[0] == '/')
		memcpy(shared->live_path, launch->made.path,
		       sizeof(shared->live_path));
	if (ARCH_PATCHES)
		patch_report(&shared->patched);
	setup->machine = ARCH_ELF_MACHINE;
	memcpy(setup->arch, ARCH_NAME, sizeof(ARCH_NAME));
	setup->word_bytes = sizeof(uintptr_t);
	setup->emulated = unwind_emulated;
	setup->counter_hz = arch_cycles_hz();
	setup->error_known = message_standard(&setup->error_device,
					      &setup->error_inode);
	atomic_store_explicit(&shared->recorder_tid, GL_RECORDER_COMING,
			      memory_order_relaxed);
	p->rings = (struct gl_ring *)((char *)live + live->data_offset);
	p->shared = shared;
	p->live = live;
}

int launch_make(struct launch *launch)
{
	int err;

	launch->where.random = sys_random();
	err = live_make(&launch->made, &launch->where);
	if (err)
		return err;
	/* other descriptors close at execve, these stay open */
	if (launch->made.fd >= 0)
		arch_syscall3(__NR_fcntl, launch->made.fd, F_SETFD, 0);
	launch_files_parent(launch);
	launch_report(launch);
	return 0;
}

static void launch_complain(const struct launch *launch, long err)
{
	char buffer[512];
	struct text text;

	if (launch->quiet)
		return;
	text_init(&text, buffer, sizeof(buffer));
	text_put(&text, "the recorder cannot be started: ");
	text_put(&text, launch_program);
	text_put(&text, ": ");
	text_error(&text, err);
	text_put(&text, ": this process is not recorded");
	if (err == -ENOEXEC)	/* as under an emulator */
		text_put(&text, ": set GNOMON_RECORDER to this machine's own, "
			"or use gnomon run");
	message_print(buffer);
	atomic_store_explicit(&launch->p->shared->spoke, 1,
			      memory_order_relaxed);
}

void launch_failed(const struct launch *launch, long err)
{
	struct gl_shared *shared = launch->p->shared;

	gate_close_for_good(shared);
	/* the state first: recorder_lost reads both */
	atomic_store_explicit(&shared->recorder_state, GL_RECORDER_FAILED,
			      memory_order_release);
	atomic_store_explicit(&shared->recorder_tid, 0, memory_order_release);
	sys_futex_wake(&shared->recorder_state);
	launch_complain(launch, err);
	if (launch->made.path[0])
		sys_unlink(launch->made.path);
}

/* Leaves the processor to the thread until that has all it needs to record:
 * then it wakes us (start.c). Only briefly, as a core dump (Linux up to 5.15)
 * and the OOM killer also kill every task that shares the memory. */
static void launch_sleep(const struct launch *launch)
{
	struct gl_shared *shared = launch->p->shared;
	const int32_t none = 0;

	/* a batch task does not preempt its waker; a refusal only costs time */
	arch_syscall3(__NR_sched_setscheduler, 0, SCHED_BATCH, (long)&none);
	/* as in the recorder itself (recorder_wake): no thread has woken it
	 * yet */
	atomic_store_explicit(&shared->asleep, 1, memory_order_seq_cst);
	sys_futex_wait(&shared->wake, 0, LAUNCH_SLEEP_NS);
	atomic_store_explicit(&shared->asleep, 0, memory_order_relaxed);
}

/* The task that becomes the recorder. I1 */
static void launch_exec(void *arg)
{
	struct launch *launch = arg;

	/* cleared when this task leaves the memory (recorder_wait_exec) */
	arch_syscall1(__NR_set_tid_address, (long)&launch->p->launching);
	launch_sleep(launch);
	launch_files_memory(launch);
	launch_failed(launch, launch_words_execute(launch));
	for (;;)
		arch_syscall1(__NR_exit, 127);
}

/* Gives the task a name and a session of its own, so that signals to the
 * target's group do not reach the recorder. Until execve its command line is
 * the target's. */
static void launch_detach(void)
{
	arch_syscall2(__NR_prctl, PR_SET_NAME, (long)LAUNCH_TASK);
	arch_syscall0(__NR_setsid);
}

static void launch_help(void *arg)
{
	struct launch *launch = arg;
	struct producer *p = launch->p;
	const int keep[] = { 2, launch->output };
	long pid;

	if (!p)		/* an emulator has forked: no area */
		arch_syscall1(__NR_exit, 0);
	launch_files_close(keep, sizeof(keep) / sizeof(*keep));
	launch->files = launch_files_raise();
	launch->err = launch_make(launch);
	if (!launch->err) {
		launch_words_make(launch);
		launch_detach();
		atomic_store_explicit(&p->launching, 1, memory_order_relaxed);
		pid = arch_clone_task(CLONE_VM | CLONE_UNTRACED,
				      launch->stack + LAUNCH_STACK, NULL,
				      launch_exec, launch);
		if (sys_failed(pid)) {
			atomic_store_explicit(&p->launching, 0,
					      memory_order_relaxed);
			launch->err = (int)pid;
		} else {
			atomic_store_explicit(&p->shared->recorder_pid, pid,
					      memory_order_relaxed);
		}
	}
	for (;;)
		arch_syscall1(__NR_exit, 0);
}

/* ---- the thread ---- */

static int launch_start(struct launch *launch)
{
	const struct signals_set all = signals_all(0);
	struct signals_set old;
	long helper;

	signals_mask(&all, &old);	/* I1 */
	helper = arch_clone_task(CLONE_VM | CLONE_VFORK | CLONE_UNTRACED,
				 launch->stack + 2 * LAUNCH_STACK, NULL,
				 launch_help, launch);
	if (!sys_failed(helper))
		while (arch_syscall4(__NR_wait4, helper, 0, __WALL, 0) ==
		       -EINTR)
			;
	/* the helper did not share our memory, or could not be made */
	if (sys_failed(helper) || launch->err == -EINPROGRESS)
		launch->err = launch_fork(launch, helper != -EPERM);
	signals_mask(&old, NULL);
	return launch->err;
}

/* Bytes of the first thread's ring. If threads do not wait for full rings, it
 * must last until the recorder runs. */
static uint64_t launch_ring(const struct producer *p)
{
	bool small = p->forked && producer_options.number[OPTION_OVERFLOW] !=
					  OPTION_OVERFLOW_DROP;
	uint64_t most = small ? LAUNCH_RING_SMALL : OPTIONS_RING_MAX;
	uint64_t ring = OPTIONS_RING_MIN;

	while (ring < producer_options.number[OPTION_RING] && ring < most)
		ring *= 2;
	return ring;
}

static struct launch *launch_prepare(struct producer *p, uint32_t blocks_users,
				     bool quiet)
{
	struct launch *launch = area_alloc(sizeof(*launch));
	const char *output = options_text(&producer_options, OPTION_OUTPUT);

	if (!launch)
		return NULL;
	launch->stack = area_alloc(2 * LAUNCH_STACK);
	if (!launch->stack)
		return NULL;
	launch->p = p;
	launch->blocks_users = blocks_users;
	launch->quiet = quiet;
	if (unwind_may(UNWIND_NO_IDS))
		launch->parent = (int32_t)arch_syscall0(__NR_getppid);
	launch->err = -EINPROGRESS;
	launch->output = options_descriptor(output);
	launch->where = (struct live_where){
		.live_dir = options_text(&producer_options, OPTION_LIVE_DIR),
		.beside = launch->output < 0 ? output : "",
		.memory = producer_options.number[OPTION_MEMORY],
		.ring = launch_ring(p),
		.small = p->forked,
		.core = producer_options.number[OPTION_GUARD] != 0,
		.pid = p->pid,
	};
	return launch;
}

int launch_recorder(struct producer *p, uint32_t blocks_users, bool quiet)
{
	struct launch *launch = launch_prepare(p, blocks_users, quiet);
	int err = launch ? launch_start(launch) : -ENOMEM;

	/* no other process will remove it */
	if (err && launch && launch->made.path[0])
		sys_unlink(launch->made.path);
	return err;
}

void launch_wait_exec(struct producer *p)
{
	const struct gl_shared *shared = p->shared;

	/* else: a child (fork_copy.h), or a child with its parent's program */
	if (shared && !p->forked)
		recorder_naps(p, &shared->static_checked, 0, LAUNCH_EXEC_NS,
			      LAUNCH_EXEC_NAPS);
}
