/*
 * symbols.c: look-ups in batches. Every result is kept.
 *
 *	requests ──▶ objects    opened in parallel
 *	         ──▶ units      the unit of each address; sorted, so that each
 *	                        unit's tables are read once and dropped
 *	         ──▶ places     resolved unit by unit, in parallel
 *
 * Images with the same file share one object: a library that was loaded again
 * at another address is opened once.
 *
 * Names come from DWARF if there is any, because only DWARF has inlined
 * functions; else from the symbol table or, in stripped files, the dynamic one.
 * Without a name, unwind tables still identify the function.
 */
#include "cli/symbol/names/symbols.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/intern.h"
#include "cli/base/parallel.h"
#include "cli/base/progress.h"
#include "cli/base/table.h"
#include "cli/base/text/buffer.h"
#include "cli/symbol/names/name_cache.h"
#include "cli/symbol/names/object.h"
#include "unwind/base/assertion.h"

/* Units whose tables are kept for single look-ups. */
#define KEPT_UNITS 32
/* Addresses without debug information in one thread's piece of work. */
#define PIECE 512
#define BUILD_ID_MAX 64

struct symbol_object {
	struct object object;
	bool opened;
	char *path;
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_size;
	int pid;
};

struct symbol_module {
	struct symbol_object *object;
	uint64_t bias;
	struct table places;	/* address * 2 + exact -> index in the list */
};

/* Names of a function. */
struct function_name {
	const char *shown, *symbol;	/* as in struct symbol_frame; NULL: not
					 * looked up, or none */
	unsigned line;
};

/* A unit's tables, with the names looked up so far. */
struct view {
	struct object_unit opened;
	struct dwarf_unit *unit;	/* NULL: none */
	bool readable;
	struct function_name *functions;
	const char **files;
};

struct symbols {
	struct debugfile_places places;
	struct name_cache names;
	struct symbol_module **modules;	/* by image */
	size_t module_count;
	struct symbol_object **objects;
	size_t object_count;
	size_t object_capacity;
	struct intern keys;		/* path and build-id of each object */
	struct table by_key;
	struct symbol_place **list;	/* never moved */
	size_t count;
	size_t capacity;
	struct view kept[KEPT_UNITS];
	size_t kept_next;
};

/* An address to look up. */
struct pending {
	struct symbol_place *place;
	struct object *object;
	struct dwarf_unit *unit;	/* NULL: no debug information */
	uint64_t address;	/* in the file */
	bool exact;		/* not a return address */
	uint64_t pc;		/* of the call, if it is a return address */
};

/* Call it when the object is open. */
static void find_unit(struct pending *pending)
{
	pending->pc = pending->exact ? pending->address :
		object_call(pending->object, pending->address);
	pending->unit = object_unit_at(pending->object, pending->pc);
}

/* ---- one unit ---- */

static void open_view(struct view *view, struct object *object,
		      struct dwarf_unit *unit)
{
	const struct dwarf_lookup *lookup = &view->opened.lookup;

	memset(view, 0, sizeof(*view));
	view->unit = unit;
	view->readable = unit != NULL &&
		object_unit_open(object, unit, &view->opened);
	if (!view->readable)
		return;
	view->functions = grow_zeroed(lookup->functions.count + 1,
				      sizeof(*view->functions));
	view->files = grow_zeroed(lookup->lines.file_count + 1,
				  sizeof(*view->files));
}

static void close_view(struct view *view)
{
	if (view->readable)
		object_unit_close(&view->opened);
	free(view->functions);
	free(view->files);
	memset(view, 0, sizeof(*view));
}

static const char *file_of(struct symbols *symbols, struct view *view,
			   uint32_t file)
{
	const struct dwarf_lines *lines = &view->opened.lookup.lines;
	struct buffer path = { 0 };

	if (file >= lines->file_count)
		return NULL;
	if (view->files[file] == NULL &&
	    dwarf_lines_path(lines, file, &path) && path.data != NULL)
		view->files[file] = name_cache_text(&symbols->names,
						    path.data);
	buffer_free(&path);
	return view->files[file];
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' ||
				  name[1] == 'D');
}

static struct function_name name_of(struct symbols *symbols, const char *raw,
				    unsigned line)
{
	struct function_name name = { .line = line };

	name.shown = name_cache_function(&symbols->names, raw);
	if (raw != NULL && is_mangled(raw) && strcmp(raw, name.shown) != 0)
		name.symbol = name_cache_text(&symbols->names, raw);
	return name;
}

/* `symbol` is the symbol table's name of the outermost function: better than a
 * bare name, if the compiler left the linker's out. */
static struct function_name function_of(struct symbols *symbols,
					struct view *view, uint32_t function,
					const char *symbol)
{
	struct dwarf_naming naming;

	if (function == UINT32_MAX)
		return name_of(symbols, symbol, 0);
	DEBUG_ASSERT(function < view->opened.lookup.functions.count);
	if (view->functions[function].shown != NULL)
		return view->functions[function];
	naming = dwarf_lookup_name(&view->opened.lookup, function);
	if (naming.name == NULL ||
	    (!naming.mangled && symbol != NULL && is_mangled(symbol)))
		naming.name = symbol;
	return view->functions[function] =
		name_of(symbols, naming.name, naming.line);
}

/* ---- one address ---- */

/* The start of a function without a name. */
static uint64_t start_of(struct object *object, uint64_t pc)
{
	struct fdes_range range;

	return object->binary != NULL &&
		fdes_find(&object->fdes, pc, &range) ? range.low : 0;
}

static void answer(struct symbols *symbols, struct view *view,
		   const struct pending *pending)
{
	struct dwarf_frame found[DWARF_INLINE_MAX] = {
		{ UINT32_MAX, UINT32_MAX, 0, 0, false },
	};
	struct object *object = pending->object;
	const struct symtab_symbol *symbol = symtab_find(&object->symbols,
							 pending->pc);
	struct symbol_place *place = pending->place;

	place->count = view->readable ?
		dwarf_lookup_at(&view->opened.lookup, pending->pc, found) : 1;
	DEBUG_ASSERT(place->count > 0 && place->count <= DWARF_INLINE_MAX);
	place->signal = fdes_is_signal(&object->fdes, pending->address);
	DEBUG_ASSERT(place->frames == NULL);
	place->frames = grow_zeroed(place->count, sizeof(*place->frames));
	for (size_t i = 0; i < place->count; i++) {
		struct symbol_frame *frame = &place->frames[i];
		bool last = i + 1 == place->count;
		struct function_name name = function_of(
			symbols, view, found[i].function,
			last && symbol ? symbol->name : NULL);

		frame->function = name.shown;
		frame->symbol = name.symbol;
		frame->start_line = name.line;
		if (view->readable)
			frame->file = file_of(symbols, view, found[i].file);
		frame->line = found[i].line;
		frame->column = found[i].column;
		frame->inlined = found[i].inlined;
		if (frame->function == NULL)
			frame->start = start_of(object, pending->pc);
	}
	if (place->signal) {
		place->frames[place->count - 1].function =
			"<signal handler called>";
		place->frames[place->count - 1].symbol = NULL;
	}
}

/* ---- images and their files ---- */

static struct symbol_object *object_of(struct symbols *symbols,
				       const struct debugfile_wanted *file)
{
	struct symbol_object *object;
	struct buffer key = { 0 };
	const char *one;
	uint32_t at;

	for (size_t i = 0; i < file->build_id_size; i++)
		buffer_printf(&key, "%02x", file->build_id[i]);
	buffer_printf(&key, " %s", file->path);
	one = intern_string(&symbols->keys, key.data);
	buffer_free(&key);
	at = table_get(&symbols->by_key, (uintptr_t)one);
	DEBUG_ASSERT(at == TABLE_NONE || at < symbols->object_count);
	if (at != TABLE_NONE)
		return symbols->objects[at];
	assert(symbols->object_count < TABLE_NONE);
	table_set(&symbols->by_key, (uintptr_t)one,
		  (uint32_t)symbols->object_count);
	object = grow_zeroed(1, sizeof(*object));
	object->path = grow_copy(file->path, strlen(file->path));
	object->build_id_size = file->build_id_size < BUILD_ID_MAX ?
		file->build_id_size : BUILD_ID_MAX;
	if (object->build_id_size > 0)
		memcpy(object->build_id, file->build_id,
		       object->build_id_size);
	object->pid = file->pid;
	GROW(symbols->objects, symbols->object_count,
	     symbols->object_capacity);
	return symbols->objects[symbols->object_count++] = object;
}

static struct symbol_module *module_of(struct symbols *symbols,
				       uint32_t index,
				       const struct symbol_image *image)
{
	struct symbol_module *module;

	if (index >= symbols->module_count) {
		size_t count = (size_t)index + 64;

		symbols->modules = grow_resize(symbols->modules, count,
					       sizeof(*symbols->modules));
		memset(symbols->modules + symbols->module_count, 0,
		       (count - symbols->module_count) *
		       sizeof(*symbols->modules));
		symbols->module_count = count;
	}
	module = symbols->modules[index];
	if (module == NULL) {
		module = grow_zeroed(1, sizeof(*module));
		module->object = object_of(symbols, &image->file);
		module->bias = image->bias;
		symbols->modules[index] = module;
	}
	return module;
}

struct opening {
	struct symbols *symbols;
	struct symbol_object **list;
	size_t count;
	size_t capacity;
};

static void open_one(void *owner, size_t i)
{
	struct opening *opening = owner;
	struct symbol_object *object = opening->list[i];
	struct debugfile_wanted wanted = {
		object->path, object->build_id, object->build_id_size,
		object->pid,
	};

	object_open(&object->object, &opening->symbols->places, &wanted);
}

static void open_objects(struct symbols *symbols,
			 struct symbol_object **list, size_t count)
{
	struct opening opening = { symbols, list, count, count };

	parallel_each(count, open_one, &opening);
}

/* ---- batches ---- */

struct batch {
	struct symbols *symbols;
	struct pending *list;
	size_t count;
	size_t capacity;
	struct group {
		size_t first;
		size_t count;
		uint64_t cost;
	} *groups;
	size_t group_count;
	size_t group_capacity;
	struct symbol_object **objects;
	size_t object_count;
	size_t object_capacity;
	pthread_t teller;	/* shows progress */
	atomic_size_t done;
};

/* A place for a new address; NULL: the address already has one. */
static struct symbol_place *new_place(struct symbols *symbols,
				      struct symbol_module *module,
				      uint64_t address, bool exact)
{
	uint64_t key = address * 2 + exact;
	struct symbol_place *place;

	if (table_get(&module->places, key) != TABLE_NONE)
		return NULL;
	assert(symbols->count < TABLE_NONE);
	table_set(&module->places, key, (uint32_t)symbols->count);
	place = grow_zeroed(1, sizeof(*place));
	GROW(symbols->list, symbols->count, symbols->capacity);
	return symbols->list[symbols->count++] = place;
}

static void add_pending(struct batch *batch,
			const struct symbol_request *request)
{
	struct symbol_module *module = module_of(batch->symbols,
						 request->index,
						 &request->image);
	struct symbol_place *place = new_place(batch->symbols, module,
					       request->address,
					       request->exact);
	struct symbol_object *object = module->object;
	struct pending *pending;

	if (place == NULL)
		return;
	GROW(batch->list, batch->count, batch->capacity);
	pending = &batch->list[batch->count++];
	pending->place = place;
	pending->object = &object->object;
	pending->address = request->address - module->bias;
	pending->exact = request->exact;
	if (object->opened)
		return;
	object->opened = true;
	GROW(batch->objects, batch->object_count, batch->object_capacity);
	batch->objects[batch->object_count++] = object;
}

static int by_unit(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;

	if (x->object != y->object)
		return (uintptr_t)x->object < (uintptr_t)y->object ? -1 : 1;
	if (x->unit != y->unit)
		return (uintptr_t)x->unit < (uintptr_t)y->unit ? -1 : 1;
	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static int by_cost(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void make_groups(struct batch *batch)
{
	const struct pending *list = batch->list;

	assert(batch->count > 0 && batch->group_count == 0);
	qsort(batch->list, batch->count, sizeof(*batch->list), by_unit);
	for (size_t i = 0, end; i < batch->count; i = end) {
		struct group group = { .first = i };

		for (end = i + 1; end < batch->count &&
		     list[end].object == list[i].object &&
		     list[end].unit == list[i].unit; end++)
			if (list[i].unit == NULL && end - i == PIECE)
				break;
		group.count = end - i;
		DEBUG_ASSERT(group.count > 0 && end <= batch->count);
		group.cost = group.count * 16;
		if (list[i].unit != NULL)
			group.cost += list[i].unit->end -
				list[i].unit->offset;
		GROW(batch->groups, batch->group_count,
		     batch->group_capacity);
		batch->groups[batch->group_count++] = group;
	}
	qsort(batch->groups, batch->group_count, sizeof(*batch->groups),
	      by_cost);
}

static void answer_group(void *owner, size_t i)
{
	struct batch *batch = owner;
	const struct group *group = &batch->groups[i];
	const struct pending *list = batch->list + group->first;
	struct view view;
	size_t done;

	DEBUG_ASSERT(group->first + group->count <= batch->count);
	open_view(&view, list[0].object, list[0].unit);
	for (size_t j = 0; j < group->count; j++)
		answer(batch->symbols, &view, &list[j]);
	close_view(&view);
	DEBUG_ASSERT(atomic_load_explicit(&batch->done, memory_order_relaxed) +
			     group->count <= batch->count);
	done = atomic_fetch_add_explicit(&batch->done, group->count,
					 memory_order_relaxed) + group->count;
	if (pthread_equal(batch->teller, pthread_self()))
		progress_update(done);
}

void symbols_prepare(struct symbols *symbols,
		     const struct symbol_request *requests, size_t count)
{
	struct batch batch = { .symbols = symbols, .teller = pthread_self() };

	for (size_t i = 0; i < count; i++)
		add_pending(&batch, &requests[i]);
	if (batch.count > 0) {
		progress_begin("looking up symbols", batch.count);
		open_objects(symbols, batch.objects, batch.object_count);
		for (size_t i = 0; i < batch.count; i++)
			find_unit(&batch.list[i]);
		make_groups(&batch);
		parallel_each(batch.group_count, answer_group, &batch);
		assert(atomic_load(&batch.done) == batch.count);
		progress_end();
	}
	free(batch.list);
	free(batch.groups);
	free(batch.objects);
}

/* ---- single look-ups ---- */

/* The view of a unit, from the kept ones. */
static struct view *kept_view(struct symbols *symbols, struct object *object,
			      struct dwarf_unit *unit)
{
	struct view *view;

	DEBUG_ASSERT(unit != NULL);
	for (size_t i = 0; i < KEPT_UNITS; i++)
		if (symbols->kept[i].unit == unit)
			return &symbols->kept[i];
	assert(symbols->kept_next < KEPT_UNITS);
	view = &symbols->kept[symbols->kept_next];
	symbols->kept_next = (symbols->kept_next + 1) % KEPT_UNITS;
	close_view(view);
	open_view(view, object, unit);
	DEBUG_ASSERT(view->unit == unit);
	return view;
}

const struct symbol_place *symbols_find(struct symbols *symbols,
					uint32_t index,
					const struct symbol_image *image,
					uint64_t address, bool exact)
{
	struct symbol_module *module = module_of(symbols, index, image);
	uint32_t at = table_get(&module->places, address * 2 + exact);
	struct symbol_object *object = module->object;
	struct view none = { 0 };
	struct pending pending;

	DEBUG_ASSERT(at == TABLE_NONE || at < symbols->count);
	if (at != TABLE_NONE)
		return symbols->list[at];
	if (!object->opened)
		open_objects(symbols, &object, 1);
	object->opened = true;
	pending.place = new_place(symbols, module, address, exact);
	assert(pending.place != NULL);
	pending.object = &object->object;
	pending.address = address - module->bias;
	pending.exact = exact;
	find_unit(&pending);
	answer(symbols, pending.unit ?
	       kept_view(symbols, pending.object, pending.unit) : &none,
	       &pending);
	return pending.place;
}

struct symbols *symbols_new(const struct debugfile_places *places, bool full)
{
	struct symbols *symbols = grow_zeroed(1, sizeof(*symbols));

	symbols->places = *places;
	name_cache_init(&symbols->names, full);
	return symbols;
}

const char *symbols_whole_name(struct symbols *symbols, const char *function,
			       size_t i)
{
	return name_cache_whole(&symbols->names, function, i);
}

void symbols_free(struct symbols *symbols)
{
	for (size_t i = 0; i < KEPT_UNITS; i++)
		close_view(&symbols->kept[i]);
	for (size_t i = 0; i < symbols->module_count; i++)
		if (symbols->modules[i] != NULL) {
			table_free(&symbols->modules[i]->places);
			free(symbols->modules[i]);
		}
	for (size_t i = 0; i < symbols->object_count; i++) {
		if (symbols->objects[i]->opened)
			object_close(&symbols->objects[i]->object);
		free(symbols->objects[i]->path);
		free(symbols->objects[i]);
	}
	for (size_t i = 0; i < symbols->count; i++) {
		free(symbols->list[i]->frames);
		free(symbols->list[i]);
	}
	free(symbols->list);
	free(symbols->modules);
	free(symbols->objects);
	intern_free(&symbols->keys);
	table_free(&symbols->by_key);
	name_cache_free(&symbols->names);
	free(symbols);
}
