/*
 * launch_files.c: see launch_job.h: descriptors of the thread that starts the
 * recorder, and the descriptors that the recorder inherits.
 */
#include "preload/start/launch_job.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "preload/base/base.h"
#include "preload/base/proc.h"
#include "preload/base/sys.h"
#include "preload/process/parent.h"

/* A descriptor may be larger if the limit was lowered. */
#define LAUNCH_FILES_LIMIT_MIN 65536
#define LAUNCH_FILES_LIMIT_MAX (1 << 20)	/* time: some 100 ms */

/* Up to which descriptor to close each by itself. */
static unsigned launch_files_limit(void)
{
	uint64_t limit[2];	/* soft, hard */

	if (arch_syscall4(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, (long)limit) ||
	    limit[0] < LAUNCH_FILES_LIMIT_MIN)
		return LAUNCH_FILES_LIMIT_MIN;
	return base_min(limit[0], LAUNCH_FILES_LIMIT_MAX);
}

static void launch_files_range(unsigned from, unsigned to)
{
	unsigned fd, end;

	if (arch_syscall3(__NR_close_range, from, to, 0) == 0)
		return;
	/* kernels before 5.9 */
	end = launch_files_limit();
	for (fd = from; fd <= to && fd < end; fd++)
		sys_close(fd);
}

/* The smallest of these descriptors that is at least `from`; -1: none. */
static int launch_files_next(const int *keep, unsigned count, int from)
{
	int next = -1;
	unsigned i;

	for (i = 0; i < count; i++)
		if (keep[i] >= from && (next < 0 || keep[i] < next))
			next = keep[i];
	return next;
}

void launch_files_close(const int *keep, unsigned count)
{
	int from = 0, next;
	long fd;

	while ((next = launch_files_next(keep, count, from)) >= 0) {
		if (next > from)
			launch_files_range(from, next - 1);
		from = next + 1;
	}
	launch_files_range(from, ~0u);
	if (arch_syscall3(__NR_fcntl, 2, F_GETFD, 0) != -EBADF)
		return;
	fd = sys_open("/", O_PATH, 0);
	if (fd < 0 || fd == 2)
		return;
	arch_syscall3(__NR_dup3, fd, 2, 0);
	sys_close(fd);
}

uint64_t launch_files_raise(void)
{
	uint64_t limit[2];	/* soft, hard */

	if (arch_syscall4(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, (long)limit))
		return 0;
	if (limit[0] == limit[1])
		return limit[0];
	limit[0] = limit[1];
	arch_syscall4(__NR_prlimit64, 0, RLIMIT_NOFILE, (long)limit, 0);
	return limit[1];
}

void launch_files_parent(struct launch *launch)
{
	unsigned i;
	long fd;

	for (i = 0; i < GL_FILES; i++)
		launch->file[i] = -1;
	if (launch->files < LAUNCH_FILES)
		return;
	if (parent.live[0]) {
		fd = sys_open(parent.live,
			      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
			      0);
		launch->file[GL_FILE_PARENT] = sys_failed(fd) ? -1 : fd;
	}
	/* valgrind does not support this call, and prints a warning */
	if (launch->alone)
		return;
	/* if /proc is of another pid namespace, the id means another process
	 * there */
	fd = arch_syscall2(__NR_pidfd_open, launch->where.pid, 0);
	launch->file[GL_FILE_PIDFD] = sys_failed(fd) ? -1 : fd;
	if (fd >= 0)	/* keep it open at execve */
		arch_syscall3(__NR_fcntl, fd, F_SETFD, 0);
}

/*
 * Opens the /proc files about memory. Such a file becomes unreadable when its
 * task has ended. So they are opened for the task that becomes the recorder,
 * which still shares the target's memory. They stay bound to that memory.
 */
static void launch_files_open(struct launch *launch)
{
	static const struct {
		const char *path;
		int flags;
	} files[] = {
		[GL_FILE_MAPS] = { "/proc/self/maps", O_RDONLY },
		[GL_FILE_MAPS_WHOLE] = { "/proc/self/maps", O_RDONLY },
		[GL_FILE_SMAPS] = { "/proc/self/smaps", O_RDONLY },
		[GL_FILE_ROLLUP] = { "/proc/self/smaps_rollup", O_RDONLY },
		[GL_FILE_EXE] = { "/proc/self/exe", O_PATH },
	};
	unsigned i;
	long fd;

	if (launch->files < LAUNCH_FILES || !proc_is_ours())
		return;
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		fd = sys_open(files[i].path, files[i].flags, 0);
		launch->file[i] = sys_failed(fd) ? -1 : fd;
	}
}

void launch_files_memory(struct launch *launch)
{
	launch_files_open(launch);
	memcpy(launch->p->shared->setup.file, launch->file,
	       sizeof(launch->file));
}

void launch_files_shut(const struct launch *launch)
{
	unsigned i;

	if (launch->made.fd >= 0)
		sys_close(launch->made.fd);
	for (i = 0; i < GL_FILES; i++)
		if (launch->file[i] >= 0)
			sys_close(launch->file[i]);
}
