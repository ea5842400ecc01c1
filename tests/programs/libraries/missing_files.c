/*
 * missing_files.c: allocates through an inlined function, and makes its own
 * files hard to find: missing_files MILLISECONDS [remove | fork | chroot DIR |
 * library FILE]. A library is loaded, removed, and calls back.
 */
// FLAGS: -O2 -rdynamic -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile size_t size = 1000;

static inline __attribute__((always_inline)) char *tgt_inner(void)
{
	return malloc(size);	/* LINE */
}

__attribute__((noinline)) static char *tgt_outer(void)
{
	char *block = tgt_inner();

	if (block)
		*block = 1;
	return block;
}

__attribute__((noinline)) static char *tgt_child(void)
{
	char *block = malloc(2 * size);

	if (block)
		*block = 1;
	return block;
}

static void rest(const char *milliseconds)
{
	usleep((useconds_t)atoi(milliseconds) * 1000);
}

static int load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	char *(*allocate)(void);

	if (!library || unlink(path))
		return 1;
	*(void **)&allocate = dlsym(library, "tgt_of_library");
	return !allocate || !allocate();
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	int status = 0;

	if (strcmp(what, "remove") == 0 && unlink(argv[0]))
		return 1;
	if (strcmp(what, "chroot") == 0 && (chroot(argv[3]) || chdir("/")))
		return 77;
	if (strcmp(what, "library") == 0 && load(argv[3]))
		return 1;
	if (!tgt_outer() || argc < 2)
		return 1;
	rest(argv[1]);
	if (strcmp(what, "fork") == 0) {
		if (fork() == 0) {
			tgt_child();
			rest(argv[1]);
			_exit(0);
		}
		wait(&status);
	}
	return status;
}
