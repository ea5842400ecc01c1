/*
 * serve.c: see serve.h.
 *
 * The live file belongs to whom the writer was at first. Whoever takes on
 * another user id could no longer remove it from a directory where only owners
 * may (/dev/shm); so it is given away first.
 */
#include "preload/serve.h"

#include <errno.h>
#include <sched.h>

#include "preload/control.h"
#include "preload/proc.h"
#include "preload/sys.h"
#include "preload/text.h"
#include "preload/writer_task.h"
#include "unwind/memory.h"

#define SERVE_KEEP UINT32_MAX	/* -1: this id stays as it is */

/* The effective user id that a call asks for. */
static uint32_t serve_user(const struct ask *ask)
{
	switch (ask->number) {
	case __NR_setuid:
		return ask->arg[0];
	case __NR_setreuid:
	case __NR_setresuid:
		return ask->arg[1];
	}
	return SERVE_KEEP;
}

static long serve_call(struct recorder *r, const struct ask *ask,
		       const struct live *live)
{
	uint32_t user = serve_user(ask);
	long result;

	if (user != SERVE_KEEP && live->fd >= 0)
		/* refused to who is no owner with rights: then the next
		 * reader removes it */
		arch_syscall3(__NR_fchown, live->fd, user, -1);
	result = arch_syscall6(ask->number, ask->arg[0], ask->arg[1],
			       ask->arg[2], ask->arg[3], ask->arg[4], 0);
	if (!sys_failed(result) || arch_syscall0(__NR_geteuid) != 0)
		return result;
	text_message(r->message, sizeof(r->message),
		     "the recorder cannot give up the privileges that the "
		     "program has given up: recording has stopped", NULL,
		     result);
	atomic_store_explicit(&r->shared->stop, 1, memory_order_release);
	return result;
}

static long serve_user_space(const struct recorder *r, int tid)
{
	char path[96];
	struct text text;
	long fd, result;

	if (!proc_is_ours())
		return -ENOENT;
	text_init(&text, path, sizeof(path));
	text_put(&text, "/proc/");
	text_number(&text, r->pid);
	text_put(&text, "/task/");
	text_number(&text, tid);
	text_put(&text, "/ns/user");
	fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (sys_failed(fd))
		return fd;
	result = arch_syscall2(__NR_setns, fd, CLONE_NEWUSER);
	sys_close(fd);
	return result;
}

void serve_pending(struct writer *w)
{
	struct recorder *r = w->r;
	struct ask *ask = &r->ask;
	long result = 0;

	if (likely(!ask_pending(ask)))
		return;
	switch (ask->what) {
	case ASK_CALL:
		result = serve_call(r, ask, &w->live);
		break;
	case ASK_READABLE:
		result = unwind_probe(ask->arg[0]);
		break;
	case ASK_CONTROL:
		control_do(r->writer,
			   (struct control_request *)ask->arg[0]);
		break;
	case ASK_USER_SPACE:
		result = serve_user_space(r, ask->arg[0]);
		break;
	case ASK_LEDGER:
		result = books_answer(w, (void *)ask->arg[0]);
		break;
	}
	ask_answered(ask, result);
}
