/*
 * annotate_costs.c: finds the functions by name, and sums up the costs of their
 * lines and calls.
 *
 * Two passes over the contexts. The first looks up each place that a cost
 * passes, and finds functions with the wanted name; only then is it known
 * whether one has exactly that name. The second walks outward from each context
 * that passes such a function, and adds its measures up.
 *
 *  I1  In each sum, `last` is the context added last: a context that meets a
 *      function again by recursion is not added again.
 *
 * Called by the main thread.
 */
#include "cli/annotate/annotate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/progress.h"
#include "cli/base/terminal/log.h"
#include "cli/model/core/contexts.h"
#include "cli/stack/frames_prepare.h"

#define NO_FUNCTION UINT32_MAX

/* ---- names ---- */

static bool is_wanted(void *wanted, const char *name)
{
	return strcmp(name, wanted) == 0;
}

static bool is_exact(const struct annotate *annotate, const char *name)
{
	return frames_function_matches(annotate->frames, name, is_wanted,
				       (char *)annotate->wanted);
}

static bool matches_pattern(void *pattern, const char *name)
{
	return pattern_matches(pattern, name);
}

static bool in_range(const struct annotate *annotate,
		     const struct frame *frame)
{
	const struct image *image =
		model_image(annotate->model, annotate->image);
	uint64_t at = frame->module_offset - 1 + image->bias;

	return !frame->inlined && frame->library == image->name &&
		at >= annotate->range.start && at < annotate->range.end;
}

static void new_function(struct annotate *annotate,
			 const struct frame *frame)
{
	struct annotate_function *function;

	GROW(annotate->functions, annotate->count, annotate->capacity);
	function = &annotate->functions[annotate->count++];
	memset(function, 0, sizeof(*function));
	function->library = frame->library;
	if (annotate->range.end == 0 || !frame->nameless) {
		function->name = intern_string(&annotate->names,
					       frame->function);
	} else {
		char *name = grow_format("%s+0x%llx", frame->library,
			(unsigned long long)(annotate->range.start -
			model_image(annotate->model, annotate->image)->bias));

		function->name = intern_string(&annotate->names, name);
		free(name);
	}
}

/* One string for several numbers, as a key of a table. */
static uintptr_t unique_of(struct annotate *annotate, uint64_t a, uint64_t b,
			   uint64_t c, uint64_t d)
{
	char key[80];

	snprintf(key, sizeof(key), "%llx|%llx|%llx|%llx",
		 (unsigned long long)a, (unsigned long long)b,
		 (unsigned long long)c, (unsigned long long)d);
	return (uintptr_t)intern_string(&annotate->keys, key);
}

/* The matching function of a frame; cached by name and library. */
static uint32_t function_of(struct annotate *annotate,
			    const struct frame *frame)
{
	const char *name, *library;
	uintptr_t unique;
	uint32_t number;
	bool exact;

	if (annotate->range.end > 0 && !in_range(annotate, frame))
		return NO_FUNCTION;
	if (frame->function == NULL)
		return NO_FUNCTION;
	name = frame->nameless && annotate->range.end > 0 ? "" :
		intern_string(&annotate->names, frame->function);
	library = frame->library == NULL ? "" :
		intern_string(&annotate->names, frame->library);
	unique = unique_of(annotate, (uintptr_t)name, (uintptr_t)library, 0,
			   0);
	number = table_get(&annotate->by_name, unique);
	if (number != TABLE_NONE)
		return number - 1;	/* 0: NO_FUNCTION */
	number = NO_FUNCTION;
	/* LIBRARY+0xOFFSET is one function, whatever its name. */
	exact = annotate->range.end > 0 || is_exact(annotate, frame->function);
	if (exact || (annotate->pattern != NULL &&
		      frames_function_matches(annotate->frames,
					      frame->function, matches_pattern,
					      annotate->pattern))) {
		number = (uint32_t)annotate->count;
		new_function(annotate, frame);
		annotate->functions[number].exact = exact;
	}
	annotate->exact |= exact;
	table_set(&annotate->by_name, unique, number + 1);
	return number;
}

/* ---- the first pass ---- */

static void look_at(struct annotate *annotate, uint32_t node, bool exact)
{
	uint32_t number = frames_place(annotate->frames, node, exact);
	const struct frames_place *place = &annotate->frames->places[number];

	annotate->place_of[node] = number;
	for (uint32_t i = 0; i < place->count; i++)
		if (function_of(annotate, &place->list[i]) != NO_FUNCTION)
			annotate->through[node] = annotate->at[node] = true;
}

static void look_at_places(struct annotate *annotate)
{
	const struct contexts *contexts = model_contexts(annotate->model);
	struct frames *frames = annotate->frames;

	frames_prepare_all(frames);
	progress_begin("looking up symbols", contexts->cost_count);
	for (size_t i = 0; i < contexts->cost_count; i++) {
		uint32_t at = contexts->costs[i].node;
		bool exact = false;

		for (; at >= CONTEXT_ROOTS &&
			     annotate->place_of[at] == TABLE_NONE;
		     at = contexts->nodes[at].parent) {
			look_at(annotate, at, exact);
			exact = frames->places[annotate->place_of[at]].signal;
		}
		progress_update(i);
	}
	progress_end();
}

/* ---- the second pass ---- */

static void add(struct annotate_sum *sum, const struct figures *figures,
		bool self, uint32_t context)
{
	if (sum->last == context + 1)
		return;		/* I1 */
	sum->last = context + 1;
	figures_add(&sum->all, figures);
	if (self)
		figures_add(&sum->self, figures);
}

/* The number given to a key before, or the next one. */
static uint32_t spot(struct annotate *annotate, uintptr_t key, size_t next,
		     bool *is_new)
{
	uint32_t number = table_get(&annotate->spots, key);

	*is_new = number == TABLE_NONE;
	if (!*is_new)
		return number;
	table_set(&annotate->spots, key, (uint32_t)next);
	return (uint32_t)next;
}

static struct annotate_line *line_of(struct annotate *annotate,
				     uint32_t number,
				     const struct frame *frame)
{
	struct annotate_function *function = &annotate->functions[number];
	const char *file = frame->file == NULL ? NULL :
		intern_string(&annotate->names, frame->file);
	uintptr_t key = unique_of(annotate, number, (uintptr_t)file,
				  frame->line, 'l');
	struct annotate_line *line;
	bool is_new;
	uint32_t at = spot(annotate, key, function->line_count, &is_new);

	if (!is_new)
		return &function->lines[at];
	GROW(function->lines, function->line_count, function->line_capacity);
	line = &function->lines[function->line_count++];
	*line = (struct annotate_line){ .file = file, .line = frame->line };
	return line;
}

/* A context at one node, seen from the next inner frame. */
struct passage {
	uint32_t context;
	uint32_t node;
	const struct figures *figures;
	bool self;		/* all inner frames are allocator wrappers */
	bool exact;
	const char *callee;	/* "": none */
};

static uint32_t image_of(const struct annotate *annotate,
			 const struct context_node *node)
{
	const struct images *images = model_images(annotate->model);

	if (node->image == IMAGE_NONE)
		return images_find_only(images, node->address);
	/* code mapped again at the same address is the same */
	return images->list[node->image].same_as;
}

/* Distinguishes owners that are nodes from owners that are images. */
#define OWNER_IS_NODE (UINT64_C(1) << 32)

static struct annotate_call *call_of(struct annotate *annotate,
				     uint32_t number,
				     const struct passage *passage,
				     const struct frame *frame)
{
	struct annotate_function *function = &annotate->functions[number];
	const struct context_node *node =
		&model_contexts(annotate->model)->nodes[passage->node];
	uint32_t image = image_of(annotate, node);
	/* For run-time code, an address may have several meanings. */
	uint64_t owner = image == IMAGE_NONE ? OWNER_IS_NODE | passage->node :
					       image;
	/* as in frames_place */
	uint64_t address = node->address - passage->exact;
	uintptr_t key = unique_of(annotate, number, owner, address,
				  passage->exact ? 'e' : 'c');
	struct annotate_call *call;
	bool is_new;
	uint32_t at = spot(annotate, key, function->call_count, &is_new);

	if (!is_new) {
		call = &function->calls[at];
		if (call->callee != NULL && passage->callee != NULL &&
		    strcmp(call->callee, passage->callee) != 0)
			call->callee = NULL;
		return call;
	}
	GROW(function->calls, function->call_count, function->call_capacity);
	call = &function->calls[function->call_count++];
	*call = (struct annotate_call){
		.image = image,
		.node = passage->node,
		.address = address,
		.exact = passage->exact,
		.inlined = frame->inlined,
		.callee = passage->callee,
	};
	return call;
}

static void add_frame(struct annotate *annotate, const struct passage *passage,
		      const struct frame *frame)
{
	uint32_t number = function_of(annotate, frame);
	bool self = passage->self;
	uint32_t context = passage->context;

	if (number == NO_FUNCTION)
		return;
	add(&annotate->functions[number].sum, passage->figures, self,
	    context);
	add(&line_of(annotate, number, frame)->sum, passage->figures, self,
	    context);
	add(&call_of(annotate, number, passage, frame)->sum, passage->figures,
	    self, context);
}

static void add_context(struct annotate *annotate, uint32_t context,
			uint32_t node, const struct figures *figures)
{
	const struct contexts *contexts = model_contexts(annotate->model);
	struct passage passage = { context, 0, figures, true, false, "" };

	for (; node >= CONTEXT_ROOTS && annotate->through[node];
	     node = contexts->nodes[node].parent) {
		const struct frames_place *place =
			&annotate->frames->places[annotate->place_of[node]];

		passage.node = node;
		passage.exact = place->exact;
		for (uint32_t i = 0; i < place->count; i++) {
			const struct frame *frame = &place->list[i];

			if (annotate->at[node])
				add_frame(annotate, &passage, frame);
			passage.self &= frame->glue;
			passage.callee = frame->function;
		}
	}
}

static void add_costs(struct annotate *annotate)
{
	const struct contexts *contexts = model_contexts(annotate->model);
	bool *through = annotate->through;
	struct figures figures;

	/* Parents come before their children (contexts.c, I1). */
	for (size_t i = CONTEXT_ROOTS; i < contexts->node_count; i++)
		through[i] |= contexts->nodes[i].parent >= CONTEXT_ROOTS &&
			through[contexts->nodes[i].parent];
	for (size_t i = 0; i < contexts->cost_count; i++) {
		uint32_t node = contexts->costs[i].node;

		model_figures(annotate->model, &contexts->costs[i], &figures);
		if (figures.count == 0 ||
		    (annotate->filter != NULL &&
		     !stack_filter_keeps(annotate->filter, node, &figures)))
			continue;
		figures_add(&annotate->total, &figures);
		annotate->contexts++;
		if (node >= CONTEXT_ROOTS && through[node])
			add_context(annotate, (uint32_t)i, node, &figures);
	}
}

/* ---- "LIBRARY+0xOFFSET" ---- */

static bool is_library(const struct image *image, const char *name,
		       size_t size)
{
	return (strlen(image->name) == size &&
		memcmp(image->name, name, size) == 0) ||
		(strlen(image->path) == size &&
		 memcmp(image->path, name, size) == 0);
}

static void find_range(struct annotate *annotate,
		       const struct debugfile_places *places)
{
	const struct images *images = model_images(annotate->model);
	const char *plus = strrchr(annotate->wanted, '+');
	char *end = NULL;
	uint64_t offset;

	if (plus == NULL || strncmp(plus, "+0x", 3) != 0)
		return;
	offset = strtoull(plus + 1, &end, 16);
	if (end == plus + 3 || *end != 0)
		return;
	for (uint32_t i = 0; i < images->count; i++) {
		const struct image *image = &images->list[i];
		struct symbol_image wanted = {
			{ image->path, image->build_id, image->build_id_size,
			  0 }, image->bias
		};
		struct code *code;

		if (!is_library(image, annotate->wanted,
				(size_t)(plus - annotate->wanted)))
			continue;
		code = code_open(places, &wanted);
		annotate->image = i;
		if (!code_range_at(code, offset + image->bias,
				   &annotate->range))
			/* its file is not available: use just this call */
			annotate->range = (struct code_range){
				offset + image->bias - 1,
				offset + image->bias + 1, NULL };
		code_free(code);
		return;
	}
}

/* ---- all functions ---- */

static bool has_blocks(const struct annotate_function *function)
{
	return function->sum.all.count > 0;
}

/* Drops functions whose stacks are all filtered out, and, if one matches the
 * name exactly, those that only resemble it. */
static void drop_others(struct annotate *annotate)
{
	size_t kept = 0;

	for (size_t i = 0; i < annotate->count; i++) {
		struct annotate_function *function = &annotate->functions[i];

		if (!has_blocks(function) ||
		    (annotate->exact && !function->exact)) {
			free(function->lines);
			free(function->calls);
			continue;
		}
		annotate->functions[kept++] = *function;
	}
	annotate->count = kept;
}

bool annotate_find(struct annotate *annotate,
		   const struct debugfile_places *places)
{
	size_t nodes = model_contexts(annotate->model)->node_count;
	bool matched;
	char why[256] = "";

	find_range(annotate, places);
	/* An invalid expression may still be a name: operator+. */
	annotate->pattern = pattern_new(annotate->wanted, why, sizeof(why));
	annotate->place_of = grow_resize(NULL, nodes, sizeof(uint32_t));
	memset(annotate->place_of, 0xff, nodes * sizeof(uint32_t));
	annotate->at = grow_zeroed(nodes, sizeof(bool));
	annotate->through = grow_zeroed(nodes, sizeof(bool));
	look_at_places(annotate);
	matched = annotate->count > 0;
	if (matched)
		add_costs(annotate);
	drop_others(annotate);
	if (annotate->count > 0)
		return true;
	if (matched)
		log_error("%s: no allocation through it passes the filters",
			  annotate->wanted);
	else if (why[0] != 0)
		log_error("%s: no function of that name, and not a valid "
			  "regular expression: %s", annotate->wanted, why);
	else
		log_error("%s: no function of that name, or matching it, is "
			  "on the stack of an allocation: `gnomon report --by "
			  "function` lists those that are", annotate->wanted);
	return false;
}

static enum measure sort_measure;
static uint64_t sort_end;

static int by_cost(const void *a, const void *b)
{
	const struct annotate_function *x = a, *y = b;
	uint64_t p = figures_value(&x->sum.all, sort_measure, sort_end);
	uint64_t q = figures_value(&y->sum.all, sort_measure, sort_end);

	if (p != q)
		return p > q ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int by_address(const void *a, const void *b)
{
	const struct annotate_call *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_line(const void *a, const void *b)
{
	const struct annotate_line *x = a, *y = b;
	int order;

	if (x->file == NULL || y->file == NULL)
		return (x->file == NULL) - (y->file == NULL);
	order = strcmp(x->file, y->file);
	if (order != 0)
		return order;
	return x->line < y->line ? -1 : x->line > y->line;
}

void annotate_sort(struct annotate *annotate, enum measure measure)
{
	sort_measure = measure;
	sort_end = model_duration_ns(annotate->model);
	qsort(annotate->functions, annotate->count,
	      sizeof(*annotate->functions), by_cost);
	for (size_t i = 0; i < annotate->count; i++) {
		struct annotate_function *function = &annotate->functions[i];

		qsort(function->lines, function->line_count,
		      sizeof(*function->lines), by_line);
		qsort(function->calls, function->call_count,
		      sizeof(*function->calls), by_address);
	}
}

void annotate_free(struct annotate *annotate)
{
	for (size_t i = 0; i < annotate->count; i++) {
		free(annotate->functions[i].lines);
		free(annotate->functions[i].calls);
	}
	free(annotate->functions);
	pattern_free(annotate->pattern);
	table_free(&annotate->by_name);
	table_free(&annotate->spots);
	intern_free(&annotate->names);
	free(annotate->place_of);
	intern_free(&annotate->keys);
	free(annotate->at);
	free(annotate->through);
}
