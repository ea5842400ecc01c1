/*
 * embed_open.c: see the header. Places searched, in this order:
 *
 *	binary: its path; for the program itself /proc/PID/exe, which also leads
 *	        to a removed file; its path below the program's root directory
 *	        (another mount namespace); /proc/PID/map_files, which also
 *	        leads to a removed library, if the kernel permits
 *	debug:  the tree of build-ids below /usr/lib/debug, .gnu_debuglink
 *
 * The recorder keeps the root directory of the program's start, so a path still
 * means the same file, whatever the program did since. The recorder inherits a
 * descriptor of the program's file.
 */
#include "cli/recorder/embed/embed_open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/base/pathname.h"
#include "cli/recorder/base/proc_file.h"
#include "cli/recorder/process/target_file.h"

#define EMBED_OPEN_DEBUG "/usr/lib/debug"

int embed_open_plain(const char *path)
{
	struct stat st;
	int fd;

	/* opening a device may have side effects */
	if (stat(path, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* the path may lead to another file now */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

/* Opens a file, if it has the build-id. */
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

/* Keeps the first error other than -ENOENT, as the most informative one. */
static bool embed_open_try(const struct embed_wanted *wanted, const char *path,
			   bool fits, struct elf_tables *file, int *result)
{
	int fd = fits ? embed_open_path(wanted, path, file) : -ENAMETOOLONG;

	if (fd >= 0 || *result == -ENOENT)
		*result = fd;
	return fd >= 0;
}

int embed_open_binary(const struct embed_wanted *wanted,
		      struct elf_tables *file)
{
	bool absolute = wanted->path[0] == '/';
	bool ours = proc_file_is_ours();
	char path[GT_PATH_MAX];
	int result = -ENOENT;
	bool fits;

	file->fd = -1;
	if (absolute &&
	    embed_open_try(wanted, wanted->path, true, file, &result))
		return result;
	target_file_path(GL_FILE_EXE, path, sizeof(path));
	if (wanted->main && path[0] &&
	    embed_open_try(wanted, path, true, file, &result))
		return result;
	fits = pathname_print(path, sizeof(path), "/proc/%d/root%s",
			      wanted->pid, wanted->path);
	if (absolute && ours &&
	    embed_open_try(wanted, path, fits, file, &result))
		return result;
	/* as the kernel prints it: without leading zeroes */
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 wanted->pid, wanted->start, wanted->end);
	if (wanted->start && ours &&
	    embed_open_try(wanted, path, true, file, &result))
		return result;
	if (wanted->held >= 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", wanted->held);
		embed_open_try(wanted, path, true, file, &result);
	}
	return result;
}

static bool embed_open_tree(const struct embed_wanted *wanted, char *path,
			    struct elf_tables *file, int *result)
{
	char id[2 * ELF_TABLES_ID_MAX + 1] = "";
	uint32_t i;

	for (i = 0; i < wanted->id_size; i++)
		snprintf(id + 2 * i, sizeof(id) - 2 * i, "%02x",
			 wanted->id[i]);
	snprintf(path, GT_PATH_MAX, EMBED_OPEN_DEBUG "/.build-id/%.2s/%s.debug",
		 id, id + 2);
	return wanted->id_size > 1 &&
	       embed_open_try(wanted, path, true, file, result);
}

/* Opens the path made of parts[0], the directory of `beside`, parts[1] and a
 * name. */
static bool embed_open_beside(const struct embed_wanted *wanted,
			      const char *const rotation[2], const char *beside,
			      const char *name, char *path,
			      struct elf_tables *file, int *result)
{
	size_t folder = pathname_base(beside) - beside;
	bool fits = pathname_print(path, GT_PATH_MAX, "%s%.*s%s%s", rotation[0],
				   (int)folder, beside, rotation[1], name);

	return folder && embed_open_try(wanted, path, fits, file, result);
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
	    pathname_base(name) != name)
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

	file->fd = -1;
	wanted->id_size = elf_tables_alternate(of, name, sizeof(name),
					      wanted->id);
	if (!wanted->id_size)
		return -ENOENT;
	snprintf(found, sizeof(found), "%s", name);
	if ((name[0] == '/' &&
	     embed_open_try(wanted, found, true, file, &result)) ||
	    (name[0] != '/' && embed_open_beside(wanted, here, path, name,
						 found, file, &result)) ||
	    embed_open_tree(wanted, found, file, &result))
		memcpy(wanted->path, found, sizeof(found));
	return result;
}
