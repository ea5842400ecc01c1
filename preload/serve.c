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
#include <string.h>

#include "preload/area.h"
#include "preload/ask.h"
#include "preload/control.h"
#include "preload/ledger_ask.h"
#include "preload/proc.h"
#include "preload/sys.h"
#include "preload/text.h"
#include "preload/writer_task.h"
#include "unwind/memory.h"

#define SERVE_KEEP UINT32_MAX	/* -1: this id stays as it is */
#define SERVE_GROUPS_MAX 65536	/* NGROUPS_MAX */

/* The effective user id that a call asks for. */
static uint32_t serve_user(const struct gl_request *request)
{
	switch (request->number) {
	case __NR_setuid:
		return request->arg[0];
	case __NR_setreuid:
	case __NR_setresuid:
		return request->arg[1];
	}
	return SERVE_KEEP;
}

/* Who cannot give up what the program has given up must not go on. */
static long serve_result(struct recorder *r, long result)
{
	if (!sys_failed(result) || arch_syscall0(__NR_geteuid) != 0)
		return result;
	text_message(r->message, sizeof(r->message),
		     "the recorder cannot give up the privileges that the "
		     "program has given up: recording has stopped", NULL,
		     result);
	atomic_store_explicit(&r->shared->stop, 1, memory_order_release);
	return result;
}

static long serve_call(struct writer *w, const struct gl_request *request)
{
	uint32_t user = serve_user(request);

	if (user != SERVE_KEEP && w->live.fd >= 0)
		/* refused to who is no owner with rights: then the next
		 * reader removes it */
		arch_syscall3(__NR_fchown, w->live.fd, user, -1);
	return serve_result(w->r,
			    arch_syscall6(request->number, request->arg[0],
					  request->arg[1], request->arg[2],
					  request->arg[3], request->arg[4],
					  0));
}

static long serve_capabilities(struct writer *w, struct gl_request *request)
{
	unsigned char *data = request->data;

	if (request->arg[0] < 0 || request->arg[0] > request->bytes)
		return serve_result(w->r, -EINVAL);
	return serve_result(w->r,
			    arch_syscall2(__NR_capset, (long)data,
					  (long)(data + request->arg[0])));
}

/* A list that is longer than a request comes in parts, in order. */
static long serve_groups(struct writer *w, struct gl_request *request)
{
	uint64_t count = request->arg[0], from = request->arg[1];
	uint64_t n = request->bytes / sizeof(gid_t);
	gid_t *groups = (gid_t *)request->data;

	if (count > SERVE_GROUPS_MAX || from > count || n > count - from)
		return serve_result(w->r, -EINVAL);
	if (n < count) {
		if (!w->groups)
			w->groups = area_alloc(SERVE_GROUPS_MAX *
					       sizeof(*groups));
		if (!w->groups)
			return serve_result(w->r, -ENOMEM);
		memcpy(w->groups + from, groups, n * sizeof(*groups));
		groups = w->groups;
	}
	if (from + n < count)
		return 0;
	return serve_result(w->r, arch_syscall2(__NR_setgroups, count,
						(long)groups));
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

static long serve_ledger(struct writer *w, struct gl_request *request)
{
	struct ledger_question *question = (void *)request->data;

	if (request->bytes < sizeof(*question) ||
	    !ledger_request(question, request->data + sizeof(*question),
			    request->bytes - sizeof(*question)))
		return -EINVAL;
	return books_answer(w, question);
}

static long serve_request(struct writer *w, struct gl_request *request)
{
	if (request->bytes > GL_REQUEST_ROOM)
		return -EINVAL;
	switch (request->what) {
	case ASK_CALL:
		return serve_call(w, request);
	case ASK_CAPABILITIES:
		return serve_capabilities(w, request);
	case ASK_GROUPS:
		return serve_groups(w, request);
	case ASK_READABLE:
		return unwind_probe(request->arg[0]);
	case ASK_CONTROL:
		control_do(w, (struct control_request *)request->data);
		return 0;
	case ASK_USER_SPACE:
		return serve_user_space(w->r, request->arg[0]);
	case ASK_LEDGER:
		return serve_ledger(w, request);
	}
	return -EINVAL;
}

void serve_pending(struct writer *w)
{
	struct gl_request *request = &w->r->shared->request;

	if (unlikely(ask_pending(request)))
		ask_answered(request, serve_request(w, request));
}
