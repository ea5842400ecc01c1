/*
 * test_dump.c: the steps by which a program gets a dump, and requests that are
 * none. Two stacks of a block table that is made up; no image has their
 * addresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "cli/recorder/dump/dump.h"
#include "cli/recorder/recorder.h"
#include "library/gnomon/gnomon.h"
#include "preload/ring/dump_request.h"

#define FIRST GT_STOP_COUNT

static struct recorder rec;
static struct gl_shared shared;
static struct gl_header header;
static struct gl_node nodes[FIRST + 3];
static struct block_table_figure figures[3];
static struct gl_image copies[1];
static uint64_t reserved;
static struct gl_request request;
static struct dump_reply *const part = (struct dump_reply *)request.data;

static int each(void **state)
{
	(void)state;
	rec.r = &rec.recording;
	rec.r->shared = &shared;
	rec.r->live = &header;
	rec.drain.r = rec.r;
	rec.tracker.open = true;
	rec.tracker.table.figures.at = (void *)figures;
	rec.tracker.table.figure_count = 2;
	rec.images.header = &header;
	rec.images.reserved = &reserved;
	rec.images.copies = copies;
	rec.nodes.cut.whole = nodes;
	rec.nodes.limit = FIRST + 3;
	nodes[FIRST] = (struct gl_node){ .address = 0x1001 };
	nodes[FIRST + 1] = (struct gl_node){ .parent = FIRST,
					     .address = 0x2001 };
	nodes[FIRST + 2] = (struct gl_node){ .parent = FIRST,
					     .address = 0x3001 };
	figures[1].context = FIRST + 1;
	figures[1].sum = (struct block_table_sum){ .blocks = 1, .bytes = 10 };
	figures[2].context = FIRST + 2;
	figures[2].sum = (struct block_table_sum){ .blocks = 2, .bytes = 50 };
	return 0;
}

static long ask(enum dump_step step, long arg, uint32_t bytes)
{
	request.what = REQUEST_DUMP;
	request.number = step;
	request.arg[0] = arg;
	request.bytes = bytes;
	return dump_serve(&rec, &request);
}

static long begin(const struct dump_options *options)
{
	memcpy(request.data, options, sizeof(*options));
	return ask(DUMP_BEGIN, 0, sizeof(*options));
}

/* The next answer that is not BUSY. */
static long go(void)
{
	long kind;

	do
		kind = ask(DUMP_GO, 0, sizeof(*part));
	while (kind == DUMP_BUSY);
	return kind;
}

static void lines_are(const char *text, uint32_t stacks)
{
	assert_int_equal(go(), DUMP_LINES);
	assert_true(part->line_max > 0);
	assert_int_equal(part->count, strlen(text));
	assert_memory_equal(part->data, text, part->count);
	assert_int_equal(go(), DUMP_END);
	assert_int_equal(part->count, stacks);
	assert_int_equal(ask(DUMP_STOP, 0, 0), 0);
}

static void words_come_in_pieces(void **state)
{
	struct dump_options options = {
		.words = 1 << DUMP_PREFIX | 1 << DUMP_BETWEEN_FRAMES,
	};

	(void)state;
	assert_int_equal(begin(&options), 0);
	memcpy(request.data, "ab", 2);
	assert_int_equal(ask(DUMP_WORD, DUMP_PREFIX, 2), 0);
	memcpy(request.data, "c:", 2);
	assert_int_equal(ask(DUMP_WORD, DUMP_PREFIX, 2), 0);
	lines_are("abc:0x10000x3000 50\nabc:0x10000x2000 10\n", 2);
}

/* The answers of an editor, and what a hostile program makes of them. */
static void frames_are_edited(void **state)
{
	struct dump_options options = { .edits = 1 };
	uint32_t i, hidden = 0;
	char *at = part->data;

	(void)state;
	assert_int_equal(begin(&options), 0);
	assert_int_equal(go(), DUMP_FRAMES);
	assert_int_equal(part->count, 3);
	for (i = 0; i < 3; i++) {
		struct dump_frame *f = (struct dump_frame *)at;

		at += f->bytes;
		assert_false(f->named);
		assert_string_equal(f->text, "");
		assert_true(f->room > DUMP_EDIT_ROOM);
		if (f->address == 0x1000) {
			f->edit = GNOMON_HIDE;
			hidden++;
		} else {
			strcpy(f->text + f->name, "same");
			f->edit = 77;
		}
		/* what is not an answer does not count */
		f->bytes = f->name = f->room = UINT32_MAX;
	}
	part->count = UINT32_MAX;
	assert_int_equal(hidden, 1);
	lines_are("same 60\n", 1);
}

static void names_end_in_their_room(void **state)
{
	struct dump_options options = { .edits = 1, .most = 1 };
	uint32_t room;

	(void)state;
	assert_int_equal(begin(&options), 0);
	assert_int_equal(go(), DUMP_FRAMES);
	room = ((struct dump_frame *)part->data)->room;
	memset(part, 'x', sizeof(*part));
	assert_int_equal(go(), DUMP_LINES);
	/* of two frames, whose names are alike in all stacks */
	assert_int_equal(part->count, 2 * (room - 1) + strlen("; 60\n"));
	assert_int_equal(ask(DUMP_STOP, 0, 0), 0);
}

static void what_is_no_step_is_refused(void **state)
{
	struct dump_options options = { .form = 9 };

	(void)state;
	assert_int_equal(ask(DUMP_GO, 0, sizeof(*part)), -ENODEV);
	assert_int_equal(ask(DUMP_WORD, DUMP_PREFIX, 1), -EINVAL);
	assert_int_equal(ask(DUMP_STOP + 1, 0, 0), -EINVAL);
	assert_int_equal(begin(&options), -EINVAL);
	assert_int_equal(ask(DUMP_BEGIN, 0, sizeof(options) - 1), -EINVAL);
	options = (struct dump_options){ .words = 1 << DUMP_FROM };
	assert_int_equal(begin(&options), 0);
	assert_int_equal(ask(DUMP_WORD, DUMP_PREFIX, 1), -EINVAL);
	/* an error ends it */
	assert_int_equal(ask(DUMP_GO, 0, sizeof(*part)), -ENODEV);
	assert_int_equal(begin(&options), 0);
	assert_int_equal(ask(DUMP_WORD, -1, 1), -EINVAL);
	assert_int_equal(begin(&options), 0);
	assert_int_equal(ask(DUMP_GO, 0, sizeof(*part) - 1), -EINVAL);
	/* one that was left gives way */
	assert_int_equal(begin(&options), 0);
	options = (struct dump_options){ .fields = GNOMON_COUNT };
	assert_int_equal(begin(&options), 0);
	lines_are("0x1000;0x3000 2\n0x1000;0x2000 1\n", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(words_come_in_pieces, each),
		cmocka_unit_test_setup(frames_are_edited, each),
		cmocka_unit_test_setup(names_end_in_their_room, each),
		cmocka_unit_test_setup(what_is_no_step_is_refused, each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
