/*
 * index_cache.c: see index_cache.h. The modification time of an index is its
 * last use: file systems often keep no access times.
 */
#include "cli/model/index/index_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/text/base_name.h"
#include "cli/base/text/quantity.h"

#define FILES_MAX 65536		/* how many are examined */

struct cached {
	char *name;
	uint64_t bytes;
	struct timespec used;
};

struct listing {
	int folder;
	const char *own;	/* the name of the index to be made */
	struct cached *files;
	size_t count, capacity;
	uint64_t bytes;
};

char *index_cache_folder(void)
{
	const char *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	/* the specification says to ignore relative paths */
	if (caches != NULL && caches[0] == '/')
		return grow_format("%s/gnomon", caches);
	if (home != NULL && home[0] == '/')
		return grow_format("%s/.cache/gnomon", home);
	return NULL;
}

int index_cache_make(void)
{
	char *folder = index_cache_folder(), *slash;
	int error = 0;

	if (folder == NULL)
		return -ENOENT;
	slash = strrchr(folder, '/');
	*slash = 0;
	if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		error = -errno;
	*slash = '/';
	if (error == 0 && mkdir(folder, 0700) != 0 && errno != EEXIST)
		error = -errno;
	free(folder);
	return error;
}

bool index_cache_limit(uint64_t *limit)
{
	const char *given = getenv(INDEX_CACHE_VARIABLE);

	*limit = INDEX_CACHE_DEFAULT;
	return given == NULL || *given == 0 ||
	       quantity_parse_size(given, limit) == 0;
}

void index_cache_touch(const char *path)
{
	/* on failure it looks less recently used */
	(void)utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

/* ---- making room ---- */

static bool ends(const char *name, const char *with)
{
	size_t size = strlen(name), less = strlen(with);

	return size > less && strcmp(name + size - less, with) == 0;
}

static const char *const left[] = { ".part.new", ".part", ".new" };

#define LEFT (sizeof(left) / sizeof(left[0]))

/* The name of the index for a file left by its maker, to be freed; NULL: it is
 * not such a file. */
static char *store_of(const char *name)
{
	for (size_t i = 0; i < LEFT; i++) {
		char *store;

		if (!ends(name, left[i]))
			continue;
		store = grow_copy(name, strlen(name) - strlen(left[i]));
		if (ends(store, ".idx"))
			return store;
		free(store);
		return NULL;
	}
	return NULL;
}

/* Removes the files of a maker of this index that was killed: nobody holds the
 * lock, or there is no lock file. */
static void remove_left(int folder, const char *store)
{
	char *new = grow_format("%s.new", store);
	int fd = openat(folder, new, O_RDWR | O_CLOEXEC | O_NOFOLLOW |
			O_NONBLOCK);
	bool free_of = fd < 0 ? errno == ENOENT :
		flock(fd, LOCK_EX | LOCK_NB) == 0;

	for (size_t i = 0; i < LEFT && free_of; i++) {
		char *name = grow_format("%s%s", store, left[i]);

		unlinkat(folder, name, 0);
		free(name);
	}
	if (fd >= 0)
		close(fd);
	free(new);
}

static void list_file(struct listing *listing, const char *name)
{
	struct stat status;

	if (fstatat(listing->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(status.st_mode) || listing->count == FILES_MAX)
		return;
	GROW(listing->files, listing->count, listing->capacity);
	listing->files[listing->count++] = (struct cached){
		.name = grow_copy(name, strlen(name)),
		.bytes = (uint64_t)status.st_size,
		.used = status.st_mtim,
	};
	listing->bytes += (uint64_t)status.st_size;
}

static void list_all(struct listing *listing, DIR *directory)
{
	const struct dirent *entry;

	while ((entry = readdir(directory)) != NULL) {
		char *store = store_of(entry->d_name);

		if (store != NULL && strcmp(store, listing->own) != 0)
			remove_left(listing->folder, store);
		else if (ends(entry->d_name, ".idx"))
			list_file(listing, entry->d_name);
		free(store);
	}
}

static int by_use(const void *one, const void *other)
{
	const struct cached *a = one, *b = other;

	return sort_up(a->used.tv_sec, b->used.tv_sec) ?:
	       sort_up(a->used.tv_nsec, b->used.tv_nsec);
}

bool index_cache_make_room(const char *path, uint64_t bytes, uint64_t limit)
{
	char *folder = index_cache_folder();
	DIR *directory = folder == NULL ? NULL : opendir(folder);
	struct listing listing = { .own = base_name(path) };

	free(folder);
	if (directory == NULL || bytes > limit) {
		if (directory != NULL)
			closedir(directory);
		return bytes <= limit;
	}
	listing.folder = dirfd(directory);
	list_all(&listing, directory);
	SORT(listing.files, listing.count, by_use);
	for (size_t i = 0; i < listing.count; i++) {
		/* processes that have it open can still read it */
		if (listing.bytes > limit - bytes &&
		    unlinkat(listing.folder, listing.files[i].name, 0) == 0)
			listing.bytes -= listing.files[i].bytes;
		free(listing.files[i].name);
	}
	free(listing.files);
	closedir(directory);
	return true;
}
