/*
 * fork_copy.h: a child that is forked inside of a hook.
 *
 * A signal handler may interrupt a hook and call fork, and the child may return
 * from the handler. Then it goes on in the hook, with pointers into memory that
 * a child does not have: the live mapping is not inherited, the area is wiped.
 * Such a child gets private copies of both at the same addresses, where the
 * hook finishes what it does. Nothing of that is recorded. When the hook has
 * returned, the child drops the copies and is a new process like any other.
 *
 * Every other child gets empty pages instead of the live mapping until its own
 * recorder starts: it may have been interrupted before its hook said that it
 * works on a ring, and then finds a ring without room.
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
	/* what is copied, and the copies; NULL: the caller is inside of no hook */
	struct fork_copy_plan *plan;
};

/*
 * Before a fork, in its caller. sp: of the hook of fork. Without memory for the
 * copy nothing is copied. Any thread, also in signal handlers; errno is kept,
 * as in all that follows.
 */
void fork_copy_take(struct fork_copy *copy, uintptr_t sp);

/* After it, in the parent, or if there is no child. */
void fork_copy_drop(struct fork_copy *copy);

/* After it, in the child. */
void fork_copy_place(struct fork_copy *copy);

/* The hook's thread in a child that has copies; NULL: it is none, or the hook
 * has returned. */
extern BASE_HIDDEN const struct thread *fork_copy_thread;

/* Such a child may have left the hook by a jump. sp: of the hook that asks. */
void fork_copy_look(uintptr_t sp);

/*
 * Whether the calling thread may be recorded. False, which is counted: this
 * process was forked inside of a hook, which has not returned yet. The first
 * call after that drops the copies, and thread structs with them. On the slow
 * branch of hooks.
 */
bool fork_copy_over(const struct thread *thread);

/* The recorder of a child starts: nobody needs the pages in place of its
 * parent's live mapping. */
void fork_copy_forget(void);

#endif
