/*
 * control_client.c: see control_client.h.
 *
 * The socket's name has the program's pid as the program sees it, in its
 * innermost namespace. The socket is searched in this network namespace, and
 * then, if permitted, in the program's own.
 *
 * Any process may bind that name, so the peer must be of our user, root, or the
 * program's user.
 */
#include "cli/control/control_client.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/command/recorder_start.h"
#include "cli/command/recorders.h"
#include "cli/trace/live/live_recover.h"
#include "cli/trace/live/live_read.h"
#include "cli/trace/read/locate.h"

#define RETRIES 200		/* for a busy machine: 10 s */
#define RETRY_NS 50000000
#define TIMEOUT_S 30		/* a snapshot of a large program takes time */
#define STATUS_MAX 8192		/* bytes of /proc/PID/status, with reserve */

struct target {
	int pid;
	int inner;		/* its pid in its own namespace */
	unsigned long long start_time;
	uid_t user;
};

static bool read_small(int pid, const char *name, char text[STATUS_MAX])
{
	char *path = grow_format("/proc/%d/%s", pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, STATUS_MAX - 1);

	free(path);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* The last number of the line NSpid; 0: there is no such line. */
static int inner_pid(const char *status)
{
	const char *at = strstr(status, "\nNSpid:");
	int pid = 0;

	if (at == NULL)
		return 0;
	for (at += strlen("\nNSpid:"); *at != 0 && *at != '\n'; at++)
		if (at[-1] == '\t' || at[-1] == ' ' || at[-1] == ':')
			pid = *at >= '0' && *at <= '9' ? atoi(at) : pid;
	return pid;
}

/* Field 22, after a name that may contain any character; 0: missing. */
static unsigned long long start_time(const char *stat_line)
{
	const char *at = strrchr(stat_line, ')');
	int field = 2;

	for (; at != NULL && field < 22; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

static bool find(struct target *target, int pid)
{
	char text[STATUS_MAX], *path = grow_format("/proc/%d", pid);
	struct stat info;
	bool found = stat(path, &info) == 0;

	free(path);
	if (!found || !read_small(pid, "stat", text)) {
		if (access("/proc/self/stat", R_OK) != 0)
			log_error("/proc: %s: mount it, so that processes can "
				  "be found",
				  strerror(errno));
		else
			log_error("%d: no such process: give the id of one "
				  "that runs, as `pgrep NAME` prints it", pid);
		return false;
	}
	target->pid = pid;
	target->user = info.st_uid;
	target->start_time = start_time(text);
	target->inner = read_small(pid, "status", text) ? inner_pid(text) : 0;
	if (target->inner == 0)
		target->inner = pid;
	return true;
}

/* ---- the socket ---- */

/* A descriptor, or -1 and errno. */
static int connect_as(const struct target *target, unsigned long long time)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct timeval timeout = { .tv_sec = TIMEOUT_S };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error;
	int n = snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1,
			 CONTROL_SOCKET_NAME "%d.%llu", target->inner, time);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (const struct sockaddr *)&to,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				(size_t)n)) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static int connect_here(const struct target *target)
{
	int fd = connect_as(target, target->start_time);

	/* the program's recorder has no /proc */
	if (fd < 0 && errno == ECONNREFUSED)
		fd = connect_as(target, 0);
	return fd;
}

/* Connects in the program's network namespace; -1 and errno, which is 0 if that
 * is our namespace. */
static int connect_there(const struct target *target)
{
	char *path = grow_format("/proc/%d/ns/net", target->pid);
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int there = open(path, O_RDONLY | O_CLOEXEC), fd = -1;
	int error = there < 0 ? errno : 0;
	struct stat ours, its;

	free(path);
	if (home >= 0 && there >= 0 && fstat(home, &ours) == 0 &&
	    fstat(there, &its) == 0 && ours.st_ino != its.st_ino) {
		if (setns(there, CLONE_NEWNET) == 0) {
			fd = connect_here(target);
			error = fd < 0 ? 0 : error;
			setns(home, CLONE_NEWNET);
		} else {
			error = errno;
		}
	}
	if (home >= 0)
		close(home);
	if (there >= 0)
		close(there);
	errno = error;
	return fd;
}

/* Whether it has ended, and the pid may be another process's now. */
static bool is_gone(const struct target *target)
{
	return target->start_time != 0 &&
		!live_read_process_exists(target->pid, target->start_time);
}

static void say_gone(const struct target *target)
{
	int error;
	char *trace = locate_process(target->inner, &error);
	struct trace_facts facts;

	if (trace != NULL && live_recover_facts(trace, &facts) == 0 &&
	    facts.start_time == target->start_time)
		log_error("%d: has ended: its trace is %s", target->pid,
			  trace);
	else
		log_error("%d: has ended: if it was recorded, read its "
			  "trace", target->pid);
	free(trace);
}

/* Reports a program whose recorder was killed: it still has the live file. */
static bool say_left_alone(int pid)
{
	int error;
	char *trace = locate_process(pid, &error);
	struct trace_facts facts;
	bool alone = trace != NULL && live_recover_facts(trace, &facts) == 0 &&
		live_read_process_exists(pid, facts.start_time) &&
		!live_recover_is_locked(trace);

	if (alone)
		log_error("%d: its recorder is gone, so recording has ended: "
			  "its trace is %s", pid, trace);
	free(trace);
	return alone;
}

/* The pid may be that of `gnomon run`, which users see first. */
static void say_not_recorded(int pid)
{
	char text[STATUS_MAX], *name;

	if (say_left_alone(pid))
		return;
	name = grow_format("task/%d/children", pid);
	if (read_small(pid, "comm", text) && strcmp(text, "gnomon\n") == 0 &&
	    read_small(pid, name, text) && atoi(text) > 0)
		log_error("%d: is gnomon itself: give the pid of the program "
			  "that it runs, %d", pid, atoi(text));
	else
		log_error("%d: is not recorded by gnomon: start it with "
			  "`gnomon run`, with --off to begin later", pid);
	free(name);
}

/* Whether the two processes are in different PID namespaces, as far as known:
 * that is the only difference between two programs without /proc. */
static bool differ_in_ids(int pid, int other)
{
	char *path = grow_format("/proc/%d/ns/pid", pid);
	char *its = grow_format("/proc/%d/ns/pid", other);
	struct stat a, b;
	bool differ = stat(path, &a) == 0 && stat(its, &b) == 0 &&
		a.st_ino != b.st_ino;

	free(path);
	free(its);
	return differ;
}

/* Whether the peer is the recorder of another program, with the same pid in its
 * own namespace and, like this one, without a start time. */
static bool is_anothers(const struct target *target, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
		differ_in_ids(target->pid, peer.pid);
}

/* A descriptor, or -1 and errno as of connect_there. */
static int connect_anywhere(const struct target *target)
{
	int fd = connect_here(target);

	if (fd >= 0 && is_anothers(target, fd)) {
		close(fd);
		fd = -1;
		errno = ECONNREFUSED;
	}
	if (fd < 0 && errno == ECONNREFUSED)
		fd = connect_there(target);
	return fd;
}

/* Connects; waits for a recorder that is starting. -1: *error says why. */
static int reach(const struct target *target, unsigned *waited_us, int *error)
{
	int fd;

	do {
		fd = connect_anywhere(target);
		*error = fd < 0 ? errno : EISCONN;
	} while ((*error == 0 || *error == ECONNREFUSED) && !is_gone(target) &&
		 recorder_start_pause(target->pid, waited_us));
	return fd;
}

static void say_unreached(const struct target *target, int error)
{
	if (is_gone(target))
		say_gone(target);
	else if (error == EPERM)
		log_error("%d: is in another network namespace: run this as "
			  "root, or inside that namespace", target->pid);
	else if (error == EACCES)
		log_error("%d: access to the process denied: run this as its "
			  "user or as root", target->pid);
	else if (error == 0 || error == ECONNREFUSED)
		say_not_recorded(target->pid);
	else
		log_error("%d: cannot connect to its recorder: %s: try "
			  "again", target->pid,
			  strerror(error));
}

static bool trusted(const struct target *target, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	    (peer.uid == 0 || peer.uid == geteuid() ||
	     peer.uid == target->user)) {
		if (!differ_in_ids(target->pid, peer.pid))
			return true;
		say_not_recorded(target->pid);
		return false;
	}
	log_error("%d: its control socket belongs to another user (%d): the "
		  "answer is not trusted", target->pid, (int)peer.uid);
	return false;
}

/* ---- requests ---- */

static bool send_line(int fd, const char *request)
{
	char *line = grow_format("%s\n", request);
	size_t n = strlen(line);
	bool sent = send(fd, line, n, MSG_NOSIGNAL) == (ssize_t)n;

	free(line);
	return sent;
}

/* Receives a line; its line feed becomes a NUL. */
static bool receive_line(int fd, char line[CONTROL_ANSWER_MAX])
{
	size_t length = 0;

	while (length < CONTROL_ANSWER_MAX) {
		ssize_t n = recv(fd, line + length,
				 CONTROL_ANSWER_MAX - length, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		length += (size_t)n;
		if (line[length - 1] == '\n') {
			line[length - 1] = 0;
			return true;
		}
	}
	return false;
}

static bool split(struct control_reply *reply, const char **state)
{
	const char *field[CONTROL_ANSWER_FIELDS];
	char *at = reply->line;

	for (int i = 0; i < CONTROL_ANSWER_FIELDS; i++) {
		if (at == NULL)
			return false;
		field[i] = strsep(&at, "\t");
	}
	*state = field[0];
	reply->on = strcmp(field[1], "1") == 0;
	reply->name = field[2];
	reply->trace = field[3];
	reply->message = field[4];
	return true;
}

/* Whether an answer came; *late: it timed out. */
static bool exchange(int fd, const char *request, struct control_reply *reply,
		     bool *late)
{
	bool answered;

	errno = 0;
	answered = send_line(fd, request) && receive_line(fd, reply->line);
	*late = !answered && errno == EAGAIN;
	close(fd);
	return answered;
}

static bool understand(const struct target *target,
		       struct control_reply *reply)
{
	const char *state;

	if (!split(reply, &state)) {
		log_error("%d: unknown answer from its recorder: use the "
			  "gnomon version that started it", target->pid);
		return false;
	}
	reply->done = strcmp(state, "ok") == 0;
	if (reply->done || strcmp(state, "no") == 0)
		return true;
	log_error("%d: %s", target->pid, reply->message);
	return false;
}

int control_client_recorded(int pid)
{
	struct trace_facts facts;
	char text[STATUS_MAX], *trace;
	int error, recorded = pid;
	pid_t begun = recorders_whom(pid);	/* the mapping may have no more
						 * data yet */

	if (!read_small(pid, "comm", text) ||
	    strcmp(text, CONTROL_RECORDER "\n") != 0)
		return pid;
	/* both map the live file, which has the program's pid */
	trace = locate_process(pid, &error);
	if (trace != NULL && live_recover_facts(trace, &facts) == 0 &&
	    facts.pid > 0 &&
	    live_read_process_exists(facts.pid, facts.start_time))
		recorded = facts.pid;
	else if (trace == NULL && begun > 0 && !differ_in_ids(pid, begun))
		recorded = begun;
	free(trace);
	return recorded;
}

/* Whether it has a recorder, even if without a socket yet. */
static bool is_recorded(int pid)
{
	int error;
	char *trace = locate_process(pid, &error);
	bool recorded = trace != NULL && live_recover_is_locked(trace);

	free(trace);
	return recorded;
}

/* After an exec, the old recorder closes without an answer, and for a moment
 * there is no socket: so this retries. */
bool control_client_request(int pid, const char *request,
			    struct control_reply *reply)
{
	struct timespec pause = { 0, RETRY_NS };
	struct target target;
	unsigned waited_us = 0;
	bool late = false;

	if (!find(&target, pid))
		return false;
	for (int left = RETRIES;; left--) {
		int error, fd = reach(&target, &waited_us, &error);

		if (fd < 0 && left == 0) {
			say_unreached(&target, error);
			return false;
		}
		if (fd < 0 && !is_recorded(pid)) {
			left = 1;	/* one more try, to report why it
					 * fails */
			continue;
		}
		if (fd >= 0 && !trusted(&target, fd)) {
			close(fd);
			return false;
		}
		if (fd >= 0 && exchange(fd, request, reply, &late))
			return understand(&target, reply);
		if (left == 0 || late)
			break;
		nanosleep(&pause, NULL);
	}
	if (is_gone(&target))
		say_gone(&target);
	else
		log_error("%d: its recorder does not answer, it may be "
			  "stopped: try again",
			  pid);
	return false;
}
