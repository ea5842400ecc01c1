/*
 * requests.c: see requests.h.
 *
 * The recorder's first user owns the live file. After a change of user id, the
 * recorder could no longer remove it from a sticky directory (/dev/shm), where
 * only owners may. So it changes the owner of the file first.
 *
 * The recorder handles a copy of a request. Requests are untrusted: only system
 * calls of a list are allowed, with numbers for arguments, no addresses.
 */
#include "cli/recorder/requests.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch.h"
#include "cli/recorder/base/failure.h"
#include "cli/recorder/base/futex.h"
#include "cli/recorder/base/proc_file.h"
#include "cli/recorder/base/result.h"
#include "cli/recorder/base/zeroed.h"
#include "cli/recorder/control.h"
#include "cli/recorder/dump/dump.h"
#include "cli/recorder/memory/program_ranges.h"
#include "cli/recorder/process/seccomp_verdict.h"
#include "cli/recorder/process/target_file.h"
#include "cli/recorder/recorder.h"
#include "unwind/base/assertion.h"

#define REQUESTS_KEEP UINT32_MAX	/* -1: do not change this id */
#define REQUESTS_CAPABILITIES 64	/* bytes of a request: credentials.c */
#define REQUESTS_GROUPS_MAX 65536	/* NGROUPS_MAX */

/* System calls that credentials.c requests. */
static const long requests_calls[REQUEST_CALLS] = {
	[REQUEST_CALL_SETUID] = ARCH_NR_ID(setuid),
	[REQUEST_CALL_SETREUID] = ARCH_NR_ID(setreuid),
	[REQUEST_CALL_SETRESUID] = ARCH_NR_ID(setresuid),
	[REQUEST_CALL_SETGID] = ARCH_NR_ID(setgid),
	[REQUEST_CALL_SETREGID] = ARCH_NR_ID(setregid),
	[REQUEST_CALL_SETRESGID] = ARCH_NR_ID(setresgid),
	[REQUEST_CALL_PRCTL] = __NR_prctl,
};

/* Allows only prctl operations that drop or keep privileges. */
static bool requests_may_prctl(int64_t what)
{
	return what == PR_SET_KEEPCAPS || what == PR_SET_SECUREBITS ||
	       what == PR_CAPBSET_DROP || what == PR_CAP_AMBIENT ||
	       what == PR_SET_NO_NEW_PRIVS;
}

static bool requests_may_call(const struct gl_request *request)
{
	if (request->number < 0 || request->number >= REQUEST_CALLS)
		return false;
	return request->number != REQUEST_CALL_PRCTL ||
	       requests_may_prctl(request->arg[0]);
}

/* The effective user id that a call requests. */
static uint32_t requests_user(const struct gl_request *request)
{
	switch (request->number) {
	case REQUEST_CALL_SETUID:
		return request->arg[0];
	case REQUEST_CALL_SETREUID:
	case REQUEST_CALL_SETRESUID:
		return request->arg[1];
	}
	return REQUESTS_KEEP;
}

/* Stops the recording if the recorder, as root, cannot drop privileges that the
 * program has dropped. */
static long requests_result(struct recording *r, long result)
{
	if (result >= 0 || geteuid() != 0)
		return result;
	failure_message(r->message, sizeof(r->message),
			"the recorder cannot drop the privileges that the "
			"program has dropped: recording has stopped", NULL,
			result);
	atomic_store_explicit(&r->shared->stop, 1, memory_order_release);
	return result;
}

static long requests_call(struct recorder *rec,
			  const struct gl_request *request)
{
	uint32_t user = requests_user(request);
	long arg[5];	/* may be narrower than those of the request */
	unsigned i;

	if (!requests_may_call(request))
		return -EPERM;
	for (i = 0; i < sizeof(arg) / sizeof(*arg); i++)
		arg[i] = (long)request->arg[i];
	if (user != REQUESTS_KEEP && rec->live.fd >= 0)
		/* fails without privileges: then the next reader removes it */
		fchown(rec->live.fd, user, -1);
	return requests_result(
		rec->r,
		result_of(syscall(requests_calls[request->number], arg[0],
				  arg[1], arg[2], arg[3], arg[4], 0)));
}

/* Converts data of 32-bit words, as the target may have another byte order. */
static void requests_words(struct gl_request *request)
{
	uint32_t *word = (uint32_t *)request->data;
	unsigned i;

	for (i = 0; i < GL_REQUEST_ROOM / sizeof(*word); i++)
		word[i] = order_raw(word[i]);
}

static long requests_capabilities(struct recorder *rec,
				  struct gl_request *request)
{
	unsigned char *data = request->data;

	requests_words(request);
	/* capset may read past the given bytes, but stays inside `data` */
	if (request->arg[0] < 0 || request->arg[0] > request->bytes ||
	    request->bytes > REQUESTS_CAPABILITIES)
		return requests_result(rec->r, -EINVAL);
	return requests_result(rec->r,
			       result_of(syscall(SYS_capset, data,
						 data + request->arg[0])));
}

/* A list longer than a request arrives in parts, in order. */
static long requests_groups(struct recorder *rec, struct gl_request *request)
{
	uint64_t count = request->arg[0], from = request->arg[1];
	uint64_t n = request->bytes / sizeof(gid_t);
	gid_t *groups = (gid_t *)request->data;

	requests_words(request);
	if (count > REQUESTS_GROUPS_MAX || from > count || n > count - from)
		return requests_result(rec->r, -EINVAL);
	if (n < count) {
		if (!rec->groups)
			rec->groups = zeroed_alloc(REQUESTS_GROUPS_MAX *
					       sizeof(*groups));
		if (!rec->groups)
			return requests_result(rec->r, -ENOMEM);
		DEBUG_ASSERT(from + n <= REQUESTS_GROUPS_MAX);
		memcpy(rec->groups + from, groups, n * sizeof(*groups));
		groups = rec->groups;
	}
	if (from + n < count)
		return 0;
	return requests_result(rec->r, result_of(setgroups(count, groups)));
}

static long requests_user_space(const struct recording *r, int tid)
{
	char path[96];
	long fd, result;

	if (!proc_file_is_ours())
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/ns/user", r->pid, tid);
	fd = result_of(open(path, O_RDONLY | O_CLOEXEC));
	if (fd < 0)
		return fd;
	result = result_of(setns(fd, CLONE_NEWUSER));
	close(fd);
	return result;
}

/* Whether the address is readable by the program's memory map. */
static long requests_readable(uint64_t address)
{
	char buffer[PROC_LINES_BUFFER];
	struct proc_lines_mapping mapping;
	struct proc_lines lines;
	const char *line;
	bool readable = false;

	if (target_file_lines(&lines, GL_FILE_MAPS_WHOLE, buffer,
			      sizeof(buffer)))
		return 0;
	while (!readable && (line = proc_lines_next(&lines)))
		readable = proc_lines_mapping(line, &mapping) &&
			   address >= mapping.start &&
			   address < mapping.end &&
			   mapping.flags & PROC_LINES_READ;
	proc_lines_close(&lines);
	return readable;
}

ORDER_BEGIN

struct requests_instruction {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};

ORDER_END

static_assert(sizeof(struct requests_instruction) == sizeof(struct sock_filter),
	      "the same, in the target's order");

static long requests_filter(struct gl_request *request)
{
	static struct seccomp_parts rotation;
	struct requests_instruction *from =
		(struct requests_instruction *)request->data;
	struct sock_filter own;
	unsigned i;

	for (i = 0; i < GL_REQUEST_ROOM / sizeof(own); i++) {
		own = (struct sock_filter){
			from[i].code, from[i].jt, from[i].jf, from[i].k
		};
		memcpy((void *)&from[i], &own, sizeof(own));
	}
	return seccomp_verdict_part(&rotation, request->arg[2], request->arg[0],
				    request->arg[1],
				    (const struct sock_filter *)request->data,
				    request->bytes /
					    sizeof(struct sock_filter));
}

static long requests_memory(const struct recording *r,
			    struct gl_request *request)
{
	const struct program_ranges wanted = {
		.from = request->arg[0],
		.image = { request->arg[1], request->arg[2] },
		.blocks = request->arg[3],
	};

	return program_ranges_read((struct gl_range *)request->data,
				   request->bytes / sizeof(struct gl_range),
				   &wanted, r->shared);
}

static long requests_control(struct recorder *rec, struct gl_request *request)
{
	struct control_request *control =
		(struct control_request *)request->data;

	if (request->bytes < sizeof(*control))
		return -EINVAL;
	control->name[GT_NAME_MAX - 1] = '\0';
	control_do(rec, control);
	return 0;
}

static long requests_serve(struct recorder *rec, struct gl_request *request)
{
	if (request->bytes > GL_REQUEST_ROOM)
		return -EINVAL;
	switch (request->what) {
	case REQUEST_CALL:
		return requests_call(rec, request);
	case REQUEST_CAPABILITIES:
		return requests_capabilities(rec, request);
	case REQUEST_GROUPS:
		return requests_groups(rec, request);
	case REQUEST_READABLE:
		return requests_readable(request->arg[0]);
	case REQUEST_FILTER:
		return requests_filter(request);
	case REQUEST_MEMORY:
		return requests_memory(rec->r, request);
	case REQUEST_CONTROL:
		return requests_control(rec, request);
	case REQUEST_USER_SPACE:
		return requests_user_space(rec->r, request->arg[0]);
	case REQUEST_BLOCKS:
		return tracker_reply(rec, request);
	case REQUEST_DUMP:
		return dump_serve(rec, request);
	}
	return -EINVAL;
}

void requests_poll(struct recorder *rec)
{
	static struct gl_request own, *const copy = &own;
	struct gl_request *request = &rec->r->shared->request;
	uint32_t posted = GL_REQUEST_POSTED;

	if (likely(atomic_load_explicit(&request->state,
					memory_order_relaxed) != posted) ||
	    !atomic_compare_exchange_strong_explicit(
		    &request->state, &posted, GL_REQUEST_TAKEN,
		    memory_order_acq_rel, memory_order_acquire))
		return;
	memcpy((void *)copy, (const void *)request, sizeof(*copy));
	request->result = requests_serve(rec, copy);
	if (copy->bytes <= GL_REQUEST_ROOM)
		memcpy(request->data, copy->data, copy->bytes);
	/* pairs with the acquire of request_wait */
	atomic_store_explicit(&request->state, GL_REQUEST_DONE,
			      memory_order_release);
	futex_wake(&request->state);
}
