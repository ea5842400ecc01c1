/*
 * scripted.c: allocates as standard input says, one command a line:
 *	keep N		N blocks more, of 40 bytes
 *	drop N		the N oldest of them are freed
 *	move N		the N oldest are made larger, to 80 bytes
 *	churn N		a block is made and freed, N times
 *	count N		the same; also says how many instructions that took
 *	crowd N		N threads churn until the next line
 *	fork N		a child churns N times, and ends
 *	own		USR1 gets a handler of the program's own
 *	handled		says how often that one was called
 * Prints "ok" after each. It ends with its input.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define BLOCKS 65536
#define CROWD 16
#define TRAP_FLAG 0x100

static void *blocks[BLOCKS];
static unsigned first, last;
static pthread_t crowd[CROWD];
static unsigned in_crowd;
static volatile bool enough;
static volatile sig_atomic_t handled, stepping;
static volatile long steps;

/* No allocation of stdio's is to be among those that are counted. */
static void say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		_exit(1);
}

/* One read for all there is: a signal that cut it short would be seen. */
static bool hear(char *line, size_t size)
{
	ssize_t n = read(0, line, size - 1);

	if (n < 0)
		say("cut short\n");
	if (n <= 0)
		return false;
	line[n] = 0;
	return true;
}

static void tgt_keep(long n)
{
	while (n-- > 0)
		blocks[last++ % BLOCKS] = malloc(40);
}

static void tgt_drop(long n)
{
	while (n-- > 0)
		free(blocks[first++ % BLOCKS]);
}

static void tgt_move(long n)
{
	for (long i = 0; i < n; i++)
		blocks[(first + i) % BLOCKS] =
			realloc(blocks[(first + i) % BLOCKS], 80);
}

static void tgt_churn(long n)
{
	while (n-- > 0) {
		void *volatile block = malloc(24);

		free(block);
	}
}

/* Counts instructions; without the flag in the saved registers the next one
 * does not trap. */
static void on_step(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)number;
	(void)info;
	if (stepping)
		steps++;
	else
		interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

/* What n pairs cost, by the processor's trap flag: a time would be that of
 * whatever else the machine does. */
static void count_churn(long n)
{
	struct sigaction action = { .sa_sigaction = on_step,
				    .sa_flags = SA_SIGINFO };
	char text[64];

	sigaction(SIGTRAP, &action, NULL);
	steps = 0;
	stepping = 1;
	__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq"
			 : : "i"(TRAP_FLAG) : "cc", "memory");
	tgt_churn(n);
	stepping = 0;
	snprintf(text, sizeof(text), "instructions %ld\n", (long)steps);
	say(text);
}

static void *crowd_run(void *unused)
{
	(void)unused;
	while (!enough)
		tgt_churn(100);
	return NULL;
}

static void crowd_begin(long n)
{
	enough = false;
	for (in_crowd = 0; in_crowd < n && in_crowd < CROWD; in_crowd++)
		pthread_create(&crowd[in_crowd], NULL, crowd_run, NULL);
}

static void crowd_end(void)
{
	enough = true;
	while (in_crowd > 0)
		pthread_join(crowd[--in_crowd], NULL);
}

static void fork_churn(long n)
{
	pid_t pid = fork();

	if (pid == 0) {
		tgt_churn(n);
		exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void on_signal(int number)
{
	(void)number;
	handled++;
}

static void own_handler(void)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &action, NULL);
}

static void say_handled(void)
{
	char text[64];

	snprintf(text, sizeof(text), "handled %d\n", (int)handled);
	say(text);
}

static void obey(const char *word, long n)
{
	if (strcmp(word, "keep") == 0)
		tgt_keep(n);
	else if (strcmp(word, "drop") == 0)
		tgt_drop(n);
	else if (strcmp(word, "move") == 0)
		tgt_move(n);
	else if (strcmp(word, "churn") == 0)
		tgt_churn(n);
	else if (strcmp(word, "count") == 0)
		count_churn(n);
	else if (strcmp(word, "crowd") == 0)
		crowd_begin(n);
	else if (strcmp(word, "fork") == 0)
		fork_churn(n);
	else if (strcmp(word, "own") == 0)
		own_handler();
	else if (strcmp(word, "handled") == 0)
		say_handled();
}

int main(void)
{
	char line[256], word[32];
	long n = 0;

	say("ok\n");
	while (hear(line, sizeof(line))) {
		crowd_end();
		if (sscanf(line, "%31s %ld", word, &n) >= 1)
			obey(word, n);
		say("ok\n");
	}
	crowd_end();
	return 0;
}
