/*
 * fork_copy.h: children that are forked while a hook runs.
 *
 * A signal handler may interrupt a hook and call fork, and the child may return
 * from the handler. Then the child continues in the hook, with pointers into
 * memory that it does not have: the live mapping is not inherited, the area is
 * wiped. Such a child gets private copies of both at the same addresses, in
 * which the hook finishes. None of that is recorded. When the hook has
 * returned, the child drops the copies and is a new process like any other.
 *
 * Every other child has empty pages in place of the live mapping until its own
 * recorder starts. It may have been interrupted before its hook marked a ring
 * as busy; it then finds a ring without room.
 */
#ifndef GNOMON_FORK_COPY_H
#define GNOMON_FORK_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"

struct thread;
struct fork_copy_plan;

struct fork_copy {
	bool live;		/* there is a live mapping */
	/* what is copied, and the copies; NULL: the caller is not inside a
	 * hook */
	struct fork_copy_plan *plan;
};

/*
 * Before a fork, in its caller. sp: of the fork hook. Copies nothing if there
 * is no memory for the copies. Any thread, also in signal handlers; errno is
 * kept, as in all functions below.
 */
void fork_copy_take(struct fork_copy *copy, uintptr_t sp);

/* After a fork, in the parent, or if the fork failed. */
void fork_copy_drop(struct fork_copy *copy);

/* After a fork, in the child. */
void fork_copy_place(struct fork_copy *copy);

/* The hook's thread in a child that has copies; NULL: no copies, or the hook
 * has returned. */
extern BASE_HIDDEN const struct thread *fork_copy_thread;

/* Checks whether such a child has left the hook by a longjmp. sp: of the
 * calling hook. */
void fork_copy_scan(uintptr_t sp);

/*
 * Whether the calling thread may be recorded. False, which is counted: this
 * process was forked inside a hook that has not returned yet. The first call
 * after the return drops the copies, and thread structs with them. Called on
 * the slow branch of hooks.
 */
bool fork_copy_over(const struct thread *thread);

/* The recorder of a child starts: unmaps the pages in place of its parent's
 * live mapping. */
void fork_copy_forget(void);

#endif
