/*
 * forward.c: see forward.h.
 *
 * All signals are blocked and read from a descriptor. So no handler is ever
 * called and no disposition changed: the program inherits the mask and the
 * dispositions that the command was given (nohup). A blocked signal is queued
 * even if it is ignored.
 *
 * A probe shows to whom a signal was sent (group_probe.h). A program may leave
 * the group, as interactive shells do. But started without us, it could not
 * leave if it were the group's leader, and would get the group's signals. So if
 * this process is the leader, the program is treated as the leader too.
 *
 * STOPPING. The program stops by the signal that reaches it; then this process
 * stops by the same signal, so that a shell sees its job stop. A stop signal
 * and SIGCONT cancel each other in the queues, also in the probe's queue. So if
 * one of them is pending here, it is newer, and the other one is void. A third
 * signal may come between reading the two queues. Then a stop is forwarded that
 * was sent to the group, although the group was continued since: the next
 * SIGCONT of the group corrects that (I2). If only the program is continued,
 * the probe continues this process.
 *
 * Known limit: a sender that signals all processes one by one (systemd does, to
 * stop a service) reaches the command, the program and the probe, and the probe
 * may be last. Then the program gets the signal twice.
 *
 * I1 The probe is queried for each signal taken here (group_probe.c, I1).
 * I2 If this process sent the program's last stop, the program continues after
 *      any SIGCONT taken here, unless a newer stop is pending.
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
static bool stop_was_last;	/* of forwarded stops and SIGCONT */
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
	/* if SIGCHLD is ignored, the kernel discards exit statuses */
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

/* Whether a stop was followed by SIGCONT, or SIGCONT by a stop. */
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

/* Whether the program is in our group, or would be if started without us. */
static bool is_in_group(void)
{
	return getpgid(program) == getpgrp() || getpgrp() != getpid();
}

static bool has_reached(const struct signalfd_siginfo *info)
{
	int number = (int)info->ssi_signo;
	enum probe_answer answer = probe_take(number);

	/* Without a probe: a signal from the kernel counts as one by a
	 * terminal. */
	if (answer == PROBE_UNKNOWN)
		answer = info->ssi_code > 0 ? PROBE_GROUP : PROBE_ALONE;
	if (answer == PROBE_ALONE)
		return is_superseded(number);
	return is_in_group();
}

/* Forwards a signal. That may fail if the program changed its user, as it would
 * for the sender. */
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

/* Whether the program is stopped or about to stop. Also true if its state is
 * unknown, or its main thread has ended (Z). */
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

	/* from the kernel, about our child */
	if (info->ssi_signo == SIGCHLD && info->ssi_code > 0)
		return;
	/* from the probe: the program was continued */
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

/* Stops this process; returns when it continues. Returns immediately in an
 * orphaned process group, which the kernel does not stop. */
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
	/* the program was continued since, or is about to be */
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

/* Drops signals that came with the program's end: they were for the program. */
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
