/*
 * launch.c: see launch.h.
 *
 *	thread ── clone(VM | VFORK) ──▶ helper ── clone(VM) ──▶ task ── execve ─▶ recorder
 *	  ▲                               │ makes the live file    │ sleeps, opens what
 *	  └──────────── ends at once ◀────┘ and maps it            └ the recorder inherits
 *
 * The helper has the target's memory, but a copy of its table of descriptors,
 * of which it closes nearly all: so it does not matter what the target has open,
 * how many it may have, or what its other threads open and close meanwhile. What
 * it maps is mapped in the target. It has ended when the thread goes on, and was
 * reaped by it; so the recorder is nobody's child in the target, whose waits for
 * all children do not meet it. (A process that adopts orphans has it for a child
 * anyway.) Whoever runs under valgrind, or an emulator, has no such tasks: there
 * the thread does the helper's work itself, in its own table of descriptors, and
 * the recorder comes from two plain forks:
 *
 *	thread ── fork ──▶ child ── fork ──▶ execve ─▶ recorder
 *	  ▲                  │ closes what is not the recorder's
 *	  └── how it went ◀──┘
 *
 * I1: between the clones and execve only system calls are made, with all signals
 *     blocked: the memory is the target's.
 * I2: what execve is given, and the stack on which that is called, lie in static
 *     data or in the area, and are used for nothing else: nobody waits for it.
 * I3: a plain fork's child has neither the area nor the live mapping: it works
 *     on launch_copy.
 */
#include "preload/start/launch.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "preload/base/message.h"
#include "preload/base/options.h"
#include "preload/base/proc.h"
#include "preload/base/product.h"
#include "preload/base/sys.h"
#include "preload/base/text.h"
#include "preload/patch/patch.h"
#include "preload/process/exit_status.h"
#include "preload/process/parent.h"
#include "preload/ring/area.h"
#include "preload/ring/forbidden.h"
#include "preload/ring/live_map.h"
#include "preload/ring/gate.h"
#include "preload/ring/initial.h"
#include "preload/start/live_make.h"
#include "unwind/signals.h"

#define LAUNCH_FILES 32	/* descriptors that a recorder can do without */
#define LAUNCH_STACK (32u << 10)
#define LAUNCH_VARIABLES 128
#define LAUNCH_TEXT (24u << 10)
#define LAUNCH_NUMBERS 4
#define LAUNCH_WORDS (LAUNCH_NUMBERS + 4)
/* A forked child's first ring: most have few events, and clearing pages is most
 * of what a ring takes. It grows. */
#define LAUNCH_RING_SMALL (UINT64_C(64) << 10)
#define LAUNCH_SLEEP_NS (2 * UINT64_C(1000000))
#define LAUNCH_HEAR_NS (20 * UINT64_C(1000000))
#define LAUNCH_HEAR_NAPS 10
#define LAUNCH_NAME "gnomon-recorder"
#define LAUNCH_TASK "gnomon-start"
#define LAUNCH_VARIABLE "GNOMON_RECORDER="

/* What the recorder gets of the environment: nothing of it is to record the
 * recorder, and the program may write over its own. */
static const char *const launch_variables[] = {
	"GNOMON_", "PATH=", "HOME=", "LANG=", "LC_ALL=", "LC_CTYPE=",
	"LANGUAGE=", "TERM=", "TZ=", "TMPDIR=", "NO_COLOR=", "COLUMNS=",
	"DEBUGINFOD_URLS=", "DEBUGINFOD_CACHE_PATH=", "XDG_CACHE_HOME=",
	"XDG_STATE_HOME=", NULL
};

/* I2: constant after launch_environment, also in forked children. */
static char *launch_envp[LAUNCH_VARIABLES + 1];
static char launch_text[LAUNCH_TEXT];
static char launch_program[GT_PATH_MAX];

/* What the helper works on. In the area. */
struct launch {
	struct recorder *r;
	struct live_made made;
	struct live_where where;
	int output;		/* descriptor that the recorder takes; -1 */
	uint64_t files;		/* descriptors that the recorder may have */
	int32_t file[GL_FILES];
	int err;
	int32_t parent;		/* the process's, not the helper's */
	uint32_t ledger_wants;	/* enum ledger_why */
	bool quiet;		/* nothing is to be said */
	bool alone;		/* without a helper */
	char *stack;
	char number[LAUNCH_NUMBERS][16];
	char parent_trace[GT_PATH_MAX];
	char *argv[LAUNCH_WORDS + 1];
};

static struct launch launch_copy;	/* I3 */

/* ---- at the first start ---- */

static bool launch_wants(const char *entry)
{
	unsigned i;

	for (i = 0; launch_variables[i]; i++)
		if (strncmp(entry, launch_variables[i],
			    strlen(launch_variables[i])) == 0)
			return true;
	return false;
}

/* A forked child may start its recorder in another directory. */
static void launch_find(const char *named, const char *library)
{
	const char *from = named && *named ? named : library;
	size_t n = library ? strlen(library) : 0;
	struct text text;
	long here = 0;

	if (from && *from != '/')
		here = arch_syscall2(__NR_getcwd, (long)launch_program,
				     sizeof(launch_program) - 1);
	if (sys_failed(here))
		here = 0;
	if (here)	/* with the 0 behind it */
		launch_program[here - 1] = '/';
	text_init(&text, launch_program + here, sizeof(launch_program) - here);
	if (named && *named) {
		text_put(&text, named);
		return;
	}
	text_bytes(&text, library, text_base_name(library, n) - library);
	text_put(&text, LAUNCH_NAME);
}

void launch_environment(char *const *environment, const char *library)
{
	static char off[] = "GNOMON_OFF=1";
	const size_t name = sizeof(LAUNCH_VARIABLE) - 1;
	size_t room = sizeof(launch_text), n;
	const char *named = NULL;
	char *to = launch_text;
	unsigned count = 0;

	if (product_off)
		launch_envp[count++] = off;	/* later ones count more */
	for (; environment && *environment && count < LAUNCH_VARIABLES;
	     environment++) {
		n = strlen(*environment) + 1;
		if (strncmp(*environment, LAUNCH_VARIABLE, name) == 0)
			named = *environment + name;
		if (n > room || !launch_wants(*environment))
			continue;
		memcpy(to, *environment, n);
		launch_envp[count++] = to;
		to += n;
		room -= n;
	}
	launch_find(named, library);
}

/* ---- the helper ---- */

static void launch_close_range(unsigned from, unsigned to)
{
	unsigned fd;

	if (arch_syscall3(__NR_close_range, from, to, 0) == 0)
		return;
	/* kernels before 5.9 */
	for (fd = from; fd <= to && fd < 65536; fd++)
		sys_close(fd);
}

/* The least of them that is not below `from`; -1: there is none. */
static int launch_next(const int *keep, unsigned count, int from)
{
	int next = -1;
	unsigned i;

	for (i = 0; i < count; i++)
		if (keep[i] >= from && (next < 0 || keep[i] < next))
			next = keep[i];
	return next;
}

/* All that is open but these, of which negative ones are none. Nothing else gets
 * the number of standard error. */
static void launch_close(const int *keep, unsigned count)
{
	int from = 0, next;
	long fd;

	while ((next = launch_next(keep, count, from)) >= 0) {
		if (next > from)
			launch_close_range(from, next - 1);
		from = next + 1;
	}
	launch_close_range(from, ~0u);
	if (arch_syscall3(__NR_fcntl, 2, F_GETFD, 0) != -EBADF)
		return;
	fd = sys_open("/", O_PATH, 0);
	if (fd < 0 || fd == 2)
		return;
	arch_syscall3(__NR_dup3, fd, 2, 0);
	sys_close(fd);
}

/* As many as it may have; how many that is. */
static uint64_t launch_raise_files(void)
{
	uint64_t limit[2];	/* soft, hard */

	if (arch_syscall4(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, (long)limit))
		return 0;
	if (limit[0] == limit[1])
		return limit[0];
	limit[0] = limit[1];
	arch_syscall4(__NR_prlimit64, 0, RLIMIT_NOFILE, (long)limit, 0);
	return limit[1];
}

/* Of the process and of its parent, by their names: they may be gone soon. */
static void launch_open_kin(struct launch *launch)
{
	unsigned i;
	long fd;

	for (i = 0; i < GL_FILES; i++)
		launch->file[i] = -1;
	if (launch->files < LAUNCH_FILES)
		return;
	if (parent.live[0]) {
		fd = sys_open(parent.live,
			      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
			      0);
		launch->file[GL_FILE_PARENT] = sys_failed(fd) ? -1 : fd;
	}
	/* valgrind does not know this call, and says so */
	if (launch->alone)
		return;
	/* of a /proc that is another pid namespace's it is none of ours */
	fd = arch_syscall2(__NR_pidfd_open, launch->where.pid, 0);
	launch->file[GL_FILE_PIDFD] = sys_failed(fd) ? -1 : fd;
	if (fd >= 0)	/* it is not to close at execve */
		arch_syscall3(__NR_fcntl, fd, F_SETFD, 0);
}

/*
 * About the memory. The kernel gives nothing to read once the task has ended that
 * a file of /proc belongs to: so these belong to the task that becomes the
 * recorder, which still has the target's memory. They stay bound to that.
 */
static void launch_open_files(struct launch *launch)
{
	static const struct {
		const char *path;
		int flags;
	} files[] = {
		[GL_FILE_MAPS] = { "/proc/self/maps", O_RDONLY },
		[GL_FILE_MAPS_WHOLE] = { "/proc/self/maps", O_RDONLY },
		[GL_FILE_SMAPS] = { "/proc/self/smaps", O_RDONLY },
		[GL_FILE_ROLLUP] = { "/proc/self/smaps_rollup", O_RDONLY },
		[GL_FILE_EXE] = { "/proc/self/exe", O_PATH },
	};
	unsigned i;
	long fd;

	if (launch->files < LAUNCH_FILES || !proc_is_ours())
		return;
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		fd = sys_open(files[i].path, files[i].flags, 0);
		launch->file[i] = sys_failed(fd) ? -1 : fd;
	}
}

/* What has the target's memory can find out, and only the recorder has to know:
 * the thread does not wait for it. I1 */
static void launch_look(struct launch *launch)
{
	launch_open_files(launch);
	memcpy(launch->r->shared->told.file, launch->file,
	       sizeof(launch->file));
}

/* What recorder and readers find in the mapping. */
static void launch_tell(struct launch *launch)
{
	struct recorder *r = launch->r;
	struct gl_header *live = launch->made.header;
	struct gl_shared *shared = (struct gl_shared *)((char *)live +
							live->shared_offset);
	struct gl_born *born = &shared->born;
	const uint64_t *number = recorder_options.number;
	struct gl_told *told = &shared->told;
	long n;

	live->monotonic0_ns = sys_moment(&live->counter0);
	live->realtime0_ns = sys_clock(CLOCK_REALTIME);
	live->pid = r->pid;
	live->trace_id = sys_random();
	*told = (struct gl_told){
		.ledger_wants = launch->ledger_wants,
		.live_error = launch->made.err,
		.base = (uintptr_t)live,
		.budget = launch->where.memory / 2,
		.reserved = launch->made.reserved,
		.memory = launch->where.memory,
		.ring_bytes = launch->made.ring_bytes,
		.rings = launch->made.ring_bytes != 0,
		.exit_count = exit_status_start(r->pid),
		.parent = launch->parent,
	};
	area_tell_pieces(shared);
	live_map_begin(live, launch->made.whole);
	forbidden_tell_start(shared);
	/* what holds from the first event on, before the recorder runs */
	shared->ledger_wants = launch->ledger_wants;
	if (number[OPTION_OFF] || number[OPTION_DELAY])
		gate_shut(shared);
	if (proc_read_of(r->pid, "stat", born->stat, sizeof(born->stat)) <= 0)
		born->stat[0] = '\0';
	/* whose memory it is, whichever pid namespace /proc belongs to */
	n = proc_read("/proc/self/cmdline", born->command,
		      sizeof(born->command));
	born->command_bytes = n > 0 ? n : 0;
	if (launch->made.path[0] == '/')
		memcpy(shared->live_path, launch->made.path,
		       sizeof(shared->live_path));
	if (ARCH_PATCHES)
		patch_tell(&shared->patched);
	told->machine = ARCH_ELF_MACHINE;
	memcpy(told->arch, ARCH_NAME, sizeof(ARCH_NAME));
	told->word_bytes = sizeof(uintptr_t);
	told->counter_hz = arch_cycles_hz();
	told->error_known = message_standard(&told->error_device,
					     &told->error_inode);
	atomic_store_explicit(&shared->recorder_tid, GL_RECORDER_COMING,
			      memory_order_relaxed);
	r->rings = (struct gl_ring *)((char *)live + live->data_offset);
	r->shared = shared;
	r->live = live;
}

static int launch_make(struct launch *launch)
{
	int err;

	launch->where.random = sys_random();
	err = live_make(&launch->made, &launch->where);
	if (err)
		return err;
	/* the others close at execve, these do not */
	if (launch->made.fd >= 0)
		arch_syscall3(__NR_fcntl, launch->made.fd, F_SETFD, 0);
	launch_open_kin(launch);
	launch_tell(launch);
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
	message_say(buffer);
	atomic_store_explicit(&launch->r->shared->spoke, 1,
			      memory_order_relaxed);
}

/* There is no recorder, and will be none. I1 */
static void launch_failed(const struct launch *launch, long err)
{
	struct gl_shared *shared = launch->r->shared;

	gate_shut_for_good(shared);
	/* the state first: recorder_lost looks at both */
	atomic_store_explicit(&shared->recorder_state, GL_RECORDER_FAILED,
			      memory_order_release);
	atomic_store_explicit(&shared->recorder_tid, 0, memory_order_release);
	sys_futex_wake(&shared->recorder_state);
	launch_complain(launch, err);
	if (launch->made.path[0])
		sys_unlink(launch->made.path);
}

/* Comes back with an error, if at all. */
static long launch_execve(const struct launch *launch)
{
	return arch_syscall3(__NR_execve, (long)launch_program,
			     (long)launch->argv, (long)launch_envp);
}

/* The thread has the processor first, until it has all that it needs to record:
 * then it wakes us (start.c). Not for long, as who dumps core takes along whoever
 * has its memory (Linux up to 5.15), and the OOM killer too. */
static void launch_sleep(const struct launch *launch)
{
	struct gl_shared *shared = launch->r->shared;
	const int32_t none = 0;

	/* a batch task does not preempt who wakes it; refused, it only disturbs
	 * more */
	arch_syscall3(__NR_sched_setscheduler, 0, SCHED_BATCH, (long)&none);
	/* as the recorder itself (recorder_wake): nobody has woken it yet */
	atomic_store_explicit(&shared->asleep, 1, memory_order_seq_cst);
	sys_futex_wait(&shared->wake, 0, LAUNCH_SLEEP_NS);
	atomic_store_explicit(&shared->asleep, 0, memory_order_relaxed);
}

/* The last one before the recorder itself. I1 */
static void launch_exec(void *arg)
{
	struct launch *launch = arg;

	/* cleared when this task leaves the memory (recorder_parted) */
	arch_syscall1(__NR_set_tid_address, (long)&launch->r->launching);
	launch_sleep(launch);
	launch_look(launch);
	launch_failed(launch, launch_execve(launch));
	for (;;)
		arch_syscall1(__NR_exit, 127);
}

static void launch_words(struct launch *launch)
{
	const int numbers[LAUNCH_NUMBERS] = {
		launch->where.pid, launch->made.fd, launch->made.memory_id,
		(launch->r->forked ? GL_FLAG_FORKED : 0) |
			(launch->quiet ? GL_FLAG_QUIET : 0),
	};
	struct text text;
	unsigned i, n = 0;

	launch->argv[n++] = launch_program;
	for (i = 0; i < LAUNCH_NUMBERS; i++) {
		text_init(&text, launch->number[i],
			  sizeof(launch->number[i]));
		if (numbers[i] < 0)
			text_char(&text, '-');
		else
			text_number(&text, numbers[i]);
		launch->argv[n++] = launch->number[i];
	}
	launch->argv[n++] = launch->made.path;
	/* this one is soon forgotten */
	memcpy(launch->parent_trace, parent.trace, sizeof(parent.trace));
	launch->argv[n++] = launch->parent_trace;
	launch->argv[n++] = (char *)(initial.executed ? initial.executed : "");
	launch->argv[n] = NULL;
}

/* What it starts is known by its name, and is not meant by who kills or stops the
 * target's group. It is no recorder yet: its command line is the target's. */
static void launch_stand_apart(void)
{
	arch_syscall2(__NR_prctl, PR_SET_NAME, (long)LAUNCH_TASK);
	arch_syscall0(__NR_setsid);
}

static void launch_help(void *arg)
{
	struct launch *launch = arg;
	struct recorder *r = launch->r;
	const int keep[] = { 2, launch->output };
	long pid;

	if (!r)		/* of an emulator that has forked: I3 */
		arch_syscall1(__NR_exit, 0);
	launch_close(keep, sizeof(keep) / sizeof(*keep));
	launch->files = launch_raise_files();
	launch->err = launch_make(launch);
	if (!launch->err) {
		launch_words(launch);
		launch_stand_apart();
		atomic_store_explicit(&r->launching, 1, memory_order_relaxed);
		pid = arch_clone_task(CLONE_VM | CLONE_UNTRACED,
				      launch->stack + LAUNCH_STACK, NULL,
				      launch_exec, launch);
		if (sys_failed(pid)) {
			atomic_store_explicit(&r->launching, 0,
					      memory_order_relaxed);
			launch->err = (int)pid;
		} else {
			atomic_store_explicit(&r->shared->recorder_pid, pid,
					      memory_order_relaxed);
		}
	}
	for (;;)
		arch_syscall1(__NR_exit, 0);
}

/* ---- without tasks that share memory ---- */

/* Emulators know no children that end without a signal. */
static long launch_fork(void)
{
	long pid = arch_syscall5(__NR_clone, 0, 0, 0, 0, 0);

	return pid == -EINVAL ?
		       arch_syscall5(__NR_clone, SIGCHLD, 0, 0, 0, 0) : pid;
}

/* Whether SIGCHLD waits for the calling thread, or its process. */
static bool launch_signalled(void)
{
	struct signals_set pending = { { 0 } };

	arch_syscall2(__NR_rt_sigpending, (long)&pending, SIGNALS_SET);
	return pending.word[0] & SIGNALS_BIT(SIGCHLD);
}

/* The signal of a child of ours that has ended: it is kept out (I1). */
static void launch_unsignal(void)
{
	static const struct signals_set only = { { SIGNALS_BIT(SIGCHLD) } };
	const struct timespec none = { 0, 0 };

	arch_syscall4(__NR_rt_sigtimedwait, (long)&only, 0, (long)&none,
		      SIGNALS_SET);
}

/* The child, I3: says by its status what has failed. A pipe that closes at
 * execve says how that went. */
static void launch_forked(const struct launch *launch)
{
	int keep[2 + 1 + GL_FILES] = { 2, launch->output, launch->made.fd };
	int32_t ends[2] = { -1, -1 };
	long pid, told, err = 0;

	memcpy(keep + 3, launch->file, sizeof(launch->file));
	launch_close(keep, sizeof(keep) / sizeof(*keep));
	arch_syscall2(__NR_pipe2, (long)ends, O_CLOEXEC);
	pid = launch_fork();
	if (pid == 0) {
		told = launch_execve(launch);
		/* without a pipe nobody hears of it */
		sys_write(ends[1], &told, sizeof(told));
		for (;;)
			arch_syscall1(__NR_exit, 127);
	}
	sys_close(ends[1]);
	if (sys_failed(pid))
		err = pid;
	else if (sys_read(ends[0], &told, sizeof(told)) == sizeof(told))
		err = told;
	for (;;)
		arch_syscall1(__NR_exit, -err);
}

static void launch_shut(const struct launch *launch)
{
	unsigned i;

	if (launch->made.fd >= 0)
		sys_close(launch->made.fd);
	for (i = 0; i < GL_FILES; i++)
		if (launch->file[i] >= 0)
			sys_close(launch->file[i]);
}

/* How the process looks whether memory can be read. valgrind takes the usual
 * probe for a fault of the program's; an emulator does not look at the address,
 * and is asked in another way. */
static void launch_probe(bool emulated)
{
	uintptr_t none = (uintptr_t)sys_mmap(NULL, LAUNCH_STACK, PROT_NONE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1,
					     0);

	unwind_emulated = emulated && !sys_failed((long)none);
	if (!unwind_emulated || unwind_probe(none) ||
	    !unwind_probe((uintptr_t)&none)) {
		unwind_emulated = false;
		forbidden_add(UNWIND_NO_PROBE);
	}
	if (!sys_failed((long)none))
		sys_munmap((void *)none, LAUNCH_STACK);
}

static BASE_SLOW int launch_alone(struct launch *launch, bool emulated)
{
	bool signalled = launch_signalled();
	int32_t status = 0;
	long pid;
	int err;

	launch->alone = true;
	launch_probe(emulated);
	launch->files = LAUNCH_FILES;	/* they close again */
	err = launch_make(launch);
	if (err)
		return err;
	launch_look(launch);
	launch_copy = *launch;
	launch_words(&launch_copy);
	pid = launch_fork();
	if (pid == 0)
		launch_forked(&launch_copy);
	launch_shut(launch);
	if (sys_failed(pid))
		return (int)pid;
	while (arch_syscall4(__NR_wait4, pid, (long)&status, __WALL, 0) ==
	       -EINTR)
		;
	if (!signalled && launch_signalled())
		launch_unsignal();
	if (status)
		launch_failed(launch, WIFEXITED(status) ?
					      -WEXITSTATUS(status) : -ECHILD);
	return 0;
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
	/* neither did it share our memory, nor could it be made */
	if (sys_failed(helper) || launch->err == -EINPROGRESS)
		launch->err = launch_alone(launch, helper != -EPERM);
	signals_mask(&old, NULL);
	return launch->err;
}

/* Bytes of the first thread's ring. Where a full one is not waited for it has to
 * last until the recorder runs. */
static uint64_t launch_ring(const struct recorder *r)
{
	bool small = r->forked && recorder_options.number[OPTION_OVERFLOW] !=
					  OPTION_OVERFLOW_DROP;
	uint64_t most = small ? LAUNCH_RING_SMALL : OPTIONS_RING_MAX;
	uint64_t ring = OPTIONS_RING_MIN;

	while (ring < recorder_options.number[OPTION_RING] && ring < most)
		ring *= 2;
	return ring;
}

static struct launch *launch_prepare(struct recorder *r, uint32_t ledger_wants,
				     bool quiet)
{
	struct launch *launch = area_alloc(sizeof(*launch));
	const char *output = options_text(&recorder_options, OPTION_OUTPUT);

	if (!launch)
		return NULL;
	launch->stack = area_alloc(2 * LAUNCH_STACK);
	if (!launch->stack)
		return NULL;
	launch->r = r;
	launch->ledger_wants = ledger_wants;
	launch->quiet = quiet;
	if (unwind_may(UNWIND_NO_IDS))
		launch->parent = (int32_t)arch_syscall0(__NR_getppid);
	launch->err = -EINPROGRESS;
	launch->output = options_descriptor(output);
	launch->where = (struct live_where){
		.live_dir = options_text(&recorder_options, OPTION_LIVE_DIR),
		.beside = launch->output < 0 ? output : "",
		.memory = recorder_options.number[OPTION_MEMORY],
		.ring = launch_ring(r),
		.small = r->forked,
		.core = recorder_options.number[OPTION_GUARD] != 0,
		.pid = r->pid,
	};
	return launch;
}

int launch_recorder(struct recorder *r, uint32_t ledger_wants, bool quiet)
{
	struct launch *launch = launch_prepare(r, ledger_wants, quiet);
	int err = launch ? launch_start(launch) : -ENOMEM;

	/* nobody else will remove it */
	if (err && launch && launch->made.path[0])
		sys_unlink(launch->made.path);
	return err;
}

void launch_hear(struct recorder *r)
{
	const struct gl_shared *shared = r->shared;

	/* else: a child (fork_copy.h); or one that has its parent's program */
	if (shared && !r->forked)
		recorder_naps(r, &shared->foreign_done, 0, LAUNCH_HEAR_NS,
			      LAUNCH_HEAR_NAPS);
}
