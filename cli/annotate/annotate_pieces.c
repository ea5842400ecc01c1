/*
 * annotate_pieces.c: finds the machine functions that contain an annotated
 * function: its own, parts that the compiler moved elsewhere, and those it is
 * inlined into. Files are opened on first use.
 *
 * Called by the main thread.
 */
#include "cli/annotate/annotate.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/core/images.h"

#define PIECES_MAX 64		/* of a function that is inlined everywhere */
#define STEP_MAX (64u << 10)	/* bytes of a piece searched for lines */
#define LINES_MAX 4096

void annotate_pieces_init(struct annotate_pieces *pieces,
			  struct annotate *annotate,
			  const struct annotate_options *options)
{
	memset(pieces, 0, sizeof(*pieces));
	pieces->annotate = annotate;
	pieces->options = options;
	pieces->codes = grow_zeroed(model_images(annotate->model)->count + 1,
				    sizeof(*pieces->codes));
}

static void image_wanted(const struct image *image,
			 struct symbol_image *wanted)
{
	memset(wanted, 0, sizeof(*wanted));
	wanted->file.path = image->path;
	wanted->file.build_id = image->build_id;
	wanted->file.build_id_size = image->build_id_size;
	wanted->bias = image->bias;
}

static struct code *code_of(struct annotate_pieces *pieces, uint32_t image)
{
	struct symbol_image wanted;

	if (pieces->codes[image] == NULL) {
		image_wanted(model_image(pieces->annotate->model, image),
			     &wanted);
		pieces->codes[image] =
			code_open(pieces->options->places,
				  &wanted);
	}
	return pieces->codes[image];
}

static bool is_known(const struct annotate_pieces *pieces,
		     const struct annotate_call *call)
{
	uint64_t at = call->address - !call->exact;

	for (size_t i = 0; i < pieces->count; i++)
		if (pieces->list[i].image == call->image &&
		    at >= pieces->list[i].range.start &&
		    at < pieces->list[i].range.end)
			return true;
	return false;
}

/* Run-time code: a dump of its compiler may have the bytes. */
static void add_made(struct annotate_pieces *pieces,
		     const struct annotate_function *function,
		     const struct annotate_call *call)
{
	struct annotate_piece piece = { .image = IMAGE_NONE,
					.function = function };
	const struct jitdump *dump;
	const struct jitdump_entry *entry =
		jitcode_find(&pieces->annotate->frames->jit, call->node,
			     call->address - !call->exact, &dump);
	uint8_t *bytes = entry ? jitdump_code(dump, entry) : NULL;

	if (bytes == NULL)
		return;
	GROW(pieces->made, pieces->made_count, pieces->made_capacity);
	piece.code = code_open_bytes(&dump->kind, entry->start, bytes,
				     (size_t)(entry->end - entry->start));
	pieces->made[pieces->made_count].code = piece.code;
	pieces->made[pieces->made_count++].bytes = bytes;
	piece.range.start = entry->start;
	piece.range.end = entry->end;
	piece.range.symbol = entry->name;
	GROW(pieces->list, pieces->count, pieces->capacity);
	pieces->list[pieces->count++] = piece;
}

static void add_piece(struct annotate_pieces *pieces,
		      const struct annotate_function *function,
		      const struct annotate_call *call)
{
	struct annotate_piece piece = { .image = call->image,
					.function = function };
	const struct image *image;

	if (call->image == IMAGE_NONE) {
		add_made(pieces, function, call);
		return;
	}
	image = model_image(pieces->annotate->model, call->image);
	piece.library = image->name;
	piece.bias = image->bias;
	piece.code = code_of(pieces, call->image);
	if (!code_range_at(piece.code, call->address - !call->exact,
			   &piece.range))
		return;
	GROW(pieces->list, pieces->count, pieces->capacity);
	pieces->list[pieces->count++] = piece;
}

void annotate_pieces_find(struct annotate_pieces *pieces,
			  const struct annotate_function *function)
{
	pieces->count = 0;
	for (size_t i = 0; i < function->call_count; i++)
		if (pieces->count < PIECES_MAX &&
		    !is_known(pieces, &function->calls[i]))
			add_piece(pieces, function, &function->calls[i]);
}

void annotate_pieces_place(const struct annotate_pieces *pieces,
			   const char *file, const char **directory,
			   const char **binary)
{
	*directory = *binary = NULL;
	for (size_t i = 0; i < pieces->count; i++) {
		const struct annotate_piece *piece = &pieces->list[i];
		struct code_line line;

		*binary = code_path(piece->code);
		/* Most of a function is in one unit, which has one
		 * directory. */
		if (file[0] != '/' &&
		    code_line(piece->code, piece->range.start, &line))
			*directory = line.directory;
		if (*directory != NULL || file[0] == '/')
			return;
	}
}

/* Extends the range by the function's line at an address, inlined or not. */
static void look_at(const struct annotate_pieces *pieces,
		    const struct annotate_piece *piece, const char *file,
		    uint64_t address, unsigned *first, unsigned *last)
{
	struct frames *frames = pieces->annotate->frames;
	const struct symbol_place *place;
	struct symbol_image wanted;

	image_wanted(model_image(frames->model, piece->image), &wanted);
	place = symbols_find(frames->symbols, piece->image, &wanted, address,
			     true);
	for (size_t i = 0; i < place->count; i++) {
		const struct symbol_frame *frame = &place->frames[i];

		if (frame->line == 0 || frame->function == NULL ||
		    frame->file == NULL || strcmp(frame->file, file) != 0 ||
		    strcmp(frame->function, piece->function->name) != 0)
			continue;
		if (frame->line < *first)
			*first = frame->line;
		if (frame->line > *last)
			*last = frame->line;
	}
}

void annotate_pieces_lines(const struct annotate_pieces *pieces,
			   const char *file, unsigned *first, unsigned *last)
{
	unsigned looks = 0;

	for (size_t i = 0; i < pieces->count; i++) {
		const struct annotate_piece *piece = &pieces->list[i];
		uint64_t at = piece->range.start, end = piece->range.end;
		struct code_line line, before = { 0 };

		if (end - at > STEP_MAX)
			end = at + STEP_MAX;
		for (; at < end && looks < LINES_MAX; at++) {
			if (!code_line(piece->code, at, &line) ||
			    (line.line == before.line &&
			     line.file == before.file))
				continue;
			before = line;
			looks++;
			look_at(pieces, piece, file, at, first, last);
		}
	}
}

void annotate_pieces_free(struct annotate_pieces *pieces)
{
	size_t image_count = model_images(pieces->annotate->model)->count;

	for (size_t i = 0; i < image_count; i++)
		code_free(pieces->codes[i]);
	for (size_t i = 0; i < pieces->made_count; i++) {
		code_free(pieces->made[i].code);
		free(pieces->made[i].bytes);
	}
	free(pieces->made);
	free(pieces->codes);
	free(pieces->list);
}
