/*
 * debuginfod.c: the client library is loaded at first use, as libdw does: it
 * loads an HTTP library, whose cost commands without downloads should not have.
 *
 * An unreachable server would take its timeout for each file: after the first
 * failure no more requests are made.
 */
#include "cli/symbol/files/debuginfod.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/progress.h"

#define ID_MAX 64
#define LIBRARY "libdebuginfod.so.1"

static void to_hex(char *hex, const uint8_t *build_id, size_t size)
{
	assert(size <= ID_MAX);
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", build_id[i]);
}

/* As in the client (debuginfod-client-config(7)). */
static char *cache_directory(void)
{
	const char *given = getenv("DEBUGINFOD_CACHE_PATH");
	const char *caches = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *old;

	if (given != NULL && *given != 0)
		return grow_copy(given, strlen(given));
	if (home != NULL && *home != 0) {
		old = grow_format("%s/.debuginfod_client_cache", home);
		if (access(old, F_OK) == 0)
			return old;
		free(old);
	}
	if (caches != NULL && *caches != 0)
		return grow_format("%s/debuginfod_client", caches);
	if (home != NULL && *home != 0)
		return grow_format("%s/.cache/debuginfod_client", home);
	return NULL;
}

char *debuginfod_cached(enum debuginfod_kind kind, const uint8_t *build_id,
			size_t size)
{
	char *directory, *path, hex[2 * ID_MAX + 1];

	if (size == 0 || size > ID_MAX)
		return NULL;
	directory = cache_directory();
	if (directory == NULL)
		return NULL;
	to_hex(hex, build_id, size);
	path = grow_format("%s/%s/%s", directory, hex,
			   kind == DEBUGINFOD_DEBUG ? "debuginfo" :
			   "executable");
	free(directory);
	return path;
}

typedef struct debuginfod_client client;
typedef int finder(client *, const unsigned char *, int, char **);

/* The library's functions; `find` by enum debuginfod_kind. */
static struct {
	pthread_once_t once;
	client *(*begin)(void);
	void (*end)(client *);
	finder *find[2];
	bool ready;
	bool missing;		/* the first caller reports it */
	pthread_mutex_t lock;	/* one download at a time; also for the members
				 * below */
	bool given_up;
} remote = { .once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER };

static void load(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		remote.missing = true;
		return;
	}
	*(void **)&remote.begin = dlsym(library, "debuginfod_begin");
	*(void **)&remote.end = dlsym(library, "debuginfod_end");
	*(void **)&remote.find[DEBUGINFOD_EXECUTABLE] =
		dlsym(library, "debuginfod_find_executable");
	*(void **)&remote.find[DEBUGINFOD_DEBUG] =
		dlsym(library, "debuginfod_find_debuginfo");
	remote.ready = remote.begin && remote.end && remote.find[0] &&
		remote.find[1];
}

/* Not "no such file", but "no such server". */
static bool is_out_of_reach(int result)
{
	return result != -ENOENT && result != -EINVAL && result != -ENOSYS;
}

static char *ask(enum debuginfod_kind kind, const uint8_t *build_id,
		 size_t size, struct notes *notes)
{
	client *session = remote.begin();
	char *path = NULL;
	int result;

	assert(remote.ready && !remote.given_up);
	if (session == NULL)
		return NULL;
	result = remote.find[kind](session, build_id, (int)size, &path);
	remote.end(session);
	if (result >= 0) {
		close(result);
		return path;
	}
	if (is_out_of_reach(result)) {
		remote.given_up = true;
		notes_hint(notes, "debuginfod (%s) cannot be reached: %s; no "
			   "more requests are made: symbols may be missing",
			   getenv("DEBUGINFOD_URLS"), strerror(-result));
	}
	return NULL;
}

char *debuginfod_fetch(enum debuginfod_kind kind, const uint8_t *build_id,
		       size_t size, struct notes *notes)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	char *path = NULL;

	if (urls == NULL || urls[strspn(urls, " ")] == 0 || size == 0 ||
	    size > ID_MAX)
		return NULL;
	pthread_once(&remote.once, load);
	pthread_mutex_lock(&remote.lock);
	if (remote.missing)
		notes_hint(notes, "DEBUGINFOD_URLS is set, but its client is "
			   "not installed (%s): symbols are not downloaded",
			   LIBRARY);
	remote.missing = false;
	if (remote.ready && !remote.given_up)
		path = ask(kind, build_id, size, notes);
	pthread_mutex_unlock(&remote.lock);
	return path;
}
