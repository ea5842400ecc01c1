/*
 * group_probe.c: see group_probe.h.
 *
 *	        kill(-group, N)
 *	      ┌──────┼──────────┐
 *	      ▼      ▼          ▼
 *	   command  probe    program
 *	      │ "N?" ▲
 *	      └──────┘ PROBE_GROUP, PROBE_ALONE
 *
 * The probe is a fork of the command that blocks all signals, waits for a
 * query, and takes the queried signal from its own queue. Its only file is its
 * end of a socket; when the other end is closed, it exits.
 *
 * The kernel queues a group's signal to one member after the other, so the
 * command may see it before the probe has it. It holds a lock meanwhile that
 * setpgid(2) takes for writing: when setpgid returns, every member has the
 * signal.
 *
 * Rejected: the program in its own group, with the terminal (tini). It takes
 * the terminal from other parts of a pipeline, and a program's setsid() would
 * fail. Also: to check the sender that the kernel reports (sudo). A signal from
 * the keyboard has no sender, but `kill -INT -GROUP` has one; and a hang-up
 * goes only to the session leader.
 *
 * I1 The probe's queue has exactly the group's signals that the command has not
 *      queried: the command queries each signal that it takes.
 * I2 All signals are blocked in the probe, from before the fork on.
 * I3 A search for the command by name or arguments (killall, pkill -f) must not
 *      match the probe: the signal would look like one to the group.
 */
#include "cli/run/group_probe.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/close_from.h"

#define TIMEOUT_MS 1000	/* then check whether the probe is alive */
#define WATCH_MS 100		/* between two checks of a stopped program */
#define STAT_MAX 1024		/* of /proc/PID/stat */
#define STAT_STATE 3
#define STAT_ARGUMENTS 48	/* start and end address of the arguments */

/* Requests other than signal numbers. */
#define NOTHING 0		/* ends a watch */
#define WATCH (-1)

struct request {
	int32_t what;
	int32_t program;	/* of WATCH */
};

static pid_t probe;		/* 0: none */
static int channel = -1;

/* ---- the probe itself ---- */

/* Closes all descriptors but one, which becomes descriptor 0. */
static void keep_one(int fd)
{
	if (fd != 0)
		dup2(fd, 0);
	close_from(1);
}

static int8_t take(int number)
{
	static const struct timespec now = { 0, 0 };
	siginfo_t info;
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, number);
	if (sigtimedwait(&one, &info, &now) != number)
		return PROBE_ALONE;
	/* the SIGCONT by which the command continued the probe */
	if (info.si_code == SI_USER && info.si_pid == getppid())
		return PROBE_ALONE;
	return PROBE_GROUP;
}

/* Field `index` of /proc/PID/stat, from the third on; NULL if there is none. */
static const char *stat_field(pid_t pid, int index, char line[STAT_MAX])
{
	char path[32], *at;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return NULL;
	n = fread(line, 1, STAT_MAX - 1, file);
	fclose(file);
	line[n] = 0;
	at = strrchr(line, ')');
	for (int i = 2; i < index && at != NULL; i++)
		at = strchr(at + 1, ' ');
	return at != NULL ? at + 1 : NULL;
}

/* Replaces the command's name and arguments (I3). */
static void change_name(void)
{
	static const char name[] = "[signal-probe]";
	char line[STAT_MAX];
	const char *field = stat_field(getpid(), STAT_ARGUMENTS, line);
	uintptr_t begin, end;
	char *rest;

	prctl(PR_SET_NAME, name);
	if (field == NULL)
		return;
	begin = (uintptr_t)strtoull(field, &rest, 10);
	end = (uintptr_t)strtoull(rest, NULL, 10);
	if (begin == 0 || end < begin + sizeof(name))
		return;
	memset((void *)begin, 0, end - begin);
	memcpy((void *)begin, name, sizeof(name));
}

/* The process's state; 0: unknown. */
static char state_of(pid_t pid)
{
	char line[STAT_MAX];
	const char *state = stat_field(pid, STAT_STATE, line);

	return state != NULL ? *state : 0;
}

static bool is_stopped(pid_t pid)
{
	char state = state_of(pid);

	return state == 'T' || state == 't';
}

/* Watches until the next request, which the command sends when it runs
 * again. */
static void watch(pid_t program)
{
	struct pollfd asked = { .fd = 0, .events = POLLIN };

	while (poll(&asked, 1, WATCH_MS) == 0)
		if (!is_stopped(program) && is_stopped(getppid()))
			kill(getppid(), SIGCONT);
}

static _Noreturn void be_probe(int fd)
{
	struct request request;
	int8_t answer;

	keep_one(fd);
	change_name();
	while (read(0, &request, sizeof(request)) == sizeof(request)) {
		if (request.what == WATCH) {
			watch(request.program);
		} else if (request.what != NOTHING) {
			answer = take(request.what);
			if (write(0, &answer, sizeof(answer)) < 0)
				break;
		}
	}
	_exit(0);
}

/* ---- the command ---- */

void probe_start(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return;
	probe = fork();
	if (probe == 0) {
		close(ends[0]);
		be_probe(ends[1]);
	}
	close(ends[1]);
	if (probe < 0) {
		close(ends[0]);
		probe = 0;
		return;
	}
	channel = ends[0];
}

pid_t probe_pid(void)
{
	return probe;
}

void probe_end(void)
{
	if (probe == 0)
		return;
	close(channel);
	kill(probe, SIGKILL);
	while (waitpid(probe, NULL, 0) < 0 && errno == EINTR)
		;
	probe = 0;
}

static bool ask(int what, pid_t program)
{
	struct request request = { what, program };

	if (probe == 0)
		return false;
	if (send(channel, &request, sizeof(request), MSG_NOSIGNAL) ==
	    (ssize_t)sizeof(request))
		return true;
	probe_end();
	return false;
}

/* Waits until every member of the group has the signals that this process has.
 * In a session leader the call fails, but only after it held the lock. */
static void wait_for_others(void)
{
	(void)!setpgid(0, getpgrp());
}

/* Waits for an answer, which takes microseconds, or longer if the machine is
 * too busy to run the probe. False: no answer will come. */
static bool is_answered(void)
{
	struct pollfd ready = { .fd = channel, .events = POLLIN };
	int count;

	do
		count = poll(&ready, 1, TIMEOUT_MS);
	while (count == 0 && state_of(probe) != 0 && !is_stopped(probe));
	return count == 1;
}

static enum probe_answer question(int number)
{
	int8_t answer;

	wait_for_others();
	/* SIGSTOP to the group has stopped the probe as well */
	if (number == SIGCONT && probe != 0)
		kill(probe, SIGCONT);
	if (!ask(number, 0))
		return PROBE_UNKNOWN;
	if (is_answered() &&
	    read(channel, &answer, sizeof(answer)) == sizeof(answer))
		return (enum probe_answer)answer;
	probe_end();
	return PROBE_UNKNOWN;
}

/* Takes the same signal if it is pending again. Queued signals (SIGRTMIN and
 * up) are queried one by one. */
static bool take_again(int number)
{
	static const struct timespec now = { 0, 0 };
	sigset_t one;

	if (number >= SIGRTMIN)
		return false;
	sigemptyset(&one);
	sigaddset(&one, number);
	return sigtimedwait(&one, NULL, &now) == number;
}

enum probe_answer probe_take(int number)
{
	enum probe_answer answer = question(number);

	/* The group got it twice, but the probe's queue holds it once. */
	while (answer == PROBE_GROUP && take_again(number))
		question(number);
	return answer;
}

void probe_watch(pid_t program)
{
	ask(WATCH, program);
}

void probe_unwatch(void)
{
	ask(NOTHING, 0);
}
