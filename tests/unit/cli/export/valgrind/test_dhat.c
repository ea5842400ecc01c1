/*
 * test_dhat.c: each program point of a random story against brute force, its
 * own maximum above all, where two contexts read the same; frames and their
 * table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <cmocka.h>

#include "tests/unit/export_story.h"

#define SEEDS 4
#define LINE_MAX_BYTES 64

struct point {
	uint64_t tb, tbk, tl, mb, mbk, gb, gbk, eb, ebk;
	unsigned frame;
};

static const char *next_point(const char *at, struct point *p)
{
	int size = 0;

	at = strstr(at, "{\"tb\":");
	if (at == NULL)
		return NULL;
	assert_int_equal(sscanf(at, "{\"tb\":%" SCNu64 ",\"tbk\":%" SCNu64
		",\"tl\":%" SCNu64 ",\"mb\":%" SCNu64 ",\"mbk\":%" SCNu64
		",\"gb\":%" SCNu64 ",\"gbk\":%" SCNu64 ",\"eb\":%" SCNu64
		",\"ebk\":%" SCNu64 ",\"fs\":[%u]}%n", &p->tb, &p->tbk, &p->tl,
		&p->mb, &p->mbk, &p->gb, &p->gbk, &p->eb, &p->ebk, &p->frame,
		&size), 10);
	assert_true(size > 0);
	return at + size;
}

/* The function whose frame this is in the table. */
static unsigned function_at(const char *text, unsigned frame)
{
	unsigned address, function;

	text = strstr(text, "\"ftbl\": [");
	assert_non_null(text);
	for (unsigned i = 0; i <= frame; i++) {
		text = strchr(text, '\n') + 1;
		assert_int_equal(*(text + strspn(text, " ")), '"');
	}
	assert_int_equal(sscanf(text, " \"0x%x: f%u\"", &address, &function),
			 2);
	assert_in_range(address, 0xfff + 2 * function, 0x1001 + 2 * function);
	return function;
}

static void check_point(const struct story *story, unsigned function,
			const struct point *p)
{
	struct story_figures f = story_of_function(story, function);
	double lived = f.lifetime;

	for (uint32_t i = 0; i < story->count; i++)
		if (story->blocks[i].end == STORY_LIVE &&
		    story_function(&story->blocks[i]) == function)
			lived += (double)(story->stamp -
					  story->blocks[i].alloc);
	assert_int_equal(p->tb, f.total_bytes);
	assert_int_equal(p->tbk, f.count);
	assert_int_equal(p->gb, f.peak_bytes);
	assert_int_equal(p->gbk, f.peak_blocks);
	assert_int_equal(p->eb, f.live_bytes);
	assert_int_equal(p->ebk, f.live_blocks);
	assert_int_equal(p->mb, f.own_peak_bytes);
	assert_int_equal(p->mbk, f.own_peak_blocks);
	lived = lived * STORY_TICK_NS / 1000;
	assert_true((double)p->tl > lived - 2 && (double)p->tl < lived + 2);
}

static void check_all(unsigned seed, bool first)
{
	struct story *story = story_new(seed);
	bool seen[STORY_FUNCTIONS] = { 0 };
	struct point point;
	unsigned count = 0;
	const char *at;
	char *text;

	story_write(story, NULL);
	text = story_export(story, &export_dhat, MEASURE_LIVE, first);
	at = text;
	while ((at = next_point(at, &point)) != NULL) {
		unsigned function = function_at(text, point.frame);

		assert_true(point.frame > 0 && function < STORY_FUNCTIONS);
		assert_false(seen[function]);
		seen[function] = true;
		check_point(story, function, &point);
		count++;
	}
	assert_int_equal(count, first ? 1 : STORY_FUNCTIONS);
	assert_true(seen[0]);
	free(text);
	story_free(story);
}

static void each_stack_is_a_point(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		check_all(seed, false);
		check_all(seed, true);
	}
}

static void times_are_microseconds(void **state)
{
	struct story *story = story_new(1);
	char wanted[LINE_MAX_BYTES];
	char *text;

	(void)state;
	story_write(story, NULL);
	text = story_export(story, &export_dhat, MEASURE_LIVE, false);
	assert_non_null(strstr(text, "\"tu\": \"µs\""));
	sprintf(wanted, "\"te\": %" PRIu64 ",", story->stamp * STORY_TICK_NS /
		1000);
	assert_non_null(strstr(text, wanted));
	sprintf(wanted, "\"tg\": %" PRIu64 ",", story->blocks[
		story->steps[story->peak_step].block].alloc * STORY_TICK_NS /
		1000);
	assert_non_null(strstr(text, wanted));
	assert_non_null(strstr(text, "\"pid\": 77"));
	free(text);
	story_free(story);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stack_is_a_point),
		cmocka_unit_test(times_are_microseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
