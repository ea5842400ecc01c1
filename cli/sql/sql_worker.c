/*
 * sql_worker.c: see sql_worker.h.
 *
 * A request is a size of 8 bytes and a text; the answer is an int. SIGINT makes
 * SQLite end a statement that is interrupted or exceeds the timeout. If the
 * worker has not ended the statement within GRACE_MS, for instance while it
 * reads a trace, it is killed.
 */
#include "cli/sql/sql_worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/base/text/quantity.h"
#include "cli/base/io_full.h"

#define GRACE_MS 120		/* Ctrl-C must take effect within 200 */
#define NS_IN_S UINT64_C(1000000000)
#define REQUEST_MAX (UINT64_C(16) << 20)

static volatile sig_atomic_t interrupted;

/* ---- bytes ---- */

static bool get_all(int fd, void *bytes, size_t size)
{
	return io_full_read(fd, bytes, size) == (ssize_t)size;
}

/* ---- the worker ---- */

static struct sql_session session;

static void interrupt_session(int number)
{
	(void)number;
	sql_session_interrupt(&session);
}

/* Limit the CPU time of all threads, in case the command does not watch the
 * clock. */
static void limit_time(const struct sql_limits *limits)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct rusage used;
	struct rlimit limit;

	if (limits->timeout_ns == 0 || getrusage(RUSAGE_SELF, &used) != 0 ||
	    getrlimit(RLIMIT_CPU, &limit) != 0)
		return;
	limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec +
				  used.ru_stime.tv_sec) + 2 +
		(rlim_t)(limits->timeout_ns / NS_IN_S) *
		(rlim_t)(processors > 0 ? processors : 1);
	if (limit.rlim_cur < limit.rlim_max)
		setrlimit(RLIMIT_CPU, &limit);
}

static void limit_memory(const struct sql_limits *limits)
{
	const struct rlimit limit = { limits->memory, limits->memory };

	if (limits->memory == 0)
		return;
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		log_note("cannot set --memory: %s", strerror(errno));
}

static char *next_request(int fd)
{
	uint64_t size;
	char *text;

	if (!get_all(fd, &size, sizeof(size)) || size > REQUEST_MAX)
		return NULL;
	text = grow_alloc(size + 1);
	if (!get_all(fd, text, size)) {
		free(text);
		return NULL;
	}
	text[size] = 0;
	return text;
}

static _Noreturn void work(struct sql_worker *worker)
{
	int status = EXIT_NOTHING;
	char *text;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	limit_memory(&worker->limits);
	limit_time(&worker->limits);
	session.out = stdout;
	session.mode = worker->mode;
	session.no_summary = worker->no_summary;
	if (sql_session_open(&session, worker->args)) {
		signal(SIGINT, interrupt_session);
		while ((text = next_request(worker->request)) != NULL) {
			limit_time(&worker->limits);
			status = sql_session_run(&session, text);
			free(text);
			/* report it: the command may not have seen it yet */
			if (status == EXIT_NOTHING &&
			    atomic_load(&session.traces.cancel))
				status = SQL_WORKER_INTERRUPTED;
			if (io_full_write(worker->answer, &status,
					  sizeof(status)) != 0)
				break;
		}
		status = EXIT_COMPLETE;
	}
	sql_session_close(&session);
	_exit(status);
}

/* ---- the command ---- */

static void note_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

void sql_worker_catch(void)
{
	const struct sigaction action = { .sa_handler = note_interrupt };

	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);	/* a dead worker is detected by other
					 * means */
}

bool sql_worker_was_interrupted(void)
{
	bool was = interrupted;

	interrupted = 0;
	return was;
}

static bool start(struct sql_worker *worker)
{
	int request[2], answer[2];

	if (pipe(request) != 0 || pipe(answer) != 0) {
		log_error("cannot create pipes for the statement's process: "
			  "%s",
			  strerror(errno));
		return false;
	}
	fflush(stdout);
	worker->pid = fork();
	if (worker->pid == 0) {
		close(request[1]);
		close(answer[0]);
		worker->request = request[0];
		worker->answer = answer[1];
		signal(SIGINT, SIG_DFL);
		signal(SIGPIPE, SIG_DFL);
		work(worker);
	}
	close(request[0]);
	close(answer[1]);
	worker->request = request[1];
	worker->answer = answer[0];
	if (worker->pid > 0)
		return true;
	worker->pid = 0;
	log_error("cannot start a process for the statement: %s",
		  strerror(errno));
	return false;
}

/* Returns its wait status. */
static int reap(struct sql_worker *worker)
{
	int status = 0;

	close(worker->request);
	close(worker->answer);
	while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
		;
	worker->pid = 0;
	return status;
}

void sql_worker_end(struct sql_worker *worker)
{
	if (worker->pid != 0)
		reap(worker);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_IN_S + (uint64_t)now.tv_nsec;
}

/* Waits for an answer or the worker's end. False: not before `until` (0: no
 * limit), or SIGINT came. */
static bool wait_answer(const struct sql_worker *worker, uint64_t until)
{
	for (;;) {
		struct pollfd fd = { .fd = worker->answer, .events = POLLIN };
		uint64_t now = now_ns();
		int ms = until == 0 ? 1000 : now >= until ? 0 :
			(int)((until - now) / 1000000 < 1000 ?
			      (until - now) / 1000000 + 1 : 1000);
		int n = poll(&fd, 1, ms);

		if (n > 0)
			return true;
		if ((n < 0 && errno != EINTR) || interrupted ||
		    (until != 0 && now_ns() >= until))
			return false;
	}
}

/* Interrupt the worker, then kill it. True: it answered. */
static bool stop(struct sql_worker *worker)
{
	struct pollfd fd = { .fd = worker->answer, .events = POLLIN };
	uint64_t until = now_ns() + GRACE_MS * UINT64_C(1000000);
	int n;

	kill(worker->pid, SIGINT);
	do
		n = poll(&fd, 1, GRACE_MS);
	while (n < 0 && errno == EINTR && now_ns() < until);
	if (n > 0)
		return true;
	kill(worker->pid, SIGKILL);
	return false;
}

static int report_end(struct sql_worker *worker, int status)
{
	const struct sql_limits *limits = &worker->limits;

	if (WIFEXITED(status)) {
		/* it has logged why */
		if (limits->memory > 0)
			log_note("the process was limited to --memory %s",
				 SIZE_TEXT(limits->memory));
		return WEXITSTATUS(status) == EXIT_COMPLETE ? EXIT_NOTHING :
			WEXITSTATUS(status);
	}
	if (WTERMSIG(status) == SIGPIPE)
		return EXIT_NOTHING;	/* the reader of the result is gone */
	if (WTERMSIG(status) == SIGINT)
		return SQL_WORKER_INTERRUPTED;	/* while reading traces */
	if (WTERMSIG(status) == SIGXFSZ) {
		log_error("the result is larger than the file size limit "
			  "(ulimit -f): select less");
		return log_failure_status();
	}
	if (WTERMSIG(status) == SIGXCPU)
		log_error("the statement took more CPU time than --timeout %s "
			  "allows", TIME_TEXT(
				   limits->timeout_ns));
	else
		log_error("the statement's process was killed by signal %d "
			  "(%s): %s", WTERMSIG(status),
			  strsignal(WTERMSIG(status)),
			  WTERMSIG(status) == SIGKILL ?
			  "it may have run out of memory: see --memory" :
			  "this is a bug in gnomon");
	return EXIT_NOTHING;
}

/* Read the answer to a statement that has ended. */
static int take_answer(struct sql_worker *worker)
{
	int status;

	if (get_all(worker->answer, &status, sizeof(status))) {
		if (status == SQL_WORKER_INTERRUPTED)
			interrupted = 0;	/* handled */
		return status;
	}
	return report_end(worker, reap(worker));
}

static int take_late(struct sql_worker *worker, bool late)
{
	bool answered = stop(worker);

	if (late)
		log_error("the statement took longer than --timeout %s",
			  TIME_TEXT(worker->limits.timeout_ns));
	if (answered)
		take_answer(worker);
	else
		reap(worker);
	worker->stopped = worker->pid == 0;
	return late ? EXIT_NOTHING : SQL_WORKER_INTERRUPTED;
}

int sql_worker_run(struct sql_worker *worker, const char *text)
{
	uint64_t size = strlen(text), until = 0;

	worker->stopped = false;
	if (size > REQUEST_MAX) {
		log_error("the statement is too long: %s",
			  SIZE_TEXT(size));
		return EXIT_NOTHING;
	}
	if (worker->pid == 0 && !start(worker))
		return EXIT_NOTHING;
	if (worker->limits.timeout_ns != 0)
		until = now_ns() + worker->limits.timeout_ns;
	if (io_full_write(worker->request, &size, sizeof(size)) != 0 ||
	    io_full_write(worker->request, text, size) != 0)
		return take_answer(worker);
	if (!wait_answer(worker, until)) {
		bool late = !interrupted;

		interrupted = 0;
		return take_late(worker, late);
	}
	return take_answer(worker);
}
