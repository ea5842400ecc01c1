/*
 * patch_plan_libraries.c: see patch_plan_libraries.h.
 *
 * A library that is not found here is left out of the patch plan; if it has an
 * allocator, the recorder reports that its allocations are not recorded.
 */
#include "cli/run/patch_plan_libraries.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/run/patch_plan_file.h"

#define LIBRARIES_MAX 1000

static const char *const usual =
	"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:"
	"/lib:/usr/lib:/usr/local/lib:/usr/local/lib/x86_64-linux-gnu";

struct search {
	struct patch_plan_libraries *libraries;
	const char *of;			/* path of the file that needs them */
	const char *rpath, *runpath;	/* NULL: none */
	const char **needed;
	size_t needed_count, needed_capacity;
};

static void note(void *data, enum patch_plan_dynamic what, const char *text)
{
	struct search *search = data;

	if (what == PATCH_PLAN_RPATH) {
		search->rpath = text;
	} else if (what == PATCH_PLAN_RUNPATH) {
		search->runpath = text;
	} else {
		GROW(search->needed, search->needed_count,
		     search->needed_capacity);
		search->needed[search->needed_count++] = text;
	}
}

/* Takes ownership of the path; false: no such file. */
static bool add_file(struct patch_plan_libraries *libraries, char *path)
{
	char *real = realpath(path, NULL);

	free(path);
	if (real == NULL)
		return false;
	for (size_t i = 0; i < libraries->path_count; i++)
		if (strcmp(libraries->paths[i], real) == 0) {
			free(real);
			return true;
		}
	if (libraries->path_count >= LIBRARIES_MAX) {
		free(real);
		return true;
	}
	GROW(libraries->paths, libraries->path_count,
	     libraries->path_capacity);
	libraries->paths[libraries->path_count++] = real;
	return true;
}

static bool is_of_kind(const struct patch_plan_libraries *libraries,
		       const char *path)
{
	struct patch_plan_file file;
	struct elf_kind kind;
	bool is = patch_plan_file_open_any(&file, path);

	if (is) {
		kind = elf_kind_of(&file.elf->tables);
		is = elf_kind_agree(&kind, &libraries->kind);
	}
	patch_plan_file_close(&file);
	return is;
}

/* The same; for an emulated program the prefix is searched first. */
static bool add(struct patch_plan_libraries *libraries, char *path)
{
	char *places[2] = { NULL, path };

	if (libraries->prefix == NULL)
		return add_file(libraries, path);
	if (path[0] == '/')
		places[0] = grow_format("%s%s", libraries->prefix, path);
	for (size_t i = 0; i < 2; i++) {
		if (places[i] == NULL || !is_of_kind(libraries, places[i]))
			continue;
		free(places[1 - i]);
		return add_file(libraries, places[i]);
	}
	free(places[0]);
	free(path);
	return false;
}

/* A directory of a list, with $ORIGIN replaced by the directory of the file. */
static char *expand(const char *directory, size_t length, const char *of)
{
	static const char *const words[] = { "$ORIGIN", "${ORIGIN}" };
	const char *slash = strrchr(of, '/');

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(words[i]);

		if (length >= n && strncmp(directory, words[i], n) == 0 &&
		    slash != NULL)
			return grow_format("%.*s%.*s", (int)(slash - of), of,
					   (int)(length - n), directory + n);
	}
	return grow_copy(directory, length);
}

static bool find_in(struct search *search, const char *list, const char *name)
{
	while (list != NULL && *list != 0) {
		size_t length = strcspn(list, ":;");
		char *directory = expand(list, length, search->of);
		char *path = grow_format("%s/%s", *directory ? directory :
					 ".", name);

		free(directory);
		if (add(search->libraries, path))
			return true;
		list += length + (list[length] != 0);
	}
	return false;
}

static void find(struct search *search, const char *name)
{
	if (strchr(name, '/') != NULL) {
		add(search->libraries, grow_copy(name, strlen(name)));
		return;
	}
	if ((search->runpath == NULL &&
	     find_in(search, search->rpath, name)) ||
	    find_in(search, getenv("LD_LIBRARY_PATH"), name) ||
	    find_in(search, search->runpath, name))
		return;
	find_in(search, search->libraries->prefix != NULL ?
		search->libraries->usual : usual, name);
}

void patch_plan_libraries_add(struct patch_plan_libraries *libraries,
			      const struct patch_plan_file *file, size_t index)
{
	struct search search = { .libraries = libraries };
	char *of = grow_copy(libraries->paths[index],
			     strlen(libraries->paths[index]));

	search.of = of;
	patch_plan_file_dynamic(file, note, &search);
	for (size_t i = 0; i < search.needed_count; i++)
		find(&search, search.needed[i]);
	free(search.needed);
	free(of);
}

void patch_plan_libraries_emulated(struct patch_plan_libraries *libraries,
				   const char *program, const char *prefix,
				   const char *triplet)
{
	struct patch_plan_file file;

	if (patch_plan_file_open_any(&file, program)) {
		libraries->kind = elf_kind_of(&file.elf->tables);
		libraries->prefix = prefix;
		libraries->usual = grow_format(
			"/lib/%s:/usr/lib/%s:/lib:/usr/lib:/lib64:/usr/lib64:"
			"/usr/local/lib", triplet, triplet);
		add_file(libraries, grow_copy(program, strlen(program)));
	}
	patch_plan_file_close(&file);
	for (size_t i = 0; i < libraries->path_count; i++) {
		if (patch_plan_file_open_any(&file, libraries->paths[i]))
			patch_plan_libraries_add(libraries, &file, i);
		patch_plan_file_close(&file);
	}
}

void patch_plan_libraries_move(struct patch_plan_libraries *libraries,
			       struct patch_plan_libraries *to)
{
	for (size_t i = 0; i < libraries->path_count; i++) {
		size_t k = 0;

		while (k < to->path_count &&
		       strcmp(to->paths[k], libraries->paths[i]) != 0)
			k++;
		if (k < to->path_count) {
			free(libraries->paths[i]);
			continue;
		}
		GROW(to->paths, to->path_count, to->path_capacity);
		to->paths[to->path_count++] = libraries->paths[i];
	}
	free(libraries->paths);
	memset(libraries, 0, sizeof(*libraries));
}

void patch_plan_libraries_free(struct patch_plan_libraries *libraries)
{
	for (size_t i = 0; i < libraries->path_count; i++)
		free(libraries->paths[i]);
	free(libraries->paths);
	free(libraries->usual);
}
