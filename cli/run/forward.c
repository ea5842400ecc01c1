/*
 * forward.c: see forward.h.
 *
 * All signals are blocked and taken from a descriptor, so no handler is ever
 * called and no disposition changed: what the program inherits are the mask
 * and the dispositions that the command was given (nohup). A blocked signal is
 * queued even if it is ignored.
 *
 * Who was meant is known from a probe (group_probe.h). A program may leave the
 * group, as interactive shells do. Without us the leader of a group could not
 * leave it, and would be sent what the group is sent. So where this process
 * is the leader, the program is, too, for that purpose.
 *
 * STOPPING. The program stops by what reaches it; then this process stops by
 * the same signal, so that a shell sees its job stop. A stop signal and
 * SIGCONT cancel each other in the queues, also in the probe's: one of the two
 * that waits here is newer than the other, which is then nobody's any more.
 * Between the look at one queue and that at the other a third signal may come,
 * so that a stop is sent on that the group was sent, and has been continued
 * from since: the next SIGCONT of the group sees to it (I2).
 * Whoever continues the program alone does not continue this process: the probe
 * does.
 *
 * What is left: a sender that goes through all processes one by one (systemd
 * stops a service so) sends to the command, the program and the probe, and the
 * probe may be last. Then the program has the signal twice.
 *
 *  I1  Each signal that is taken here is asked about (group_probe.c, I1).
 *  I2  A program that this process has stopped last goes on after any SIGCONT
 *      that is taken here, unless a newer stop waits.
 */
#include "cli/run/forward.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/run/group_probe.h"

static pid_t program;
static bool stop_was_last;	/* of stops and SIGCONT that were sent on */
static int queue;		/* a signalfd */
static sigset_t mask_before;
static struct sigaction child_before;

static const int stopping[] = { SIGTSTP, SIGTTIN, SIGTTOU };
#define STOPPING_COUNT (sizeof(stopping) / sizeof(stopping[0]))

bool forward_begin(void)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask_before);
	/* where it is ignored, nobody learns how a child ended */
	sigaction(SIGCHLD, &standard, &child_before);
	queue = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	return queue >= 0;
}

void forward_inherit(void)
{
	sigaction(SIGCHLD, &child_before, NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

/* ---- one signal ---- */

static bool is_stopping(int number)
{
	return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU ||
		number == SIGSTOP;
}

/* A stop that has been followed by SIGCONT, or SIGCONT by a stop. */
static bool is_superseded(int number)
{
	sigset_t waiting;

	if (sigpending(&waiting) != 0)
		return false;
	if (is_stopping(number))
		return sigismember(&waiting, SIGCONT) == 1;
	for (size_t i = 0; number == SIGCONT && i < STOPPING_COUNT; i++)
		if (sigismember(&waiting, stopping[i]) == 1)
			return true;
	return false;
}

/* The program is, or without us would be, in the group that we are in. */
static bool is_in_group(void)
{
	return getpgid(program) == getpgrp() || getpgrp() != getpid();
}

static bool has_reached(const struct signalfd_siginfo *info)
{
	int number = (int)info->ssi_signo;
	enum probe_answer answer = probe_take(number);

	/* Without a probe: what the kernel sends, a terminal has sent. */
	if (answer == PROBE_UNKNOWN)
		answer = info->ssi_code > 0 ? PROBE_GROUP : PROBE_ALONE;
	if (answer == PROBE_ALONE)
		return is_superseded(number);
	return is_in_group();
}

/* A program that has become another user's may refuse it, as it would refuse
 * the sender. */
static void send_on(const struct signalfd_siginfo *info)
{
	int number = (int)info->ssi_signo;
	siginfo_t copy = { .si_signo = number, .si_code = SI_QUEUE };

	if (is_stopping(number) || number == SIGCONT)
		stop_was_last = is_stopping(number);
	if (info->ssi_code == SI_QUEUE) {
		copy.si_pid = (pid_t)info->ssi_pid;
		copy.si_uid = info->ssi_uid;
		copy.si_value.sival_ptr = (void *)(uintptr_t)info->ssi_ptr;
		if (syscall(SYS_rt_sigqueueinfo, program, number, &copy) == 0)
			return;
	}
	kill(program, number);
}

/* Whether the program is stopped, or is about to be. Where nothing can be seen
 * of it, or its first thread has ended (Z), it may be. */
static bool may_be_stopped(void)
{
	unsigned long long pending = 0;
	char path[32], line[256], state = 0;
	bool seen = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)program);
	file = fopen(path, "re");
	if (file == NULL)
		return true;
	while (fgets(line, sizeof(line), file) != NULL) {
		sscanf(line, "State: %c", &state);
		seen |= sscanf(line, "ShdPnd: %llx", &pending) == 1;
	}
	fclose(file);
	for (size_t i = 0; i < STOPPING_COUNT; i++)
		if (pending >> (stopping[i] - 1) & 1)
			return true;
	return !seen || state == 'T' || state == 'Z';
}

/* I2 */
static void after_continue(void)
{
	if (stop_was_last && may_be_stopped())
		kill(program, SIGCONT);
	stop_was_last = false;
}

static void handle(const struct signalfd_siginfo *info)
{
	pid_t ours = probe_pid();

	/* of a child of ours */
	if (info->ssi_signo == SIGCHLD && info->ssi_code > 0)
		return;
	/* of the probe: the program was continued */
	if (info->ssi_signo == SIGCONT && ours != 0 &&
	    info->ssi_pid == (uint32_t)ours)
		return;
	if (!has_reached(info))
		send_on(info);
	else if (info->ssi_signo == SIGCONT && !is_superseded(SIGCONT))
		after_continue();
}

static bool next(struct signalfd_siginfo *info)
{
	return read(queue, info, sizeof(*info)) == sizeof(*info);
}

void forward_to(pid_t child)
{
	struct signalfd_siginfo info;

	program = child;
	probe_start();
	while (next(&info))
		handle(&info);
}

/* ---- stops and the end ---- */

/* Returns when this process goes on; at once where the kernel lets nobody be
 * stopped from a terminal any more (an orphaned group). */
static void stop_by(int number)
{
	struct sigaction standard = { .sa_handler = SIG_DFL }, before;
	sigset_t one;

	if (number == SIGSTOP) {
		raise(SIGSTOP);
		return;
	}
	sigemptyset(&one);
	sigaddset(&one, number);
	sigaction(number, &standard, &before);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	sigprocmask(SIG_BLOCK, &one, NULL);
	sigaction(number, &before, NULL);
}

static void stop_as_program(int number)
{
	/* it has been continued since, or is about to be */
	if (is_superseded(number))
		return;
	probe_watch(program);
	stop_by(number);
	probe_unwatch();
}

static bool has_ended(siginfo_t *end)
{
	memset(end, 0, sizeof(*end));
	return waitid(P_PID, (id_t)program, end,
		      WEXITED | WNOWAIT | WNOHANG) == 0 &&
		end->si_pid == program;
}

static void look_for_stop(void)
{
	siginfo_t stop = { 0 };

	if (waitid(P_PID, (id_t)program, &stop, WSTOPPED | WNOHANG) == 0 &&
	    stop.si_pid == program)
		stop_as_program(stop.si_status);
}

bool forward_wait(int fd, siginfo_t *end)
{
	struct pollfd ready[2] = { { .fd = queue, .events = POLLIN },
				   { .fd = fd, .events = POLLIN } };
	struct signalfd_siginfo info;

	for (;;) {
		while (next(&info))
			handle(&info);
		if (has_ended(end))
			return true;
		look_for_stop();
		poll(ready, 2, -1);
		if (ready[1].revents != 0)
			return false;
	}
}

/* What came with the program's end was meant for the program. */
static void forget_pending(void)
{
	struct signalfd_siginfo info;

	while (next(&info))
		if (info.ssi_signo != SIGCHLD)
			probe_take((int)info.ssi_signo);
}

void forward_end(void (*interrupt)(int number))
{
	static const int ending[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = interrupt };
	sigset_t ours;

	forget_pending();
	probe_end();
	close(queue);
	sigemptyset(&ours);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		sigaction(ending[i], &action, NULL);
		sigaddset(&ours, ending[i]);
	}
	for (size_t i = 0; i < STOPPING_COUNT; i++)
		sigaddset(&ours, stopping[i]);
	sigprocmask(SIG_UNBLOCK, &ours, NULL);
}
