/*
 * run_end.c: see run_end.h. The exact name of a trace is unknown: it may have a
 * time or counters, and the library may have chosen another name (an existing
 * file, an unwritable directory). So traces are searched with a glob, and a
 * file counts if its INFO has the process's pid.
 *
 * Called by the main thread.
 */
#include "cli/run/run_end.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/text/buffer.h"
#include "cli/base/grow.h"
#include "cli/base/progress.h"
#include "cli/base/text/quantity.h"
#include "cli/base/terminal/log.h"
#include "cli/command/recorders.h"
#include "cli/model/core/threads.h"
#include "cli/model/model.h"
#include "cli/trace/read/process_tree.h"
#include "cli/trace/read/locate.h"
#include "cli/trace/read/reader.h"

#define WRITER_TIMEOUT_US 30000000
#define START_TIMEOUT_US 20000	/* while no recorder is found */
#define POLL_FIRST_US 200	/* a ring is written in about a millisecond */
#define POLL_MAX_US 50000

/* A trace of more events is not read for the summary: the command should end
 * when the program does, and this many events take some 0.3 s. */
#define PARAGRAPH_EVENTS_MAX 5000000

uint64_t run_end_start_time(pid_t pid)
{
	char path[64], line[1024], *p;
	uint64_t found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	if (fgets(line, sizeof(line), file) != NULL) {
		p = strrchr(line, ')');
		for (int field = 2; field < 22 && p != NULL; field++)
			p = strchr(p + 1, ' ');
		if (p != NULL)
			found = strtoull(p, NULL, 10);
	}
	fclose(file);
	return found;
}

char *run_end_known_name(const char *pattern, const char *program)
{
	const char *slash = strrchr(program, '/');
	struct buffer name = { 0 };
	char host[256] = "";

	for (const char *p = pattern; *p != 0; p++) {
		if (*p != '%') {
			buffer_add(&name, p, 1);
			continue;
		}
		p++;
		if (*p == 'e') {
			buffer_string(&name, slash ? slash + 1 : program);
		} else if (*p == 'h') {
			gethostname(host, sizeof(host) - 1);
			buffer_string(&name, host);
		} else if (*p == '%') {
			buffer_string(&name, "%");
		} else {
			buffer_free(&name);
			return NULL;
		}
	}
	return name.data;
}

bool run_end_is_descriptor(const char *pattern)
{
	return strcmp(pattern, "/dev/stdout") == 0 ||
		strcmp(pattern, "/dev/stderr") == 0 ||
		strncmp(pattern, "/dev/fd/", 8) == 0 ||
		strncmp(pattern, "/proc/self/fd/", 14) == 0;
}

/* Whether the trace goes to a place from which it cannot be read again. */
static bool is_special(const char *pattern)
{
	struct stat status;

	return run_end_is_descriptor(pattern) ||
		(stat(pattern, &status) == 0 && !S_ISREG(status.st_mode) &&
		 !S_ISDIR(status.st_mode));
}

/* The pattern as a glob: known parts filled in, * for the other parts. */
static char *glob_of(const char *pattern, pid_t pid)
{
	struct buffer text = { 0 };

	for (const char *p = pattern; *p != 0; p++) {
		if (*p == '%' && p[1] != 0) {
			p++;
			if (*p == 'p')
				buffer_printf(&text, "%d", (int)pid);
			else if (*p == '%')
				buffer_string(&text, "%");
			else
				buffer_string(&text, "*");
			continue;
		}
		if (strchr("*?[\\", *p) != NULL)
			buffer_string(&text, "\\");
		buffer_add(&text, p, 1);
	}
	return text.data;
}

static bool is_known(const struct run_end_traces *traces, const char *path)
{
	for (size_t i = 0; i < traces->count; i++)
		if (strcmp(traces->list[i].path, path) == 0)
			return true;
	return false;
}

static void add_matching(const char *pattern, pid_t pid, uint64_t start_time,
			 struct run_end_traces *traces)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];
		struct trace_facts facts;

		if (is_known(traces, path) || locate_is_part(path) ||
		    live_recover_facts(path, &facts) != 0 ||
		    facts.result != SCAN_OPEN_OK || facts.pid != pid ||
		    (facts.start_time != 0 && start_time != 0 &&
		     facts.start_time != start_time))
			continue;
		GROW(traces->list, traces->count, traces->capacity);
		traces->list[traces->count].path =
			grow_copy(path, strlen(path));
		traces->list[traces->count++].begin_ns = facts.begin_ns;
	}
	globfree(&found);
}

static void find_in(const char *pattern, pid_t pid, uint64_t start_time,
		    struct run_end_traces *traces)
{
	char *exact = glob_of(pattern, pid);
	char *numbered = grow_format("%s.*", exact);

	add_matching(exact, pid, start_time, traces);
	add_matching(numbered, pid, start_time, traces);
	free(exact);
	free(numbered);
}

/* Searches the fallback directories, used if the pattern's is not writable. */
static void find_elsewhere(const char *pattern, pid_t pid,
			   uint64_t start_time, struct run_end_traces *traces)
{
	const char *name = strrchr(pattern, '/') + 1;
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	const char *scratch = getenv("TMPDIR");
	char *places[] = {
		state ? grow_format("%s/gnomon/%s", state, name) :
		grow_format("%s/.local/state/gnomon/%s", home ? home : "",
			    name),
		grow_format("%s/%s", scratch ? scratch : "/tmp", name),
	};

	for (size_t i = 0; i < 2; i++) {
		find_in(places[i], pid, start_time, traces);
		free(places[i]);
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct run_end_trace *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static bool any_locked(const struct run_end_traces *traces)
{
	for (size_t i = 0; i < traces->count; i++)
		if (live_recover_is_locked(traces->list[i].path))
			return true;
	return false;
}

static void find_all(const char *pattern, pid_t pid, uint64_t start_time,
		     struct run_end_traces *traces)
{
	find_in(pattern, pid, start_time, traces);
	if (traces->count == 0)
		find_elsewhere(pattern, pid, start_time, traces);
}

static void pause_a_while(unsigned *waited_us, unsigned *pause_us)
{
	struct timespec time = { 0, (long)*pause_us * 1000 };

	nanosleep(&time, NULL);
	*waited_us += *pause_us;
	if (*pause_us < POLL_MAX_US)
		*pause_us += *pause_us / 2;
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Waits until the recorder has ended, or WRITER_TIMEOUT_US in total. */
static bool await(pid_t recorder, unsigned *waited_us)
{
	uint64_t began_us = now_us();
	bool done = recorders_await(recorder, WRITER_TIMEOUT_US - *waited_us);

	*waited_us += (unsigned)(now_us() - began_us);
	return done;
}

/*
 * A program can end before its recorder has opened the trace. If no recorder is
 * found, it may be about to start.
 */
static bool wait_for_recorders(const char *pattern, pid_t pid,
			       uint64_t start_time,
			       struct run_end_traces *traces)
{
	unsigned waited_us = 0, pause_us = POLL_FIRST_US;

	for (;;) {
		pid_t recorder = recorders_find(pid);
		bool late = waited_us >= WRITER_TIMEOUT_US;

		if (recorder != 0 && !late &&
		    await(recorder, &waited_us))
			continue;	/* there may be another recorder */
		find_all(pattern, pid, start_time, traces);
		if (late || (recorder == 0 && !any_locked(traces) &&
			     (traces->count > 0 ||
			      waited_us >= START_TIMEOUT_US)))
			return late;
		pause_a_while(&waited_us, &pause_us);
	}
}

void run_end_wait(const char *pattern, pid_t pid, uint64_t start_time,
		  struct run_end_traces *traces)
{
	memset(traces, 0, sizeof(*traces));
	if (run_end_is_descriptor(pattern))
		return;
	if (wait_for_recorders(pattern, pid, start_time, traces))
		log_note("the recorder is still busy after %d s: the trace is "
			 "complete once it has finished",
			 WRITER_TIMEOUT_US / 1000000);
	for (size_t i = 0; i < traces->count; i++) {
		struct trace_facts facts;
		int error;

		if (live_recover_facts(traces->list[i].path, &facts) == 0 &&
		    live_recover_trace(traces->list[i].path, &facts, &error) ==
		    LIVE_RECOVER_FAILED)
			log_error("%s: cannot add the last events: %s: they "
				  "stay in %s; free some space, then read the "
				  "trace with gnomon on this machine",
				  traces->list[i].path, strerror(-error),
				  facts.live);
	}
	if (traces->count > 1)
		qsort(traces->list, traces->count, sizeof(*traces->list),
		      by_begin);
}

/* A relative path if the trace is below the current directory: easier to
 * type. */
static const char *short_path(const char *path)
{
	static char here[4096];
	size_t n;

	if (getcwd(here, sizeof(here)) == NULL)
		return path;
	n = strlen(here);
	if (n > 1 && strncmp(path, here, n) == 0 && path[n] == '/')
		return path + n + 1;
	return path;
}

static void print_totals(struct model *model)
{
	const struct totals *totals = model_totals(model);

	fprintf(stderr, "gnomon: %s%s, %s in total; peak %s after %s;\n",
		model_is_sampled(model) ? "about " : "",
		COUNTED(totals->allocations, "allocation"),
		SIZE_TEXT(totals->total_bytes), SIZE_TEXT(totals->peak_bytes),
		quantity_time((char[QUANTITY_TEXT]){ 0 },
			      totals->peak_bytes == 0 ? 0 :
			      model_since_start_ns(model,
						   totals->peak_stamp)));
	fprintf(stderr, "gnomon: live at the end %s in %s; ",
		SIZE_TEXT(totals->live_bytes),
		COUNTED(totals->live_blocks, "block"));
}

static void print_how(struct model *model)
{
	const struct reader_report *report = model_reader_report(model);
	uint64_t dropped = model_dropped(model);

	if (dropped > 0)
		fprintf(stderr, "%s dropped\n", COUNTED(dropped, "event"));
	else if (report->failed)
		fprintf(stderr, "later events are missing\n");
	else if (report->damage_count || report->lost_bytes)
		fprintf(stderr, "parts of the trace cannot be read\n");
	else
		fprintf(stderr, "nothing dropped\n");
}

/* Reports why the program was slower than necessary. */
static void print_slow(const struct model *model)
{
	uint64_t count = threads_without_memory(model_threads(model));

	if (count > 0)
		fprintf(stderr, "gnomon: no memory was left for %" PRIu64
			" thread%s, whose stacks took several times as long: "
			"give more by --memory\n", count,
			count == 1 ? "" : "s");
}

/* Prints the summary. outline: events were not read. */
static void print_figures(struct model *model, const char *path, bool outline)
{
	const struct reader_report *report = model_reader_report(model);

	if (outline)
		fprintf(stderr, "gnomon: %s in %s; ",
			COUNTED(report->events, "event"),
			SIZE_TEXT(report->file_bytes));
	else
		print_totals(model);
	print_how(model);
	print_slow(model);
	fprintf(stderr, "gnomon: recorded in %s\n", path);
	fprintf(stderr, "gnomon: to see where: gnomon report %s\n", path);
}

/* The printed figures are those of one process. `read`: its trace. */
static void print_children(const struct run_end_traces *traces,
			   const char *read)
{
	size_t below = process_tree_below(traces->list[0].path);
	char *directory;

	if (below == 0)
		return;
	directory = process_tree_directory(short_path(read));
	log_note("not in these figures: %s of child processes, see gnomon "
		 "report %s", COUNTED(below, "trace"), directory);
	free(directory);
}

void run_end_paragraph(const char *pattern,
		       const struct run_end_traces *traces)
{
	const struct model_options aloud = { .notes = log_notes() };
	struct model *model;
	const char *path;
	char *wanted;
	bool outline;
	int status;

	if (traces->count == 0 && is_special(pattern)) {
		log_note("the recording went to %s", pattern);
		return;
	}
	if (traces->count == 0) {
		log_note("nothing was recorded: the program ignores "
			 "LD_PRELOAD, or a message above says why");
		return;
	}
	path = traces->list[traces->count - 1].path;
	wanted = process_tree_wanted(path);
	if (wanted != NULL)
		path = wanted;
	model = model_new(NULL, NULL);
	outline = true;
	status = model_read_outline(model, path);
	if (status != EXIT_NOTHING &&
	    model_reader_report(model)->events <= PARAGRAPH_EVENTS_MAX) {
		model_free(model);
		model = model_new(&aloud, NULL);
		outline = false;
		status = model_read(model, path);
	} else if (status != EXIT_COMPLETE) {
		/* once more, with messages */
		model_free(model);
		model = model_new(&aloud, NULL);
		status = model_read_outline(model, path);
	}
	if (status != EXIT_NOTHING)
		print_figures(model, short_path(path), outline);
	if (status != EXIT_NOTHING && wanted == NULL)
		print_children(traces, path);
	if (wanted != NULL)
		log_note("that is what it started; its own trace is %s",
			 short_path(traces->list[traces->count - 1].path));
	if (traces->count > 1)
		log_note("the program replaced itself by exec: %zu earlier "
			 "trace%s of it %s in the same directory",
			 traces->count - 1, traces->count == 2 ? "" : "s",
			 traces->count == 2 ? "is" : "are");
	free(wanted);
	model_free(model);
}

void run_end_free(struct run_end_traces *traces)
{
	for (size_t i = 0; i < traces->count; i++)
		free(traces->list[i].path);
	free(traces->list);
	memset(traces, 0, sizeof(*traces));
}
