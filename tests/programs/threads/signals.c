// FLAGS: -lbump
/*
 * signals.c [jump] [stack|within]: a timer's signal interrupts the program at
 * any moment, also inside malloc and inside the profiler. Its handler allocates
 * and frees; with "jump" it leaves by siglongjmp every third time, with "stack"
 * it runs on a stack of its own, "within" on one that is a local variable of
 * main, so that it lies outward of the interrupted frames. Runs with the
 * allocator of libbump.so, which permits that.
 *
 * An interrupted operation may or may not have happened after a jump, so the
 * main program's operations have two bounds: begun and ended.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "tgt.h"

#define SIGNALS 3000
#define PERIOD_US 70

static sigjmp_buf restart;
static volatile uint64_t handled, jumped, begun, ended;
static volatile int may_jump;

/* The next signal comes so much later than this call: a program slowed down
 * is never overrun by its own timer. */
static void arm(void)
{
	struct itimerval timer = { { 0, 0 }, { 0, PERIOD_US } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

TGT_FUNCTION void *handler_malloc(size_t size)
{
	void *p = malloc(size);

	tgt_sink = p;
	return p;
}

static void handler(int number)
{
	void *p = handler_malloc(64 + handled % 512);

	(void)number;
	if (handled % 2)
		free(p);
	handled++;
	if (may_jump && handled % 3 == 0) {
		jumped++;
		siglongjmp(restart, 1);
	}
	arm();
}

TGT_FUNCTION void *road_malloc(size_t size)
{
	void *p = malloc(size);

	tgt_sink = p;
	return p;
}

static void *road(int depth, size_t size)
{
	void *p;

	if (depth)
		return road(depth - 1, size);
	begun++;
	p = road_malloc(size);
	ended++;
	return p;
}

#define STACK_BYTES (64u << 10)

static void use_own_stack(char *memory)
{
	stack_t stack = { .ss_sp = memory, .ss_size = STACK_BYTES };

	sigaltstack(&stack, NULL);
}

static int given(char **argv, const char *word)
{
	while (*++argv)
		if (!strcmp(*argv, word))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handler };
	static char memory[STACK_BYTES];
	char within[STACK_BYTES];
	static unsigned seed;	/* kept across the jump */

	(void)argc;
	if (given(argv, "stack") || given(argv, "within")) {
		use_own_stack(given(argv, "stack") ? memory : within);
		action.sa_flags = SA_ONSTACK;
	}
	sigsetjmp(restart, 1);
	may_jump = given(argv, "jump");
	sigaction(SIGALRM, &action, NULL);
	arm();
	while (handled < SIGNALS) {
		seed = seed * 1103515245u + 12345u;
		free(road(seed >> 16 & 31, 1 + (seed >> 20)));
	}
	may_jump = 0;
	signal(SIGALRM, SIG_IGN);
	tgt_print("handled", handled);
	tgt_print("handler_live", (handled + 1) / 2);
	tgt_print("road_min", ended);
	tgt_print("road_max", begun);
	return 0;
}
