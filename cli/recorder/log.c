/*
 * log.c: see log.h.
 *
 * Lines are appended by one write each, so several processes may share a
 * file. When it is longer than --log-file-max, it becomes FILE.1, in place of
 * the one before: by whoever finds it so first; others find that theirs is
 * not the one of that name any more, and open it anew.
 *
 * I1: only the writer uses log_state, from log_begin on.
 */
#include "cli/recorder/log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/message_out.h"
#include "cli/recorder/owner.h"
#include "cli/recorder/recording.h"
#include "cli/recorder/result.h"
#include "cli/recorder/time_ns.h"
#include "preload/base/text.h"
#include "unwind/claim.h"

#define LOG_LINE_MAX (GT_PATH_MAX + 512)
#define LOG_DAY 86400

static struct {
	int pid, tid;
	long fd;		/* of the file; negative: none */
} log_state = { .fd = -1 };

static const char *log_path(void)
{
	return options_text(recording_options, OPTION_LOG_FILE);
}

static bool log_wanted(unsigned level)
{
	return unlikely(level <= recording_options->number[OPTION_LOG]);
}

static void log_open(void)
{
	log_state.fd = result_of(open(log_path(), O_WRONLY | O_CREAT |
				      O_APPEND | O_CLOEXEC | O_NOCTTY |
				      O_NOFOLLOW, 0600));
	owner_apply(log_state.fd);
}

long log_begin(int pid)
{
	log_state.pid = log_state.tid = pid;
	if (log_wanted(OPTION_LOG_ERROR) && log_path()[0])
		log_open();
	else
		log_state.fd = -1;
	return log_state.fd < -1 ? log_state.fd : 0;
}

void log_thread(int tid)
{
	log_state.tid = tid;
}

static void log_two(struct text *text, unsigned number)
{
	text_char(text, '0' + number / 10 % 10);
	text_char(text, '0' + number % 10);
}

/* Days since 1970-01-01 to a date of the Gregorian calendar: in eras of 400
 * years that begin in March, so that the day too many is a year's last. */
static void log_date(struct text *text, uint64_t days)
{
	uint64_t since = days + 719468;		/* from 0000-03-01 */
	uint64_t era = since / 146097, day = since % 146097;
	uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	uint64_t left = day - (365 * year + year / 4 - year / 100);
	unsigned march = (5 * left + 2) / 153;	/* months since March */
	unsigned month = march < 10 ? march + 3 : march - 9;

	CLAIM_FULL(month >= 1 && month <= 12);
	text_number(text, year + era * 400 + (month <= 2));
	text_char(text, '-');
	log_two(text, month);
	text_char(text, '-');
	log_two(text, left - (153 * march + 2) / 5 + 1);
}

static void log_time(struct text *text)
{
	uint64_t ns = time_ns_of(CLOCK_REALTIME), s = ns / TIME_NS_SECOND;
	unsigned ms = ns % TIME_NS_SECOND / 1000000;

	log_date(text, s / LOG_DAY);
	text_char(text, 'T');
	log_two(text, s % LOG_DAY / 3600);
	text_char(text, ':');
	log_two(text, s / 60 % 60);
	text_char(text, ':');
	log_two(text, s % 60);
	text_char(text, '.');
	text_char(text, '0' + ms / 100);
	log_two(text, ms % 100);
	text_char(text, 'Z');
}

static void log_rename(void)
{
	char older[GT_PATH_MAX + 4];
	struct text text;

	text_init(&text, older, sizeof(older));
	text_put(&text, log_path());
	text_put(&text, ".1");
	/* else it goes on under its name */
	renameat2(AT_FDCWD, log_path(), AT_FDCWD, older, 0);
}

/* The file under its name: not too long, and the one that is open. */
static void log_turn(void)
{
	uint64_t most = recording_options->number[OPTION_LOG_FILE_MAX];
	struct stat open, named;
	bool same;

	if (fstat(log_state.fd, &open))
		return;
	same = stat(log_path(), &named) == 0 &&
	       named.st_ino == open.st_ino && named.st_dev == open.st_dev;
	if (same && (uint64_t)open.st_size < most)
		return;
	if (same && S_ISREG(open.st_mode))
		log_rename();
	else if (same)
		return;		/* a pipe or a terminal */
	close(log_state.fd);
	log_open();
}

static void log_write(unsigned level, const char *what, const char *detail)
{
	static const char *const names[] = {
		"off", "error", "warn", "info", "debug"
	};
	char line[LOG_LINE_MAX];
	struct text text;

	assert(level < sizeof(names) / sizeof(names[0]));
	text_init(&text, line, sizeof(line) - 1);
	if (log_state.fd >= 0) {
		log_time(&text);
		text_char(&text, ' ');
		text_number(&text, log_state.pid);
		text_char(&text, ' ');
	}
	text_put(&text, names[level]);
	text_char(&text, ' ');
	text_put(&text, what);
	if (detail) {
		text_put(&text, ": ");
		text_put(&text, detail);
	}
	if (log_state.fd < 0) {
		message_out_say(log_state.tid, line);
		return;
	}
	CLAIM_FULL(text.length + 1 < sizeof(line));
	line[text.length] = '\n';
	/* nowhere to report a failure to */
	write(log_state.fd, line, text.length + 1);
	log_turn();
}

void log_say(unsigned level, const char *what, const char *detail)
{
	if (log_wanted(level))
		log_write(level, what, detail);
}

void log_tell(unsigned level, const char *text)
{
	message_out_say(log_state.tid, text);
	if (log_state.fd >= 0)
		log_say(level, text, NULL);
}

void log_number(unsigned level, const char *what, uint64_t number)
{
	char digits[24];
	struct text text;

	if (!log_wanted(level))
		return;
	text_init(&text, digits, sizeof(digits));
	text_number(&text, number);
	log_write(level, what, digits);
}
