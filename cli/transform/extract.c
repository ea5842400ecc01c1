/*
 * extract.c: see the header. A recorded path is split into components; those
 * that name no file below here (empty, ".", "..") are dropped or replaced.
 * Directories are entered one by one, each relative to its parent, and no
 * symbolic link is followed. The file is always created, never opened if it
 * exists.
 *
 *  I1  Each name passed to the kernel has no '/', is neither "." nor "..", and
 *      is resolved below `root` without following links.
 *  I2  A file that could not be written in full is removed.
 *
 * Called by the main thread.
 */
#include "cli/transform/extract.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/base/text/printable.h"
#include "cli/base/text/quantity.h"
#include "cli/base/text/utf8.h"
#include "cli/base/io_full.h"

#define NAME_BYTES 200		/* of a file system's 255, with suffixes */
#define DEPTH_MAX 64		/* deeper directories are dropped */

bool extract_open(struct extract *extract, const char *directory, bool force,
		  uint64_t max)
{
	memset(extract, 0, sizeof(*extract));
	extract->directory = directory;
	extract->force = force;
	extract->left = max;
	extract->root = -1;
	if (mkdir(directory, 0700) == 0 || errno == EEXIST)
		extract->root = open(directory, O_RDONLY | O_DIRECTORY |
				     O_CLOEXEC);
	if (extract->root < 0)
		log_error("%s: cannot be written to: %s: name another "
			  "directory with -o", directory, strerror(errno));
	return extract->root >= 0;
}

void extract_close(struct extract *extract)
{
	intern_free(&extract->paths);
	close(extract->root);
}

/* ---- names ---- */

static void add_name(struct buffer *out, const char *name, size_t size,
		     bool first)
{
	if (size == 2 && name[0] == '.' && name[1] == '.')
		name = "__";
	if (size > NAME_BYTES)
		size = NAME_BYTES;
	if (!first)
		buffer_string(out, "/");
	for (size_t i = 0, n; i < size; i += n) {
		uint32_t code = 0xfffd;

		n = utf8_decode(name + i, size - i, &code);
		if (n == 0)
			n = 1;
		if (printable_columns(code) < 0)
			buffer_string(out, "_");
		else
			buffer_add(out, name + i, n);
	}
}

void extract_path(struct buffer *out, const char *path, const char *suffix)
{
	size_t depth = 0;

	while (*path != 0) {
		size_t size = strcspn(path, "/");
		bool last = path[size] == 0;

		if (size > 0 && !(size == 1 && *path == '.') &&
		    (last || depth < DEPTH_MAX))
			add_name(out, path, size, depth++ == 0);
		path += size + !last;
	}
	if (depth == 0)
		buffer_string(out, "nameless");
	buffer_string(out, suffix);
}

/* ---- places ---- */

static int open_beneath(int directory, const char *name, int flags)
{
	const struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOFOLLOW),
		.mode = flags & O_CREAT ? 0600 : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(__NR_openat2, directory, name, &how, sizeof(how));

	/* Kernels before 5.6, and sandboxes, lack openat2. The name has no '/',
	 * so openat is equivalent (I1). */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW,
			    0600);
	return fd < 0 ? -errno : (int)fd;
}

/* Open the directory of a relative path, and create it if needed. The path is
 * split into its names; *name is the last. */
static int enter(int root, char *path, char **name)
{
	int directory = dup(root), error;
	char *slash;

	while (directory >= 0 && (slash = strchr(path, '/')) != NULL) {
		int next;

		*slash = 0;
		error = mkdirat(directory, path, 0700) == 0 ||
			errno == EEXIST ? 0 : -errno;
		next = error ? error : open_beneath(directory, path,
						    O_RDONLY | O_DIRECTORY);
		close(directory);
		directory = next;
		*slash = '/';
		path = slash + 1;
	}
	*name = path;
	return directory;
}

/* A new file of that name; an existing file is removed only with `force`. */
static int make_file(const struct extract *extract, int directory,
		     const char *name)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL;
	int fd = open_beneath(directory, name, flags);

	if (fd != -EEXIST || !extract->force)
		return fd;
	if (unlinkat(directory, name, 0) != 0)
		return -errno;
	return open_beneath(directory, name, flags);
}

/* ---- files ---- */

static int write_bytes(void *owner, const uint8_t *bytes, size_t size)
{
	return io_full_write(*(int *)owner, bytes, size);
}

/* Whether the path is new in this run; records it. */
static bool is_new(struct extract *extract, const char *path)
{
	size_t before = extract->paths.count;

	intern_string(&extract->paths, path);
	return extract->paths.count > before;
}

/* A path that no other file of this run has; the caller frees it. */
static char *choose_path(struct extract *extract,
			 const struct embedded_file *file, size_t index)
{
	const char *suffix = file->kind == GT_FILE_DEBUG ? ".debug" : "";
	struct buffer path = { 0 };

	extract_path(&path, file->path, suffix);
	for (size_t i = index + 1; !is_new(extract, path.data); i++) {
		buffer_clear(&path);
		extract_path(&path, file->path, suffix);
		buffer_printf(&path, ".%zu", i);
	}
	return path.data;
}

static void report_failure(const struct extract *extract, const char *path,
			   int error)
{
	LOCAL_BUFFER text = { 0 };

	buffer_printf(&text, "%s/%s", extract->directory, path);
	buffer_printable(&text);
	if (error == -EEXIST)
		log_error("%s: exists already: give another directory with "
			  "-o, or replace it with --force", text.data);
	else if (error == -EBADMSG)
		log_error("%s: parts of the file are missing or damaged in "
			  "the trace: it was not written", text.data);
	else if (error == -EFBIG)
		log_error("%s: would exceed --max-size: it was not "
			  "written", text.data);
	else if (error == -ELOOP || error == -ENOTDIR || error == -EXDEV)
		log_error("%s: a component is not a directory (links are not "
			  "followed): give another directory with -o",
			  text.data);
	else
		log_error("%s: cannot be written: %s", text.data,
			  strerror(-error));
}

static int put_file(struct extract *extract, char *path,
		    const struct embedded *list, size_t index,
		    const char *trace, uint64_t trace_id)
{
	const struct embedded_file *file = &list->files[index];
	int directory, fd, error;
	char *name;

	if (file->got != file->size)
		return -EBADMSG;
	if (file->size > extract->left)
		return -EFBIG;
	directory = enter(extract->root, path, &name);
	if (directory < 0)
		return directory;
	fd = make_file(extract, directory, name);
	error = fd < 0 ? fd : embedded_read(list, index, trace, trace_id,
					    write_bytes, &fd);
	if (fd >= 0 && close(fd) != 0 && error == 0)
		error = -errno;
	if (fd >= 0 && error != 0)
		unlinkat(directory, name, 0);	/* I2 */
	close(directory);
	return error;
}

char *extract_file(struct extract *extract, const struct embedded *list,
		   size_t index, const char *trace, uint64_t trace_id)
{
	char *path = choose_path(extract, &list->files[index], index), *copy;
	int error = put_file(extract, path, list, index, trace, trace_id);

	if (error != 0) {
		report_failure(extract, path, error);
		free(path);
		return NULL;
	}
	extract->left -= list->files[index].size;
	copy = grow_format("%s/%s", extract->directory, path);
	free(path);
	return copy;
}
