/*
 * seccomp_watch.c: see seccomp_watch.h. If a thread has more filters than the
 * recorder and the hooks know of, these filters are unknown: they count as
 * forbidding everything.
 */
#include "cli/recorder/process/seccomp_watch.h"

#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recorder/base/proc_file.h"
#include "preload/base/ban.h"

#define SECCOMP_STATUS_MAX 4096	/* more bytes than /proc/PID/status has */
#define SECCOMP_LOOKS 2		/* threads per check */

/* The number that follows `name`. */
static uint64_t seccomp_field(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static bool seccomp_read(int pid, int tid, unsigned *mode, unsigned *filters)
{
	char name[64], status[SECCOMP_STATUS_MAX];

	snprintf(name, sizeof(name), "task/%d/status", tid);
	if (proc_file_read_of(pid, name, status, sizeof(status)) <= 0)
		return false;
	*mode = seccomp_field(status, "\nSeccomp:");
	*filters = seccomp_field(status, "\nSeccomp_filters:");
	return true;
}

void seccomp_watch_begin(struct seccomp_watch *watch)
{
	if (!seccomp_read(getpid(), gettid(), &watch->own_mode,
			  &watch->own_filters))
		watch->own_mode = watch->own_filters = 0;
	watch->next = 0;
}

static uint32_t seccomp_seen(const struct recording *r)
{
	return atomic_load_explicit(&r->shared->filters_seen,
				    memory_order_relaxed);
}

static void seccomp_check(const struct seccomp_watch *watch,
			  const struct recording *r, int tid)
{
	unsigned mode, filters, known;

	if (!tid || !seccomp_read(r->pid, tid, &mode, &filters))
		return;
	known = seccomp_seen(r);
	if (mode == watch->own_mode && filters <= watch->own_filters)
		return;
	/* kernels before 5.9 do not report the number of filters */
	if (mode == SECCOMP_MODE_FILTER && known &&
	    filters <= watch->own_filters + known)
		return;
	atomic_store_explicit(&r->shared->ban_found, SECCOMP_NO_ALL,
			      memory_order_seq_cst);
}

void seccomp_watch_poll(struct seccomp_watch *watch,
			const struct recording *r)
{
	uint32_t count = r->ring_count;
	uint32_t looks = 0, tried;

	if (atomic_load_explicit(&r->shared->ban_found, memory_order_relaxed))
		return;
	for (tried = 0; tried < count && looks < SECCOMP_LOOKS; tried++) {
		const struct gl_ring *ring;

		watch->next = (watch->next + 1) % count;
		ring = &r->rings[watch->next];
		if (order_read_acquire(ring, state) != GL_RING_ACTIVE ||
		    recording_is_nested(r, watch->next))
			continue;
		seccomp_check(watch, r, order_read(ring, tid));
		looks++;
	}
}
