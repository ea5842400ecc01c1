/*
 * recorder_main.c: gnomon-recorder, the program that records one process. That
 * process starts it (preload/start/launch.c), never a user:
 *
 *	gnomon-recorder PID LIVE MEMORY FLAGS PATH PARENT EXECUTED
 *	  PID       of that process
 *	  LIVE      descriptor of the live file; -: none
 *	  MEMORY    id of the System V segment used instead; -: none
 *	  FLAGS     enum gl_flags
 *	  PATH      of the live file
 *	  PARENT    path of the trace of the parent by fork, or ""
 *	  EXECUTED  path by which the program was executed, or ""
 *
 * All other data is in the live mapping (gl_setup) and in its environment,
 * which has the recording's options.
 *
 * First it resets state inherited from the target: it becomes a session leader,
 * blocks all signals, lifts CPU affinity and resource limits, and becomes a
 * batch task, which does not preempt the target.
 *
 * I1: the mapping is untrusted: data is copied, checked, then used
 *     (recording.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch.h"
#include "cli/base/deep_call.h"
#include "cli/recorder/base/counter.h"
#include "cli/recorder/base/futex.h"
#include "cli/recorder/base/message_out.h"
#include "cli/recorder/live/lost_page.h"
#include "cli/recorder/process/target_file.h"
#include "cli/recorder/recorder.h"
#include "preload/ring/gate.h"

enum {
	MAIN_NAME, MAIN_PID, MAIN_LIVE, MAIN_MEMORY, MAIN_FLAGS, MAIN_PATH,
	MAIN_PARENT, MAIN_EXECUTED, MAIN_WORDS
};

#define MAIN_MMAP_MIN (128 << 10)
#define MAIN_STACK (1 << 20)	/* most that the recorder needs */

static struct recorder main_recorder;
static struct options main_options;
static struct gl_at_start main_at_start;

/* With this robust list the kernel signals the recorder's end to the target's
 * threads (futex(2), robust futexes). It has one entry, which is here; its
 * futex word is at an offset, in the mapping. */
static struct {
	struct robust_list entry;
	struct robust_list_head head;
} main_end;

static void main_leave_inheritance(void)
{
	static const int limits[] = {
		RLIMIT_AS, RLIMIT_CPU, RLIMIT_DATA, RLIMIT_FSIZE,
		RLIMIT_NOFILE, RLIMIT_STACK
	};
	struct sched_param none = { 0 };
	struct rlimit limit;
	const struct rlimit no_core = { 0, 0 };
	cpu_set_t all;
	sigset_t signals;
	unsigned i;

	sigfillset(&signals);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	setsid();
	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		if (getrlimit(limits[i], &limit) ||
		    limit.rlim_cur == limit.rlim_max)
			continue;
		limit.rlim_cur = limit.rlim_max;
		setrlimit(limits[i], &limit);
	}
	setrlimit(RLIMIT_CORE, &no_core);
	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
	/* a batch task does not preempt the thread that wakes it; failure only
	 * costs the target some time */
	sched_setscheduler(0, SCHED_BATCH, &none);
	mallopt(M_MMAP_THRESHOLD, MAIN_MMAP_MIN);
}

/* Under the other byte order the kernel does not recognise the thread id and
 * does not signal the end. */
static void main_be_known(struct gl_shared *shared)
{
	char *word = (char *)&shared->recorder_tid;

	main_end.entry.next = &main_end.head.list;
	main_end.head.list.next = &main_end.entry;
	main_end.head.futex_offset = word - (char *)&main_end.entry;
	syscall(SYS_set_robust_list, &main_end.head, sizeof(main_end.head));
	atomic_store_explicit(&shared->recorder_tid, gettid(),
			      memory_order_release);
}

/* -1 for "-" (none) and for anything but a number. */
static int main_number(const char *word)
{
	char *end;
	long number = strtol(word, &end, 10);

	return end == word || *end || number < 0 || number > INT32_MAX ?
		       -1 : (int)number;
}

static void main_hear(struct recorder *rec, char **argv)
{
	struct recording *r = &rec->recording;
	struct gl_setup setup = r->shared->setup;	/* I1 */
	int flags = main_number(argv[MAIN_FLAGS]);
	int32_t file[GL_FILES];
	unsigned i;

	main_at_start = r->shared->at_start;
	main_at_start.stat[GL_STAT - 1] = '\0';
	main_at_start.command_bytes = base_min(main_at_start.command_bytes,
					       GL_COMMAND - 1);
	r->at_start = &main_at_start;

	r->pid = main_number(argv[MAIN_PID]);
	r->forked = flags & GL_FLAG_FORKED;
	r->quiet = flags & GL_FLAG_QUIET;
	r->rings_made = setup.rings;
	r->ring_bytes = setup.ring_bytes;
	r->parent = setup.parent;
	r->blocks_users = setup.blocks_users;
	r->base = setup.base;
	r->parent_trace = argv[MAIN_PARENT];
	r->from_parent.exit_count = setup.exit_count;
	r->ban_known = atomic_load_explicit(&r->shared->ban_known,
					    memory_order_relaxed);
	r->executed = argv[MAIN_EXECUTED];
	for (i = 0; i < GL_FILES; i++)
		file[i] = setup.file[i];
	target_file_init(file, r->pid);
	target_file_mapped(rec->live.fd, setup.base);
	r->from_parent.fd = target_file(GL_FILE_PARENT);
	message_out_init(setup.error_known, setup.error_device,
			 setup.error_inode);
	/* the target could only get less memory */
	if (setup.memory >= OPTIONS_MEMORY_MIN / 2 &&
	    setup.memory <= main_options.number[OPTION_MEMORY])
		main_options.number[OPTION_MEMORY] = setup.memory;
	rec->live.budget = base_min(rec->live.budget,
				  main_options.number[OPTION_MEMORY] / 2);
	rec->live.reserved = base_min(rec->live.reserved, rec->live.budget);
}

/* Reads the target's machine, which may be another one under an emulator. */
static bool main_know_machine(struct recording *r)
{
	struct gl_setup setup = r->shared->setup;	/* I1 */

	setup.arch[GL_ARCH_NAME - 1] = '\0';
	recording_machine = setup.machine;
	r->word_bytes = setup.word_bytes == 4 ? 4 : 8;
	r->emulated = setup.emulated != 0;
	memcpy(r->arch, setup.arch, sizeof(r->arch));
	counter_of(&setup, r->live);
	return setup.machine == ARCH_ELF_MACHINE ||
	       (setup.counter_hz && setup.arch[0]);
}

/* For a target of the other byte order: executes the recorder built for that
 * order (byte_order.h), in the same directory. Returns if there is none. */
static void main_become_other(char **argv)
{
	char path[GT_PATH_MAX];
	const char *own = (const char *)getauxval(AT_EXECFN);
	int n = ORDER_OTHER || !own ? 0 :
		snprintf(path, sizeof(path), "%s-other", own);

	if (n > 0 && n < (int)sizeof(path))
		execv(path, argv);
}

static int main_attach(struct recorder *rec, char **argv)
{
	struct recording *r = &rec->recording;
	int err = live_attach(&rec->live, main_number(argv[MAIN_LIVE]),
			      main_number(argv[MAIN_MEMORY]),
			      argv[MAIN_PATH]);

	if (err == -ENOEXEC)
		main_become_other(argv);
	if (err)
		return err;
	rec->r = rec->target.r = r;
	rec->target.pidfd = rec->socket.fd = -1;
	r->live = rec->live.header;
	r->shared = live_shared(&rec->live);
	if (!main_know_machine(r))
		return -ENOEXEC;
	r->rings = (struct gl_ring *)live_at(&rec->live,
					     rec->live.shape.data_offset);
	main_hear(rec, argv);
	return 0;
}

/* Releases threads that wait for the recorder. The shared state is at its fixed
 * place, whatever the header says. */
static void main_let_go(const struct live *live)
{
	const uint64_t at = base_round_up(sizeof(struct gl_header), GL_PAGE);
	struct gl_shared *shared;

	if (live->size < at + GL_SHARED_FIRST)
		return;
	shared = (struct gl_shared *)live_at(live, at);
	gate_close_for_good(shared);
	/* the state first: recorder_lost reads both */
	atomic_store_explicit(&shared->recorder_state, GL_RECORDER_FAILED,
			      memory_order_release);
	atomic_store_explicit(&shared->recorder_tid, 0, memory_order_release);
	futex_wake(&shared->recorder_state);
}

/* Removes this process's live file by name, if no recorder has started on it:
 * live_unlink needs the descriptor. */
static void main_remove(const char *path, int pid)
{
	struct gl_header h;
	struct stat st;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				    O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    pread(fd, (void *)&h, sizeof(h), 0) == (ssize_t)sizeof(h) &&
	    !h.magic && h.version == GL_VERSION && h.pid == pid)
		unlink(path);
	close(fd);
}

/* Prints why the process is not recorded, and removes the live file. */
static int main_refuse(struct recorder *rec, char **argv, int err)
{
	fprintf(stderr, "gnomon: the recorder cannot use %s: %s: this process "
			"is not recorded\n",
		*argv[MAIN_PATH] ? argv[MAIN_PATH] : "its memory",
		err == -ENOEXEC ? "the program is for another architecture and "
				  "needs that one's recorder" :
				  strerror(-err));
	main_let_go(&rec->live);
	live_unlink(&rec->live);
	if (*argv[MAIN_PATH])
		main_remove(argv[MAIN_PATH], main_number(argv[MAIN_PID]));
	return 1;
}

static void main_run(void *owner)
{
	recorder_run(owner);
}

/* Runs the recorder on a larger stack if the stack limit is too small. */
static void main_run_deep(struct recorder *rec)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= MAIN_STACK ||
	    !deep_call(MAIN_STACK, main_run, rec))
		recorder_run(rec);
}

int main(int argc, char **argv)
{
	struct recorder *rec = &main_recorder;
	const char *bad = NULL;
	int err;

	if (argc != MAIN_WORDS) {
		fprintf(stderr, "gnomon-recorder: started only by programs "
				"that are recorded: use gnomon run\n");
		return 2;
	}
	main_leave_inheritance();
	options_default(&main_options);
	recording_options = &main_options;
	/* the target has checked the same options */
	if (options_environment(&main_options, environ, &bad))
		return 2;
	output_environment(environ);
	lost_page_watch(&rec->recording, &rec->live);
	err = main_attach(rec, argv);
	if (err)
		return main_refuse(rec, argv, err);
	main_be_known(rec->r->shared);
	main_run_deep(rec);
	/* the kernel compares the thread id before it signals our end */
	main_be_known(rec->r->shared);
	return 0;
}
