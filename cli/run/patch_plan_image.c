/*
 * patch_plan_image.c: see patch_plan_image.h.
 *
 *	symbols ─▶ families ─▶ candidates ─▶ relocated ─▶ no branch into the
 *	                                              middle ─▶ plan
 *
 * Of a file, either all functions that allocate or free blocks are patched, or
 * none: half of the events would be worse than a message. Two names at one
 * address are one function.
 *
 * An operator new or delete is patched if it belongs to the allocator and does
 * not call a function that is patched already. A program's own operator is not
 * patched: its calls of the allocator are seen.
 */
#include "cli/run/patch_plan_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/run/patch_plan_names.h"

#define FAMILIES_MAX 16

struct candidate {
	const struct patch_plan_symbol *symbol;
	struct patch_shape shape;
	struct patch_plan_function function;
	struct patch_plan_moved moved;
	size_t family;
	bool forwards;		/* only jumps to another one: not patched */
};

struct planning {
	const struct patch_plan_file *file;
	bool program;
	struct patch_plan_family families[FAMILIES_MAX];
	bool makes[FAMILIES_MAX], releases[FAMILIES_MAX];
	size_t family_count;
	struct candidate *list;
	size_t list_count, list_capacity;
	const char *allocator;		/* NULL: none */
	char *refused;			/* why it cannot be patched, or NULL */
};

static void refuse(struct planning *p, const char *name, const char *why)
{
	if (p->refused == NULL)
		p->refused = grow_format("%s %s", name, why);
}

/* ---- families ---- */

/* Adds jemalloc prefixes found in this file, then the fixed ones. */
static void find_families(struct planning *p)
{
	const struct patch_plan_file *file = p->file;

	for (size_t i = 0; i < file->symbol_count; i++) {
		const char *name = file->symbols[i].name;
		size_t length = patch_plan_names_jemalloc(name);
		bool known = length == 0 ||
			     p->family_count + patch_plan_family_count >=
				     FAMILIES_MAX;

		for (size_t n = 0; !known && n < p->family_count; n++)
			known = p->families[n].length == length &&
				strncmp(p->families[n].prefix, name,
					length) == 0;
		if (!known)
			p->families[p->family_count++] =
				(struct patch_plan_family){ name, length,
							    "jemalloc" };
	}
	for (size_t i = 0; i < patch_plan_family_count; i++)
		p->families[p->family_count++] = patch_plan_families[i];
}

/* Whether the function is exported: then our preloaded library interposes
 * it. */
static bool is_exported(const struct planning *p, uint64_t address)
{
	const struct patch_plan_file *file = p->file;
	size_t i = patch_plan_file_symbol(file, address);

	for (; i < file->symbol_count && file->symbols[i].address == address;
	     i++)
		if (file->symbols[i].exported)
			return true;
	return false;
}

static size_t family_of(const struct planning *p, const char *name,
			struct patch_shape *shape)
{
	size_t n = 0;

	while (n < p->family_count &&
	       !patch_plan_names_function(&p->families[n], name, shape))
		n++;
	return n;
}

static void find_candidates(struct planning *p)
{
	const struct patch_plan_file *file = p->file;

	for (size_t i = 0; i < file->symbol_count; i++) {
		const struct patch_plan_symbol *symbol = &file->symbols[i];
		struct patch_shape shape;
		size_t family = family_of(p, symbol->name, &shape);

		if (family == p->family_count ||
		    (!p->program && is_exported(p, symbol->address)))
			continue;
		if (shape.op == PATCH_FREE)
			p->releases[family] = true;
		else
			p->makes[family] = true;
		GROW(p->list, p->list_count, p->list_capacity);
		p->list[p->list_count++] = (struct candidate){
			.symbol = symbol, .shape = shape, .family = family };
	}
}

static bool has(const struct planning *p, const char *name)
{
	for (size_t i = 0; i < p->list_count; i++)
		if (strcmp(p->list[i].symbol->name, name) == 0)
			return true;
	return false;
}

/* Drops families that do not both allocate and free: a name alone is no
 * allocator. */
static void drop_half_families(struct planning *p)
{
	size_t kept = 0, plain = p->family_count - 1;
	bool own = has(p, "malloc") && has(p, "free");

	for (size_t i = 0; i < p->list_count; i++) {
		size_t family = p->list[i].family;

		if (!p->makes[family] || !p->releases[family] ||
		    (family == plain && !own))
			continue;
		if (p->allocator == NULL || family != plain)
			p->allocator = p->families[family].allocator;
		p->list[kept++] = p->list[i];
	}
	p->list_count = kept;
}

/* Determines whose functions with the C library's names are; refuses
 * sanitizers. */
static void name_allocator(struct planning *p)
{
	const struct patch_plan_file *file = p->file;
	bool plain = p->list_count > 0 &&
		strcmp(p->allocator, "malloc") == 0;

	for (size_t i = 0; p->list_count > 0 && i < file->symbol_count; i++) {
		const char *name = file->symbols[i].name;
		const char *sanitizer = patch_plan_names_sanitizer(name);
		const char *telling =
			plain ? patch_plan_names_telling(name) : NULL;

		if (sanitizer != NULL) {
			p->allocator = sanitizer;
			refuse(p, name, "is a sanitizer, which checks its "
					"callers' stacks");
			return;
		}
		if (telling != NULL)
			p->allocator = telling;
	}
}

/* ---- functions ---- */

static bool same_shape(const struct patch_shape *a,
		       const struct patch_shape *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static int by_entry(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->symbol->address != b->symbol->address)
		return a->symbol->address < b->symbol->address ? -1 : 1;
	return strcmp(a->symbol->name, b->symbol->name);
}

static void merge_aliases(struct planning *p)
{
	size_t kept = 0;

	if (p->list_count > 0)
		qsort(p->list, p->list_count, sizeof(*p->list), by_entry);
	for (size_t i = 0; i < p->list_count; i++) {
		struct candidate *last = kept > 0 ? &p->list[kept - 1] : NULL;

		if (last == NULL ||
		    last->symbol->address != p->list[i].symbol->address)
			p->list[kept++] = p->list[i];
		else if (!same_shape(&last->shape, &p->list[i].shape))
			refuse(p, p->list[i].symbol->name,
			       "shares its code with another function");
	}
	p->list_count = kept;
}

/* Checks the symbols at its address, and finds its end. */
static void find_extent(struct planning *p, struct candidate *c)
{
	const struct patch_plan_file *file = p->file;
	uint64_t entry = c->symbol->address, size = 0;
	size_t i = patch_plan_file_symbol(file, entry);

	for (; i < file->symbol_count && file->symbols[i].address == entry;
	     i++) {
		const struct patch_plan_symbol *symbol = &file->symbols[i];

		if (symbol->size > size)
			size = symbol->size;
		if (symbol->indirect)
			refuse(p, symbol->name, "is an IFUNC, resolved at load "
						"time");
		if (!patch_plan_names_related(symbol->name))
			refuse(p, c->symbol->name,
			       "shares its code with another function");
	}
	c->function.entry = entry;
	c->function.limit = i < file->symbol_count ?
		file->symbols[i].address : file->code_end;
	c->function.end = size > 0 && size < file->code_end - entry ?
		entry + size : c->function.limit;
	if (c->function.limit < c->function.end)
		c->function.limit = c->function.end;
	if (c->function.end - entry > PATCH_SIZE_MAX)
		refuse(p, c->symbol->name, "is too long");
}

/* Refuses functions with compiler-made copies (.constprop, .isra): calls of a
 * copy would not be seen. */
static void check_copies(struct planning *p)
{
	const struct patch_plan_file *file = p->file;

	for (size_t i = 0; i < file->symbol_count; i++) {
		const char *name = file->symbols[i].name;
		const char *dot = strchr(name, '.');

		if (dot == NULL || (strncmp(dot, ".constprop", 10) != 0 &&
				    strncmp(dot, ".isra", 5) != 0))
			continue;
		for (size_t n = 0; n < p->list_count; n++) {
			const char *own = p->list[n].symbol->name;

			if (strncmp(name, own, (size_t)(dot - name)) == 0 &&
			    own[dot - name] == 0)
				refuse(p, own, "has copies that the compiler "
				       "made for some callers");
		}
	}
}

static struct candidate *candidate_at(struct planning *p, uint64_t address)
{
	for (size_t i = 0; i < p->list_count; i++)
		if (p->list[i].function.entry == address)
			return &p->list[i];
	return NULL;
}

static void move_entries(struct planning *p)
{
	const struct patch_plan_memory *memory = &p->file->memory;

	for (size_t i = 0; p->refused == NULL && i < p->list_count; i++) {
		struct candidate *c = &p->list[i];
		const char *why = patch_plan_code_move(memory, &c->function,
						       &c->moved);
		uint64_t to;

		if (why == NULL)
			continue;
		/* too short for a jump, but only a jump to another candidate */
		to = patch_plan_code_forwards(memory, &c->function);
		c->forwards = to != 0 && to != c->function.entry &&
			candidate_at(p, to) != NULL;
		if (!c->forwards)
			refuse(p, c->symbol->name, why);
	}
}

/* ---- operators ---- */

struct reached {
	struct planning *p;
	unsigned depth;
	bool patched;		/* one of the candidates */
	bool own;		/* an internal function of an allocator */
};

static bool is_inside_allocator(const char *name)
{
	return strncmp(name, "je_", 3) == 0 || strncmp(name, "mi_", 3) == 0 ||
		patch_plan_names_telling(name) != NULL;
}

/* Checks a call's target, and one level deeper: an operator's slow path may be
 * a separate function without a telling name. */
static void note_call(void *data, uint64_t target)
{
	struct reached *reached = data;
	const struct patch_plan_file *file = reached->p->file;
	size_t i = patch_plan_file_symbol(file, target);
	struct patch_plan_function function = { target, target, 0 };

	if (reached->depth == 0 && candidate_at(reached->p, target) != NULL)
		reached->patched = true;
	for (; i < file->symbol_count && file->symbols[i].address == target;
	     i++) {
		if (is_inside_allocator(file->symbols[i].name))
			reached->own = true;
		if (file->symbols[i].size > function.end - target)
			function.end = target + file->symbols[i].size;
	}
	if (reached->depth++ == 0)
		patch_plan_code_calls(&file->memory, &function, note_call,
				      data);
	reached->depth--;
}

static void add_operators(struct planning *p)
{
	const struct patch_plan_file *file = p->file;
	size_t before = p->list_count;

	for (size_t i = 0; before > 0 && i < file->symbol_count; i++) {
		struct candidate c = { .symbol = &file->symbols[i] };
		struct reached reached = { .p = p };

		if (!patch_plan_names_operator(c.symbol->name, &c.shape) ||
		    candidate_at(p, c.symbol->address) != NULL ||
		    (!p->program && is_exported(p, c.symbol->address)))
			continue;
		find_extent(p, &c);
		patch_plan_code_calls(&file->memory, &c.function, note_call,
				      &reached);
		if (reached.patched || (file->has_table && !reached.own))
			continue;
		GROW(p->list, p->list_count, p->list_capacity);
		p->list[p->list_count++] = c;
	}
}

/* ---- branches into the middle ---- */

/* Whether the bytes at this address are a branch instruction. */
static bool is_branch(const struct patch_plan_file *file, uint64_t at)
{
	size_t i = patch_plan_file_symbol(file, at + 1);

	return i == 0 ||
	       patch_plan_code_begins(&file->memory,
				      file->symbols[i - 1].address, at);
}

static void check_target(struct planning *p, uint64_t at, uint64_t target)
{
	for (size_t i = 0; i < p->list_count; i++) {
		const struct candidate *c = &p->list[i];

		if (!c->forwards && target > c->function.entry &&
		    target - c->function.entry < c->moved.displaced &&
		    is_branch(p->file, at))
			refuse(p, c->symbol->name, "is the target of a branch "
						   "into its middle");
	}
}

/* Checks every byte that could begin a branch with a 32-bit distance, without
 * decoding all instructions: a hundred times faster. */
static void check_middles(struct planning *p)
{
	const struct patch_plan_file *file = p->file;
	uint64_t low = UINT64_MAX, high = 0;
	const uint8_t *code;
	size_t size;

	code = file->memory.read(&file->memory, file->code, 1, &size);
	for (size_t i = 0; i < p->list_count; i++) {
		uint64_t entry = p->list[i].function.entry;

		low = entry < low ? entry : low;
		high = entry > high ? entry : high;
	}
	for (size_t i = 0; code != NULL && i + 6 <= size; i++) {
		bool two = code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80;
		int32_t distance;
		uint64_t target;

		if (!two && (code[i] & 0xfe) != 0xe8)
			continue;
		memcpy(&distance, code + i + 1 + two, 4);
		target = file->code + i + 5 + two + (uint64_t)(int64_t)distance;
		if (target > low && target - PATCH_DISPLACED_MAX < high)
			check_target(p, file->code + i, target);
	}
}

/* ---- writing ---- */

static void put_function(struct buffer *out, const struct patch_plan_file *file,
			 const struct candidate *c)
{
	const struct patch_plan_moved *moved = &c->moved;
	size_t size = c->function.end - c->function.entry;
	const uint8_t *code = file->memory.read(&file->memory,
						c->function.entry, size,
						NULL);
	struct patch_entry entry = {
		.address = c->function.entry,
		.check = patch_hash(code, size),
		.size = (uint32_t)size,
		.flags = patch_plan_code_calls_out(&file->memory, &c->function)
				 ? 0
				 : PATCH_KEEPS_ALL,
		.displaced = (uint8_t)moved->displaced,
		.code_size = (uint8_t)moved->code_size,
		.fix_count = (uint8_t)moved->fix_count,
		.shape = c->shape,
	};

	buffer_add(out, (const char *)&entry, sizeof(entry));
	buffer_add(out, (const char *)moved->code, moved->code_size);
	buffer_add(out, (const char *)moved->fixes,
		   moved->fix_count * sizeof(moved->fixes[0]));
}

static void put_image(struct buffer *out, const struct planning *p,
		      const char *path)
{
	struct patch_image image = {
		.kind = p->program ? PATCH_PROGRAM : PATCH_LIBRARY,
		.warned = p->refused != NULL,
	};
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; p->refused == NULL && i < p->list_count; i++)
		image.functions += !p->list[i].forwards;
	snprintf(image.name, sizeof(image.name), "%s",
		 slash ? slash + 1 : path);
	buffer_add(out, (const char *)&image, sizeof(image));
	for (size_t i = 0; image.functions > 0 && i < p->list_count; i++)
		if (!p->list[i].forwards)
			put_function(out, p->file, &p->list[i]);
}

static void prepare(struct planning *p)
{
	merge_aliases(p);
	for (size_t i = 0; i < p->list_count; i++)
		find_extent(p, &p->list[i]);
	check_copies(p);
	add_operators(p);
	if (p->list_count > PATCH_FUNCTIONS_MAX)
		refuse(p, "it", "has too many functions");
	if (p->refused == NULL)
		move_entries(p);
	if (p->refused == NULL)
		check_middles(p);
}

void patch_plan_image(struct buffer *plan, const struct patch_plan_file *file,
		      const char *path, bool program, bool reports)
{
	struct planning p = { .file = file, .program = program };

	find_families(&p);
	find_candidates(&p);
	drop_half_families(&p);
	name_allocator(&p);
	if (p.list_count > 0) {
		if (p.refused == NULL)
			prepare(&p);
		if (reports || p.refused == NULL)
			put_image(plan, &p, path);
	}
	if (p.refused != NULL && reports)
		log_note("%s: this %s brings its own allocator %s; its "
			 "allocations are not recorded: %s", path,
			 program ? "program" : "library", p.allocator,
			 p.refused);
	free(p.list);
	free(p.refused);
}
