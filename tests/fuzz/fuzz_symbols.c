/*
 * fuzz_symbols.c: ELF files with symbols and debug information, from hostile
 * bytes, as the command looks addresses up in them; what a function in them
 * returns; their machine code. The first byte says how: bit 1 full names, bit 2
 * the function, bit 3 the code.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/symbol/code/code.h"
#include "cli/symbol/code/return_value.h"
#include "cli/symbol/names/symbols.h"

#define PLACES 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int memory_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

static const struct debugfile_places places = { .no_debuginfod = true };

static void look_up(const struct symbol_image *image, uint64_t entry, bool full)
{
	struct symbols *symbols = symbols_new(&places, full);

	for (uint64_t i = 0; i < PLACES; i++) {
		symbols_find(symbols, 0, image, entry + i * 7, false);
		symbols_find(symbols, 0, image, i * i * i, true);
	}
	symbols_free(symbols);
}

static void look_closely(const struct symbol_image *image, uint64_t entry)
{
	struct code *code = code_open(&places, image);

	for (uint64_t i = 0; i < PLACES; i++) {
		uint64_t at = entry + i * 7, offset;
		struct code_range range;
		struct code_line line;
		const char *name;

		name = code_name(code, at, &offset);
		if (name != NULL && strlen(name) == 0)
			abort();
		code_slot(code, i * i * i);
		code_line(code, at, &line);
		if (!code_range_at(code, at, &range))
			continue;
		if (at - range.start >= range.end - range.start)
			abort();
		code_bytes(code, range.start, range.end - range.start);
	}
	code_free(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_image image = { 0 };
	uint64_t entry = 0;
	char *text, path[64];
	int fd;

	if (size < 1)
		return 0;
	fd = memory_file(data + 1, size - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	image.file.path = path;
	image.file.build_id = data;	/* nothing of it */
	if (size > sizeof(Elf64_Ehdr))
		memcpy(&entry, data + 1 + offsetof(Elf64_Ehdr, e_entry), 8);
	if (data[0] & 8)
		look_closely(&image, entry);
	else
		look_up(&image, entry, data[0] & 2);
	if (data[0] & 4 &&
	    return_value_text(fd, "give", &text) == RETURNED_TEXT)
		free(text);
	close(fd);
	return 0;
}
