// FLAGS: -ldl
/*
 * table_images.c COMMAND...: allocates in libraries with unusual tables, each
 * loaded while it runs. All have the function epoch_make (epoch.h).
 *
 *	use PATH SIZE		loads it and makes BLOCKS blocks of this size
 *	swap PATH WITH SIZE	the same, but before the first block renames
 *				WITH to PATH
 *	many PATH TIMES SIZE	loads so many copies of it, a block in each
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "tgt.h"

#define BLOCKS 20

typedef void *(*maker)(size_t size);

TGT_FUNCTION maker load(const char *path, void **library)
{
	maker make = NULL;

	*library = dlopen(path, RTLD_NOW);
	if (*library)
		*(void **)&make = dlsym(*library, "epoch_make");
	if (!make)
		abort();
	return make;
}

TGT_FUNCTION void make_blocks(maker make, size_t size, int count)
{
	int i;

	for (i = 0; i < count; i++)
		tgt_sink = make(size);
}

/* A file of its own beside it: the loader knows one by name and inode. */
TGT_FUNCTION void make_in_copy(const char *path, int number, size_t size)
{
	int from = open(path, O_RDONLY), to;
	char copy[4096];
	struct stat st;
	void *library;

	snprintf(copy, sizeof(copy), "%s.%d", path, number);
	to = open(copy, O_WRONLY | O_CREAT | O_EXCL, 0700);
	if (from < 0 || to < 0 || fstat(from, &st) ||
	    sendfile(to, from, NULL, st.st_size) != st.st_size)
		abort();
	close(from);
	close(to);
	make_blocks(load(copy, &library), size, 1);
	unlink(copy);
}

int main(int argc, char **argv)
{
	void *library;
	maker make;
	int i, n;

	for (i = 1; i < argc;) {
		if (!strcmp(argv[i], "use")) {
			make = load(argv[i + 1], &library);
			make_blocks(make, atoi(argv[i + 2]), BLOCKS);
			i += 3;
		} else if (!strcmp(argv[i], "swap")) {
			make = load(argv[i + 1], &library);
			if (rename(argv[i + 2], argv[i + 1]))
				abort();
			make_blocks(make, atoi(argv[i + 3]), BLOCKS);
			i += 4;
		} else {
			for (n = atoi(argv[i + 2]); n > 0; n--)
				make_in_copy(argv[i + 1], n, atoi(argv[i + 3]));
			i += 4;
		}
	}
	tgt_malloc(4321);	/* by the program itself, after all that */
	tgt_print("blocks", BLOCKS);
	return 0;
}
