/*
 * test_index_trace.c: what tells which trace a store is of.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>

#include "cli/model/index/index_trace.h"
#include "tests/unit/model_story.h"

static void identity(void **state)
{
	struct story *story = story_new(1);
	struct index_trace trace;

	(void)state;
	story_write(story, NULL);
	assert_int_equal(index_trace_open(story->path, &trace), 0);
	assert_int_equal(trace.trace_id, TRACE_WRITE_ID);
	assert_int_equal(trace.version,
			 (uint32_t)GT_MAJOR << 16 | GT_MINOR);
	assert_int_equal(trace.bytes, lseek(trace.fd, 0, SEEK_END));
	index_trace_close(&trace);
	assert_int_equal(index_trace_open("/dev/null", &trace), -ESPIPE);
	assert_int_equal(index_trace_open("/none", &trace), -ENOENT);
	assert_int_equal(index_trace_open("/proc/version", &trace), -EBADMSG);
	story_free(story);
}

/* It changes with the bytes before it, and with where it ends, and not with
 * what comes behind it. */
static void digest(void **state)
{
	struct story *story = story_new(1);
	struct index_trace trace;
	uint64_t whole, other;
	int fd;

	(void)state;
	story_write(story, NULL);
	assert_int_equal(index_trace_open(story->path, &trace), 0);
	assert_true(index_trace_digest(&trace, trace.bytes, &whole));
	assert_true(index_trace_digest(&trace, trace.bytes - 1, &other));
	assert_true(whole != other);
	assert_false(index_trace_digest(&trace, trace.bytes + 1, &other));
	fd = open(story->path, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "more", 4), 4);
	assert_true(index_trace_digest(&trace, trace.bytes, &other));
	assert_int_equal(whole, other);
	close(fd);
	fd = open(story->path, O_WRONLY);
	assert_int_equal(pwrite(fd, "x", 1, (off_t)trace.bytes - 9), 1);
	assert_true(index_trace_digest(&trace, trace.bytes, &other));
	assert_true(whole != other);
	close(fd);
	index_trace_close(&trace);
	story_free(story);
}

/* Of the places before a moment, and nothing else. */
static void damage(void **state)
{
	struct reader_report report = { .damage_count = 3, .damage = {
		{ SCAN_CORRUPT, 100, 20 }, { SCAN_MISSING, 200, 1 },
		{ SCAN_TORN, 900, 5 },
	} };
	const struct reader_report none = { 0 };
	uint64_t whole = index_trace_damage(&report, 1000);
	uint64_t early = index_trace_damage(&report, 300);

	(void)state;
	assert_int_equal(index_trace_damage(&none, 1000), 0);
	assert_int_equal(index_trace_damage(&report, 100), 0);
	assert_true(early != 0 && whole != early);
	assert_int_equal(index_trace_damage(&report, 900), early);
	report.damage[1].size = 2;
	assert_true(index_trace_damage(&report, 300) != early);
}

/* To within a third: by the bytes that events take in rings. */
static void events(void **state)
{
	struct story *story = story_new(1);
	uint64_t about, all = 0;

	(void)state;
	story_write(story, NULL);
	for (unsigned i = 0; i < STORY_THREADS; i++)
		all += story->event_count[i];
	about = index_trace_events(story->path);
	assert_in_range(about, all * 2 / 3, all * 4 / 3);
	assert_int_equal(index_trace_events("/none"), 0);
	story_free(story);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identity),
		cmocka_unit_test(digest),
		cmocka_unit_test(damage),
		cmocka_unit_test(events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
