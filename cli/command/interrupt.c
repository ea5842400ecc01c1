/*
 * interrupt.c: see interrupt.h. Called by the main thread; the handler runs in
 * any thread.
 */
#include "cli/command/interrupt.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static struct sigaction before[NUMBERS];
static atomic_bool asked;
static atomic_int came;		/* the signal's number; 0: none */

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
	       "a signal handler writes them");

static void handle_signal(int number)
{
	atomic_store_explicit(&came, number, memory_order_relaxed);
	atomic_store_explicit(&asked, true, memory_order_relaxed);
}

void interrupt_begin(void)
{
	const struct sigaction action = {
		.sa_handler = handle_signal,
		.sa_flags = SA_RESETHAND | SA_RESTART,
	};

	atomic_store_explicit(&asked, false, memory_order_relaxed);
	atomic_store_explicit(&came, 0, memory_order_relaxed);
	for (size_t i = 0; i < NUMBERS; i++) {
		/* neither call fails for a valid signal */
		sigaction(numbers[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

const atomic_bool *interrupt_flag(void)
{
	return &asked;
}

void interrupt_end(void)
{
	int number;

	for (size_t i = 0; i < NUMBERS; i++)
		sigaction(numbers[i], &before[i], NULL);
	number = atomic_load_explicit(&came, memory_order_relaxed);
	if (number != 0)
		raise(number);
}
