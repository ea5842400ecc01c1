/*
 * stepped.h: what happens where something interrupts a function, at each of
 * its instructions: a signal handler, or as good as that, all that another
 * thread does. The function runs again and again, and is stepped through by
 * the processor's trap flag, each time one instruction further.
 */
#ifndef TEST_STEPPED_H
#define TEST_STEPPED_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#define STEPPED_TRAP_FLAG 0x100

struct stepped {
	void (*before)(void);
	void (*action)(void);
	/* in a handler, somewhere in `action` */
	void (*interrupt)(void);
	/* whether all is as it has to be */
	bool (*right)(void);
	/* instructions from one try to the next */
	unsigned stride;
};

static struct {
	const struct stepped *each;
	unsigned steps;		/* still to be made */
	volatile bool over, through;
} stepped;

static void stepped_handler(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)number;
	(void)info;
	if (stepped.over)
		stepped.through = true;
	else if (stepped.steps--)
		return;
	else
		stepped.each->interrupt();
	interrupted->uc_mcontext.gregs[REG_EFL] &= ~STEPPED_TRAP_FLAG;
}

/* Interrupted after so many instructions. False: something is wrong. */
static bool stepped_once(unsigned steps)
{
	stepped.each->before();
	stepped.steps = steps;
	stepped.over = false;
	__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq"
			 :
			 : "i"(STEPPED_TRAP_FLAG)
			 : "cc", "memory");
	stepped.each->action();
	stepped.over = true;
	return stepped.through || stepped.each->right();
}

/* Whether all was right all the time; *at: instructions until it was not, or
 * in all, with some of the way there. */
static bool stepped_each(const struct stepped *each, unsigned *at)
{
	struct sigaction action = { .sa_sigaction = stepped_handler,
				    .sa_flags = SA_SIGINFO }, old;
	bool right = true;

	stepped.each = each;
	stepped.through = false;
	sigaction(SIGTRAP, &action, &old);
	for (*at = 0; right && !stepped.through; *at += each->stride)
		right = stepped_once(*at);
	sigaction(SIGTRAP, &old, NULL);
	return right;
}

#endif
