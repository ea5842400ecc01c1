/*
 * output_file.c: see output_file.h. Called by the main thread.
 */
#include "cli/trace/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/tell.h"
#include "preload/format.h"

/* A regular file: of a pipe the first bytes would be taken away. */
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

FILE *output_file_open(const char *path)
{
	FILE *out;

	if (path == NULL)
		return stdout;
	if (is_trace(path)) {
		tell_error("%s: is a trace: give the result another name",
			   path);
		return NULL;
	}
	out = fopen(path, "we");
	if (out == NULL)
		tell_error("%s: cannot be written: %s", path,
			   strerror(errno));
	return out;
}

int output_file_close(FILE *out, const char *path, int status)
{
	int failed = fflush(out) != 0 || ferror(out);

	if (out != stdout && fclose(out) != 0)
		failed = 1;
	if (!failed)
		return status;
	tell_error("%s: writing the result failed: %s",
		   path ? path : "standard output", strerror(errno));
	return EXIT_NOTHING;
}
