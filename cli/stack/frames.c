/*
 * frames.c: symbolizes context nodes. Called by the main thread, after reading.
 */
#include "cli/stack/frames.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/fit.h"
#include "cli/model/core/contexts.h"
#include "cli/model/stats/freed.h"
#include "cli/stack/frames_prepare.h"
#include "cli/stack/wrapper.h"
#include "cli/symbol/names/names.h"
#include "unwind/base/assertion.h"

/* For hostile traces; the recorder's own limit is lower. */
#define FRAMES_MAX 1000000
/* Frames searched for a site: a hostile trace may have a million stacks of only
 * allocator wrappers, each a part of the next. */
#define WRAPPERS_MAX 1000

void frames_init(struct frames *frames, struct model *model,
		 const struct debugfile_places *places, bool full_names)
{
	uint64_t pid = model_number(model, GT_INFO, "pid", 0);
	struct debugfile_places *where = &frames->where;

	memset(frames, 0, sizeof(*frames));
	frames->model = model;
	frames->contexts = model_contexts(model);
	frames->images = model_images(model);
	frames->pid = pid <= INT_MAX ? (int)pid : 0;
	*where = *places;
	where->kind = model_kind(model);
	where->made_up = model_made_up(model) == MODEL_NAMES_AND_BUILD_IDS;
	where->embedded_owner = model;
	where->sidecar = model_sidecar;
	if (model_has_embedded(model))
		where->embedded = model_embedded;
	frames->symbols = symbols_new(where, full_names);
	jitcode_open(&frames->jit, model, where);
}

void frames_turn_to(struct frames *frames, struct model *model)
{
	ASSERT(model_contexts(model)->node_count ==
	       frames->contexts->node_count);
	frames->model = model;
	frames->contexts = model_contexts(model);
	frames->images = model_images(model);
}

void frames_free(struct frames *frames)
{
	symbols_free(frames->symbols);
	jitcode_free(&frames->jit);
	for (size_t i = 0; i < frames->place_count; i++)
		free(frames->places[i].list);
	free(frames->places);
	table_free(&frames->place_of);
	free(frames->list);
	free(frames->nameless.list);
	buffer_free(&frames->scratch);
	free(frames->site_of);
	free(frames->site_libraries);
	intern_free(&frames->sites);
	intern_free(&frames->names);
}

static struct frame *add_frame(struct frames_place *place)
{
	place->list = grow_resize(place->list, place->count + 1,
				  sizeof(*place->list));
	memset(&place->list[place->count], 0, sizeof(*place->list));
	return &place->list[place->count++];
}

uint32_t frames_image(const struct frames *frames, uint32_t at)
{
	const struct context_node *node = &frames->contexts->nodes[at];

	DEBUG_ASSERT(at < frames->contexts->node_count);
	if (node->image != IMAGE_NONE)
		return node->image;
	/* The record of the image came after that of the node: then the image
	 * is certain only if no other was ever there. */
	return images_find_only(frames->images, node->address);
}

static void note_nameless(struct frames *frames, const char *library)
{
	for (size_t i = 0; i < frames->nameless.count; i++)
		if (frames->nameless.list[i] == library)
			return;
	GROW(frames->nameless.list, frames->nameless.count,
	     frames->nameless.capacity);
	frames->nameless.list[frames->nameless.count++] = library;
}

/* Code in no file: made at run time, or a stray address. */
static void fill_nowhere(struct frames *frames, uint32_t node,
			 struct frames_place *place)
{
	struct frame *frame = add_frame(place);

	uint64_t pc = place->exact ? place->address : place->address - 1;
	const struct jitdump *dump;
	const struct jitdump_entry *entry = jitcode_find(&frames->jit, node,
							 pc, &dump);
	const struct jitdump_line *line;

	frame->address = place->address;
	if (entry == NULL) {
		frame->function = model_named_code(frames->model, pc, node);
		return;
	}
	frame->function = entry->name;
	line = jitdump_line(dump, entry, pc);
	if (line != NULL && line->file != NULL) {
		frame->file = line->file;
		frame->line = line->line;
	}
}

static void name_by_place(struct frames *frames, struct frame *frame)
{
	struct buffer *name = &frames->scratch;

	buffer_clear(name);
	buffer_printf(name, "%s+0x%" PRIx64, frame->library, frame->start);
	buffer_printable(name);
	frame->function = intern_string(&frames->names, name->data);
	frame->nameless = true;
}

static void fill_frame(struct frames *frames, struct frame *frame,
		       const struct symbol_frame *symbol,
		       const struct image *image, uint64_t address)
{
	frame->function = symbol->function;
	frame->symbol = symbol->symbol;
	frame->start_line = symbol->start_line;
	frame->file = symbol->file;
	frame->line = symbol->line;
	frame->column = symbol->column;
	frame->inlined = symbol->inlined;
	frame->library = image->name[0] ? image->name : NULL;
	frame->path = image->path[0] ? image->path : NULL;
	frame->address = address;
	frame->module_offset = address - image->bias;
	frame->start = symbol->start ? symbol->start : frame->module_offset;
	if (frame->function == NULL && frame->library != NULL)
		name_by_place(frames, frame);
	frame->glue = wrapper_is(frame->library, frame->function);
	frame->wraps = frame->glue && wrapper_allocates(frame->library,
						     frame->function);
}

struct symbol_image frames_symbol_image(const struct frames *frames,
					uint32_t index)
{
	const struct image *image = &frames->images->list[index];

	return (struct symbol_image){
		.file.path = image->path,
		.file.build_id = image->build_id,
		.file.build_id_size = image->build_id_size,
		.file.pid = frames->pid,
		.bias = image->bias,
	};
}

bool frames_is_own(const struct frames *frames, uint32_t index)
{
	return strcmp(frames->images->list[index].name,
		      "libgnomon.so") == 0;
}

/* Finds the functions at one return address. */
static void fill_place(struct frames *frames, uint32_t index,
		       struct frames_place *place)
{
	const struct symbol_place *symbols;
	struct symbol_image wanted = frames_symbol_image(frames, index);
	const struct image *image = &frames->images->list[index];

	/* A hook called by the C library is not part of the program. */
	if (frames_is_own(frames, index))
		return;
	symbols = symbols_find(frames->symbols, index, &wanted, place->address,
			       place->exact);
	place->signal = symbols->signal;
	for (size_t i = 0; i < symbols->count; i++)
		fill_frame(frames, add_frame(place), &symbols->frames[i],
			   image, place->address);
}

/* Distinguishes owners that are nodes from owners that are images. */
#define OWNER_IS_NODE (UINT64_C(1) << 32)

uint32_t frames_place(struct frames *frames, uint32_t at, bool exact)
{
	const struct context_node *node = &frames->contexts->nodes[at];
	uint32_t image = frames_image(frames, at), number, first;
	uint64_t owner = image == IMAGE_NONE ? OWNER_IS_NODE | at : image;
	/* for an interrupted frame, the tree has the address of the instruction
	 * + 1 */
	uint64_t address = node->address - exact;
	uint64_t key = frames_place_key(address, owner, exact);
	struct frames_place place = { .address = address, .owner = owner,
				      .exact = exact };

	DEBUG_ASSERT(at >= CONTEXT_ROOTS);
	first = table_get(&frames->place_of, key);
	for (number = first; number != TABLE_NONE;
	     number = frames->places[number].next) {
		const struct frames_place *other = &frames->places[number];

		DEBUG_ASSERT(number < frames->place_count);
		if (other->address == place.address &&
		    other->owner == owner && other->exact == exact)
			return number;
	}
	if (image == IMAGE_NONE)
		fill_nowhere(frames, at, &place);
	else
		fill_place(frames, image, &place);
	assert(frames->place_count < TABLE_NONE);
	place.next = first;
	GROW(frames->places, frames->place_count, frames->place_capacity);
	table_set(&frames->place_of, key, (uint32_t)frames->place_count);
	frames->places[frames->place_count] = place;
	return (uint32_t)frames->place_count++;
}

/* Appends the frames of a node to the list; returns whether it is a signal
 * frame. */
static bool add_place(struct frames *frames, uint32_t node, bool exact)
{
	/* frames_place may move the array. */
	uint32_t number = frames_place(frames, node, exact);
	const struct frames_place *place = &frames->places[number];

	for (uint32_t i = 0; i < place->count; i++) {
		GROW(frames->list, frames->count, frames->capacity);
		frames->list[frames->count++] = place->list[i];
	}
	return place->signal;
}

/* The first frame from `at` on that may be the site; `count` if there is
 * none. */
static size_t pass_wrappers(const struct frame *list, size_t count, size_t at)
{
	for (; at < count; at++) {
		const struct frame *frame = &list[at];
		const struct frame *outer = frame + 1;

		if (!frame->glue &&
		    (at + 1 == count ||
		     !wrapper_is_part(frame->nameless, frame->library,
				      outer->library, outer->wraps)))
			break;
	}
	return at;
}

size_t frames_site(const struct frame *list, size_t count)
{
	size_t site = pass_wrappers(list, count, 0);

	return site < count ? site : 0;
}

void frames_of(struct frames *frames, uint32_t at)
{
	const struct contexts *contexts = frames->contexts;
	bool exact = false;

	frames->count = 0;
	frames_prepare_stack(frames, at);
	for (; at >= CONTEXT_ROOTS && frames->count < FRAMES_MAX;
	     at = contexts->nodes[at].parent)
		exact = add_place(frames, at, exact);
	for (size_t i = 0; i < frames->count; i++)
		if (frames->list[i].nameless)
			note_nameless(frames, frames->list[i].library);
	frames->stop = at < CONTEXT_ROOTS ? (enum gt_stop)at : GT_STOP_OTHER;
	frames->site = frames_site(frames->list, frames->count);
	DEBUG_ASSERT(frames->count == 0 || frames->site < frames->count);
}

static uint32_t number_of_site(struct frames *frames)
{
	const struct frame *site = &frames->list[frames->site];
	struct buffer *key = &frames->scratch;
	size_t before = frames->sites.count;
	uint32_t number;

	DEBUG_ASSERT(frames->site < frames->count);
	buffer_clear(key);
	if (site->function != NULL)
		buffer_printf(key, "%s|%s|%u|%s", site->function,
			      site->file ? site->file : "", site->line,
			      site->library ? site->library : "");
	else
		buffer_printf(key, "%llx", (unsigned long long)site->address);
	number = intern_number(&frames->sites, key->data, key->size);
	if (number == before) {
		GROW(frames->site_libraries, before,
		     frames->site_library_capacity);
		frames->site_libraries[number] =
			site->nameless ? site->library : NULL;
	}
	return number;
}

/* There may be millions of nodes, and every table needs the site of each. */
static void make_sites(struct frames *frames)
{
	size_t count = frames->contexts->node_count;

	frames->site_of = grow_resize(frames->site_of, count,
				      sizeof(*frames->site_of));
	for (size_t i = frames->site_of_count; i < count; i++)
		frames->site_of[i] = TABLE_NONE;
	frames->site_of_count = count;
}

/* Are further frames outward needed to know the site? */
static bool is_undecided(const struct frames *frames)
{
	return frames->site == frames->count ||
		(frames->site + 1 == frames->count &&
		 frames->list[frames->site].nameless);
}

uint64_t frames_site_key(struct frames *frames, uint32_t node)
{
	const struct contexts *contexts = frames->contexts;
	uint32_t number;
	bool exact = false;

	if (node >= frames->site_of_count)
		make_sites(frames);
	DEBUG_ASSERT(node < frames->site_of_count);
	number = frames->site_of[node];
	if (number != TABLE_NONE)
		return number;
	/* Symbolize only as many frames as needed: most stacks are deep. */
	frames->count = 0;
	frames->site = 0;
	for (uint32_t at = node; at >= CONTEXT_ROOTS &&
	     is_undecided(frames) && frames->count < WRAPPERS_MAX;
	     at = contexts->nodes[at].parent) {
		exact = add_place(frames, at, exact);
		frames->site = pass_wrappers(frames->list, frames->count,
					     frames->site);
	}
	if (frames->site == frames->count)
		frames->site = 0;
	if (frames->count == 0)
		/* Roots have no site; numbers of sites are smaller than
		 * this. */
		return UINT64_C(1) << 32 | node;
	number = number_of_site(frames);
	frames->site_of[node] = number;
	return number;
}

const char *frames_site_nameless(const struct frames *frames, uint32_t node)
{
	uint32_t number = node < frames->site_of_count ?
		frames->site_of[node] : TABLE_NONE;

	return number == TABLE_NONE ? NULL : frames->site_libraries[number];
}

/* Symbolizes one frame further out in each context whose site is not known yet:
 * false if there is none. */
static bool prepare_depth(struct frames *frames, uint32_t *nodes,
			  size_t count)
{
	const struct contexts *contexts = frames->contexts;
	size_t left = 0;

	frames_prepare_nodes(frames, nodes, count);
	for (size_t i = 0; i < count; i++) {
		bool signal;

		if (nodes[i] < CONTEXT_ROOTS)
			continue;
		frames->count = 0;
		signal = add_place(frames, nodes[i], false);
		frames->site = frames_site(frames->list, frames->count);
		/* frames_site_key looks up the others one by one. */
		if (signal || (frames->count > 0 &&
			       !frames->list[frames->site].glue))
			nodes[i] = 0;
		else
			nodes[i] = contexts->nodes[nodes[i]].parent;
		left += nodes[i] >= CONTEXT_ROOTS;
	}
	return left > 0;
}

void frames_find_sites(struct frames *frames)
{
	const struct contexts *contexts = frames->contexts;
	const struct freed *freed = model_freed(frames->model);
	size_t costs = contexts->cost_count, count = costs + freed->row_count;
	uint32_t *nodes;

	if (frames->all_sites)
		return;
	frames->all_sites = true;
	nodes = grow_alloc((count + 1) * sizeof(*nodes));
	/* Only as many frames as needed. */
	for (size_t i = 0; i < costs; i++)
		nodes[i] = contexts->costs[i].node;
	for (size_t i = costs; i < count; i++)
		nodes[i] = freed->rows[i - costs].node;
	while (prepare_depth(frames, nodes, count))
		;
	free(nodes);
	for (size_t i = 0; i < costs; i++)
		frames_site_key(frames, contexts->costs[i].node);
	for (size_t i = 0; i < freed->row_count; i++)
		frames_site_key(frames, freed->rows[i].node);
}

void frames_function(const struct frame *frame, size_t width,
		     struct buffer *name)
{
	DEBUG_ASSERT(frame->function != NULL);
	if (width == SIZE_MAX)
		buffer_string(name, frame->function);
	else if (frame->nameless)
		fit_middle(name, frame->function, width);
	else
		names_brief(name, frame->function, width);
}

const char *const *frames_nameless(const struct frames *frames, size_t *count)
{
	*count = frames->nameless.count;
	return frames->nameless.list;
}

const char *frames_stop_text(enum gt_stop stop)
{
	switch ((int)stop) {
	case GT_STOP_BOTTOM:
		return NULL;
	case GT_STOP_NO_IMAGE:
		return "an address that belongs to no code";
	case GT_STOP_JIT:
		return "code made at run time, without unwind tables";
	case GT_STOP_NO_RULE:
		return "no unwind table for this code";
	case GT_STOP_BAD_READ:
		return "the stack could not be read";
	case GT_STOP_NO_PROGRESS:
		return "the next frame would not lie outward";
	case GT_STOP_TOO_DEEP:
		return "more frames than the limit";
	case GT_STOP_DEPTH:
		return "left out by --depth";
	case GT_STOP_BAD_TABLE:
		return "an unwind table that makes no sense";
	case GT_STOP_LOADER:
		return "libraries were being loaded";
	case GT_STOP_NO_MEMORY:
		return "the recorder's memory was full";
	case GT_STOP_EARLY:
		return "before the recorder was ready";
	case CONTEXT_UNDEFINED:
		return "the trace lacks the rest";
	default:
		return "unknown reason";
	}
}

bool frames_function_matches(const struct frames *frames, const char *function,
			     bool (*matches)(void *owner, const char *name),
			     void *owner)
{
	const char *whole;

	if (names_any_form(function, matches, owner))
		return true;
	for (size_t i = 0; (whole = symbols_whole_name(frames->symbols,
						       function, i)); i++)
		if (matches(owner, whole))
			return true;
	return false;
}
