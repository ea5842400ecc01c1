/*
 * fuzz_embed.c: ELF files as the recorder embeds them, from hostile bytes; and
 * patterns of file names. The first byte chooses.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/recorder/embed/embed_glob.h"
#include "cli/symbol/elf/reduced.h"

#define LONGEST 4096		/* of a pattern */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct reduced elf;

static void reduce(const uint8_t *data, size_t size, uint64_t most)
{
	int fd = memfd_create("fuzz", 0);
	uint8_t id[ELF_TABLES_ID_MAX];
	char name[256];
	uint8_t piece[4096];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	elf.debug.fd = -1;
	if (elf_tables_load(&elf.binary, fd) == 0) {
		elf_tables_id(&elf.binary, id);
		elf_tables_link(&elf.binary, name, sizeof(name));
		elf_tables_alternate(&elf.binary, name, sizeof(name), id);
		if (elf_tables_load(&elf.debug, fd))
			abort();
		if (reduced_plan(&elf, most) == 0)
			for (uint64_t at = 0; at < elf.size;
			     at += sizeof(piece))
				reduced_read(&elf, at, piece,
					       elf.size - at < sizeof(piece) ?
					       elf.size - at : sizeof(piece));
		elf_tables_free(&elf.binary);
		elf_tables_free(&elf.debug);
	}
	close(fd);
}

/* A pattern, a NUL, a name. */
static void match(const uint8_t *data, size_t size)
{
	char *text;
	size_t n;

	if (size > LONGEST)
		return;
	text = calloc(1, size + 2);
	memcpy(text, data, size);
	n = strlen(text);
	embed_glob_matches(text, text + n + 1);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] % 4 == 3)
		match(data + 1, size - 1);
	else
		reduce(data + 1, size - 1, data[0] % 4 ? UINT64_MAX : 64);
	return 0;
}
