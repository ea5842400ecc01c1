/*
 * pprof_tables.c: see pprof_tables.h.
 *
 *  I1  Equal strings, functions, mappings and locations are stored once. Places
 *      share a location if they differ only in how they were reached (call or
 *      signal), or in the node that represents run-time generated code.
 *  I2  A location always has a mapping, and its address is inside the call
 *      instruction: readers look up symbols by it without adjustment.
 */
#include "cli/export/pprof/pprof_tables.h"

#include <assert.h>
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/utf8.h"
#include "cli/export/pprof/profile.pb-c.h"
#include "cli/model/core/images.h"
#include "unwind/base/assertion.h"

/* In brackets, so that readers do not search for the file. */
#define NOWHERE "[no file]"

/* ---- texts ---- */

uint32_t pprof_text(struct pprof_tables *tables, const char *text)
{
	return utf8_number(&tables->texts, text);
}

/* ---- mappings ---- */

static uint32_t new_mapping(struct pprof_tables *tables,
			    const struct pprof_mapping *mapping)
{
	GROW(tables->mappings, tables->mapping_count,
	     tables->mapping_capacity);
	tables->mappings[tables->mapping_count] = *mapping;
	return (uint32_t)tables->mapping_count++;
}

static uint32_t build_id_of(struct pprof_tables *tables,
			    const struct image *image)
{
	char text[2 * GL_BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < image->build_id_size; i++)
		sprintf(text + 2 * i, "%02x", image->build_id[i]);
	return pprof_text(tables, text);
}

/* The mapping of a segment, rounded to pages like the kernel's. */
static uint32_t map_segment(struct pprof_tables *tables, uint32_t index,
			    unsigned s)
{
	const struct image *image =
		model_image(tables->frames->model, index);
	const struct trace_segment *segment = &image->segments[s];
	uint64_t mask = tables->page_size - 1;
	uint64_t key = (uint64_t)index << 32 | s;
	uint32_t number = table_get(&tables->mapping_of, key);
	struct pprof_mapping mapping = { 0 };

	if (number != TABLE_NONE)
		return number;
	if (s < image->segment_count) {
		mapping.start = segment->start & ~mask;
		mapping.limit = (segment->start + segment->size + mask) & ~mask;
		mapping.offset = segment->offset & ~mask;
	}
	mapping.filename = pprof_text(tables, image->path);
	mapping.build_id = build_id_of(tables, image);
	number = new_mapping(tables, &mapping);
	table_set(&tables->mapping_of, key, number);
	return number;
}

/* An address outside all segments (a malformed file) is attributed to the first
 * executable segment. */
static uint32_t map_address(struct pprof_tables *tables, uint32_t index,
			    uint64_t address)
{
	const struct image *image =
		model_image(tables->frames->model, index);
	unsigned code = image->segment_count;

	for (unsigned s = image->segment_count; s-- > 0;) {
		const struct trace_segment *segment = &image->segments[s];

		if (address - segment->start < segment->size)
			return map_segment(tables, index, s);
		if (segment->flags & PF_X)
			code = s;
	}
	return map_segment(tables, index, code);
}

static uint32_t map_nowhere(struct pprof_tables *tables)
{
	struct pprof_mapping mapping = { 0 };

	if (tables->nowhere == TABLE_NONE) {
		mapping.filename = pprof_text(tables, NOWHERE);
		tables->nowhere = new_mapping(tables, &mapping);
	}
	return tables->nowhere;
}

static void map_program(struct pprof_tables *tables)
{
	const struct model *model = tables->frames->model;
	const char *path = model_fact(model, GT_INFO, "exe");
	const struct images *images = model_images(model);
	struct pprof_mapping mapping = { 0 };

	for (size_t i = 0; i < images->count; i++)
		if (images->list[i].flags & GT_IMAGE_MAIN) {
			map_address(tables, (uint32_t)i, UINT64_MAX);
			return;
		}
	mapping.filename = pprof_text(tables, path ? path : NOWHERE);
	new_mapping(tables, &mapping);
}

/* ---- functions and locations ---- */

static uint32_t function_of(struct pprof_tables *tables,
			    const struct frame *frame)
{
	uint32_t name = pprof_text(tables, frame->function);
	uint32_t file = pprof_text(tables, frame->file ? frame->file : "");
	uint32_t system_name = frame->symbol == NULL ? name :
		pprof_text(tables, frame->symbol);

	return pairset_number(&tables->functions,
			      pairset_number(&tables->names, name, system_name),
			      pairset_number(&tables->sources, file,
					     frame->start_line));
}

static void add_line(struct pprof_tables *tables, uint32_t mapping,
		     const struct frame *frame)
{
	DEBUG_ASSERT(mapping < tables->mapping_count);
	struct pprof_mapping *known = &tables->mappings[mapping];

	/* pprof symbolizes mappings without these flags itself. */
	known->functions |= !frame->nameless;
	known->files |= frame->file != NULL;
	known->lines |= frame->line != 0;
	known->inlined |= frame->inlined;
	GROW(tables->lines, tables->line_count, tables->line_capacity);
	tables->lines[tables->line_count++] = (struct pprof_line){
		function_of(tables, frame), frame->line, frame->column
	};
}

/* The location with the lines from `first` on; drops these lines if the
 * location exists already. */
static uint32_t new_location(struct pprof_tables *tables, uint32_t mapping,
			     uint64_t address, size_t first)
{
	struct buffer *key = &tables->scratch;
	uint32_t number;

	DEBUG_ASSERT(first <= tables->line_count);
	buffer_clear(key);
	buffer_printf(key, "%x %" PRIx64, mapping, address);
	for (size_t i = first; i < tables->line_count; i++)
		buffer_printf(key, " %x:%x:%x", tables->lines[i].function,
			      tables->lines[i].line, tables->lines[i].column);
	number = intern_number(&tables->location_keys, key->data, key->size);
	if (number < tables->location_count) {
		tables->line_count = first;
		return number;
	}
	GROW(tables->locations, tables->location_count,
	     tables->location_capacity);
	tables->locations[tables->location_count] = (struct pprof_location){
		address, mapping, (uint32_t)first,
		(uint32_t)(tables->line_count - first)
	};
	tables->location_count++;
	return number;
}

static uint32_t make_location(struct pprof_tables *tables,
			      const struct frames_place *place)
{
	const struct images *images = model_images(tables->frames->model);
	uint64_t pc = place->exact ? place->address : place->address - 1;
	size_t first = tables->line_count;
	uint32_t mapping;

	if (place->count == 0)
		return TABLE_NONE;
	mapping = place->owner < images->count ?
		map_address(tables, images->list[place->owner].same_as, pc) :
		map_nowhere(tables);
	for (uint32_t i = 0; i < place->count; i++)
		if (place->list[i].function != NULL)
			add_line(tables, mapping, &place->list[i]);
	return new_location(tables, mapping, pc, first);
}

uint32_t pprof_location(struct pprof_tables *tables, uint32_t place)
{
	GROW_TO(tables->of_place, tables->place_capacity, place);
	if (tables->of_place[place] == 0)
		tables->of_place[place] = 1 + make_location(
			tables, &tables->frames->places[place]);
	return tables->of_place[place] - 1;	/* 0 - 1 is TABLE_NONE */
}

uint32_t pprof_location_stop(struct pprof_tables *tables, const char *why)
{
	const struct frame frame = { .function = why };
	uint32_t mapping = map_nowhere(tables);
	size_t first = tables->line_count;

	add_line(tables, mapping, &frame);
	return new_location(tables, mapping, 0, first);
}

/* ---- the tables ---- */

void pprof_tables_init(struct pprof_tables *tables, struct frames *frames)
{
	memset(tables, 0, sizeof(*tables));
	tables->frames = frames;
	tables->page_size = model_page_size(frames->model);
	tables->nowhere = TABLE_NONE;
	pprof_text(tables, "");
	map_program(tables);
}

void pprof_tables_free(struct pprof_tables *tables)
{
	intern_free(&tables->texts);
	intern_free(&tables->location_keys);
	table_free(&tables->mapping_of);
	pairset_free(&tables->names);
	pairset_free(&tables->sources);
	pairset_free(&tables->functions);
	free(tables->mappings);
	free(tables->lines);
	free(tables->locations);
	free(tables->of_place);
	buffer_free(&tables->scratch);
}

static void write_mapping(const struct pprof_mapping *mapping, uint64_t id,
			  struct pprof_out *out)
{
	Pprof__Mapping message = PPROF__MAPPING__INIT;

	message.id = id;
	message.memory_start = mapping->start;
	message.memory_limit = mapping->limit;
	message.file_offset = mapping->offset;
	message.filename = mapping->filename;
	message.build_id = mapping->build_id;
	message.has_functions = mapping->functions;
	message.has_filenames = mapping->files;
	message.has_line_numbers = mapping->lines;
	message.has_inline_frames = mapping->inlined;
	PPROF_OUT_LIST(out, mapping, &(Pprof__Mapping *){ &message }, 1);
}

static void write_location(const struct pprof_tables *tables, size_t number,
			   struct pprof_out *out)
{
	const struct pprof_location *location = &tables->locations[number];
	Pprof__Location message = PPROF__LOCATION__INIT;
	Pprof__Line *lines, **list;

	assert(location->mapping < tables->mapping_count &&
	       (size_t)location->first_line + location->line_count <=
		       tables->line_count);
	lines = grow_alloc(location->line_count * sizeof(*lines));
	list = grow_alloc(location->line_count * sizeof(*list));
	for (uint32_t i = 0; i < location->line_count; i++) {
		const struct pprof_line *line =
			&tables->lines[location->first_line + i];

		list[i] = &lines[i];
		pprof__line__init(&lines[i]);
		lines[i].function_id = line->function + UINT64_C(1);
		lines[i].line = line->line;
		lines[i].column = line->column;
	}
	message.id = number + 1;
	message.mapping_id = location->mapping + UINT64_C(1);
	message.address = location->address;
	message.n_line = location->line_count;
	message.line = list;
	PPROF_OUT_LIST(out, location, &(Pprof__Location *){ &message }, 1);
	free(lines);
	free(list);
}

static void write_function(const struct pprof_tables *tables, size_t number,
			   struct pprof_out *out)
{
	const struct pair *function = &tables->functions.pairs[number];
	const struct pair *names = &tables->names.pairs[function->first];
	const struct pair *source = &tables->sources.pairs[function->second];
	Pprof__Function message = PPROF__FUNCTION__INIT;

	message.id = number + 1;
	message.name = names->first;
	message.system_name = names->second;
	message.filename = source->first;
	message.start_line = source->second;
	PPROF_OUT_LIST(out, function, &(Pprof__Function *){ &message }, 1);
}

void pprof_tables_write(struct pprof_tables *tables, struct pprof_out *out)
{
	for (size_t i = 0; i < tables->mapping_count; i++)
		write_mapping(&tables->mappings[i], i + 1, out);
	for (size_t i = 0; i < tables->location_count; i++)
		write_location(tables, i, out);
	for (size_t i = 0; i < tables->functions.pair_count; i++)
		write_function(tables, i, out);
	for (size_t i = 0; i < tables->texts.count; i++)
		PPROF_OUT_LIST(out, string_table,
			       (char **)&tables->texts.list[i], 1);
}
