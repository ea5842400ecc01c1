/*
 * trace_reader.c: see trace_reader.h.
 */
#include "cli/serve/trace_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"
#include "cli/command/trace_cache.h"
#include "cli/serve/progress_board.h"
#include "cli/serve/worker.h"
#include "cli/trace/live/live_recover.h"

/* Bytes of a trace; smaller traces are read in some milliseconds. */
#define INDEX_BYTES (1 << 20)

struct child {
	pid_t pid;
	uint32_t job;
};

struct reader {
	int socket, signals;
	const struct trace_reader_limits *limits;
	struct child *children;
	size_t child_count, child_capacity;
};

static void begin_worker(struct reader *reader, uint32_t slot,
			 const int *files)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	close(reader->socket);
	close(reader->signals);
	worker_run(files, slot, reader->limits);
}

static void report_end(const struct reader *reader, uint32_t job, int status)
{
	const struct trace_reader_packet packet = {
		.kind = READER_ENDED, .job = job, .status = status,
	};

	/* If the front is gone, the next receive detects it. */
	trace_reader_send(reader->socket, &packet, NULL);
}

static void run(struct reader *reader,
		const struct trace_reader_packet *packet, const int *files)
{
	struct child child = { .pid = fork(), .job = packet->job };

	if (child.pid == 0)
		begin_worker(reader, packet->slot, files);
	if (child.pid < 0) {
		dprintf(files[READER_SAID], "cannot start a process for this "
					    "call: %s\n",
			strerror(errno));
		report_end(reader, packet->job, WORKER_NO_ROOM << 8);
		return;
	}
	GROW(reader->children, reader->child_count, reader->child_capacity);
	reader->children[reader->child_count++] = child;
}

static void stop(const struct reader *reader, uint32_t job)
{
	for (size_t i = 0; i < reader->child_count; i++)
		if (reader->children[i].job == job)
			kill(reader->children[i].pid, SIGKILL);
}

/* Reap workers; the reader has no other children. */
static void reap(struct reader *reader)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	if (read(reader->signals, &info, sizeof(info)) < 0 &&
	    errno != EAGAIN)
		return;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (size_t i = 0; i < reader->child_count; i++) {
			if (reader->children[i].pid != pid)
				continue;
			report_end(reader, reader->children[i].job, status);
			reader->children[i] =
				reader->children[--reader->child_count];
			break;
		}
	}
}

static void take(struct reader *reader)
{
	int files[READER_FILES];
	struct trace_reader_packet packet;

	/* The front is gone; the workers die with this process. */
	if (trace_reader_receive(reader->socket, &packet, files) != 0)
		_exit(EXIT_COMPLETE);
	if (packet.kind == READER_RUN)
		run(reader, &packet, files);
	else if (packet.kind == READER_KILL)
		stop(reader, packet.job);
	for (int i = 0; i < READER_FILES; i++)
		if (files[i] >= 0)
			close(files[i]);
}

static int watch_children(void)
{
	sigset_t children;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_SETMASK, &children, NULL);
	return signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* ---- the trace ---- */

static int take_symbols(void *owner, int id, const char *value)
{
	return trace_args_take(owner, id, value);
}

/* Apply the server's symbol options. False, after a message, if they are
 * wrong. */
static bool take_words(struct trace_args *args,
		       const struct trace_reader_setup *setup)
{
	static const struct command_group *const groups[] = {
		&trace_args_symbols, NULL
	};
	static const struct command words = {
		.name = "serve", .groups = groups, .wrong_use = EXIT_NOTHING,
	};
	char **argv = grow_zeroed(setup->count + 2, sizeof(*argv));
	int operands, status;
	bool good;

	argv[0] = (char *)words.name;
	for (size_t i = 0; i < setup->count; i++)
		argv[i + 1] = setup->words[i];
	good = command_parse(&words, (int)setup->count + 1, argv, take_symbols,
			     args, &operands, &status);
	free(argv);
	return good;
}

/* An index makes calls fast. Live traces get none, nor do small ones. */
static bool is_worth_index(const char *trace)
{
	struct stat status;

	return stat(trace, &status) == 0 && status.st_size > INDEX_BYTES &&
		!live_recover_is_locked(trace);
}

static int read_trace(const struct trace_reader_setup *setup)
{
	static struct trace_args args;

	if (setup->trace == NULL)
		return EXIT_COMPLETE;
	trace_args_init(&args);
	if (!take_words(&args, setup))
		return EXIT_NOTHING;
	if (is_worth_index(setup->trace))
		args.index = INDEX_MAKE;
	return trace_cache_read(&args, setup->trace);
}

_Noreturn void trace_reader_serve(int socket,
				  const struct trace_reader_setup *setup)
{
	struct reader reader = {
		.socket = socket, .signals = watch_children(),
		.limits = setup->limits,
	};
	struct trace_reader_packet ready = { .kind = READER_READY };
	struct pollfd fds[] = {
		{ .fd = reader.socket, .events = POLLIN },
		{ .fd = reader.signals, .events = POLLIN },
	};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	progress_board_show(setup->slot);
	ready.status = read_trace(setup);
	progress_board_leave();
	if (trace_reader_send(socket, &ready, NULL) != 0 || reader.signals < 0)
		_exit(EXIT_NOTHING);
	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			_exit(EXIT_NOTHING);
		if (fds[1].revents != 0)
			reap(&reader);
		if (fds[0].revents != 0)
			take(&reader);
	}
}
