/*
 * check_trace.h: read a trace that may be broken in every way a command does,
 * and hold what came of it against what must be so whatever the bytes are: an
 * exit status of 0, 2 or 3; sums that agree; a message that names an offset
 * where something is wrong; time and memory within bounds. A sanitizer, where
 * the program was built with one, sees to the rest.
 */
#ifndef TESTS_CHECK_TRACE_H
#define TESTS_CHECK_TRACE_H

#include <fcntl.h>
#include <inttypes.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/terminal/log.h"
#include "cli/commands.h"
#include "cli/model/core/contexts.h"
#include "cli/model/omitted.h"
#include "cli/model/model.h"
#include "cli/model/stats/figures.h"
#include "cli/model/stats/freed.h"
#include "cli/trace/read/reader.h"

#define JUDGE_SECONDS 20	/* of processor, for one file, with the
				 * sanitizer's */
#define JUDGE_KIB (1500u << 10)	/* of memory, likewise */

static struct {
	int file, said, real_error, real_out;
	char path[64];
	char text[65536];	/* what was said of it */
	unsigned long runs;
	bool sampled;
	regex_t offset;
} judge;

/* By the process that reads and the one that watches it. */
static struct {
	char what[256];		/* is being read */
	bool over;		/* it ends by its own will */
} *judge_shared;

static void judge_fail(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

static void judge_fail(const char *format, ...)
{
	va_list args;

	dup2(judge.real_error, STDERR_FILENO);
	fprintf(stderr, "%s: ", judge_shared->what);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nsaid: %s\n", judge.text);
	dprintf(judge.real_out, "not ok - %s\n", judge_shared->what);
	judge_shared->over = true;
	exit(1);
}

/* Wait for who reads; whatever ends it: say over what. */
static void judge_watch(pid_t child)
{
	char bytes[4096];
	ssize_t size;
	int status;

	if (waitpid(child, &status, 0) != child)
		abort();
	if (WIFEXITED(status) && WEXITSTATUS(status) <= 1 &&
	    judge_shared->over)
		exit(WEXITSTATUS(status));
	fprintf(stderr, "%s: %s\n", judge_shared->what,
		WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ?
		"takes too long" : "crashed");
	/* A sanitizer's report went where messages go. */
	for (off_t at = 0; (size = pread(judge.said, bytes, sizeof(bytes),
					 at)) > 0; at += size)
		fwrite(bytes, 1, (size_t)size, stderr);
	printf("not ok - %s\n", judge_shared->what);
	exit(1);
}

static inline void judge_init(void)
{
	pid_t child;

	judge.file = memfd_create("trace", 0);
	judge.said = memfd_create("said", 0);
	judge.real_error = dup(STDERR_FILENO);
	judge.real_out = dup(STDOUT_FILENO);
	judge_shared = mmap(NULL, sizeof(*judge_shared),
			    PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (judge.file < 0 || judge.said < 0 || judge.real_error < 0 ||
	    regcomp(&judge.offset, "offset [0-9]", REG_NOSUB) != 0)
		abort();
	snprintf(judge.path, sizeof(judge.path), "/proc/self/fd/%d",
		 judge.file);
	child = fork();
	if (child != 0)
		judge_watch(child);
	/* The other one is what commands write to. */
	if (freopen("/dev/null", "w", stdout) == NULL)
		abort();
}

/* I1 of model.c: the sums over contexts are the totals. */
static inline void judge_sums(struct model *model)
{
	const struct contexts *contexts = model_contexts(model);
	const struct totals *totals = model_totals(model);
	uint64_t live = 0, peak = 0, count = 0, frees = 0, total = 0;
	uint64_t freed = 0, blocks = 0, at = 0;

	for (size_t i = 0; i < contexts->cost_count; i++) {
		struct figures figures;

		model_figures(model, &contexts->costs[i], &figures);
		live += figures.live_bytes;
		peak += figures.peak_bytes;
		count += figures.count;
		frees += figures.frees;
		total += figures.total_bytes;
	}
	/* What was never recorded has no context. */
	count += model_leftout(model)->skipped_blocks;
	total += model_leftout(model)->skipped_bytes;
	/* What was left out may have had a higher one, and be live. */
	if (model_reader_report(model)->chunks[GT_TOTALS] > 0)
		peak = totals->peak_bytes;
	if (live != totals->live_bytes || peak != totals->peak_bytes ||
	    count != totals->allocations || frees != totals->frees ||
	    total != totals->total_bytes)
		judge_fail("sums differ: live %" PRIu64 " %" PRIu64 ", peak %"
			   PRIu64 " %" PRIu64 ", count %" PRIu64 " %" PRIu64
			   ", frees %" PRIu64 " %" PRIu64 ", total %" PRIu64
			   " %" PRIu64, live, totals->live_bytes, peak,
			   totals->peak_bytes, count, totals->allocations,
			   frees, totals->frees, total, totals->total_bytes);
	for (size_t i = 0; i < model_freed(model)->row_count; i++)
		freed += model_freed(model)->rows[i].sum.blocks;
	if (model_has_freed_by(model) && freed != totals->frees &&
	    model_reader_report(model)->chunks[GT_TOTALS] == 0 &&
	    model_reader_report(model)->chunks[GT_FREED] == 0)
		judge_fail("%" PRIu64 " frees by stack, not %" PRIu64, freed,
			   totals->frees);
	while (model_next_block(model, &at) != NULL)
		blocks++;
	if (blocks != totals->live_blocks &&
	    model_reader_report(model)->chunks[GT_TOTALS] == 0)
		judge_fail("%" PRIu64 " blocks, not %" PRIu64, blocks,
			   totals->live_blocks);
}

static inline int judge_model(void)
{
	const struct model_options options = { .notes = log_notes() };
	struct model *model = model_new(&options, NULL);
	int status;

	status = model_read(model, judge.path);
	if (status != EXIT_NOTHING)
		judge_sums(model);
	judge.sampled = model_is_sampled(model);
	model_free(model);
	return status;
}

static inline void judge_command(const struct command *command,
				 const char *option, int wanted)
{
	bool pages = strcmp(option, "--pages") == 0;
	int status;

	char name[16], json[16], path[64];
	char *argv[] = { name, json, path, NULL };

	snprintf(name, sizeof(name), "%s", command->name);
	snprintf(json, sizeof(json), "%s", option);
	snprintf(path, sizeof(path), "%s", judge.path);
	status = command->main(command, 3, argv);
	if (pages && judge.sampled)
		wanted = EXIT_NOTHING;
	/* These read more: what was mapped. */
	if (status != wanted && !((command == &cmd_info || pages) &&
				  status == EXIT_PARTIAL &&
				  wanted == EXIT_COMPLETE))
		judge_fail("%s %s: status %d, the model: %d", name, json,
			   status, wanted);
}

static inline void judge_messages(int status)
{
	const char *line = judge.text;
	bool about_file = strstr(line, "offset") || strstr(line, "is empty") ||
		strstr(line, "recording failed");

	if (status == EXIT_COMPLETE)
		return;
	if (*line == 0)
		judge_fail("status %d, and nothing said", status);
	for (; *line; line = strchr(line, '\n') + 1)
		if (strncmp(line, "gnomon: ", 8) != 0 || !strchr(line, '\n'))
			judge_fail("an odd message");
	if (!about_file && regexec(&judge.offset, judge.text, 0, NULL, 0))
		judge_fail("status %d, and no message with an offset", status);
}

/* Take what was said since the last time. */
static inline void judge_listen(void)
{
	ssize_t size = pread(judge.said, judge.text, sizeof(judge.text) - 1,
			     0);

	judge.text[size > 0 ? size : 0] = 0;
	if (ftruncate(judge.said, 0) || lseek(judge.said, 0, SEEK_SET))
		abort();
}

/* SIGPROF after so many seconds of processor time; 0: never. */
static inline void judge_clock(int seconds)
{
	const struct itimerval value = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &value, NULL);
}

/* The exit status, which all commands agree about. */
static inline int judge_trace(const void *bytes, size_t size, bool commands)
{
	struct rusage usage;
	int status;

	if (ftruncate(judge.file, 0) ||
	    pwrite(judge.file, bytes, size, 0) != (ssize_t)size)
		abort();
	dup2(judge.said, STDERR_FILENO);
	judge_clock(JUDGE_SECONDS);
	status = judge_model();
	judge_listen();
	if (status != EXIT_COMPLETE && status != EXIT_NOTHING &&
	    status != EXIT_PARTIAL)
		judge_fail("status %d", status);
	judge_messages(status);
	if (commands) {
		judge_command(&cmd_report, "--json", status);
		judge_command(&cmd_report, "-bsite", status);
		judge_command(&cmd_report, "--pages", status);
		judge_command(&cmd_info, "--json", status);
		judge_command(&cmd_info, "--sizes", status);
		judge_command(&cmd_export, "-Fpprof", status);
	}
	if (ftruncate(judge.said, 0) || lseek(judge.said, 0, SEEK_SET))
		abort();
	judge_clock(0);
	dup2(judge.real_error, STDERR_FILENO);
	getrusage(RUSAGE_SELF, &usage);
	if (usage.ru_maxrss > JUDGE_KIB)
		judge_fail("%ld KiB of memory", usage.ru_maxrss);
	judge.runs++;
	return status;
}

#endif
