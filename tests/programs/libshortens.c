/*
 * libshortens.c: preloaded into the command, cuts the file of SHORTENS to a
 * page as soon as libelf has mapped it, as a build in the meantime may.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct Elf *elf_begin(int fd, int command, struct Elf *ref)
{
	struct Elf *(*begin)(int, int, struct Elf *) =
		dlsym(RTLD_NEXT, "elf_begin");
	const char *path = getenv("SHORTENS");
	struct Elf *elf = begin(fd, command, ref);
	struct stat wanted, st;

	if (path && stat(path, &wanted) == 0 && fstat(fd, &st) == 0 &&
	    wanted.st_ino == st.st_ino && wanted.st_dev == st.st_dev &&
	    truncate(path, 4096) != 0)
		abort();
	return elf;
}
