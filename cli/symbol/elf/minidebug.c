/*
 * minidebug.c: decompresses in steps, so that a claimed size is never trusted.
 * A browser's symbol table takes some 20 MiB.
 */
#include "cli/symbol/elf/minidebug.h"

#include <assert.h>
#include <lzma.h>
#include <stdlib.h>

#define OUTPUT_MAX (512u << 20)
#define DECODER_MAX (256u << 20)	/* memory of the decoder */
#define STEP_BYTES (256u << 10)

/* NULL: damaged, or too large. */
static unsigned char *unpack(struct span packed, size_t *size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	unsigned char *memory = NULL, *larger;
	size_t room = 0;
	lzma_ret result = lzma_stream_decoder(&stream, DECODER_MAX, 0);

	stream.next_in = packed.data;
	stream.avail_in = packed.size;
	while (result == LZMA_OK) {
		if (stream.avail_out == 0) {
			size_t used = room;

			room = room ? room * 2 : STEP_BYTES;
			larger = room <= OUTPUT_MAX ?
				realloc(memory, room) : NULL;
			if (larger == NULL)
				break;
			memory = larger;
			stream.next_out = memory + used;
			stream.avail_out = room - used;
		}
		result = lzma_code(&stream, LZMA_FINISH);
	}
	assert(stream.total_out <= room);
	*size = stream.total_out;
	lzma_end(&stream);
	if (result == LZMA_STREAM_END)
		return memory;
	free(memory);
	return NULL;
}

struct elffile *minidebug_open(struct elffile *file)
{
	struct span packed = elffile_section(file, ".gnu_debugdata");
	unsigned char *memory;
	size_t size;

	if (packed.size == 0)
		return NULL;
	memory = unpack(packed, &size);
	return memory ? elffile_of_memory(memory, size, file->path) : NULL;
}
