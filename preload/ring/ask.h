/*
 * ask.h: what a thread of the target has the writer do, and waits for: a
 * system call that is meant for the writer itself, or that the thread may not
 * make; a question about the recording. One at a time. A request goes to the
 * writer by value, and so does the answer (struct gl_request).
 */
#ifndef GNOMON_ASK_H
#define GNOMON_ASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"
#include "preload/ring/shared.h"

struct recorder;

/* The asker's. */
struct ask_question {
	enum ask_what what;
	long number;
	long arg[6];
	const void *data;
	uint32_t bytes;		/* GL_REQUEST_ROOM with more_bytes, at most */
	void *back;		/* as many, as the answer has changed them;
				 * NULL: not wanted */
	void *more;		/* of the answer alone: what follows them */
	uint32_t more_bytes;
};

/* Whose turn it is to ask. Of hooks alone, in the area. */
struct ask_turn {
	_Atomic uintptr_t holder;	/* thread pointer of who asks; 0: nobody */
	uintptr_t cfa, ra;	/* of its ask_writer (abandoned.h); cfa 0: not
				 * known yet */
	_Atomic uint32_t left;	/* futex: how many have asked */
	_Atomic uint32_t waits;	/* somebody may sleep on `left` */
};

/* Constant from the first start on, also in children. */
extern BASE_HIDDEN struct ask_turn *ask_turn;

/* Gives it its place (area_place). */
void ask_place(void);

/*
 * Any thread of the target, also in handlers; each gets its turn. False: there
 * is no answer, because there is no writer, or not in time (some seconds), or
 * because this is a handler that interrupted a question (ask_interrupted). No
 * signal is let in meanwhile, where the process may still see to that.
 */
bool ask_writer(struct recorder *r, const struct ask_question *question,
		long *result);

/*
 * Calls each for every range of the program's memory, in order of address, as
 * the recorder finds it: all but what is ours. blocks: of what is private,
 * writable and of no file alone. `part` has room for `room` ranges. False: there
 * is no answer (any more).
 */
bool ask_memory(struct recorder *r, bool blocks, struct gl_range *part,
		unsigned room, void (*each)(void *owner, struct gl_range range),
		void *owner);

/* Whether the calling thread asks already, further out: what it interrupted
 * cannot go on before it is back. sp: of the function that asks for this, after
 * its return. */
bool ask_interrupted(uintptr_t sp);

/* Before a question: whose turn it is, and that there is no other. With
 * GNOMON_CLAIMS. */
bool ask_is_valid(const struct ask_turn *turn,
		  const struct gl_request *request);

#endif
