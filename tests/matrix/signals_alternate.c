// FLAGS: -pthread
/*
 * signals_alternate.c: handlers that allocate, on the stack that they have
 * interrupted and on one of their own, in the main thread and in another, below
 * some frames that have allocated before.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

#include "tgt.h"

#define TURNS 50
#define STACK_BYTES 65536

static void *kept[2];
static int handled;

TGT_FUNCTION void in_handler(int number)
{
	free(kept[number == SIGUSR2]);
	kept[number == SIGUSR2] = malloc(100 + number);
	handled++;
}

static void handler(int number)
{
	in_handler(number);
}

TGT_FUNCTION void deeper(int frames, int number)
{
	void *block = malloc(10 + frames);

	if (frames > 0)
		deeper(frames - 1, number);
	else
		raise(number);
	free(block);
}

static void *run(void *argument)
{
	stack_t stack = { .ss_sp = malloc(STACK_BYTES),
			  .ss_size = STACK_BYTES };
	stack_t none = { .ss_flags = SS_DISABLE };
	int i;

	sigaltstack(&stack, NULL);
	for (i = 0; i < TURNS; i++)
		deeper(i % 40, i % 2 ? SIGUSR1 : SIGUSR2);
	sigaltstack(&none, NULL);
	free(stack.ss_sp);
	return argument;
}

int main(void)
{
	struct sigaction action = { .sa_handler = handler };
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	run(NULL);
	if (pthread_create(&thread, NULL, run, NULL) == 0)
		pthread_join(thread, NULL);
	printf("handled %d\n", handled);
	return handled == 2 * TURNS ? 0 : 1;
}
