/*
 * seccomp.c: see seccomp.h. The kernel has not checked the filter's address
 * yet: so it is copied in a way that cannot fault.
 */
#include "preload/process/seccomp.h"

#include <errno.h>
#include <linux/filter.h>

#include "preload/base/ban.h"
#include "preload/base/base.h"
#include "preload/ring/request.h"
#include "preload/ring/producer.h"

#define SECCOMP_PART 512	/* instructions per request: on the stack */
#define SECCOMP_TRIES 16	/* other threads' requests may come in
				 * between */

static long seccomp_request(const struct sock_fprog *program)
{
	struct sock_filter part[SECCOMP_PART];
	struct request_args args = {
		.what = REQUEST_FILTER, .data = part,
		.arg = { program->len, 0, (long)(uintptr_t)part },
	};
	long bits = -EINVAL;
	size_t from, n;

	for (from = 0; from < program->len; from += n) {
		n = base_min(program->len - from, SECCOMP_PART);
		args.bytes = n * sizeof(*part);
		args.arg[1] = (long)from;
		if (unwind_copy(part, (uintptr_t)(program->filter + from),
				args.bytes) != args.bytes)
			return -EFAULT;
		if (!request_make(producer, &args, &bits))
			return -ETIMEDOUT;
		if (bits < 0)
			break;
	}
	return bits;
}

uint32_t seccomp_forbids(const void *filter)
{
	struct sock_fprog program;
	unsigned tries = 0;
	long bits;

	if (unwind_copy(&program, (uintptr_t)filter, sizeof(program)) !=
	    sizeof(program))
		return SECCOMP_NO_ALL;
	do
		bits = seccomp_request(&program);
	while (bits == -EAGAIN && ++tries < SECCOMP_TRIES);
	return bits < 0 || bits > SECCOMP_NO_ALL ? SECCOMP_NO_ALL :
						   (uint32_t)bits;
}
