/*
 * credentials.c: see credentials.h. Repeating the call is exact: before it the
 * recorder had the same ids and capabilities, so it has the same afterwards,
 * including keepcaps, secure bits and user namespaces.
 */
#include "preload/process/credentials.h"

#include <errno.h>
#include <string.h>

#include "preload/base/ban.h"
#include "preload/base/sys.h"
#include "preload/base/tid.h"
#include "preload/ring/request.h"
#include "preload/ring/producer.h"

#define IDS_GROUPS_MAX 1024	/* on the stack; else the recorder ends */
#define IDS_GROUPS_PART (GL_REQUEST_ROOM / sizeof(gid_t))

/* False in a child that shares our memory (vfork), which has its own ids. */
static bool credentials_our_own(void)
{
	return producer_is_on(producer) &&
	       (!unwind_may(UNWIND_NO_IDS) || sys_getpid() == producer->pid);
}

static void credentials_give_up(void)
{
	struct producer *p = producer;
	struct gl_shared *shared = p->shared;

	if (!shared || !recorder_alive(p))
		return;
	atomic_store_explicit(&shared->stop, 1, memory_order_release);
	recorder_wake(p);
}

static void credentials_request(const struct request_args *args)
{
	long result;

	if (!request_make(producer, args, &result))
		credentials_give_up();
}

void credentials_follow(enum request_call call, long a, long b, long c, long d,
			long e)
{
	struct request_args args = { .what = REQUEST_CALL, .number = call,
					 .arg = { a, b, c, d, e } };

	if (credentials_our_own())
		credentials_request(&args);
}

void credentials_follow_capset(const void *header, size_t header_bytes,
			       const void *data, size_t bytes)
{
	unsigned char both[64];
	struct request_args args = { .what = REQUEST_CAPABILITIES,
					 .data = both,
					 .arg = { (long)header_bytes },
					 .bytes = header_bytes + bytes };

	if (!credentials_our_own() || header_bytes + bytes > sizeof(both))
		return;
	memcpy(both, header, header_bytes);
	memcpy(both + header_bytes, data, bytes);
	credentials_request(&args);
}

void credentials_follow_setgroups(size_t count, const gid_t *groups)
{
	struct request_args args = { .what = REQUEST_GROUPS };
	size_t from, n;

	if (!credentials_our_own())
		return;
	args.arg[0] = (long)count;
	for (from = 0; !from || from < count; from += n) {
		n = base_min(count - from, IDS_GROUPS_PART);
		args.arg[1] = (long)from;
		args.bytes = n * sizeof(*groups);
		args.data = groups + from;
		credentials_request(&args);
		if (!n)
			break;
	}
}

void credentials_follow_groups(void)
{
	uint32_t groups[IDS_GROUPS_MAX];
	long n;

	if (!credentials_our_own())
		return;
	n = unwind_may(SECCOMP_NO_ALL) ?
		    arch_syscall2(ARCH_NR_ID(getgroups), IDS_GROUPS_MAX,
				  (long)groups) :
		    -EPERM;
	if (sys_failed(n))
		credentials_give_up();
	else
		credentials_follow_setgroups(n, groups);
}

void credentials_follow_user_space(void)
{
	struct request_args args = { .what = REQUEST_USER_SPACE };

	if (!credentials_our_own())
		return;
	args.arg[0] = tid_own();
	credentials_request(&args);
}

bool credentials_are_final(void)
{
	uint32_t real, effective, saved;

	if (!unwind_may(SECCOMP_NO_ALL) || !credentials_our_own() ||
	    arch_syscall3(ARCH_NR_ID(getresuid), (long)&real, (long)&effective,
			  (long)&saved))
		return false;
	return real == effective && real == saved && real != 0;
}
