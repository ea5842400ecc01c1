/*
 * log.c: prints one line at a time on standard error. Called by the main
 * thread, and by other threads through log_notes. A line is formatted
 * completely and written by one call, so that messages of several processes on
 * one terminal do not mix.
 */
#include "cli/base/terminal/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/base/terminal/bar.h"

#define LINE_MAX_BYTES 8192	/* two paths and a sentence */

static bool quiet_mode;
static int failure_status = EXIT_NOTHING;

void log_set_quiet(bool quiet)
{
	quiet_mode = quiet;
}

bool log_is_quiet(void)
{
	return quiet_mode;
}

static void print_line(const char *format, va_list args)
{
	char line[LINE_MAX_BYTES];
	int prefix = snprintf(line, sizeof(line), "gnomon: ");
	int n = vsnprintf(line + prefix, sizeof(line) - (size_t)prefix - 1,
			  format, args);
	size_t size = (size_t)prefix;

	if (n > 0)
		size += (size_t)n;
	if (size > sizeof(line) - 2)
		size = sizeof(line) - 2;
	line[size++] = '\n';
	bar_clear();
	/* If this fails, there is nowhere left to report it. */
	if (write(STDERR_FILENO, line, size) < 0)
		return;
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(format, args);
	va_end(args);
}

void log_note(const char *format, ...)
{
	va_list args;

	if (quiet_mode)
		return;
	va_start(args, format);
	print_line(format, args);
	va_end(args);
}

void log_set_failure_status(int status)
{
	failure_status = status;
}

int log_failure_status(void)
{
	return failure_status;
}

void log_out_of_memory(size_t size)
{
	log_error("out of memory (%zu bytes requested): read the trace on a "
		  "machine with more memory, or raise `ulimit -v`", size);
	exit(failure_status);
}

static void hear(const struct note *note)
{
	if (note->error)
		log_error("%s", note->text);
	else
		log_note("%s", note->text);
}

struct notes *log_notes(void)
{
	static struct notes notes = {
		.lock = PTHREAD_MUTEX_INITIALIZER, .heard = hear,
	};

	return &notes;
}
