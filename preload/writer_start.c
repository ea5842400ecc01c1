/*
 * writer_start.c: what the target has to do with the writer: it gives birth to
 * it, waits for it, and asks it to step aside. Threads of the target only.
 */
#include "preload/writer.h"

#include <errno.h>
#include <linux/wait.h>
#include <poll.h>
#include <string.h>

#include "preload/area.h"
#include "preload/sys.h"
#include "preload/text.h"
#include "preload/writer_task.h"

#define WRITER_ASIDE_S 2		/* for the writer to step aside */
#define WRITER_START_NS (10 * UINT64_C(1000000000))
#define WRITER_WAIT_NAP_NS (100 * UINT64_C(1000000))
#define WRITER_JOIN_NS (5 * UINT64_C(1000000000))
#define WRITER_HEAR_NS (20 * UINT64_C(1000000))
#define WRITER_HEAR_NAPS 10

static int writer_wait(struct recorder *r, uint32_t while_state,
		       uint64_t limit_ns)
{
	uint64_t end = sys_now_ns() + limit_ns, now;

	while (atomic_load_explicit(&r->ready, memory_order_acquire) ==
	       while_state) {
		now = sys_now_ns();
		if (now >= end)
			return -ETIMEDOUT;
		sys_futex_wait(&r->ready, while_state,
			       base_min(end - now, WRITER_WAIT_NAP_NS));
	}
	return 0;
}

/*
 * The descriptors of a writer that is gone, in our own table for a moment. As
 * only a process of one thread can ask for this, nobody sees them there.
 */
static bool writer_fetch(const struct writer *w, struct writer_aside *aside)
{
	long pidfd = arch_syscall2(__NR_pidfd_open, w->birth.pid, 0);
	long fd = -1;

	*aside = (struct writer_aside){ pidfd, -1, -1 };
	if (sys_failed(pidfd))
		return false;
	fd = arch_syscall3(__NR_pidfd_getfd, pidfd, w->output.fd, 0);
	aside->output = sys_failed(fd) ? -1 : fd;
	if (w->live.fd >= 0)
		fd = arch_syscall3(__NR_pidfd_getfd, pidfd, w->live.fd, 0);
	aside->live = sys_failed(fd) || w->live.fd < 0 ? -1 : fd;
	return aside->output >= 0 && (w->live.fd < 0 || aside->live >= 0);
}

static void writer_drop(struct writer_aside *aside)
{
	if (aside->pidfd >= 0)
		sys_close(aside->pidfd);
	if (aside->output >= 0)
		sys_close(aside->output);
	if (aside->live >= 0)
		sys_close(aside->live);
}

bool writer_step_aside(struct recorder *r, struct writer_aside *aside)
{
	struct timespec patience = { WRITER_ASIDE_S, 0 };
	struct pollfd poll = { .events = POLLIN };
	struct writer *w;

	if (!recorder_is_on(r) || r->writer_is_thread || sys_getpid() != r->pid ||
	    !recorder_writer_alive(r) || !unwind_may(SECCOMP_NO_START))
		return false;
	w = r->writer;
	if (!writer_fetch(w, aside)) {
		writer_drop(aside);
		return false;
	}
	atomic_store_explicit(&r->aside, 1, memory_order_release);
	recorder_wake(r);
	poll.fd = aside->pidfd;
	if (arch_syscall5(__NR_ppoll, (long)&poll, 1, (long)&patience, 0, 0) ==
	    1)
		return true;
	/* it will find that it may stay, or has gone after all: then what
	 * there is remains in the live file */
	atomic_store_explicit(&r->aside, 0, memory_order_release);
	writer_drop(aside);
	return false;
}

/* Whether children of ours are in our own namespace of process ids: else the
 * first would be its init, or we were unknown to it. */
static bool writer_at_home(void)
{
	char own[64], children[64];
	long n = arch_syscall4(__NR_readlinkat, AT_FDCWD,
			       (long)"/proc/self/ns/pid", (long)own,
			       sizeof(own));

	return sys_failed(n) ||
	       (arch_syscall4(__NR_readlinkat, AT_FDCWD,
			      (long)"/proc/self/ns/pid_for_children",
			      (long)children, sizeof(children)) == n &&
		memcmp(own, children, n) == 0);
}

void writer_return(struct recorder *r, struct writer_aside *aside)
{
	struct writer *w = r->writer;

	/* where orphans are ours, it was our child */
	arch_syscall4(__NR_wait4, w->birth.pid, 0, __WALL | WNOHANG, 0);
	w->output.fd = w->out.fd = aside->output;
	w->live.fd = aside->live;
	w->maps.lines.fd = w->snapshot.lines.fd = -1;
	w->again = true;
	atomic_store_explicit(&r->aside, 0, memory_order_relaxed);
	atomic_store_explicit(&r->ready, WRITER_STARTING,
			      memory_order_relaxed);
	if (writer_at_home() && !sys_failed(birth_give(&w->birth)))
		writer_wait(r, WRITER_STARTING, WRITER_START_NS);
	else	/* what there is stays in the live file */
		recorder_set_off(r);
	writer_drop(aside);
}

int writer_start(struct recorder *r)
{
	struct writer *w = area_alloc(sizeof(*w));
	long pid;
	int err;

	if (!w || birth_prepare(&w->birth))
		return -ENOMEM;
	r->writer = w;
	w->r = r;
	w->target.r = r;
	w->target.pidfd = -1;
	w->live.fd = w->socket.fd = -1;
	w->birth.fn = writer_task;
	w->birth.arg = w;
	pid = birth_give(&w->birth);
	if (sys_failed(pid)) {
		text_message(r->message, sizeof(r->message),
			     "the writer cannot start: this process is not "
			     "recorded", NULL, pid);
		return pid;
	}
	r->writer_is_thread = w->birth.thread;
	err = writer_wait(r, WRITER_STARTING, WRITER_START_NS);
	if (err)
		atomic_store_explicit(&r->too_late, 1, memory_order_relaxed);
	else if (atomic_load_explicit(&r->ready, memory_order_acquire) ==
		 WRITER_FAILED)
		err = -EIO;
	return err;
}

void writer_hear(struct recorder *r)
{
	const struct gl_shared *shared = r->shared;
	unsigned naps;

	if (!shared)
		return;		/* a child (fork_copy.h) */
	/* pairs with the release of writer_foreign_done */
	for (naps = 0; naps < WRITER_HEAR_NAPS &&
		       !atomic_load_explicit(&shared->foreign_done,
					     memory_order_acquire) &&
		       recorder_writer_alive(r); naps++)
		recorder_nap(r, &shared->foreign_done, 0, WRITER_HEAR_NS);
}

void writer_join(struct recorder *r)
{
	struct gl_shared *shared = r->shared;

	if (!shared || !r->writer_is_thread)
		return;
	atomic_store_explicit(&shared->stop, 1, memory_order_release);
	recorder_wake(r);
	/* bounded: the program's end is not ours to delay for long */
	writer_wait(r, WRITER_READY, WRITER_JOIN_NS);
}
