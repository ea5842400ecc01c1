/*
 * epochs.c DIRECTORY: loads libepoch_a.so, allocates in it, closes it, loads
 * libepoch_b.so at the same addresses, and so on, 40 times. Every stack must
 * name the library that was mapped then. Exits with 3 if their addresses
 * differed, so that nothing was tested.
 */
#include <dlfcn.h>

#include "tgt.h"

#define ROUNDS 40
#define BLOCKS 25

static uintptr_t place[2];
static int moved;

static size_t size_of(int which)
{
	return which ? 333 : 111;
}

static void use(const char *directory, int which)
{
	char path[4096];
	void *(*make)(size_t);
	void *library;

	snprintf(path, sizeof(path), "%s/libepoch_%c.so", directory,
		 'a' + which);
	library = dlopen(path, RTLD_NOW);
	if (!library || !(make = dlsym(library, "epoch_make")))
		exit(1);
	if (place[which] && place[which] != (uintptr_t)make)
		moved++;
	place[which] = (uintptr_t)make;
	for (int i = 0; i < BLOCKS; i++)
		tgt_sink = make(size_of(which));
	dlclose(library);
	if (dlopen(path, RTLD_NOW | RTLD_NOLOAD))
		exit(2);	/* was not unloaded: the test means nothing */
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	for (int i = 0; i < ROUNDS; i++)
		use(argv[1], i % 2);
	if (place[0] != place[1] || moved)
		return 3;
	tgt_print("blocks_each", ROUNDS / 2 * BLOCKS);
	tgt_print("size_a", size_of(0));
	tgt_print("size_b", size_of(1));
	return 0;
}
