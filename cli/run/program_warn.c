/*
 * program_warn.c: see program_warn.h. The file is untrusted. Warnings do not
 * change how the program runs.
 */
#include "cli/run/program_warn.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/base/terminal/log.h"
#include "cli/run/processor.h"
#include "cli/symbol/elf/elf_tables.h"

enum kind { KIND_UNKNOWN, KIND_ELF, KIND_OTHER };

/* The kind of an open file; fd may be -1. */
static enum kind kind_of(int fd)
{
	char magic[SELFMAG];

	if (fd < 0 || pread(fd, magic, SELFMAG, 0) != SELFMAG)
		return KIND_UNKNOWN;
	return memcmp(magic, ELFMAG, SELFMAG) == 0 ? KIND_ELF : KIND_OTHER;
}

static enum kind kind_at(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	enum kind kind = kind_of(fd);

	if (fd >= 0)
		close(fd);
	return kind;
}

bool program_is_elf(const char *path)
{
	return kind_at(path) == KIND_ELF;
}

/* Whether it starts with other privileges than ours (set-user-ID,
 * set-group-ID). The loader then ignores LD_PRELOAD. */
static bool changes_rights(const char *program)
{
	struct stat status;
	struct statvfs space;

	/* these bits have no effect on a script */
	if (stat(program, &status) != 0 || statvfs(program, &space) != 0 ||
	    (space.f_flag & ST_NOSUID) != 0 ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) > 0 ||
	    kind_at(program) == KIND_OTHER)
		return false;
	return ((status.st_mode & S_ISUID) && status.st_uid != getuid()) ||
		((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) &&
		 status.st_gid != getgid());
}

/* *whole: the file has all bytes of its segments. *loads: it has a loader. Both
 * are false if its headers are missing. */
static void look(int fd, bool *whole, bool *loads)
{
	struct elf_tables file;

	*whole = elf_tables_load_bare(&file, fd) == 0;
	*loads = false;
	for (uint32_t i = 0; *whole && i < file.phdrs; i++) {
		const Elf64_Phdr *p = &file.phdr[i];

		if (p->p_type == PT_INTERP)
			*loads = true;
		if (p->p_type == PT_LOAD &&
		    !elf_tables_within(p->p_offset, p->p_filesz, file.size))
			*whole = false;
	}
	elf_tables_free(&file);
}

static void warn_of_parts(const char *program, int fd)
{
	bool whole, loads;

	look(fd, &whole, &loads);
	if (!whole)
		log_note("%s: the file is shorter than its headers say, so it "
			 "may be truncated and fail: build or copy it "
			 "again", program);
	else if (!loads)
		log_error("%s: is statically linked, so no library can be "
			  "preloaded and nothing will be recorded: link it "
			  "dynamically", program);
}

void program_warn_emulated(const char *program)
{
	int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (kind_of(fd) == KIND_ELF)
		warn_of_parts(program, fd);
	if (fd >= 0)
		close(fd);
}

bool program_is_static(const char *program)
{
	int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool whole = false, loads = false;

	if (kind_of(fd) == KIND_ELF)
		look(fd, &whole, &loads);
	if (fd >= 0)
		close(fd);
	return whole && !loads;
}

bool program_warn(const char *program, const char *library)
{
	if (changes_rights(program)) {
		log_error("%s: is set-user-ID or set-group-ID, so the loader "
			  "ignores LD_PRELOAD and nothing will be recorded: "
			  "run it as its owner", program);
		return false;
	}
	if (!processor_report_unported(program, "nothing will be recorded") &&
	    processor_of(program) == processor_of(library))
		program_warn_emulated(program);
	return true;
}
