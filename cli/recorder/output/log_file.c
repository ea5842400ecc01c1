/*
 * log_file.c: see log_file.h.
 *
 * Each line is appended with one write, so several processes may share a file.
 * The first process that finds it longer than --log-file-max renames it to
 * FILE.1, replacing the previous one. The other processes find that their file
 * has another name now, and open FILE again.
 *
 * I1: only the recorder uses log_file_state, from log_file_begin on.
 */
#include "cli/recorder/output/log_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/recorder/base/message_out.h"
#include "cli/recorder/base/recording.h"
#include "cli/recorder/base/result.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/process/file_owner.h"
#include "preload/base/base.h"

#define LOG_FILE_DAY 86400	/* seconds */
#define LOG_FILE_LINE_MAX (GT_PATH_MAX + 512)

static struct {
	int pid, tid;
	int fd;			/* of the file; -1: none */
} log_file_state = { .fd = -1 };

static const char *log_file_path(void)
{
	return options_text(recording_options, OPTION_LOG_FILE);
}

static bool log_file_wanted(unsigned level)
{
	return unlikely(level <= recording_options->number[OPTION_LOG]);
}

/* O_NONBLOCK: a pipe that nobody reads must not block the recorder. Opening it
 * fails without a reader (ENXIO), and lines are dropped while it is full. */
static long log_file_open(void)
{
	long fd = result_of(open(log_file_path(), O_WRONLY | O_CREAT |
				 O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW |
				 O_NONBLOCK, 0600));

	log_file_state.fd = fd < 0 ? -1 : fd;
	if (fd < 0)
		return fd;
	file_owner_apply(fd);
	return 0;
}

long log_file_begin(int pid)
{
	log_file_state.pid = log_file_state.tid = pid;
	log_file_state.fd = -1;
	if (!log_file_wanted(OPTION_LOG_ERROR) || !log_file_path()[0])
		return 0;
	return log_file_open();
}

void log_file_thread(int tid)
{
	log_file_state.tid = tid;
}

/* Converts days since 1970-01-01 to a Gregorian date. It uses eras of 400 years
 * that begin in March, so that a leap day is the last day of a year. (The C
 * library's gmtime_r opens files that TZ may name.) */
static void log_file_date(uint64_t days, unsigned *year, unsigned *month,
			  unsigned *day)
{
	uint64_t since = days + 719468;		/* from 0000-03-01 */
	uint64_t era = since / 146097, rest = since % 146097;
	uint64_t of_era =
		(rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
	uint64_t left = rest - (365 * of_era + of_era / 4 - of_era / 100);
	unsigned march = (5 * left + 2) / 153;	/* months since March */

	*month = march < 10 ? march + 3 : march - 9;
	*day = left - (153 * march + 2) / 5 + 1;
	*year = of_era + era * 400 + (*month <= 2);
	assert(*month >= 1 && *month <= 12 && *day >= 1 && *day <= 31);
}

/* Writes the start of a line in a file: time and pid. */
static int log_file_begin_line(char *line, size_t size)
{
	uint64_t ns = time_ns_of(CLOCK_REALTIME), s = ns / TIME_NS_SECOND;
	unsigned year, month, day;

	log_file_date(s / LOG_FILE_DAY, &year, &month, &day);
	return snprintf(line, size, "%u-%02u-%02uT%02u:%02u:%02u.%03uZ %d ",
			year, month, day, (unsigned)(s % LOG_FILE_DAY / 3600),
			(unsigned)(s / 60 % 60), (unsigned)(s % 60),
			(unsigned)(ns % TIME_NS_SECOND / 1000000),
			log_file_state.pid);
}

/* Whether the open file still has its name. */
static bool log_file_is_named(const struct stat *open)
{
	struct stat named;

	return stat(log_file_path(), &named) == 0 &&
	       named.st_ino == open->st_ino && named.st_dev == open->st_dev;
}

/* Renames the file under its lock, unless another process did: a second rename
 * would replace FILE.1 by the new file. False: another process is renaming
 * it. */
static bool log_file_rename(const struct stat *open)
{
	char older[GT_PATH_MAX + 4];

	/* other errors: a file system without locks */
	if (flock(log_file_state.fd, LOCK_EX | LOCK_NB) != 0 &&
	    errno == EWOULDBLOCK)
		return false;
	if (!log_file_is_named(open))
		return true;
	snprintf(older, sizeof(older), "%s.1", log_file_path());
	/* on failure the file keeps its name */
	renameat2(AT_FDCWD, log_file_path(), AT_FDCWD, older, 0);
	return true;
}

/* Rotates the file if it is too long; opens it again if another process rotated
 * it. */
static void log_file_turn(void)
{
	uint64_t max = recording_options->number[OPTION_LOG_FILE_MAX];
	struct stat open;
	bool same;

	if (fstat(log_file_state.fd, &open))
		return;
	same = log_file_is_named(&open);
	if (same && (uint64_t)open.st_size < max)
		return;
	if (same && !S_ISREG(open.st_mode))
		return;		/* a pipe or a terminal */
	if (same && !log_file_rename(&open))
		return;
	/* closing it unlocks it */
	close(log_file_state.fd);
	log_file_open();
}

static void log_file_write(unsigned level, const char *what, const char *detail)
{
	static const char *const names[] = {
		"off", "error", "warn", "info", "debug"
	};
	char line[LOG_FILE_LINE_MAX];
	size_t size = sizeof(line) - 1, n = 0;

	assert(level < sizeof(names) / sizeof(names[0]));
	if (log_file_state.fd >= 0)
		n = log_file_begin_line(line, size);
	n += snprintf(line + n, size - n, "%s %s%s%s", names[level], what,
		      detail ? ": " : "", detail ? detail : "");
	if (log_file_state.fd < 0) {
		message_out_print(log_file_state.tid, line);
		return;
	}
	n = base_min(n, size - 1);	/* a longer line is truncated */
	line[n] = '\n';
	/* a failure cannot be reported anywhere */
	write(log_file_state.fd, line, n + 1);
	log_file_turn();
}

void log_file_print(unsigned level, const char *what, const char *detail)
{
	if (log_file_wanted(level))
		log_file_write(level, what, detail);
}

void log_file_report(unsigned level, const char *text)
{
	message_out_print(log_file_state.tid, text);
	if (log_file_state.fd >= 0)
		log_file_print(level, text, NULL);
}

void log_file_number(unsigned level, const char *what, uint64_t number)
{
	char digits[24];

	if (!log_file_wanted(level))
		return;
	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	log_file_write(level, what, digits);
}
