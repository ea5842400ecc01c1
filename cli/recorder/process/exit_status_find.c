/*
 * exit_status_find.c: see exit_status_find.h and exit_status.h.
 */
#include "cli/recorder/base/recording.h"
#include "cli/recorder/process/exit_status_find.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "cli/recorder/base/proc_stat.h"
#include "cli/recorder/base/time_ns.h"
#include "preload/ring/exit_slot.h"
#include "cli/recorder/process/parent_live.h"
#include "unwind/base/assertion.h"

/* Longest wait for the parent, which has called wait and must still report. */
#define EXIT_STATUS_TIMEOUT_NS UINT64_C(1000000000)
#define EXIT_STATUS_NAP_NS 1000000

/* The word in the process's slot of the parent's live file; 0: empty, or not
 * the parent's file. */
static uint64_t exit_status_word(const struct recording *r)
{
	size_t at = offsetof(struct gl_shared, child_exits) +
		    exit_status_slot(r->pid) * sizeof(uint64_t);
	order_word word;

	DEBUG_ASSERT(at + sizeof(word) <= sizeof(struct gl_shared));
	if (!r->parent || r->from_parent.pid != r->parent ||
	    !parent_live_read(r, at, &word, sizeof(word)))
		return 0;
	return order_word_get(&word);
}

void exit_status_begin(struct recording *r)
{
	uint64_t parent;

	if (!r->parent && proc_stat_field(r->at_start->stat, PROC_STAT_PPID,
					  &parent))
		r->parent = (int)parent;
	parent_live_begin(r);
}

/* Which process a word is about: as exit_status_key. */
static uint64_t exit_status_whose(uint64_t word)
{
	const uint64_t count = UINT64_C(15) << EXIT_STATUS_COUNT_SHIFT;
	const uint64_t status = (UINT64_C(1) << EXIT_STATUS_STATUS_BITS) - 1;

	return word & ~count & ~status;
}

static int exit_status_from_parent(const struct recording *r)
{
	uint64_t word = exit_status_word(r);

	/* the word may be of another process */
	if (word >> EXIT_STATUS_COUNT_SHIFT == r->from_parent.exit_count ||
	    exit_status_whose(word) != exit_status_key(r->pid, r->parent))
		return -1;
	return (uint16_t)word;
}

/* Whether the parent has such slots, is alive, and does not ignore SIGCHLD. */
static bool exit_status_may_come(const struct recording *r)
{
	uint64_t ignored;

	if (!r->forked || r->from_parent.fd < 0 ||
	    r->from_parent.pid != r->parent || r->parent <= 1 ||
	    (kill(r->parent, 0) && errno == ESRCH))
		return false;
	return !proc_stat(r->parent, PROC_STAT_SIGIGNORE, &ignored) ||
	       !(ignored >> (SIGCHLD - 1) & 1);
}

bool exit_status_child(const struct recording *r, unsigned *at, int *pid,
		       int *status)
{
	while (*at < GL_EXITS) {
		uint64_t word = atomic_load_explicit(
			&r->shared->child_exits[(*at)++], memory_order_relaxed);

		*status = (uint16_t)word;
		*pid = (int)(exit_status_whose(word) >>
			     (EXIT_STATUS_PID_BITS + EXIT_STATUS_STATUS_BITS));
		if (word &&
		    exit_status_whose(word) == exit_status_key(*pid, r->pid) &&
		    WIFSIGNALED(*status))
			return true;
	}
	return false;
}

int exit_status_find(const struct recording *r)
{
	const struct timespec nap = { 0, EXIT_STATUS_NAP_NS };
	uint64_t until = time_ns_now() + EXIT_STATUS_TIMEOUT_NS;
	uint32_t own = atomic_load_explicit(&r->shared->exits, memory_order_relaxed);
	int code;

	for (;;) {
		bool more = !own && time_ns_now() < until &&
			    exit_status_may_come(r);

		/* after checking the parent, which may report and then end */
		code = exit_status_from_parent(r);
		if (code >= 0 || !more)
			break;
		nanosleep(&nap, NULL);
	}
	if (code >= 0)
		return code; /* I1 */
	return own ? (int)(own & 0xff) << 8 : -1;
}
