/*
 * firefox_tables.c: see firefox_tables.h.
 *
 *  I1  Equal texts, libraries, sources, functions and stacks are one. Frames
 *      of one place lie side by side, the outermost first.
 *  I2  A stack's number is higher than that of the one around it: readers go
 *      through the table once.
 */
#include "cli/export/firefox/firefox_tables.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/utf8.h"
#include "cli/command/export.h"
#include "cli/model/core/images.h"

/* ---- texts, libraries, sources ---- */

uint32_t firefox_text(struct firefox_tables *tables, const char *text)
{
	return utf8_number(&tables->texts, text);
}

static const struct image *image_of(const struct firefox_tables *tables,
				    uint32_t index)
{
	return model_image(tables->frames->model, index);
}

static uint32_t lib_of(struct firefox_tables *tables, uint32_t image)
{
	return pairset_number(&tables->libs, image, firefox_text(
				      tables, image_of(tables, image)->name));
}

static uint32_t source_of(struct firefox_tables *tables, const char *file)
{
	return file == NULL ? FIREFOX_NONE :
		pairset_number(&tables->sources, firefox_text(tables, file), 0);
}

/* ---- functions and frames ---- */

static uint32_t func_of(struct firefox_tables *tables, uint32_t lib,
			const struct frame *frame)
{
	uint32_t name = firefox_text(tables, export_frame_name(
					     &tables->scratch, frame));
	uint32_t home = pairset_number(&tables->homes, lib,
				       source_of(tables, frame->file));

	return pairset_number(&tables->funcs, name, home);
}

static uint32_t add_frame(struct firefox_tables *tables,
			  const struct firefox_frame *frame)
{
	GROW(tables->list, tables->frame_count, tables->frame_capacity);
	tables->list[tables->frame_count] = *frame;
	return (uint32_t)tables->frame_count++;
}

/* Where the first byte of the file was mapped. */
static uint64_t base_of(const struct image *image)
{
	uint64_t base = image->bias, first = UINT64_MAX;

	for (unsigned s = 0; s < image->segment_count; s++)
		if (image->segments[s].start < first) {
			first = image->segments[s].start;
			base = first - image->segments[s].offset;
		}
	return base;
}

static enum firefox_category category_of(const struct image *image,
					 const struct frame *frame)
{
	if (frame->glue)
		return FIREFOX_ALLOCATORS;
	if (image == NULL)
		return FIREFOX_OTHER;
	return image->flags & GT_IMAGE_MAIN ? FIREFOX_PROGRAM :
		FIREFOX_LIBRARIES;
}

/* Of a place that has frames. */
static uint32_t make_frames(struct firefox_tables *tables,
			    const struct frames_place *place)
{
	const struct images *images = model_images(tables->frames->model);
	uint64_t pc = place->exact ? place->address : place->address - 1;
	uint32_t lib = FIREFOX_NONE, first = (uint32_t)tables->frame_count;
	uint64_t address = FIREFOX_NO_ADDRESS;
	const struct image *image = NULL;

	if (place->owner < images->count) {
		uint32_t index = images->list[place->owner].same_as;

		image = image_of(tables, index);
		lib = lib_of(tables, index);
		address = pc - base_of(image);
	}
	for (uint32_t i = place->count; i-- > 0;) {
		const struct frame *frame = &place->list[i];

		add_frame(tables, &(struct firefox_frame){
			.address = address,
			.func = func_of(tables, lib, frame),
			.depth = place->count - 1 - i,
			.category = category_of(image, frame),
			.line = frame->line,
			.column = frame->column,
		});
	}
	return first;
}

/* ---- stacks ---- */

/* Values of context_value.h are stacks + 1; 0: no frame yet. */
static uint32_t begin_early(void *owner, enum gt_stop stop, const char *words)
{
	struct firefox_tables *tables = owner;
	const struct frame frame = { .function = words };

	(void)stop;
	return 1 + pairset_number(&tables->stacks, FIREFOX_NONE, add_frame(
		tables, &(struct firefox_frame){
			.address = FIREFOX_NO_ADDRESS,
			.func = func_of(tables, FIREFOX_NONE, &frame),
			.category = FIREFOX_OTHER,
		}));
}

static uint32_t step_inward(void *owner, uint32_t value, uint32_t place)
{
	struct firefox_tables *tables = owner;
	uint32_t count = tables->frames->places[place].count;
	uint32_t outer = value == 0 ? FIREFOX_NONE : value - 1;
	uint32_t first;

	if (count == 0)
		return value;	/* the recorder's own */
	first = table_get(&tables->of_place, place);
	if (first == TABLE_NONE) {
		first = make_frames(tables, &tables->frames->places[place]);
		table_set(&tables->of_place, place, first);
	}
	for (uint32_t i = 0; i < count; i++)
		outer = pairset_number(&tables->stacks, outer, first + i);
	return outer + 1;
}

uint32_t firefox_stack(struct firefox_tables *tables, uint32_t node)
{
	uint32_t value = context_value_of(&tables->context_value, node);

	return value == 0 ? FIREFOX_NONE : value - 1;
}

void firefox_tables_init(struct firefox_tables *tables, struct frames *frames)
{
	memset(tables, 0, sizeof(*tables));
	tables->frames = frames;
	context_value_init(&tables->context_value, frames, begin_early,
			   step_inward, tables);
}

void firefox_tables_free(struct firefox_tables *tables)
{
	context_value_free(&tables->context_value);
	intern_free(&tables->texts);
	pairset_free(&tables->libs);
	pairset_free(&tables->sources);
	pairset_free(&tables->homes);
	pairset_free(&tables->funcs);
	table_free(&tables->of_place);
	free(tables->list);
	pairset_free(&tables->stacks);
	buffer_free(&tables->scratch);
}
