/* target_file.c: see target_file.h. */
#include "cli/recorder/process/target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/recorder/base/proc_file.h"
#include "unwind/base/assertion.h"

static const char *const target_file_names[GL_FILES] = {
	[GL_FILE_MAPS] = "maps",
	[GL_FILE_MAPS_WHOLE] = "maps",
	[GL_FILE_SMAPS] = "smaps",
	[GL_FILE_ROLLUP] = "smaps_rollup",
	[GL_FILE_EXE] = "exe",
	[GL_FILE_PIDFD] = "",
	[GL_FILE_PARENT] = "",
};

#define TARGET_FILE_BUFFER "\\012"
#define TARGET_FILE_PROC 0x9fa0		/* PROC_SUPER_MAGIC */

static int target_files[GL_FILES];
static int target_file_pid;

/* Descriptor numbers in the mapping are untrusted: files to read by line must
 * be files of /proc. */
static bool target_file_is(unsigned which, int fd)
{
	struct statfs fs;

	if (fd < 0 || fd == STDERR_FILENO || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return false;
	return which > GL_FILE_ROLLUP ||
	       (fstatfs(fd, &fs) == 0 && fs.f_type == TARGET_FILE_PROC);
}

void target_file_init(const int32_t file[GL_FILES], int pid)
{
	unsigned i;

	target_file_pid = pid;
	for (i = 0; i < GL_FILES; i++)
		target_files[i] = target_file_is(i, file[i]) ? file[i] : -1;
}

int target_file(enum gl_file which)
{
	DEBUG_ASSERT(which < GL_FILES);
	return target_files[which];
}

void target_file_path(enum gl_file which, char *path, size_t size)
{
	if (target_files[which] >= 0)
		snprintf(path, size, "/proc/self/fd/%d", target_files[which]);
	else if (proc_file_is_ours())
		snprintf(path, size, "/proc/%d/%s", target_file_pid,
			 target_file_names[which]);
	else	/* that pid belongs to another process there */
		path[0] = '\0';
}

int target_file_open(enum gl_file which)
{
	int fd = target_files[which];
	char path[64];

	if (fd < 0) {
		target_file_path(which, path, sizeof(path));
		fd = path[0] ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		return fd >= 0 ? fd : path[0] ? -errno : -ENOENT;
	}
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* at offset 0, /proc generates the file again */
	if (lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	close(fd);
	return -EIO;
}

int target_file_lines(struct proc_lines *lines, enum gl_file which,
		      char *buffer, size_t size)
{
	int fd = target_file_open(which);

	if (fd < 0)
		return fd;
	*lines = (struct proc_lines){
		.fd = fd, .buffer = buffer, .size = size,
	};
	return 0;
}

bool target_lines_ready(const struct proc_lines *lines)
{
	return !lines->skipping && memchr(lines->buffer + lines->at, '\n',
					  lines->end - lines->at);
}

bool target_lines_last(const struct proc_lines *lines)
{
	char first;

	return lines->fd >= 0 && pread(lines->fd, &first, 1, 0) == 1;
}

static bool target_file_at_buffer(const char *path)
{
	return strncmp(path, TARGET_FILE_BUFFER,
		       sizeof(TARGET_FILE_BUFFER) - 1) == 0;
}

/*
 * The kernel escapes only line feeds of a path, as \012. So \012 may also be
 * literal: then the literal path leads to the mapped file.
 */
static void target_file_unescape(char *path, uint64_t inode)
{
	char *from = strstr(path, TARGET_FILE_BUFFER), *to;
	struct stat st;

	if (!from || (stat(path, &st) == 0 && st.st_ino == inode))
		return;
	for (to = from; *from; to++) {
		bool drain = target_file_at_buffer(from);

		*to = drain ? '\n' : *from;
		from += drain ? sizeof(TARGET_FILE_BUFFER) - 1 : 1;
	}
	*to = '\0';
}

void target_file_mapped(int fd, uint64_t at)
{
	char buffer[PROC_LINES_BUFFER], *line;
	struct proc_lines_mapping mapping;
	struct proc_lines lines;
	bool found = false;
	struct stat st;

	/* Under an emulator, the files opened by the target are the emulator's,
	 * not files of /proc. Then only a file of /proc is the kernel's. */
	if (target_files[GL_FILE_MAPS_WHOLE] >= 0 || fd < 0 ||
	    fstat(fd, &st) ||
	    target_file_lines(&lines, GL_FILE_MAPS_WHOLE, buffer,
			      sizeof(buffer)))
		return;
	while (!found && (line = proc_lines_next(&lines)))
		found = proc_lines_mapping(line, &mapping) &&
			mapping.inode == st.st_ino &&
			mapping.major == major(st.st_dev) &&
			mapping.minor == minor(st.st_dev);
	proc_lines_close(&lines);
	if (found && mapping.start > at + mapping.offset)
		proc_lines_moved(mapping.start - mapping.offset - at);
}

void target_file_maps(void (*fn)(const struct target_map *map, void *arg),
		      void *arg)
{
	char buffer[PROC_LINES_BUFFER], *line;
	struct proc_lines_mapping mapping;
	struct target_map map;
	struct proc_lines lines;

	if (target_file_lines(&lines, GL_FILE_MAPS_WHOLE, buffer,
			      sizeof(buffer)))
		return;
	while ((line = proc_lines_next(&lines))) {
		if (!proc_lines_mapping(line, &mapping) || !*mapping.path)
			continue;
		/* the path is inside the line, which may be changed */
		if (*mapping.path == '/')
			target_file_unescape(line + (mapping.path - line),
					     mapping.inode);
		map.start = mapping.start;
		map.end = mapping.end;
		map.path = mapping.path;
		fn(&map, arg);
	}
	proc_lines_close(&lines);
}
