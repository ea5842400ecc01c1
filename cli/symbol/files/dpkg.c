/*
 * dpkg.c: /var/lib/dpkg/info/PACKAGE[:ARCH].list has a path on each line. If
 * /lib is a link to /usr/lib, a package may list either path, while mappings
 * have /usr/lib: both are tried.
 */
#include "cli/symbol/files/dpkg.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/text/buffer.h"
#include "cli/base/io_full.h"

#define INFO "/var/lib/dpkg/info"
#define LIST_MAX (64 << 20)	/* bytes of one list; the largest has 1 MB */

struct search {
	const char *const *paths;
	size_t count;
	char **packages;
	struct buffer list;	/* "\n" before each line, and at the end */
	struct buffer line;
};

static bool has_line(struct search *search, const char *path)
{
	buffer_clear(&search->line);
	buffer_printf(&search->line, "\n%s\n", path);
	return memmem(search->list.data, search->list.size,
		      search->line.data, search->line.size) != NULL;
}

static bool read_list(struct search *search, int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	char *bytes = NULL;
	ssize_t got = -1;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_size > 0 && status.st_size < LIST_MAX) {
		bytes = grow_alloc((size_t)status.st_size);
		got = io_full_read_at(fd, bytes, (size_t)status.st_size, 0);
	}
	close(fd);
	buffer_clear(&search->list);
	buffer_string(&search->list, "\n");
	if (got > 0)
		buffer_add(&search->list, bytes, (size_t)got);
	free(bytes);
	return got > 0;
}

static void look_into(struct search *search, int directory, const char *name)
{
	size_t size = strcspn(name, ":");

	assert(strlen(name) > strlen(".list"));
	if (size > strlen(name) - strlen(".list"))
		size = strlen(name) - strlen(".list");
	if (!read_list(search, directory, name))
		return;
	for (size_t i = 0; i < search->count; i++) {
		const char *path = search->paths[i];

		if (search->packages[i] != NULL || path[0] != '/')
			continue;
		if (has_line(search, path) ||
		    (strncmp(path, "/usr/", 5) == 0 &&
		     has_line(search, path + 4)))
			search->packages[i] = grow_copy(name, size);
	}
}

void dpkg_owners(const char *root, const char *const *paths, size_t count,
		 char **packages)
{
	struct search search = { paths, count, packages, { 0 }, { 0 } };
	char *info = grow_format("%s" INFO, root);
	DIR *directory = opendir(info);
	const struct dirent *entry;

	memset(packages, 0, count * sizeof(*packages));
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		size_t size = strlen(entry->d_name);

		if (size > 5 && strcmp(entry->d_name + size - 5, ".list") == 0)
			look_into(&search, dirfd(directory), entry->d_name);
	}
	if (directory != NULL)
		closedir(directory);
	free(info);
	buffer_free(&search.list);
	buffer_free(&search.line);
}
