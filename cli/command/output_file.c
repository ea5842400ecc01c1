/*
 * output_file.c: see output_file.h. Called by the main thread.
 *
 *  I1  An output file without a name yet is recognised by its link count 0.
 */
#include "cli/command/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/trace/format/trace_format.h"

/* Only a regular file: reading from a pipe would consume its first bytes. */
static bool is_trace(const char *path)
{
	char magic[GT_MAGIC_SIZE];
	struct stat status;
	bool same;
	int fd;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	same = read(fd, magic, sizeof(magic)) == sizeof(magic) &&
		memcmp(magic, GT_MAGIC, sizeof(magic)) == 0;
	close(fd);
	return same;
}

/* Whether another file may replace this one; its links and its owner would stay
 * with the old file. *old: the existing file; mode 0 if there is none. */
static bool may_be_replaced(const char *path, struct stat *old)
{
	memset(old, 0, sizeof(*old));
	if (lstat(path, old) != 0)
		return errno == ENOENT;
	return S_ISREG(old->st_mode) && old->st_nlink == 1 &&
	       old->st_uid == geteuid();
}

/* Opens a file without a name in the directory of `path`; -1 on failure. */
static int open_unnamed(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = slash == NULL ? grow_copy(".", 1) :
		grow_copy(path, slash == path ? 1 : (size_t)(slash - path));
	struct stat old;
	int fd = -1;

	/* give_name links through /proc */
	if (access("/proc/self/fd", X_OK) == 0 && may_be_replaced(path, &old))
		fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	free(directory);
	/* If the mode cannot be kept, write in place like to any file. */
	if (fd >= 0 && old.st_mode != 0 &&
	    (access(path, W_OK) != 0 || fchmod(fd, old.st_mode & 07777) != 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

FILE *output_file_open(const char *path)
{
	FILE *out;
	int fd;

	if (path == NULL || strcmp(path, "-") == 0)
		return stdout;
	if (is_trace(path)) {
		log_error("%s: is a trace: give the result another name",
			  path);
		return NULL;
	}
	fd = open_unnamed(path);
	out = fd >= 0 ? fdopen(fd, "w") : fopen(path, "we");
	if (out == NULL)
		log_error("%s: cannot be written: %s", path,
			  strerror(errno));
	return out;
}

/* 0, or -1 with errno. */
static int give_name(FILE *out, const char *path)
{
	char *from = grow_format("/proc/self/fd/%d", fileno(out));
	char *beside = grow_format("%s.%ld", path, (long)getpid());
	int failed = linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW);

	if (failed && errno == EEXIST) {
		failed = linkat(AT_FDCWD, from, AT_FDCWD, beside,
				AT_SYMLINK_FOLLOW);
		if (!failed && rename(beside, path) != 0) {
			int error = errno;

			unlink(beside);
			errno = error;
			failed = -1;
		}
	}
	free(from);
	free(beside);
	return failed;
}

int output_file_close(FILE *out, const char *path, int status)
{
	int failed = fflush(out) != 0 || ferror(out);
	struct stat written;

	if (!failed && out != stdout && fstat(fileno(out), &written) == 0 &&
	    S_ISREG(written.st_mode) && written.st_nlink == 0)	/* I1 */
		failed = give_name(out, path);
	if (out != stdout && fclose(out) != 0)
		failed = 1;
	if (!failed)
		return status;
	log_error("%s: writing the result failed: %s",
		  path ? path : "standard output", strerror(errno));
	return log_failure_status();
}

bool output_file_ends(const char *path, const char *end)
{
	size_t size = strlen(path), less = strlen(end);

	return size >= less && strcasecmp(path + size - less, end) == 0;
}

const char *output_file_picture(const char *path)
{
	static const char *const kinds[] = {
		".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".ps", ".eps",
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (output_file_ends(path, kinds[i]))
			return kinds[i];
	return NULL;
}
