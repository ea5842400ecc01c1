/*
 * output.c: opening the trace. Called by the recorder, once.
 *
 * Names tried, in this order: the name (NAME.PID for a child, or if another
 * process is writing NAME); the same with .1, .2 … (or the next %n); if the
 * directory is not writable, the same in $XDG_STATE_HOME/gnomon and $TMPDIR.
 *
 * I1: a file is only truncated with --force, under its lock, and if it is older
 *     than this process.
 */
#include "cli/recorder/output/output.h"

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

#include "cli/recorder/base/failure.h"
#include "cli/recorder/base/pathname.h"
#include "cli/recorder/base/result.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/process/trace_owner.h"
#include "preload/base/options.h"

#define OUTPUT_NUMBERS 1000	/* names tried before giving up */
#define OUTPUT_DIR_MAX 1024
#define OUTPUT_READER_NS UINT64_C(500000000)	/* to wait for a reader */
#define OUTPUT_READER_NAP_NS 5000000
#define OUTPUT_LOCK_TRIES 10	/* some ms in all */
#define OUTPUT_LOCK_NAP_NS 500000

static char output_state[OUTPUT_DIR_MAX];
static char output_tmp[OUTPUT_DIR_MAX] = "/tmp";

static bool output_variable(const char *text, const char *name,
			    const char *tail, char *to)
{
	size_t n = strlen(name);

	if (strncmp(text, name, n) != 0 || text[n] != '/')
		return false;
	if (!pathname_print(to, OUTPUT_DIR_MAX, "%s%s", text + n, tail))
		to[0] = '\0';
	return true;
}

void output_environment(char *const *environment)
{
	bool state = false;

	for (; *environment; environment++) {
		const char *text = *environment;

		output_variable(text, "TMPDIR=", "", output_tmp);
		if (output_variable(text, "XDG_STATE_HOME=", "/gnomon",
				    output_state))
			state = true;
		else if (!state)
			output_variable(text, "HOME=", "/.local/state/gnomon",
					output_state);
	}
}

/* Writes the expansion of % and a letter. */
static int output_letter(const struct output_names *names, unsigned counter,
			 char letter, char *to, size_t size)
{
	switch (letter) {
	case 'p':
		return snprintf(to, size, "%d", names->pid);
	case 't':
		return snprintf(to, size, "%" PRIu64, names->unix_seconds);
	case 'e':
		return snprintf(to, size, "%s", names->program);
	case 'n':
		return snprintf(to, size, "%u", counter);
	case 'h':
		return snprintf(to, size, "%s", names->host);
	case '%':
		return snprintf(to, size, "%%");
	default:
		return snprintf(to, size, "%%%c", letter);
	}
}

bool output_expand(const struct output_names *names, unsigned counter,
		   char *to, size_t size)
{
	const char *p = names->pattern;
	size_t n = 0, plain;

	to[0] = '\0';
	while (*p && n < size) {
		if (*p == '%' && p[1]) {
			n += output_letter(names, counter, p[1], to + n,
					   size - n);
			p += 2;
			continue;
		}
		plain = 1 + strcspn(p + 1, "%");
		n += snprintf(to + n, size - n, "%.*s", (int)plain, p);
		p += plain;
	}
	return n < size;
}

static bool output_has(const char *pattern, char letter)
{
	for (; *pattern; pattern++) {
		if (*pattern != '%' || !pattern[1])
			continue;
		if (*++pattern == letter)
			return true;
	}
	return false;
}

static bool output_locked(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool locked;

	if (fd < 0)
		return false;
	locked = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return locked;
}

static void output_nap(long ns)
{
	struct timespec nap = { 0, ns };

	nanosleep(&nap, NULL);
}

/* Locks the trace. A reader that checks the lock holds it for a moment. */
static void output_lock(int fd)
{
	unsigned i;

	for (i = 0; i < OUTPUT_LOCK_TRIES; i++) {
		/* other errors: a file system without locks */
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			return;
		output_nap(OUTPUT_LOCK_NAP_NS);
	}
}

/* Opens a pipe or device. A pipe may have no reader: waits for one, but not for
 * long. */
static long output_special(struct output *output)
{
	uint64_t end = time_ns_now() + OUTPUT_READER_NS;
	long fd, flags;

	output->regular = false;
	for (;;) {
		fd = result_of(open(output->path, O_WRONLY | O_NOFOLLOW |
				    O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
		if (fd != -ENXIO || time_ns_now() >= end)
			break;
		output_nap(OUTPUT_READER_NAP_NS);
	}
	if (fd < 0)
		return fd;
	flags = fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	return fd;
}

/* I1 */
static long output_replace(struct output *output,
			   const struct output_names *names)
{
	long fd = result_of(open(output->path, O_RDWR | O_NOFOLLOW |
				 O_NONBLOCK | O_CLOEXEC));

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    trace_owner_is_older(fd, names->pid, names->start_ns) &&
	    ftruncate(fd, 0) == 0)
		return fd;
	close(fd);
	return -EEXIST;
}

/* Opens an existing pipe or device, or a file to overwrite. */
static long output_existing(struct output *output,
			    const struct output_names *names, bool force)
{
	struct stat st;

	if (lstat(output->path, &st))
		return -EEXIST;
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
		return output_special(output);
	if (!force || !S_ISREG(st.st_mode))
		return -EEXIST;
	return output_replace(output, names);
}

static long output_try(struct output *output, const struct output_names *names,
		       bool force)
{
	long fd = result_of(open(output->path, O_WRONLY | O_CREAT | O_EXCL |
				 O_NOFOLLOW | O_CLOEXEC, 0600));

	output->regular = true;
	return fd == -EEXIST ? output_existing(output, names, force) : fd;
}

/* "directory/name" and a suffix; the directory may be empty. */
static bool output_join(struct output *output, const char *dir,
			const char *name, const char *mark, uint64_t number)
{
	const char *slash = dir[0] ? "/" : "";

	if (!mark)
		return pathname_print(output->path, sizeof(output->path),
				      "%s%s%s", dir, slash, name);
	return pathname_print(output->path, sizeof(output->path),
			      "%s%s%s%s%" PRIu64, dir, slash, name, mark,
			      number);
}

static long output_numbered(struct output *output,
			    const struct output_names *names, const char *dir,
			    char *name, size_t size)
{
	bool counted = output_has(names->pattern, 'n');
	unsigned i;
	long fd = -EEXIST;

	for (i = 1; fd == -EEXIST && i < OUTPUT_NUMBERS; i++) {
		if (counted && !output_expand(names, i, name, size))
			return -ENAMETOOLONG;
		if (!output_join(output, dir,
				 dir[0] ? pathname_base(name) : name,
				 counted ? NULL : ".", i))
			return -ENAMETOOLONG;
		fd = output_try(output, names, false);
	}
	return fd;
}

static bool output_is_device(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISCHR(st.st_mode);
}

/* Whether the name from the pattern belongs to another process: an ancestor, or
 * an unrelated one that is writing it. own_name: NAME.PID. */
static bool output_taken(const struct output *output,
			 const struct output_names *names,
			 const char *own_name)
{
	return names->child || trace_owner_is_own(own_name, names->pid) ||
	       (output_locked(output->path) &&
		!trace_owner_is_own(output->path, names->pid));
}

/* Opens the trace in `dir`; "": in the pattern's directory. */
static long output_in(struct output *output, const struct output_names *names,
		      const char *dir)
{
	char name[GT_PATH_MAX], own_name[GT_PATH_MAX];
	const char *base;
	long fd;

	if (!output_expand(names, 0, name, sizeof(name)))
		return -ENAMETOOLONG;
	base = dir[0] ? pathname_base(name) : name;
	if (!output_join(output, dir, base, ".", names->pid))
		return -ENAMETOOLONG;
	memcpy(own_name, output->path, sizeof(own_name));
	output_join(output, dir, base, NULL, 0);
	if (!output_has(names->pattern, 'p') &&
	    !output_is_device(output->path) &&
	    output_taken(output, names, own_name)) {
		memcpy(output->path, own_name, sizeof(output->path));
		memcpy(name, own_name, sizeof(name));
	}
	fd = output_try(output, names, names->force);
	if (fd == -EEXIST)
		fd = output_numbered(output, names, dir, name, sizeof(name));
	return fd;
}

static bool output_unwritable(long err)
{
	return err == -EACCES || err == -EROFS || err == -EPERM ||
	       err == -ENOENT;
}

static long output_elsewhere(struct output *output,
			     const struct output_names *names)
{
	long fd = -ENOENT;

	if (output_state[0]) {
		/* it may exist already; if not, opening the file fails */
		mkdir(output_state, 0700);
		fd = output_in(output, names, output_state);
	}
	if (fd < 0)
		fd = output_in(output, names, output_tmp);
	return fd;
}

static void output_absolute(struct output *output)
{
	char cwd[GT_PATH_MAX], path[GT_PATH_MAX];

	if (output->path[0] == '/' ||
	    !getcwd(cwd, sizeof(cwd)) || cwd[0] != '/')
		return;
	if (pathname_print(path, sizeof(path), "%s%s%s", cwd, cwd[1] ? "/" : "",
			   output->path))
		strcpy(output->path, path);
}

static void output_report(struct output *output, const char *wanted, long err)
{
	bool elsewhere = output->fd >= 0;
	char number[FAILURE_NUMBER];

	if (err == -ENXIO) {
		failure_print(output->message, sizeof(output->message),
			      "nobody reads %s: this process is not recorded",
			      wanted);
		return;
	}
	failure_print(output->message, sizeof(output->message),
		      "cannot write %s: %s: %s%s", wanted,
		      failure_words(err, number),
		      elsewhere ? "the trace is " :
				  "this process is not recorded",
		      elsewhere ? output->path : "");
}

static int output_dup(struct output *output, const struct output_names *names,
		      int fd)
{
	int to = (int)result_of(fcntl(fd, F_DUPFD_CLOEXEC, 3));

	output->fd = to < 0 ? -1 : to;
	output->regular = false;
	if (to < 0) {
		output_report(output, names->pattern, to);
		return to;
	}
	output_join(output, "", names->pattern, NULL, 0);
	return 0;
}

int output_open(struct output *output, const struct output_names *names)
{
	int descriptor = options_descriptor(names->pattern);
	char wanted[GT_PATH_MAX];
	long fd, err;

	output->message[0] = '\0';
	output->fd = -1;
	if (descriptor >= 0)
		return output_dup(output, names, descriptor);
	fd = output_in(output, names, "");
	memcpy(wanted, output->path, sizeof(wanted));
	err = fd;
	if (output_unwritable(fd))
		fd = output_elsewhere(output, names);
	output->fd = fd < 0 ? -1 : fd;
	if (output->fd >= 0)
		output_absolute(output);
	if (err < 0)
		output_report(output, wanted, err);
	if (output->fd >= 0 && output->regular)
		output_lock(output->fd);
	assert(output->fd >= 0 || err < 0);
	return output->fd < 0 ? err : 0;
}
