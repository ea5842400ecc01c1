/*
 * debugfile.c: tries places in order; the first file with the right build-id is
 * taken. A file is never accepted by its name alone: an updated library has the
 * same name, and other functions at the same addresses.
 *
 *	binary: embedded in the trace, -d, the recorded path under the sysroot,
 *		its name in a library folder of that, build-id trees, the
 *		process's own view of the path while it lives, embedded in a
 *		trace beside it, debuginfod
 *	debug:  embedded, -d with .debug names, build-id trees, the places of
 *		.gnu_debuglink, debuginfod
 *	dwz:    -d, build-id trees, the path in .gnu_debugaltlink, a trace
 *		beside, debuginfod
 *
 * debuginfod: its cache; then the servers, if there are any to ask.
 *
 * A file for another processor than the program's is never accepted, whatever
 * its build-id, even if both have none.
 */
#include "cli/symbol/files/debugfile.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/text/base_name.h"
#include "cli/symbol/elf/elf_tables.h"
#include "cli/symbol/files/debuginfod.h"
#include "cli/symbol/files/process_files.h"
#include "cli/symbol/files/under_root.h"

#define SYSTEM_DEBUG "/usr/lib/debug"
#define ID_MAX ELF_TABLES_ID_MAX

enum match { MATCH_NO_FILE, MATCH_OTHER, MATCH_SAME };

struct build_id {
	uint8_t bytes[ID_MAX];
	size_t size;
	bool has_symbols;	/* has more than .dynsym */
	struct elf_kind kind;
};

static bool has_symbols(const struct elf_tables *elf)
{
	for (uint32_t i = 0; i < elf->sections; i++) {
		const Elf64_Shdr *section = &elf->section[i];
		const char *name = elf_tables_name(elf, section);

		if (section->sh_type == SHT_SYMTAB ||
		    (section->sh_type != SHT_NOBITS &&
		     (strcmp(name, ".debug_info") == 0 ||
		      strcmp(name, ".zdebug_info") == 0)))
			return true;
	}
	return false;
}

static void id_of(struct build_id *id, int fd)
{
	struct elf_tables elf;

	*id = (struct build_id){ .size = 0 };
	if (elf_tables_load_bare(&elf, fd) != 0)
		return;
	id->size = elf_tables_id(&elf, id->bytes);
	assert(id->size <= ID_MAX);
	id->has_symbols = id->size > 0 && has_symbols(&elf);
	id->kind = elf_kind_of(&elf);
	elf_tables_free(&elf);
}

static bool is_elf(int fd)
{
	struct stat status;
	char magic[4];

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
		pread(fd, magic, 4, 0) == 4 && memcmp(magic, ELFMAG, 4) == 0;
}

static bool is_same(const struct debugfile_places *places,
		    const struct debugfile_wanted *wanted,
		    const struct build_id *id)
{
	return id->size == wanted->build_id_size &&
		memcmp(id->bytes, wanted->build_id, id->size) == 0 &&
		elf_kind_agree(&id->kind, &places->kind);
}

/* Compare the file; *fd is closed unless the result is MATCH_SAME. */
static enum match try_descriptor(const struct debugfile_places *places,
				 const struct debugfile_wanted *wanted,
				 int *fd, struct build_id *id)
{
	enum match match = MATCH_NO_FILE;

	if (is_elf(*fd)) {
		id_of(id, *fd);
		match = is_same(places, wanted, id) ? MATCH_SAME : MATCH_OTHER;
	}
	if (match != MATCH_SAME) {
		close(*fd);
		*fd = -1;
	}
	assert((match == MATCH_SAME) == (*fd >= 0));
	return match;
}

static enum match try_file(const struct debugfile_places *places,
			   const struct debugfile_wanted *wanted,
			   const char *path, int *fd, struct build_id *id)
{
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return *fd < 0 ? MATCH_NO_FILE :
		try_descriptor(places, wanted, fd, id);
}

struct search {
	const struct debugfile_places *places;
	const struct debugfile_wanted *wanted;
	bool debug;		/* for a debug file: it must have symbols */
	char *found;
	int fd;
};

/* Try a path (freed here, may be NULL); true: found. */
static bool try_path(struct search *search, char *path)
{
	struct build_id id;

	assert(search->fd < 0 && search->found == NULL);
	if (path != NULL && try_file(search->places, search->wanted, path,
				     &search->fd, &id) == MATCH_SAME) {
		if (id.has_symbols || !search->debug) {
			search->found = path;
			return true;
		}
		close(search->fd);
		search->fd = -1;
	}
	free(path);
	return false;
}

/* The same for a path of the system with this root; NULL: of the host. */
static bool try_rooted(struct search *search, const char *root, char *path)
{
	char *here = under_root(root, path);

	free(path);
	return try_path(search, here);
}

static bool try_carried(struct search *search,
			int (*carried)(void *owner, const uint8_t *build_id,
				       size_t size))
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const struct debugfile_wanted *wanted = search->wanted;
	struct build_id id;

	if (carried == NULL || wanted->build_id_size == 0)
		return false;
	pthread_mutex_lock(&lock);
	search->fd = carried(search->places->embedded_owner,
			     wanted->build_id, wanted->build_id_size);
	pthread_mutex_unlock(&lock);
	if (search->fd < 0 ||
	    try_descriptor(search->places, wanted, &search->fd, &id) !=
	    MATCH_SAME)
		return false;
	search->found = grow_copy(wanted->path, strlen(wanted->path));
	return true;
}

/* The file embedded in the trace. */
static bool try_embedded(struct search *search)
{
	return try_carried(search, search->places->embedded);
}

static bool try_beside(struct search *search)
{
	return try_carried(search, search->places->sidecar);
}

static void to_hex(char hex[2 * ID_MAX + 1], const uint8_t *bytes,
		   size_t size)
{
	hex[0] = 0;
	for (size_t i = 0; i < size && i < ID_MAX; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

/* DIR/.build-id/ab/cdef….debug, and the same without .build-id. */
static bool try_tree(struct search *search, const char *root,
		     const char *directory, const char *suffix)
{
	char hex[2 * ID_MAX + 1];
	size_t n = search->wanted->build_id_size;

	if (n < 2 || n > ID_MAX)
		return false;
	to_hex(hex, search->wanted->build_id, n);
	return try_rooted(search, root, grow_format("%s/.build-id/%.2s/%s%s",
						    directory, hex, hex + 2,
						    suffix)) ||
		try_rooted(search, root, grow_format("%s/%.2s/%s%s", directory,
						     hex, hex + 2, suffix));
}

/* The files and directories of -d. */
static bool try_given(struct search *search, const char *suffix)
{
	const char *path = search->wanted->path;

	for (size_t i = 0; i < search->places->path_count; i++) {
		const char *given = search->places->paths[i];

		if (try_path(search, grow_copy(given, strlen(given))) ||
		    try_tree(search, NULL, given, suffix))
			return true;
		if (path[0] != 0 &&
		    (try_path(search, grow_format("%s/%s%s", given, path,
						  suffix)) ||
		     try_path(search, grow_format("%s/%s%s", given,
						  base_name(path), suffix))))
			return true;
	}
	return false;
}

/* A cross compiler's sysroot has one library folder where the target has one
 * for each architecture. */
static bool try_folders(struct search *search)
{
	static const char *const folders[] = { "lib", "lib64", "usr/lib",
					       "usr/lib64" };
	const char *name = base_name(search->wanted->path);
	const char *root = search->places->sysroot;

	if (root == NULL || search->wanted->build_id_size == 0)
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (try_rooted(search, root, grow_format("%s/%s", folders[i],
							 name)))
			return true;
	return false;
}

/* Under /usr/lib/debug of the recorded system, and of the host. */
static bool try_trees(struct search *search, const char *suffix)
{
	const char *root = search->places->sysroot;

	return try_tree(search, root, SYSTEM_DEBUG, suffix) ||
		(root != NULL && try_tree(search, NULL, SYSTEM_DEBUG, suffix));
}

/* The recorded path, on the recorded system. But the program of an emulator is
 * on the host, and only its libraries are below a sysroot. */
static bool try_recorded(struct search *search)
{
	const char *path = search->wanted->path;
	const char *root = search->places->sysroot;
	struct elf_kind here = elf_kind_here();

	return try_path(search, under_root(root, path)) ||
		try_folders(search) ||
		(root != NULL && path[0] == '/' &&
		 search->wanted->build_id_size > 0 &&
		 !elf_kind_agree(&search->places->kind, &here) &&
		 try_path(search, grow_copy(path, strlen(path))));
}

static bool try_debuginfod(struct search *search, enum debuginfod_kind kind)
{
	const struct debugfile_wanted *wanted = search->wanted;

	return try_path(search, debuginfod_cached(kind, wanted->build_id,
						  wanted->build_id_size)) ||
		(!search->places->no_debuginfod &&
		 try_path(search, debuginfod_fetch(kind, wanted->build_id, wanted->build_id_size,
						   search->places->notes)));
}

/* As the process sees it: in its container, or deleted since. */
static bool try_process(struct search *search)
{
	const struct debugfile_wanted *wanted = search->wanted;
	struct build_id id;

	/* with a sysroot, the process was not on this system */
	if (wanted->pid <= 0 || wanted->build_id_size == 0 ||
	    search->places->sysroot != NULL)
		return false;
	if (try_path(search, process_files_path(wanted->pid, wanted->path)))
		return true;
	search->fd = process_files_mapped(wanted->pid, wanted->path);
	if (search->fd < 0 ||
	    try_descriptor(search->places, wanted, &search->fd, &id) !=
	    MATCH_SAME)
		return false;
	search->found = grow_copy(wanted->path, strlen(wanted->path));
	return true;
}

/* ---- messages ---- */

/* A trace from another machine may lack all of its files. */
#define MISSING_TOLD 8

static void explain_missing(const struct debugfile_places *places,
			    const char *path, const char *wants)
{
	unsigned before = places->missing == NULL ? 0 :
			  atomic_fetch_add(places->missing, 1);

	if (before < MISSING_TOLD)
		notes_hint(places->notes, "%s: not found (deleted, or in a "
			   "container), so its functions have no names: give "
			   "the file with build-id %s with -d, or its root "
			   "directory with --sysroot", path, wants);
	else if (before == MISSING_TOLD)
		notes_hint(places->notes, "%s: not found either, and maybe "
			   "more: they are not listed", path);
}

/* A hint about a file of another build that -d led to: one with the same name,
 * or the only one given. */
static void explain_given(const struct debugfile_places *places,
			  const struct debugfile_wanted *wanted)
{
	const char *name = base_name(wanted->path);

	for (size_t i = 0; i < places->path_count; i++) {
		const char *given = places->paths[i];
		char *inside = grow_format("%s/%s", given, name);
		bool is_it = places->path_count == 1 ||
			strcmp(base_name(given), name) == 0;
		const char *path = given;
		char has[2 * ID_MAX + 1];
		struct build_id id;
		enum match match;
		int fd;

		match = is_it ? try_file(places, wanted, given, &fd, &id) :
			MATCH_NO_FILE;
		if (match == MATCH_NO_FILE) {
			path = inside;
			match = try_file(places, wanted, inside, &fd, &id);
		}
		if (match == MATCH_SAME)
			close(fd);
		if (match == MATCH_OTHER) {
			to_hex(has, id.bytes, id.size);
			notes_hint(places->notes, "%s: given with -d, but not "
				   "for %s: its build-id is %s", path, name,
				   id.size ? has : "missing");
		}
		free(inside);
	}
}

static void explain_at(const struct debugfile_places *places,
		       const struct debugfile_wanted *wanted, const char *path)
{
	char has[2 * ID_MAX + 1], wants[2 * ID_MAX + 1];
	struct build_id id;
	enum match match;
	int fd;

	match = try_file(places, wanted, path, &fd, &id);
	to_hex(wants, wanted->build_id, wanted->build_id_size);
	if (match == MATCH_OTHER && !elf_kind_agree(&id.kind, &places->kind)) {
		notes_hint(places->notes, "%s: not the file that was recorded, "
			   "so its functions have no names: it is for another "
			   "processor: give %s%s with -d, or its root "
			   "directory with --sysroot", path,
			   wants[0] ? "the one with build-id " :
			   "the right one", wants);
	} else if (match == MATCH_OTHER) {
		to_hex(has, id.bytes, id.size);
		notes_hint(places->notes, "%s: not the file that was recorded, "
			   "so its functions have no names: its build-id is "
			   "%s, the trace has %s: give the right one with -d",
			   path, id.size ? has : "missing",
			   wanted->build_id_size ? wants : "none");
	} else if (match == MATCH_NO_FILE && wanted->build_id_size > 0) {
		explain_missing(places, path, wants);
	}
	if (match == MATCH_SAME)
		close(fd);
	else
		explain_given(places, wanted);
}

static void explain(const struct debugfile_places *places,
		    const struct debugfile_wanted *wanted)
{
	char *usual;

	if (places->notes == NULL)
		return;
	usual = under_root(places->sysroot, wanted->path);
	explain_at(places, wanted, usual ? usual : wanted->path);
	free(usual);
}

/* ---- searches ---- */

int debugfile_binary(const struct debugfile_places *places,
		     const struct debugfile_wanted *wanted, char **found)
{
	struct search search = { places, wanted, false, NULL, -1 };
	bool absolute = wanted->path[0] == '/';
	bool has_id = wanted->build_id_size > 0;

	/* A relative path may lead to another file from here: only a build-id
	 * can verify it. */
	if (places->made_up)
		try_embedded(&search);
	else if ((absolute || (has_id && wanted->path[0] != 0)) &&
	    !try_embedded(&search) && !try_given(&search, "") &&
	    !try_recorded(&search) &&
	    !try_trees(&search, "") && !try_process(&search) &&
	    !try_given(&search, ".debug") && !try_trees(&search, ".debug") &&
	    !try_beside(&search) &&
	    !try_debuginfod(&search, DEBUGINFOD_EXECUTABLE) &&
	    !try_debuginfod(&search, DEBUGINFOD_DEBUG) && absolute)
		explain(places, wanted);
	assert((search.fd >= 0) == (search.found != NULL));
	*found = search.found;
	return search.fd;
}

/* Possible paths of a debuglink: beside, in .debug/, under /usr/lib/debug. */
static bool try_link(struct search *search, const char *link)
{
	const char *path = search->wanted->path;
	const char *root = search->places->sysroot;
	int size = (int)(base_name(path) - path);

	if (strchr(link, '/') != NULL || size == 0)
		return false;
	return try_rooted(search, root, grow_format("%.*s%s", size, path,
						    link)) ||
		try_rooted(search, root, grow_format("%.*s.debug/%s", size,
						     path, link)) ||
		try_rooted(search, root, grow_format("%s%.*s%s", SYSTEM_DEBUG,
						     size, path, link));
}

/* A name in each of the directories of -d. */
static bool try_given_name(struct search *search, const char *name)
{
	for (size_t i = 0; i < search->places->path_count; i++)
		if (try_path(search, grow_format("%s/%s",
						 search->places->paths[i],
						 base_name(name))))
			return true;
	return false;
}

/* The file here, in full: a trace may embed a reduced one. */
static bool try_whole(struct search *search)
{
	return search->places->embedded != NULL &&
		search->wanted->path[0] == '/' && try_recorded(search);
}

int debugfile_debug(const struct debugfile_places *places,
		    const struct debugfile_wanted *wanted,
		    const char *debuglink, char **found)
{
	struct search search = { places, wanted, true, NULL, -1 };

	/* Without a build-id, binary and debug file cannot be matched. */
	if (wanted->build_id_size > 0 && !try_given(&search, ".debug") &&
	    !(debuglink != NULL && try_given_name(&search, debuglink)) &&
	    !try_trees(&search, ".debug") &&
	    !(debuglink != NULL && try_link(&search, debuglink)) &&
	    !try_whole(&search))
		try_debuginfod(&search, DEBUGINFOD_DEBUG);
	assert((search.fd >= 0) == (search.found != NULL));
	*found = search.found;
	return search.fd;
}

int debugfile_alt(const struct debugfile_places *places,
		  const struct debugfile_wanted *wanted, const char *sidecar,
		  char **found)
{
	struct search search = { places, wanted, true, NULL, -1 };
	const char *path = wanted->path;
	int size = (int)(base_name(sidecar) - sidecar);
	char *usual = path[0] == '/' ? under_root(places->sysroot, path) :
		grow_format("%.*s%s", size, sidecar, path);

	if (!try_embedded(&search) && !try_given(&search, ".debug") &&
	    !try_given_name(&search, path) && !try_trees(&search, ".debug") &&
	    !(usual != NULL &&
	      try_path(&search, grow_copy(usual, strlen(usual)))) &&
	    !try_beside(&search) &&
	    !try_debuginfod(&search, DEBUGINFOD_DEBUG)) {
		char hex[2 * ID_MAX + 1];

		to_hex(hex, wanted->build_id, wanted->build_id_size);
		notes_hint(places->notes, "%s: a part of it is in %s "
			   "(build-id %s), which was not found: names may be "
			   "missing: install its package, or give it with -d",
			   sidecar, path, hex);
	}
	free(usual);
	assert((search.fd >= 0) == (search.found != NULL));
	*found = search.found;
	return search.fd;
}

char *debugfile_split(const struct debugfile_places *places,
		      const char *sidecar, const char *directory,
		      const char *name, size_t i)
{
	int size = (int)(base_name(sidecar) - sidecar);
	char *compiled, *here;
	const char *given;

	if (i < 2 * places->path_count) {
		given = places->paths[i / 2];
		return grow_format("%s/%s", given, i % 2 ? base_name(name) :
				   name);
	}
	switch (i - 2 * places->path_count) {
	case 0:
		return grow_format("%.*s%s", size, sidecar, base_name(name));
	case 1:
		compiled = name[0] == '/' || directory == NULL ?
			grow_copy(name, strlen(name)) :
			grow_format("%s/%s", directory, name);
		here = under_root(places->sysroot, compiled);
		free(compiled);
		return here;
	default:
		return NULL;
	}
}
