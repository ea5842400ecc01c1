/*
 * control_signal.c: see control_signal.h.
 *
 * A handler posts a request and wakes the recorder, which handles it
 * (control.c): so the interrupted thread's state does not matter. A toggle or a
 * clear applies to the moment of its handler (gate.h). Other requests are
 * counted, and apply to the moment at which the recorder reads the counter. The
 * program may later install its own handler; then ours is gone.
 *
 * Interrupted system calls are restarted (SA_RESTART); ours uses the program's
 * alternate signal stack, if there is one. A forked child has its parent's
 * handlers, and its own recorder.
 */
#include "preload/process/control_signal.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "preload/base/message.h"
#include "preload/base/signal_list.h"
#include "preload/base/sys.h"
#include "preload/base/text.h"
#include "preload/interpose/real.h"
#include "preload/ring/gate.h"
#include "preload/ring/producer.h"
#include "unwind/base/memory.h"

#define SIGNAL_COUNT 65

typedef int signal_action(int number, const struct sigaction *action,
			   struct sigaction *old);

/* enum control_what; constant once a handler is installed. */
static unsigned char signal_what[SIGNAL_COUNT];

/* Posts requests that have a stamp; returns whether this is one. */
static bool signal_post(struct gl_shared *shared, enum control_what what)
{
	if (what != CONTROL_TOGGLE && what != CONTROL_CLEAR)
		return false;
	return gate_post(shared, what == CONTROL_TOGGLE ? GATE_TOGGLE :
						     GATE_CLEAR);
}

static void signal_arrived(int number)
{
	struct producer *p = producer;
	struct gl_shared *shared;

	DEBUG_ASSERT(number > 0 && number < SIGNAL_COUNT);
	if (!producer_is_on(p) || !(shared = p->shared))
		return;
	/* the signal was for a child that shares our memory (vfork) */
	if (unwind_may(UNWIND_NO_IDS) && sys_getpid() != p->pid)
		return;
	DEBUG_ASSERT(signal_what[number] < GL_SIGNALLED);
	if (!signal_post(shared, signal_what[number]))
		atomic_fetch_add_explicit(
			&shared->signalled[signal_what[number]], 1,
			memory_order_relaxed);
	recorder_wake(p);
}

static void signal_complain(const struct signal_action_wanted *wish)
{
	char buffer[128];
	struct text text;

	text_init(&text, buffer, sizeof(buffer));
	text_put(&text, "signal ");
	text_number(&text, wish->number);
	text_put(&text, " is handled or ignored already: --signal leaves it "
			"alone: choose another signal");
	message_print(buffer);
}

static void signal_handle(signal_action *action,
			   const struct signal_action_wanted *wish)
{
	struct sigaction old, ours = { .sa_handler = signal_arrived,
				       .sa_flags = SA_RESTART | SA_ONSTACK };

	if (action(wish->number, NULL, &old))
		return;
	if (old.sa_flags & SA_SIGINFO || old.sa_handler != SIG_DFL) {
		if (old.sa_handler != signal_arrived)
			signal_complain(wish);
		return;
	}
	action(wish->number, &ours, NULL);
}

void control_signal_install(void)
{
	const char *text = options_text(&producer_options, OPTION_SIGNAL);
	struct signal_action_wanted list[SIGNAL_LIST_MAX];
	int count = signal_list_read(text, list), i;
	signal_action *action;

	if (count <= 0 || !producer_is_on(producer))
		return;
	action = (signal_action *)real_function("sigaction");
	/* if a signal is listed twice, the last entry counts */
	for (i = 0; i < count; i++)
		signal_what[list[i].number] = list[i].what;
	for (i = 0; action && i < count; i++)
		signal_handle(action, &list[i]);
}
