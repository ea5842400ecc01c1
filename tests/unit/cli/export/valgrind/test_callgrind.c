/*
 * test_callgrind.c: functions of a random story against brute force; stacks
 * that recur, of which each function's calls are not to have more than all
 * that is allocated below it; the cost that comes first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <cmocka.h>

#include "tests/unit/export_story.h"

#define SEEDS 4
#define EVENTS 7
#define NAMES_MAX 32
#define ROOT STORY_FUNCTIONS	/* the number of "[root]", here */
#define FUNCTIONS (STORY_FUNCTIONS + 1)

/* LiveBytes LiveBlocks PeakBytes PeakBlocks TotalBytes Allocations
 * Temporary, as the tests ask for them. */
struct values {
	uint64_t of[EVENTS];
};

/* What a file says, by number of the function: f0, f1, …, ROOT. */
static struct {
	struct values own[FUNCTIONS];
	struct values calls[FUNCTIONS][FUNCTIONS];	/* caller, callee */
	unsigned edges;
	struct values totals, summary;
	unsigned named[NAMES_MAX];	/* their numbers -> function */
} said;

/* "(3) f0" or "(3)". */
static unsigned function_of(const char *text)
{
	unsigned number, function;
	int size = 0;

	assert_int_equal(sscanf(text, "(%u)%n", &number, &size), 1);
	assert_true(number < NAMES_MAX);
	if (text[size] != ' ')
		return said.named[number];
	if (strncmp(text + size, " [root]\n", 8) == 0)
		function = ROOT;
	else
		assert_int_equal(sscanf(text + size, " f%u", &function), 1);
	assert_true(function < FUNCTIONS);
	return said.named[number] = function;
}

static struct values values_in(const char *text)
{
	struct values values;
	int at = 0, size;

	for (int i = 0; i < EVENTS; i++, at += size)
		assert_int_equal(sscanf(text + at, " %" SCNu64 "%n",
					&values.of[i], &size), 1);
	assert_int_equal(text[at], '\n');
	return values;
}

static void add(struct values *sum, const struct values *more)
{
	for (int i = 0; i < EVENTS; i++)
		sum->of[i] += more->of[i];
}

static void read_text(const char *text)
{
	unsigned function = 0, callee = 0;
	bool call = false;

	memset(&said, 0, sizeof(said));
	for (; *text != 0; text = strchr(text, '\n') + 1) {
		struct values values;

		if (strncmp(text, "fn=", 3) == 0)
			function = function_of(text + 3);
		else if (strncmp(text, "cfn=", 4) == 0)
			callee = function_of(text + 4);
		else if (strncmp(text, "calls=", 6) == 0)
			call = true;
		else if (strncmp(text, "totals:", 7) == 0)
			said.totals = values_in(text + 7);
		else if (strncmp(text, "summary:", 8) == 0)
			said.summary = values_in(text + 8);
		if (*text < '0' || *text > '9')
			continue;
		values = values_in(text + strcspn(text, " "));
		add(call ? &said.calls[function][callee] :
		    &said.own[function], &values);
		said.edges += call;
		call = false;
	}
}

static void check_values(const struct values *values,
			 const struct story_figures *f)
{
	const uint64_t wanted[EVENTS] = {
		f->live_bytes, f->live_blocks, f->peak_bytes, f->peak_blocks,
		f->total_bytes, f->count, f->temporary
	};

	for (int i = 0; i < EVENTS; i++)
		assert_int_equal(values->of[i], wanted[i]);
}

static void each_function_has_its_figures(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct story *story = story_new(seed);
		struct values sum = { 0 };
		char *text;

		story_write(story, NULL);
		text = story_export(story, &export_callgrind, MEASURE_LIVE,
				    false);
		read_text(text);
		for (unsigned f = 0; f < STORY_FUNCTIONS; f++) {
			struct story_figures figures =
				story_of_function(story, f);

			check_values(&said.own[f], &figures);
			check_values(&said.calls[ROOT][f], &figures);
			add(&sum, &said.own[f]);
		}
		assert_int_equal(said.edges, STORY_FUNCTIONS);
		assert_memory_equal(&sum, &said.totals, sizeof(sum));
		assert_memory_equal(&sum, &said.summary, sizeof(sum));
		free(text);
		story_free(story);
	}
}

/* ---- stacks by hand ---- */

static struct model *model;

static void node(uint32_t i, uint32_t parent, unsigned function)
{
	feed_node(model, GT_STOP_COUNT + i, parent == 0 ? GT_STOP_BOTTOM :
		  GT_STOP_COUNT + parent, 0x1000 + 2 * function);
}

static void allocate(uint32_t i, uint64_t size)
{
	static uint64_t stamp;
	struct trace_event event = {
		.stamp = ++stamp, .address = stamp * 4096, .size = size,
		.context = GT_STOP_COUNT + i, .kind = GT_ALLOC
	};

	model_events(model, model_lane(1, false), &event, 1);
}

static char *export_model(enum measure cost)
{
	struct debugfile_places places = { 0 };
	struct frames frames;
	const struct query query = { .order = cost };
	struct export export = { .query = &query, .model = model,
				 .frames = &frames, .cost = cost };
	char *text;
	size_t size;

	model_finish(model);
	story_names(model);
	frames_init(&frames, model, &places, false);
	export.profile = profile_new(1);
	profile_add(export.profile, 0, &frames, NULL, NULL);
	profile_seal(export.profile);
	export.out = open_memstream(&text, &size);
	assert_int_equal(export_callgrind.write(&export), EXIT_COMPLETE);
	fclose(export.out);
	profile_free(export.profile);
	frames_free(&frames);
	model_free(model);
	return text;
}

static void begin(void)
{
	model = model_new(NULL, NULL);
	feed_thread(model, 0, 0);
}

/* f0 > f1 > f0 > f1, each allocating: f0 has all of it, f1 all but f0's. */
static void recursion_counts_once(void **state)
{
	char *text;

	(void)state;
	begin();
	node(1, 0, 0);
	node(2, 1, 1);
	node(3, 2, 0);
	node(4, 3, 1);
	allocate(1, 1);
	allocate(2, 10);
	allocate(3, 100);
	allocate(4, 1000);
	text = export_model(MEASURE_LIVE);
	read_text(text);
	assert_int_equal(said.own[0].of[0], 101);
	assert_int_equal(said.own[1].of[0], 1010);
	assert_int_equal(said.calls[ROOT][0].of[0], 1111);
	assert_int_equal(said.calls[0][1].of[0], 1110);
	assert_int_equal(said.calls[1][0].of[0], 0);
	assert_int_equal(said.edges, 2);
	assert_int_equal(said.totals.of[0], 1111);
	free(text);
}

/* One that is outermost in one stack, and called in another. */
static void the_outermost_are_called(void **state)
{
	char *text;

	(void)state;
	begin();
	node(1, 0, 0);
	node(2, 1, 1);
	node(3, 0, 1);
	allocate(2, 10);
	allocate(3, 5);
	text = export_model(MEASURE_LIVE);
	read_text(text);
	assert_int_equal(said.own[1].of[0], 15);
	assert_int_equal(said.calls[0][1].of[0], 10);
	assert_int_equal(said.calls[ROOT][1].of[0], 5);
	assert_int_equal(said.calls[ROOT][0].of[0], 10);
	free(text);
}

static void the_cost_comes_first(void **state)
{
	static const struct {
		enum measure cost;
		const char *first;
	} costs[] = {
		{ MEASURE_LIVE, "LiveBytes" },
		{ MEASURE_PEAK, "PeakBytes" },
		{ MEASURE_TOTAL, "TotalBytes" },
		{ MEASURE_COUNT, "Allocations" },
		{ MEASURE_TEMPORARY, "Temporary" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		char *text;
		const char *line;

		begin();
		node(1, 0, 0);
		allocate(1, 7);
		allocate(1, 8);
		text = export_model(costs[i].cost);
		line = strstr(text, "\nevents: ") + strlen("\nevents: ");
		assert_memory_equal(line, costs[i].first,
				    strlen(costs[i].first));
		read_text(text);
		assert_int_equal(said.own[0].of[0],
				 costs[i].cost == MEASURE_COUNT ? 2 :
				 costs[i].cost == MEASURE_TEMPORARY ? 0 : 15);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_function_has_its_figures),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(the_outermost_are_called),
		cmocka_unit_test(the_cost_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
