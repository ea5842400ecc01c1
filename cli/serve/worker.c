/*
 * worker.c: see worker.h. Runs in a process of its own with one thread, which
 * may fail or be killed at any time.
 */
#include "cli/serve/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"
#include "cli/base/terminal/log.h"
#include "cli/base/io_full.h"
#include "cli/commands.h"
#include "cli/serve/http_compress.h"
#include "cli/serve/progress_board.h"

#define NS_IN_S UINT64_C(1000000000)

int worker_write_request(const struct buffer *words,
			 const struct buffer *input, uint64_t answer,
			 enum worker_coding coding)
{
	const struct worker_request head = {
		.words = words->size, .input = input->size,
		.answer = answer, .coding = coding,
	};
	int fd = memfd_create("request", MFD_CLOEXEC), error;

	if (fd < 0)
		return -errno;
	error = io_full_write(fd, &head, sizeof(head)) ?:
		io_full_write(fd, words->data, words->size) ?:
		io_full_write(fd, buffer_text(input), input->size);
	if (error == 0)
		return fd;
	close(fd);
	return error;
}

static void set_limit(int what, uint64_t value)
{
	struct rlimit limit;

	if (value == 0 || getrlimit(what, &limit) != 0)
		return;
	if (value < limit.rlim_max)
		limit.rlim_cur = limit.rlim_max = value;
	setrlimit(what, &limit);
}

/* Bytes of address space of this process, as RLIMIT_AS counts them, including
 * its reader's data. */
static uint64_t mapped_bytes(void)
{
	FILE *in = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (in != NULL) {
		if (fscanf(in, "%lu", &pages) != 1)
			pages = 0;
		fclose(in);
	}
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The alarm ends a worker that waits. The CPU limit ends one that is busy in
 * several threads: the timeout times the processors. */
static void limit(const struct trace_reader_limits *limits, uint64_t answer)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t seconds = (limits->timeout_ns + NS_IN_S - 1) / NS_IN_S;

	if (limits->memory != 0)
		set_limit(RLIMIT_AS, mapped_bytes() + limits->memory);
	set_limit(RLIMIT_FSIZE, answer);
	/* A limit of one byte: no core file is written, and no core handler
	 * program is started (core(5)). */
	set_limit(RLIMIT_CORE, 1);
	if (seconds == 0)
		return;
	set_limit(RLIMIT_CPU, seconds * (uint64_t)(processors > 0 ?
						   processors : 1));
	alarm((unsigned)seconds);
}

/* The words as argv for main. NULL: the file cannot be read. */
static char **take_words(int fd, struct worker_request *head, int *argc)
{
	char **argv = NULL, *text;
	size_t count = 0, capacity = 0;

	if (io_full_read_at(fd, head, sizeof(*head), 0) !=
	    (ssize_t)sizeof(*head))
		return NULL;
	text = grow_alloc(head->words + 1);
	if (io_full_read_at(fd, text, head->words, sizeof(*head)) !=
	    (ssize_t)head->words)
		return NULL;
	for (char *at = text; at < text + head->words; at += strlen(at) + 1) {
		GROW(argv, count, capacity);
		argv[count++] = at;
	}
	GROW(argv, count, capacity);
	argv[count] = NULL;
	*argc = (int)count;
	return argv;
}

static const struct command *find_command(const char *name)
{
	static const struct command *const commands[] = {
		&cmd_report, &cmd_info, &cmd_check, &cmd_diff, &cmd_annotate,
		&cmd_export, &cmd_flamegraph, &cmd_graph, &cmd_sql,
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

/* Do not send a truncated answer as a good one. stdio keeps the error flag,
 * wherever in the command the error occurred. */
static void finish_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	log_error("cannot write the answer: there may be too little space in "
		  "$TMPDIR");
	_exit(WORKER_NO_ROOM);
}

_Noreturn void worker_run(const int *files, uint32_t slot,
			  const struct trace_reader_limits *limits)
{
	const struct command *command = NULL;
	struct worker_request head;
	int argc, status;
	char **argv = take_words(files[READER_REQUEST], &head, &argc);

	if (argv == NULL || argc == 0 ||
	    dup2(files[READER_OUT], STDOUT_FILENO) < 0 ||
	    dup2(files[READER_SAID], STDERR_FILENO) < 0 ||
	    dup2(files[READER_REQUEST], STDIN_FILENO) < 0 ||
	    lseek(STDIN_FILENO, (off_t)(sizeof(head) + head.words),
		  SEEK_SET) < 0)
		_exit(EXIT_NOTHING);
	limit(limits, head.answer);
	progress_board_show(slot);
	log_set_failure_status(WORKER_NO_ROOM);
	command = find_command(argv[0]);
	if (command == NULL) {
		log_error("%s: not a command of the API", argv[0]);
		_exit(EXIT_NOTHING);
	}
	status = command->main(command, argc, argv);
	finish_output();
	if (head.coding != WORKER_PLAIN &&
	    !http_compress_write(STDOUT_FILENO, files[READER_PACKED],
				 head.coding))
		_exit(WORKER_NO_ROOM);
	_exit(status);
}
