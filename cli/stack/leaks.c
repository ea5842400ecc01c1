/*
 * leaks.c: see leaks.h. Called by the main thread.
 *
 * The first rule that matches counts. Rules are in this order: user's files as
 * given, the built-in rules, rules in programs in the order they were found.
 */
#include "cli/stack/leaks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/contexts.h"
#include "cli/model/stats/figures.h"
#include "cli/symbol/code/return_value.h"
#include "unwind/base/assertion.h"

#define FUNCTION "__lsan_default_suppressions"
#define BUILT_IN "gnomon's own"

enum { FILES = LEAKS_FIRST_ID, NO_PROGRAM, NO_BUILTIN, PRINT, LEAKS_END };

static const struct command_option options[] = {
	{ FILES, "suppressions", 0, "FILE", NULL,
	  "rules for blocks that may stay live, in LeakSanitizer's form: "
	  "lines leak:PATTERN, where the pattern matches the function "
	  "(as reports print its name, or with parameters), source file or "
	  "library of some frame; also leak:INNER <- OUTER for "
	  "a frame and its caller, and ... between arrows for any number of "
	  "frames; may be given several times" },
	{ NO_PROGRAM, "disable-embedded-suppressions", 0, NULL, NULL,
	  "ignore suppressions in the program itself (" FUNCTION ")" },
	{ NO_BUILTIN, "disable-builtin-suppressions", 0, NULL, NULL,
	  "ignore built-in suppressions for memory that the C library, "
	  "the loader and the C++ library keep" },
	{ PRINT, "print-suppressions", 0, NULL, NULL,
	  "print the suppressions that matched, with their blocks and bytes" },
};

const struct command_group leaks_options = {
	"suppressions", options, sizeof(options) / sizeof(options[0])
};

/*
 * Memory that these libraries keep on purpose until the program ends. Not
 * included: anything that a program requests and could free.
 */
static const char built_in[] =
	"# the loader's own records of libraries and of threads' variables\n"
	"leak:^ <- /ld-linux\n"
	"leak:^ <- /ld-musl\n"
	"# the reserve for throwing exceptions when memory is out\n"
	"leak:^ <- libstdc++.so <- /ld-linux\n"
	"leak:^ <- libc++abi.so <- /ld-linux\n"
	"# the list of functions to call at exit\n"
	"leak:^__new_exitfn$\n"
	"leak:^__cxa_atexit$\n"
	"# buffers of streams: who leaks a stream is seen by the stream\n"
	"leak:^_IO_file_doallocate$\n"
	"leak:^__GI__IO_file_doallocate$\n"
	"# the time zone, the locale and its catalogues, once loaded\n"
	"leak:^tzset$\n"
	"leak:^tzset_internal$\n"
	"leak:^localtime\n"
	"leak:^mktime$\n"
	"leak:^setlocale$\n"
	"leak:^__GI_setlocale$\n"
	"leak:^_nl_\n"
	"# name services and modules of character sets, once loaded\n"
	"leak:^__nss_\n"
	"leak:^ <- ^global_state_allocate$\n"
	"leak:^__gconv_read_conf$\n"
	"leak:^__gconv_lookup_cache$\n"
	"leak:^__gconv_find_shlib$\n"
	"# what functions that return a static result keep it in\n"
	"leak:^ <- ^getpwnam$\n"
	"leak:^ <- ^getpwuid$\n"
	"leak:^ <- ^getgrnam$\n"
	"leak:^ <- ^getgrgid$\n"
	"leak:^ <- ^gethostbyname$\n"
	"leak:^ <- ^getservbyname$\n"
	"leak:^__check_pf$\n"
	"# the environment: somebody may hold pointers to older values\n"
	"leak:^__add_to_environ$\n"
	"leak:^setenv$\n";

/* ---- options ---- */

bool leaks_is_option(int id)
{
	return id >= LEAKS_FIRST_ID && id < LEAKS_END;
}

int leaks_take(struct leaks *leaks, int id, const char *value)
{
	switch (id) {
	case FILES:
		GROW(leaks->files, leaks->file_count, leaks->file_capacity);
		leaks->files[leaks->file_count++] = value;
		return 0;
	case NO_PROGRAM:
		leaks->no_program = true;
		return 0;
	case NO_BUILTIN:
		leaks->no_builtin = true;
		return 0;
	case PRINT:
		leaks->print = true;
		return 0;
	default:
		return -EINVAL;
	}
}

int leaks_open(struct leaks *leaks, struct notes *notes)
{
	for (size_t i = 0; i < leaks->file_count; i++) {
		int error = suppressions_read(&leaks->rules, leaks->files[i],
					      notes);

		if (error != 0)
			return error;
	}
	return leaks->no_builtin ? 0 :
		suppressions_parse(&leaks->rules, built_in,
				   sizeof(built_in) - 1, SUPPRESSION_BUILT_IN,
				   BUILT_IN, notes);
}

void leaks_close(struct leaks *leaks)
{
	suppressions_free(&leaks->rules);
	intern_free(&leaks->seen);
	free(leaks->rule_of);
	free(leaks->files);
}

/* ---- rules in the program ---- */

static enum returned ask_image(const struct image *image,
			       const struct debugfile_places *places,
			       char **text)
{
	const struct debugfile_wanted wanted = {
		.path = image->path,
		.build_id = image->build_id,
		.build_id_size = image->build_id_size,
	};
	enum returned returned;
	char *path;
	int fd = debugfile_binary(places, &wanted, &path);

	if (fd < 0)
		return RETURNED_NO_FUNCTION;
	returned = return_value_text(fd, FUNCTION, text);
	close(fd);
	free(path);
	return returned;
}

/* False: the image has no such function. */
static bool take_from_image(struct leaks *leaks, struct model *model,
			    const struct image *image,
			    const struct debugfile_places *places,
			    const char *program)
{
	struct debugfile_places with = *places;
	enum returned returned = RETURNED_UNKNOWN;
	char *text;

	with.kind = model_kind(model);
	/* Files embedded in a trace may have symbols, but no code. */
	if (model_has_embedded(model)) {
		with.embedded = model_embedded;
		with.embedded_owner = model;
		returned = ask_image(image, &with, &text);
		with.embedded = NULL;
	}
	if (returned == RETURNED_UNKNOWN)
		returned = ask_image(image, &with, &text);
	if (returned == RETURNED_UNKNOWN) {
		notes_hint(places->notes, "%s: its own suppressions (%s) "
			   "cannot be read without running it: pass them with "
			   "--suppressions", image->path, FUNCTION);
	} else if (returned == RETURNED_TEXT) {
		/* Errors are noted; the remaining rules count. */
		suppressions_parse(&leaks->rules, text, strlen(text),
				   SUPPRESSION_PROGRAM, program,
				   places->notes);
		free(text);
	}
	return returned != RETURNED_NO_FUNCTION;
}

/* Uses the definition that the loader would find: the program's, or that of the
 * first library that has one. */
static void take_from_program(struct leaks *leaks, struct model *model,
			      const struct debugfile_places *places,
			      const char *program)
{
	const struct images *images = model_images(model);

	if (intern_known(&leaks->seen, program) != NULL)
		return;
	intern_string(&leaks->seen, program);
	for (int main = 1; main >= 0; main--)
		for (size_t i = 0; i < images->count; i++) {
			const struct image *image = &images->list[i];

			if (image->known && image->same_as == i &&
			    !(image->flags & GT_IMAGE_MAIN) == !main &&
			    take_from_image(leaks, model, image, places,
					    program))
				return;
		}
}

/* ---- live blocks ---- */

static uint32_t rule_of(struct leaks *leaks, uint32_t node)
{
	const struct suppressions *rules = &leaks->rules;

	/* rules->count: not searched yet */
	if (leaks->rule_of[node] == rules->count)
		leaks->rule_of[node] = suppressions_find(&leaks->rules, node);
	return leaks->rule_of[node];
}

static void count_context(struct leaks *leaks,
			  const struct context_cost *cost,
			  const struct figures *figures)
{
	uint32_t number = rule_of(leaks, cost->node);
	struct suppression *rule;

	if (number == SUPPRESSION_NONE) {
		leaks->live_blocks += figures->live_blocks;
		leaks->live_bytes += figures->live_bytes;
		return;
	}
	DEBUG_ASSERT(number < leaks->rules.count);
	rule = &leaks->rules.list[number];
	rule->stacks++;
	rule->blocks += figures->live_blocks;
	rule->bytes += figures->live_bytes;
	leaks->suppressed_stacks++;
	leaks->suppressed_blocks += figures->live_blocks;
	leaks->suppressed_bytes += figures->live_bytes;
}

void leaks_find(struct leaks *leaks, struct frames *frames,
		const struct debugfile_places *places)
{
	struct model *model = frames->model;
	const struct contexts *contexts = model_contexts(model);
	const char *program = model_fact(model, GT_INFO, "exe");

	if (!leaks->no_program)
		take_from_program(leaks, model, places,
				  program ? program : "");
	suppressions_bind(&leaks->rules, frames, program ? program : "");
	free(leaks->rule_of);
	leaks->rule_of = grow_resize(NULL, contexts->node_count,
				     sizeof(*leaks->rule_of));
	for (size_t i = 0; i < contexts->node_count; i++)
		leaks->rule_of[i] = (uint32_t)leaks->rules.count;
	leaks->live_blocks = leaks->live_bytes = 0;
	leaks->suppressed_blocks = leaks->suppressed_bytes = 0;
	leaks->suppressed_stacks = 0;
	for (size_t i = 0; i < contexts->cost_count; i++) {
		const struct context_cost *cost = &contexts->costs[i];
		struct figures figures;

		model_figures(model, cost, &figures);
		if (figures.live_blocks > 0)
			count_context(leaks, cost, &figures);
	}
}

/* Contexts without live blocks have no rule. */
bool leaks_keeps(void *owner, uint32_t node, const struct figures *figures)
{
	const struct leaks *leaks = owner;

	(void)figures;
	return leaks->rule_of[node] >= leaks->rules.count;
}

/* ---- statistics ---- */

static const char *origin_of(const struct suppression *rule)
{
	return rule->source == SUPPRESSION_BUILT_IN ? BUILT_IN : rule->origin;
}

static int by_bytes(const void *a, const void *b, void *owner)
{
	const struct suppressions *rules = owner;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return sort_down(rules->list[x].bytes, rules->list[y].bytes) ?:
	       sort_up(x, y);
}

/* Numbers of all rules, largest first, to be freed. */
static uint32_t *in_order(const struct suppressions *rules)
{
	uint32_t *order = grow_resize(NULL, rules->count, sizeof(*order));

	for (uint32_t i = 0; i < rules->count; i++)
		order[i] = i;
	qsort_r(order, rules->count, sizeof(*order), by_bytes, (void *)rules);
	return order;
}

static void print_rule(const struct suppression *rule, FILE *out)
{
	fprintf(out, "  %9s %10s %7s  leak:%s\n", SIZE_TEXT(rule->bytes),
		COUNT_TEXT(rule->blocks), COUNT_TEXT(rule->stacks), rule->text);
	fprintf(out, "  %29s %s", "", origin_of(rule));
	if (rule->source != SUPPRESSION_BUILT_IN)
		fprintf(out, ":%u", rule->line);
	fputc('\n', out);
}

void leaks_print(const struct leaks *leaks, FILE *out)
{
	const struct suppressions *rules = &leaks->rules;
	uint32_t *order = in_order(rules);

	if (leaks->print)
		fprintf(out, "\nsuppressions that matched:\n"
			"  %9s %10s %7s\n", "bytes", "blocks", "stacks");
	for (size_t i = 0; leaks->print && i < rules->count; i++)
		if (rules->list[order[i]].stacks > 0)
			print_rule(&rules->list[order[i]], out);
	for (size_t i = 0; i < rules->count; i++) {
		const struct suppression *rule = &rules->list[i];

		if (rule->stacks == 0 && rule->source == SUPPRESSION_FILE)
			fprintf(out, "unused suppression: %s:%u: leak:%s\n",
				rule->origin, rule->line, rule->text);
	}
	free(order);
}

void leaks_json(const struct leaks *leaks, struct json *json)
{
	static const char *const sources[] = { "file", "program", "built-in" };
	const struct suppressions *rules = &leaks->rules;
	uint32_t *order = in_order(rules);

	json_array(json, "suppressions");
	for (size_t i = 0; i < rules->count; i++) {
		const struct suppression *rule = &rules->list[order[i]];

		if (rule->stacks == 0 && rule->source != SUPPRESSION_FILE)
			continue;
		json_object(json, NULL);
		json_string(json, "rule", rule->text);
		json_string(json, "source", sources[rule->source]);
		json_string(json, "origin", origin_of(rule));
		json_uint(json, "line", rule->line);
		json_uint(json, "bytes", rule->bytes);
		json_uint(json, "blocks", rule->blocks);
		json_uint(json, "stacks", rule->stacks);
		json_end_object(json);
	}
	json_end_array(json);
	free(order);
}
