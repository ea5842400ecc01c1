/* emulated_file.c: see emulated_file.h. The files are untrusted. */
#include "cli/recorder/emit/emulated_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/base/pathname.h"
#include "cli/symbol/elf/elf_tables.h"
#include "preload/base/options.h"

_Static_assert(GT_PATH_MAX >= PATH_MAX, "realpath writes so much");

#define EMULATED_FILE_VARIABLE "QEMU_LD_PREFIX"

const char *emulated_file_prefix(void)
{
	const char *prefix = getenv(OPTIONS_EMULATOR_ROOT);

	if (!prefix || !*prefix)
		prefix = getenv(EMULATED_FILE_VARIABLE);
	return prefix && *prefix ? prefix : NULL;
}

/* Opens a regular file for reading, or -1: opening a device may have side
 * effects. */
static int emulated_file_open(const char *path)
{
	struct stat st;
	int fd;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	/* the path may lead to another file now */
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Whether the image's segments match the program headers, in their order. */
static bool emulated_file_maps(const struct elf_tables *file,
			       const struct gl_image *image)
{
	uint32_t i, n = 0;

	for (i = 0; i < file->phdrs && n < image->segments; i++) {
		const struct gl_segment *segment = &image->segment[n];
		const Elf64_Phdr *p = &file->phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (segment->size != p->p_memsz ||
		    segment->offset != p->p_offset ||
		    segment->flags != p->p_flags)
			return false;
		n++;
	}
	return n > 0;
}

static bool emulated_file_same(int fd, const struct gl_image *image)
{
	uint8_t id[ELF_TABLES_ID_MAX];
	struct elf_tables file;
	bool same = false;

	if (elf_tables_load_bare(&file, fd) == 0) {
		same = elf_tables_id(&file, id) == image->build_id_size &&
		       memcmp(id, image->build_id, image->build_id_size) == 0 &&
		       (image->build_id_size > 0 ||
			emulated_file_maps(&file, image));
		elf_tables_free(&file);
	}
	return same;
}

bool emulated_file_find(const struct gl_image *image, const char *prefix,
			char path[GT_PATH_MAX])
{
	char below[GT_PATH_MAX], real[PATH_MAX];
	bool same = false;
	int fd = -1;

	if (image->path[0] == '/' &&
	    pathname_print(below, sizeof(below), "%s%s", prefix, image->path))
		fd = emulated_file_open(below);
	if (fd >= 0) {
		same = emulated_file_same(fd, image) && realpath(below, real);
		close(fd);
	}
	if (same)
		memcpy(path, real, strlen(real) + 1);
	return same;
}
