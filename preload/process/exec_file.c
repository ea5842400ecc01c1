/*
 * exec_file.c: see exec_file.h. The first bytes of a file decide: an ELF file
 * has its processor, a script the path of its interpreter. Any other file is
 * run by /bin/sh, if at all (execvp).
 *
 * An emulator opens files below its prefix first, but executes the path as
 * given. So the path is opened relative to a descriptor of the root directory,
 * which avoids the prefix. But /proc/self/exe is the emulated program only by
 * its absolute path.
 *
 * The caller knows that files may be opened and read (ban.h).
 */
#include "preload/process/exec_file.h"

#include <elf.h>
#include <linux/limits.h>
#include <stdint.h>
#include <string.h>

#include "preload/base/sys.h"
#include "preload/base/text.h"
#include "unwind/base/memory.h"
#include "unwind/elf/elfmap.h"

#define EXEC_FILE_START 256	/* bytes that the kernel reads */
#define EXEC_FILE_SCRIPTS 4	/* an interpreter may be a script */
#define EXEC_FILE_MACHINE 18	/* offset of e_machine, in all ELF files */
#define EXEC_FILE_SHELL "/bin/sh"
#define EXEC_FILE_PATH "/bin:/usr/bin"
#define EXEC_FILE_PROC "/proc/"	/* not below a prefix */
#define EXEC_FILE_ROOT EXEC_FILE_PROC "self/root"

static int exec_file_open(const char *path)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	long root, fd;

	if (!unwind_emulated || path[0] != '/' ||
	    strncmp(path, EXEC_FILE_PROC, sizeof(EXEC_FILE_PROC) - 1) == 0)
		return (int)sys_open(path, flags, 0);
	root = sys_open(EXEC_FILE_ROOT, O_PATH | O_CLOEXEC, 0);
	if (sys_failed(root))
		return (int)sys_open(path, flags, 0);
	while (*path == '/')
		path++;
	fd = arch_syscall4(__NR_openat, root, (long)path, flags, 0);
	sys_close((int)root);
	return (int)fd;
}

static bool exec_file_is_elf(const char *start, long n)
{
	return n >= EXEC_FILE_MACHINE + 2 &&
	       memcmp(start, ELFMAG, SELFMAG) == 0;
}

/* Whether the ELF header is for our machine. In a file of our byte order its
 * words are as in memory. */
static bool exec_file_is_ours(const char *start)
{
	static const uint16_t machine = ARCH_ELF_MACHINE;

	return start[EI_CLASS] == ELFMAP_CLASS &&
	       memcmp(start + EXEC_FILE_MACHINE, &machine, sizeof(machine)) ==
		       0;
}

/* Path of the interpreter of a script with this start. */
static const char *exec_file_interpreter(char start[EXEC_FILE_START + 1],
					 long n)
{
	char *path = start + 2;

	start[n] = '\0';
	if (n < 2 || memcmp(start, "#!", 2) != 0)
		return EXEC_FILE_SHELL;
	while (*path == ' ' || *path == '\t')
		path++;
	for (n = 0; path[n] && path[n] != ' ' && path[n] != '\t' &&
		    path[n] != '\n'; n++)
		;
	path[n] = '\0';
	return path;
}

/* Reads the start; number of bytes, or -errno. Closes fd. */
static long exec_file_take(int fd, char start[EXEC_FILE_START + 1])
{
	long n = sys_failed(fd) ? fd : sys_read(fd, start, EXEC_FILE_START);

	if (!sys_failed(fd))
		sys_close(fd);
	return n;
}

static bool exec_file_check(char start[EXEC_FILE_START + 1], long n)
{
	unsigned scripts;

	for (scripts = 0; scripts < EXEC_FILE_SCRIPTS && n > 0; scripts++) {
		if (exec_file_is_elf(start, n))
			return !exec_file_is_ours(start);
		n = exec_file_take(exec_file_open(exec_file_interpreter(
						start, n)), start);
	}
	return false;
}

bool exec_file_foreign(int from, const char *path)
{
	char start[EXEC_FILE_START + 1];
	long n = 0;

	if (!path)
		return false;
	if (!*path)
		n = arch_pread(from, start, EXEC_FILE_START, 0);
	else if (*path == '/' || from == AT_FDCWD)
		n = exec_file_take(exec_file_open(path), start);
	return exec_file_check(start, n);
}

bool exec_file_foreign_in(const char *list, const char *name)
{
	char start[EXEC_FILE_START + 1], path[PATH_MAX];
	struct text text;
	long n = 0;

	if (!name || !*name)
		return false;
	if (text_base_name(name, strlen(name)) != name)
		return exec_file_foreign(AT_FDCWD, name);
	for (list = list ? list : EXEC_FILE_PATH; n <= 0; list++) {
		size_t part = 0;

		while (list[part] && list[part] != ':')
			part++;
		text_init(&text, path, sizeof(path));
		text_bytes(&text, list, part);
		if (part)
			text_char(&text, '/');
		text_put(&text, name);
		n = exec_file_take(exec_file_open(path), start);
		list += part;
		if (!*list)
			break;
	}
	return exec_file_check(start, n);
}
