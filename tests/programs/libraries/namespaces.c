/*
 * namespaces.c LIBRARY: loads a library into a namespace of its own (dlmopen),
 * with a second C library and so a second allocator there, which is not
 * recorded; blocks stay in their namespace. Loads it into this one, too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "tgt.h"

#define ROUNDS 3

typedef void *call(void *argument);

static void *libc_malloc(void *unused)
{
	tgt_free(tgt_malloc(70), 70);
	return unused;
}

static void use(void *library)
{
	void *(*through)(call *, void *) = dlsym(library, "inflight_through");

	if (!through || through(libc_malloc, NULL))
		abort();
}

static void elsewhere(const char *path)
{
	void *library = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
	void *(*other_malloc)(size_t);
	void (*other_free)(void *);
	void *block;

	if (!library)
		abort();
	use(library);
	/* through its dependencies: that namespace's C library */
	other_malloc = (void *(*)(size_t))dlsym(library, "malloc");
	other_free = (void (*)(void *))dlsym(library, "free");
	tgt_print("another_allocator", other_malloc != malloc);
	block = other_malloc(1234);
	memset(block, 1, 1234);
	other_free(block);
	if (dlclose(library))
		abort();
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	for (int i = 0; i < ROUNDS; i++) {
		void *here = dlopen(argv[1], RTLD_NOW);

		use(here);
		elsewhere(argv[1]);
		dlclose(here);
	}
	tgt_report();
	return 0;
}
