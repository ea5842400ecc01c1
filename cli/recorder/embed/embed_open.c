/*
 * embed_open.c: see the header. Where is looked, in this order:
 *
 *	binary: its path; what the target is a program of, which also leads to
 *	        a file that was removed; its path below the program's root
 *	        directory (another mount namespace); what is mapped where, which
 *	        leads to a removed library if the kernel lets us
 *	debug:  the tree of build-ids below /usr/lib/debug, .gnu_debuglink
 *
 * The recorder has its own root directory, that of the program's start: a path
 * means the same as then, whatever the program did since. The program's file is
 * one that it has inherited.
 */
#include "cli/recorder/embed/embed_open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/target_file.h"
#include "cli/recorder/proc_file.h"
#include "preload/base/text.h"

#define EMBED_OPEN_DEBUG "/usr/lib/debug"

/* Of a path, the length up to and with its last slash. */
static size_t embed_open_folder(const char *path)
{
	size_t n = strlen(path);

	while (n && path[n - 1] != '/')
		n--;
	return n;
}

/* As the kernel writes it: without zeroes in front. */
static void embed_open_hex(struct text *text, uint64_t value)
{
	unsigned digits = 1;

	while (digits < 16 && value >> (4 * digits))
		digits++;
	text_hex(text, value, digits);
}

int embed_open_plain(const char *path)
{
	struct stat st;
	int fd;

	/* opening a device may do something */
	if (stat(path, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* the path may lead elsewhere by now */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

/* A file, if it has the build-id. */
static int embed_open_path(const struct embed_wanted *wanted,
			   const char *path, struct elf_tables *file)
{
	uint8_t id[ELF_TABLES_ID_MAX];
	int fd = embed_open_plain(path), err;

	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR ? -ENOENT : fd;
	err = elf_tables_load(file, fd);
	if (!err && (elf_tables_id(file, id) != wanted->id_size ||
		     memcmp(id, wanted->id, wanted->id_size) != 0))
		err = -ESTALE;
	if (!err)
		return fd;
	elf_tables_free(file);
	close(fd);
	file->fd = -1;
	return err;
}

/* The first error that is no mere absence says most. */
static bool embed_open_try(const struct embed_wanted *wanted,
			   const struct text *path,
			   struct elf_tables *file, int *result)
{
	int fd = path->full ? -ENAMETOOLONG :
			      embed_open_path(wanted, path->data, file);

	if (fd >= 0 || *result == -ENOENT)
		*result = fd;
	return fd >= 0;
}

/* /proc/PID/NAME */
static void embed_open_proc(struct text *text, int pid, const char *name)
{
	text_put(text, "/proc/");
	text_number(text, pid);
	text_char(text, '/');
	text_put(text, name);
}

int embed_open_binary(const struct embed_wanted *wanted,
		      struct elf_tables *file)
{
	bool absolute = wanted->path[0] == '/';
	bool ours = proc_file_is_ours();
	char path[GT_PATH_MAX], exe[64];
	int result = -ENOENT;
	struct text text;

	file->fd = -1;
	text_init(&text, path, sizeof(path));
	text_put(&text, wanted->path);
	if (absolute && embed_open_try(wanted, &text, file, &result))
		return result;
	text_init(&text, path, sizeof(path));
	target_file_path(GL_FILE_EXE, exe, sizeof(exe));
	text_put(&text, exe);
	if (wanted->main && exe[0] && embed_open_try(wanted, &text, file, &result))
		return result;
	text_init(&text, path, sizeof(path));
	embed_open_proc(&text, wanted->pid, "root");
	text_put(&text, wanted->path);
	if (absolute && ours && embed_open_try(wanted, &text, file, &result))
		return result;
	if (wanted->start && ours) {
		text_init(&text, path, sizeof(path));
		embed_open_proc(&text, wanted->pid, "map_files/");
		embed_open_hex(&text, wanted->start);
		text_char(&text, '-');
		embed_open_hex(&text, wanted->end);
		if (embed_open_try(wanted, &text, file, &result))
			return result;
	}
	if (wanted->held >= 0) {
		text_init(&text, path, sizeof(path));
		text_put(&text, "/proc/self/fd/");
		text_number(&text, wanted->held);
		embed_open_try(wanted, &text, file, &result);
	}
	return result;
}

static bool embed_open_tree(const struct embed_wanted *wanted, char *path,
			    struct elf_tables *file, int *result)
{
	struct text text;
	uint32_t i;

	text_init(&text, path, GT_PATH_MAX);
	text_put(&text, EMBED_OPEN_DEBUG "/.build-id/");
	for (i = 0; i < wanted->id_size; i++) {
		text_hex(&text, wanted->id[i], 2);
		if (i == 0)
			text_char(&text, '/');
	}
	text_put(&text, ".debug");
	return wanted->id_size > 1 &&
	       embed_open_try(wanted, &text, file, result);
}

/* PREFIX, the directory of `beside`, MIDDLE and a name. */
static bool embed_open_beside(const struct embed_wanted *wanted,
			      const char *const parts[2], const char *beside,
			      const char *name, char *path,
			      struct elf_tables *file, int *result)
{
	size_t folder = embed_open_folder(beside);
	struct text text;

	text_init(&text, path, GT_PATH_MAX);
	text_put(&text, parts[0]);
	text_bytes(&text, beside, folder);
	text_put(&text, parts[1]);
	text_put(&text, name);
	return folder && embed_open_try(wanted, &text, file, result);
}

int embed_open_debug(const struct embed_wanted *wanted,
		     const struct elf_tables *binary, char *path,
		     struct elf_tables *file)
{
	static const char *const places[][2] = {
		{ "", "" }, { "", ".debug/" }, { EMBED_OPEN_DEBUG, "" },
	};
	int result = -ENOENT;
	char name[GT_PATH_MAX];
	unsigned i;

	file->fd = -1;
	if (embed_open_tree(wanted, path, file, &result) ||
	    !elf_tables_link(binary, name, sizeof(name)) ||
	    embed_open_folder(name))
		return result;
	for (i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (embed_open_beside(wanted, places[i], wanted->path, name,
				      path, file, &result))
			break;
	return result;
}

int embed_open_alternate(const struct elf_tables *of, const char *path,
			 struct embed_wanted *wanted,
			 struct elf_tables *file)
{
	static const char *const here[2] = { "", "" };
	char name[GT_PATH_MAX], found[GT_PATH_MAX];
	int result = -ENOENT;
	struct text text;

	file->fd = -1;
	wanted->id_size = elf_tables_alternate(of, name, sizeof(name),
					      wanted->id);
	if (!wanted->id_size)
		return -ENOENT;
	text_init(&text, found, sizeof(found));
	text_put(&text, name);
	if ((name[0] == '/' && embed_open_try(wanted, &text, file, &result)) ||
	    (name[0] != '/' && embed_open_beside(wanted, here, path, name,
						 found, file, &result)) ||
	    embed_open_tree(wanted, found, file, &result))
		memcpy(wanted->path, found, sizeof(found));
	return result;
}
