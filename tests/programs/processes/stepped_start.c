// FLAGS: -D_GNU_SOURCE
/*
 * stepped_start.c: children that are interrupted after each instruction (the
 * processor's trap flag) during the profiler's first actions in them. Then they
 * allocate as any other. Prints how many children ended normally, their blocks,
 * and how many events were recorded before.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tgt.h"

#define TRAP_FLAG 0x100
#define CHILDREN 3
#define BLOCKS 20
#define EARLY 2		/* events amid that, in each */

static volatile unsigned steps;

static void on_step(int number)
{
	(void)number;
	steps++;
}

static void trap(void)
{
	__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq"
			 :: "i"(TRAP_FLAG) : "cc", "memory");
}

static void untrap(void)
{
	__asm__ volatile("pushfq\n\tandq %0, (%%rsp)\n\tpopfq"
			 :: "i"(~TRAP_FLAG) : "cc", "memory");
}

TGT_FUNCTION void *last_malloc(void)
{
	return malloc(77);
}

static int child(void)
{
	void *page;

	trap();
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page, 4096);
	untrap();
	for (int i = 0; i < BLOCKS; i++)
		tgt_sink = last_malloc();
	return steps > 10 ? 0 : 3;
}

int main(void)
{
	unsigned right = 0;
	int status;

	tgt_sink = malloc(1);
	signal(SIGTRAP, on_step);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid == 0)
			exit(child());
		waitpid(pid, &status, 0);
		right += status == 0;
	}
	tgt_print("children", CHILDREN);
	tgt_print("right", right);
	tgt_print("blocks", BLOCKS);
	tgt_print("early", EARLY);
	return 0;
}
