/*
 * fuzz_symbols.c: ELF files with symbols and debug information, from hostile
 * bytes, as the command looks addresses up in them; and what a function in
 * them returns. The first byte says how: bit 1 full names, bit 2 the function.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/tell.h"
#include "cli/symbol/returned.h"
#include "cli/symbol/symbols.h"

#define PLACES 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int memory_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

static void look_up(int fd, const uint8_t *data, size_t size, bool full)
{
	const struct debugfile_places places = { .no_debuginfod = true };
	struct symbols *symbols = symbols_new(&places, full);
	struct symbol_image image = { 0 };
	char path[64];
	uint64_t entry = 0;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	image.file.path = path;
	if (size >= sizeof(Elf64_Ehdr))
		memcpy(&entry, data + offsetof(Elf64_Ehdr, e_entry), 8);
	for (uint64_t i = 0; i < PLACES; i++) {
		symbols_find(symbols, 0, &image, entry + i * 7, false);
		symbols_find(symbols, 0, &image, i * i * i, true);
	}
	symbols_free(symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;
	int fd;

	if (size < 1)
		return 0;
	tell_mute(true);
	fd = memory_file(data + 1, size - 1);
	look_up(fd, data + 1, size - 1, data[0] & 2);
	if (data[0] & 4 &&
	    returned_text(fd, "give", &text) == RETURNED_TEXT)
		free(text);
	close(fd);
	return 0;
}
