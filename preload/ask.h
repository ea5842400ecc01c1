/*
 * ask.h: what a thread of the target has the writer do, and waits for: a
 * system call that is meant for the writer itself, or that the thread may not
 * make. One question at a time; everything in struct ask lies in the recorder.
 */
#ifndef GNOMON_ASK_H
#define GNOMON_ASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct recorder;

enum ask_what {
	ASK_CALL,		/* the system call `number` */
	ASK_READABLE,		/* whether arg[0] can be read: 1 or 0 */
	ASK_USER_SPACE,		/* join the user namespace of thread arg[0] */
	ASK_CONTROL,		/* arg[0]: a struct control_request (control.h) */
	ASK_LEDGER		/* arg[0]: a struct ledger_question (ledger_ask.h) */
};

struct ask {
	_Atomic uint32_t state;	/* futex; see ask.c */
	_Atomic uintptr_t holder;	/* thread pointer of who asks; 0: nobody */
	uintptr_t cfa, ra;	/* of its ask_writer (abandoned.h); cfa 0: not
				 * known yet */
	_Atomic uint32_t left;	/* futex: how many have asked */
	_Atomic uint32_t waits;	/* somebody may sleep on `left` */
	uint32_t what;
	long number;
	long arg[6];
	long result;
};

/*
 * Any thread of the target, also in handlers; each gets its turn. False: there
 * is no answer, because there is no writer, or not in time (some seconds), or
 * because this is a handler that interrupted a question (ask_interrupted). No
 * signal is let in meanwhile, where the process may still see to that.
 */
bool ask_writer(struct recorder *r, const struct ask *question, long *result);

/* Whether the calling thread asks already, further out: what it interrupted
 * cannot go on before it is back. sp: of the function that asks for this, after
 * its return. */
bool ask_interrupted(const struct ask *ask, uintptr_t sp);

/* The writer, now and then: whether somebody asks. Then the question is its
 * own until ask_answered. */
bool ask_pending(struct ask *ask);
void ask_answered(struct ask *ask, long result);

#endif
