/*
 * error_words.c: see error_words.h. Has the errors that users of gnomon may
 * meet.
 */
#include "preload/base/error_words.h"

#include <errno.h>
#include <stddef.h>

static const struct {
	int number;
	const char *words;
} error_table[] = {
	{ EACCES, "permission denied" },
	{ EAGAIN, "resource temporarily unavailable" },
	{ EDQUOT, "disk quota exceeded" },
	{ EEXIST, "file exists" },
	{ EFBIG, "file too large" },
	{ EIO, "input/output error" },
	{ EISDIR, "is a directory" },
	{ ELOOP, "is a symbolic link" },
	{ EMFILE, "too many open files" },
	{ ENFILE, "too many open files in the system" },
	{ ENOEXEC, "not an executable for this machine" },
	{ ENOENT, "no such file or directory" },
	{ ENOSYS, "not supported by the kernel" },
	{ ENOMEM, "out of memory" },
	{ ENOSPC, "no space left on device" },
	{ ENOTDIR, "not a directory" },
	{ ENXIO, "nobody reads the pipe, or no such device" },
	{ EPERM, "operation not permitted" },
	{ EPIPE, "the reader has closed the pipe" },
	{ EROFS, "read-only file system" },
};

const char *error_words(int err)
{
	unsigned i;

	if (err < 0)
		err = -err;
	for (i = 0; i < sizeof(error_table) / sizeof(*error_table); i++)
		if (error_table[i].number == err)
			return error_table[i].words;
	return NULL;
}
