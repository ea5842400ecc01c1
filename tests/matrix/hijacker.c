// FLAGS: -pg -mfentry -fno-pie -no-pie -fexceptions
// LINK: hijacker_fentry.S
/*
 * hijacker.c [cfi]: a program that another tool of this kind has got hold of
 * already: every function of this file replaces its own return address by a
 * trampoline when it is entered, keeps the right one on a list of its own,
 * and is led back by that. It counts what it finds on its way out. With "cfi"
 * the trampoline has an unwind table, so that it looks like any other code.
 *
 * The list is kept as such tools do: by order, so each return must be met
 * exactly once and in turn, and nothing of it may be led elsewhere.
 *
 * All in a thread of its own: in the first one gprof allocates below _init, code
 * without a table, which ends barriers there.
 */
#include <pthread.h>

#include "deep.h"

#define DEPTH_MAX 1024

struct hijacked {
	uintptr_t *slot, address;
};

static struct hijacked list[DEPTH_MAX];
static unsigned depth, hijacked_total, returned_total, changed;
int hijacker_on;
static void *trampoline;

int moncontrol(int on);
void hijacker_return(void);
void hijacker_return_cfi(void);

#define UNTOUCHED __attribute__((no_instrument_function))

/* From __fentry__: slot is the word with the function's return address. */
UNTOUCHED void hijacker_enter(uintptr_t *slot);
UNTOUCHED void hijacker_enter(uintptr_t *slot)
{
	if (depth == DEPTH_MAX)
		return;
	list[depth].slot = slot;
	list[depth++].address = *slot;
	*slot = (uintptr_t)trampoline;
	hijacked_total++;
}

/* From the trampoline: where to go on; sp is just above the slot. */
UNTOUCHED uintptr_t hijacker_leave(uintptr_t *sp);
UNTOUCHED uintptr_t hijacker_leave(uintptr_t *sp)
{
	struct hijacked *h = &list[--depth];

	returned_total++;
	if (h->slot != sp - 1)
		changed++;
	return h->address;
}

static long work(int levels)
{
	void *block = tgt_malloc(20 + levels);
	long answer = levels ? work(levels - 1) + 1 : 0;

	tgt_free(tgt_malloc(7), 7);
	tgt_free(block, 20 + levels);
	return answer;
}

/* As such tools do before a throw: all back as it was, and later put in its
 * place again, whatever may have been written there meanwhile. */
static UNTOUCHED long undone(void *argument)
{
	int was_on = hijacker_on;

	(void)argument;
	for (unsigned i = depth; i-- > 0;)
		*list[i].slot = list[i].address;
	hijacker_on = 0;
	for (int levels = 0; levels < 4; levels++)
		work(levels);
	hijacker_on = was_on;
	for (unsigned i = 0; i < depth; i++)
		*list[i].slot = (uintptr_t)trampoline;
	return 0;
}

static long outer(int levels)
{
	long answer = work(levels);

	answer += deep(levels, deep_nothing, NULL);
	if (levels % 5 == 3)
		answer += deep_wide(levels, undone, NULL);
	return answer;
}

static UNTOUCHED void *run(void *argument)
{
	uint64_t *sum = argument;

	for (int i = 0; i < 200; i++) {
		hijacker_on = i % 4 != 3;
		*sum = *sum * 31 + (uint64_t)outer(i % 90);
	}
	hijacker_on = 0;
	return NULL;
}

UNTOUCHED int main(int argc, char **argv)
{
	pthread_t thread;
	uint64_t sum = 0;

	moncontrol(0);
	trampoline = (void *)hijacker_return;
	if (argc > 1 && !strcmp(argv[1], "cfi"))
		trampoline = (void *)hijacker_return_cfi;
	if (pthread_create(&thread, NULL, run, &sum) == 0)
		pthread_join(thread, NULL);
	tgt_print("sum", sum);
	tgt_print("hijacked", hijacked_total);
	tgt_print("returned", returned_total);
	tgt_print("changed", changed);
	tgt_print("left", depth);
	tgt_report();
	/* before gprof, which -pg links in, writes its file */
	_exit(changed != 0);
}
