/*
 * debugfile.c: try places in order; the first file with the right build-id
 * is taken. Never a guess by name: a library that was updated since has the
 * same name and other functions at the same addresses.
 *
 *	binary: -d files, -d directories, the recorded path (under the
 *		sysroot), build-id trees
 *	debug:  the same, with .debug names, and .gnu_debuglink's places
 *
 * Called by the main thread.
 */
#include "cli/symbol/debugfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <libelf.h>

#include "cli/base/grow.h"
#include "cli/base/tell.h"

#define SYSTEM_DEBUG "/usr/lib/debug"

enum match { MATCH_NO_FILE, MATCH_OTHER, MATCH_SAME };

/* Compare; on MATCH_SAME *fd is open. */
static enum match try_descriptor(const struct debugfile_wanted *wanted,
				 int *fd)
{
	enum match match = MATCH_NO_FILE;
	struct stat status;
	const void *id;
	ssize_t size;
	Elf *elf;

	elf = fstat(*fd, &status) == 0 && S_ISREG(status.st_mode) ?
		elf_begin(*fd, ELF_C_READ_MMAP, NULL) : NULL;
	if (elf != NULL && elf_kind(elf) == ELF_K_ELF) {
		size = dwelf_elf_gnu_build_id(elf, &id);
		if (size < 0)
			size = 0;
		match = (size_t)size == wanted->build_id_size &&
			memcmp(id, wanted->build_id, (size_t)size) == 0 ?
			MATCH_SAME : MATCH_OTHER;
	}
	elf_end(elf);
	if (match != MATCH_SAME) {
		close(*fd);
		*fd = -1;
	}
	return match;
}

static enum match try_file(const struct debugfile_wanted *wanted,
			   const char *path, int *fd)
{
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return *fd < 0 ? MATCH_NO_FILE : try_descriptor(wanted, fd);
}

struct search {
	const struct debugfile_places *places;
	const struct debugfile_wanted *wanted;
	char *found;
	int fd;
};

/* Try a path (freed here); true: found, stop. */
static bool try_path(struct search *search, char *path)
{
	if (try_file(search->wanted, path, &search->fd) == MATCH_SAME) {
		search->found = path;
		return true;
	}
	free(path);
	return false;
}

/* What the trace carries itself. */
static bool try_embedded(struct search *search)
{
	const struct debugfile_places *places = search->places;
	const struct debugfile_wanted *wanted = search->wanted;

	if (places->embedded == NULL || wanted->build_id_size == 0)
		return false;
	search->fd = places->embedded(places->embedded_owner,
				      wanted->build_id, wanted->build_id_size);
	if (search->fd < 0 || try_descriptor(wanted, &search->fd) != MATCH_SAME)
		return false;
	search->found = grow_copy(wanted->path, strlen(wanted->path));
	return true;
}

/* DIR/.build-id/ab/cdef….debug, and the same without a suffix. */
static bool try_tree(struct search *search, const char *directory,
		     const char *suffix)
{
	char hex[2 * 64 + 1];
	size_t n = search->wanted->build_id_size;

	if (n < 2 || n > 64)
		return false;
	for (size_t i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", search->wanted->build_id[i]);
	return try_path(search, grow_format("%s/.build-id/%.2s/%s%s",
					    directory, hex, hex + 2, suffix)) ||
		try_path(search, grow_format("%s/%.2s/%s%s", directory, hex,
					     hex + 2, suffix));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What -d names. */
static bool try_given(struct search *search, const char *suffix)
{
	const char *path = search->wanted->path;

	for (size_t i = 0; i < search->places->path_count; i++) {
		const char *given = search->places->paths[i];

		if (try_path(search, grow_copy(given, strlen(given))) ||
		    try_tree(search, given, suffix) ||
		    try_path(search, grow_format("%s%s%s", given, path,
						 suffix)) ||
		    try_path(search, grow_format("%s/%s%s", given,
						 base_name(path), suffix)))
			return true;
	}
	return false;
}

static const char *root_of(const struct debugfile_places *places)
{
	return places->sysroot ? places->sysroot : "";
}

static void explain(const struct debugfile_wanted *wanted, const char *path)
{
	int fd;

	if (try_file(wanted, path, &fd) == MATCH_OTHER)
		tell_note("%s: not the file that was recorded (its build-id "
			  "differs), so its functions have no names: give "
			  "the right one with -d", path);
}

int debugfile_binary(const struct debugfile_places *places,
		     const struct debugfile_wanted *wanted, char **found)
{
	struct search search = { places, wanted, NULL, -1 };
	const char *root = root_of(places);
	char *usual = grow_format("%s%s%s", root, *root == 0 ||
				  wanted->path[0] == '/' ? "" : "/",
				  wanted->path);
	char *debug = grow_format("%s%s", root, SYSTEM_DEBUG);

	/* A path relative to the program's directory may lead somewhere else
	 * from here: only a build-id can tell. */
	if (!try_embedded(&search) &&
	    (wanted->path[0] == '/' || (wanted->build_id_size > 0 &&
					wanted->path[0] != 0)) &&
	    !try_path(&search, grow_copy(usual, strlen(usual))) &&
	    !try_given(&search, "") && !try_tree(&search, debug, "") &&
	    !try_given(&search, ".debug") &&
	    !try_tree(&search, debug, ".debug"))
		explain(wanted, usual);
	free(usual);
	free(debug);
	*found = search.found;
	return search.fd;
}

/* Where a debuglink may point: beside, in .debug/, under /usr/lib/debug. */
static bool try_link(struct search *search, const char *link)
{
	const char *path = search->wanted->path, *root;
	int size = (int)(base_name(path) - path);

	root = root_of(search->places);
	if (strchr(link, '/') != NULL || size == 0)
		return false;
	return try_path(search, grow_format("%s%.*s%s", root, size, path,
					    link)) ||
		try_path(search, grow_format("%s%.*s.debug/%s", root, size,
					     path, link)) ||
		try_path(search, grow_format("%s%s%.*s%s", root, SYSTEM_DEBUG,
					     size, path, link));
}

int debugfile_debug(const struct debugfile_places *places,
		    const struct debugfile_wanted *wanted,
		    const char *debuglink, char **found)
{
	struct search search = { places, wanted, NULL, -1 };
	char *debug = grow_format("%s%s", root_of(places), SYSTEM_DEBUG);

	/* Without a build-id nothing says that they belong together. */
	if (wanted->build_id_size > 0 && !try_given(&search, ".debug") &&
	    !try_tree(&search, debug, ".debug") && debuglink != NULL)
		try_link(&search, debuglink);
	free(debug);
	*found = search.found;
	return search.fd;
}
