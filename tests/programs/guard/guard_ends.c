/*
 * guard_ends.c WAY [busy]: damages a block and exits in the named way; prints
 * what --guard must find, as guard_damage does. busy: while other threads
 * allocate and free.
 */
// FLAGS: -no-pie -pthread
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tgt.h"

#define THREADS 4
#define SLOTS 512
#define HOT 16		/* of them, mostly */
#define KEPT 2000

static unsigned char *volatile block;
static const char *way;

TGT_FUNCTION void made_here(size_t size)
{
	block = malloc(size);
	tgt_sink = block;
}

TGT_FUNCTION void ended_here(void)
{
	free(block);
	tgt_sink = NULL;
}

static void expect(const char *line)
{
	printf("damage %s\n", line);
	fflush(stdout);
}

static void damage(void)
{
	made_here(80);
	block[80] = 1;
	expect("80 80 end made_here -");
}

/* After all that others do at an exit. */
__attribute__((destructor)) static void damage_late(void)
{
	if (way && !strcmp(way, "late"))
		damage();
}

/* Blocks everywhere, and at the same few addresses over and over. */
static void *churn(void *argument)
{
	unsigned char *slot[SLOTS] = { 0 };
	unsigned i, n = (unsigned)(uintptr_t)argument;

	for (i = 0;; i++) {
		unsigned at = (n = n * 1664525 + 1013904223) >> 16;
		size_t size = 24 + at / SLOTS % 3 * 16;

		at %= i % 4 ? HOT : SLOTS;
		if (i % 5 == 0) {
			slot[at] = realloc(slot[at], size);
		} else {
			free(slot[at]);
			slot[at] = malloc(size);
		}
		memset(slot[at], 0x55, size);
		if (i % 65536 == 0) {
			/* a mapping that comes and goes */
			unsigned char *large = malloc(1 << 20);

			memset(large, 0x55, 1 << 20);
			free(large);
		}
	}
	return NULL;
}

static void be_busy(void)
{
	pthread_t thread;

	for (unsigned i = 0; i < KEPT; i++)
		tgt_sink = malloc(i % 500);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, churn, (void *)(i + 1)))
			exit(1);
	usleep(10000);
}

/* Neither the child's end nor its failing exec is ours. */
static void by_child(void)
{
	int status = 1;
	pid_t pid;

	made_here(80);
	block[80] = 1;
	pid = vfork();
	if (pid == 0)
		_exit(0);
	if (waitpid(pid, &status, 0) != pid || status)
		exit(1);
	ended_here();
	expect("80 80 free made_here ended_here");
}

static void end_in_handler(int signal)
{
	(void)signal;
	_exit(0);
}

static void end(void)
{
	if (!strcmp(way, "exit"))
		exit(0);
	if (!strcmp(way, "_exit"))
		_exit(0);
	if (!strcmp(way, "_Exit"))
		_Exit(0);
	if (!strcmp(way, "quick_exit"))
		quick_exit(0);
	if (!strcmp(way, "exit_group"))
		syscall(SYS_exit_group, 0);
	if (!strcmp(way, "pthread_exit"))
		pthread_exit(NULL);
	if (!strcmp(way, "abort"))
		abort();
	if (!strcmp(way, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(way, "handler")) {
		signal(SIGUSR1, end_in_handler);
		raise(SIGUSR1);
	}
}

int main(int argc, char **argv)
{
	way = argc > 1 ? argv[1] : "return";
	if (argc > 2)
		be_busy();
	if (!strcmp(way, "vfork"))
		by_child();
	else if (!strcmp(way, "late"))
		return 0;
	else if (strcmp(way, "nothing"))
		damage();
	end();
	return 0;
}
