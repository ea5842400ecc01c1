// FLAGS: -ldl
/*
 * odd_images.c DIRECTORY LIBRARY: allocates in unusual copies of the library:
 * in memory only (memfd), removed after loading, replaced by another file, and
 * without section headers.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tgt.h"

#define BLOCKS 50

static char directory[2048];

static unsigned char *read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY);
	unsigned char *bytes;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		abort();
	*size = (size_t)st.st_size;
	bytes = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		abort();
	close(fd);
	return bytes;
}

static void write_all(int fd, const unsigned char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n <= 0)
			abort();
		bytes += n;
		size -= (size_t)n;
	}
}

static void write_file(const char *path, const unsigned char *bytes,
		       size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);

	write_all(fd, bytes, size);
	close(fd);
}

static char *path_of(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void *(*load(const char *path))(size_t)
{
	void *library = dlopen(path, RTLD_NOW);
	void *(*make)(size_t) = NULL;

	if (library)
		*(void **)&make = dlsym(library, "epoch_make");
	if (!make)
		abort();
	return make;
}

TGT_FUNCTION void use(void *(*make)(size_t), size_t size)
{
	for (int i = 0; i < BLOCKS; i++)
		tgt_sink = make(size);
}

static void in_memory(const unsigned char *bytes, size_t size)
{
	int fd = memfd_create("library", 0);
	char path[64];

	write_all(fd, bytes, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	use(load(path), 1001);
}

static void removed(const unsigned char *bytes, size_t size)
{
	void *(*make)(size_t);

	write_file(path_of("removed.so"), bytes, size);
	make = load(path_of("removed.so"));
	unlink(path_of("removed.so"));
	use(make, 1002);
}

static void replaced(const unsigned char *bytes, size_t size)
{
	void *(*make)(size_t);

	write_file(path_of("replaced.so"), bytes, size);
	make = load(path_of("replaced.so"));
	unlink(path_of("replaced.so"));
	write_file(path_of("replaced.so"), (const unsigned char *)"other", 5);
	use(make, 1003);
}

static void without_sections(unsigned char *bytes, size_t size)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)bytes;

	header->e_shoff = 0;
	header->e_shnum = header->e_shstrndx = 0;
	write_file(path_of("bare.so"), bytes, size);
	use(load(path_of("bare.so")), 1004);
}

int main(int argc, char **argv)
{
	unsigned char *bytes;
	size_t size;

	if (argc < 3)
		return 2;
	snprintf(directory, sizeof(directory), "%s", argv[1]);
	bytes = read_file(argv[2], &size);
	in_memory(bytes, size);
	removed(bytes, size);
	replaced(bytes, size);
	without_sections(bytes, size);
	tgt_print("blocks", BLOCKS);
	return 0;
}
