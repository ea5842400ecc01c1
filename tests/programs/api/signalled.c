/*
 * signalled.c: prints the received signals, their counts and order. It first
 * prints what it inherited ("ignored N", "blocked N"), installs a handler for
 * every signal except those that stop a process, and prints "ready". Each
 * signal is a line "got N", with the value sent by sigqueue, if any. It exits
 * with the status on a line of its input, or when its input ends ("stays": not
 * then).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tgt.h"

static void say(const char *word, int number, int value)
{
	char line[64];
	int size = value == 0 ?
		snprintf(line, sizeof(line), "%s %d\n", word, number) :
		snprintf(line, sizeof(line), "%s %d %d\n", word, number,
			 value);

	if (write(STDOUT_FILENO, line, (size_t)size) != size)
		_exit(99);
}

static void arrived(int number, siginfo_t *info, void *context)
{
	(void)context;
	say("got", number, info->si_code == SI_QUEUE ?
		info->si_value.sival_int : 0);
}

static int stops(int number)
{
	return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN ||
		number == SIGTTOU;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = arrived,
				    .sa_flags = SA_SIGINFO | SA_RESTART };
	char line[64];
	sigset_t mask;

	/* or the handler of the last would run first */
	sigfillset(&action.sa_mask);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int number = 1; number < NSIG; number++) {
		struct sigaction old;

		if (sigaction(number, NULL, &old) != 0)
			continue;
		if (old.sa_handler == SIG_IGN)
			say("ignored", number, 0);
		if (sigismember(&mask, number) == 1)
			say("blocked", number, 0);
		if (number != SIGKILL && !stops(number))
			sigaction(number, &action, NULL);
	}
	/* one that leaves its group, as interactive shells do */
	if (argc > 1 && strcmp(argv[1], "leaves") == 0 && setpgid(0, 0) != 0)
		return 98;
	free(malloc(100));
	say("ready", (int)getpid(), 0);
	while (fgets(line, sizeof(line), stdin) != NULL)
		if (line[0] >= '0' && line[0] <= '9')
			return atoi(line);
	/* one whose terminal has gone goes on */
	while (argc > 1 && strcmp(argv[1], "stays") == 0)
		pause();
	return 0;
}
