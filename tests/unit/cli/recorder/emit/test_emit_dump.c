/* test_emit_dump.c: a jitdump as lines of a map, while it grows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/recorder/emit/emit_dump.h"

#define PID 4711

static uint8_t file[4096];
static size_t size;
static bool big;
static char lines[8192];

static void put(uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		file[size++] = (uint8_t)(value >> 8 * (big ? n - 1 - i : i));
}

static void begin(bool is_big)
{
	big = is_big;
	size = 0;
	put(0x4a695444, 4);
	put(1, 4);
	put(40, 4);
	put(62, 4);
	put(0, 4);
	put(PID, 4);
	put(0, 8);
	put(0, 8);
}

static void load(uint64_t address, const char *name)
{
	size_t n = strlen(name) + 1;

	put(0, 4);
	put(16 + 40 + n + 4, 4);
	put(1, 8);
	put(PID, 4);
	put(PID, 4);
	put(address, 8);
	put(address, 8);
	put(4, 8);
	put(1, 8);
	memcpy(file + size, name, n);
	size += n;
	put(0x90909090, 4);
}

/* The lines of what came since. */
static bool take(struct emit_dump *d, size_t upto, unsigned records)
{
	int fd = memfd_create("dump", 0);
	bool more;

	if (fd < 0 || write(fd, file, upto) != (ssize_t)upto)
		abort();
	d->text = lines;
	d->room = sizeof(lines);
	more = emit_dump_lines(d, fd, upto, PID, records);
	lines[d->length] = '\0';
	close(fd);
	return more;
}

#define LINE(address, name) "0000000000" address " 0000000000000004 " name "\n"

static void it_grows(void **state)
{
	struct emit_dump d = { 0 };
	size_t first, second;

	(void)state;
	begin(false);
	load(0x123456, "one");
	first = size;
	load(0xabcdef, "two\nlines");
	second = size;
	put(3, 4);		/* CLOSE */
	put(16, 4);
	put(9, 8);
	for (size_t upto = 0; upto < first; upto++) {
		take(&d, upto, 100);
		assert_string_equal(lines, "");
		assert_false(d.refused);
	}
	take(&d, second - 1, 100);
	assert_string_equal(lines, LINE("123456", "one"));
	assert_false(take(&d, size, 100));
	assert_string_equal(lines, LINE("abcdef", "two lines"));
	assert_int_equal(d.offset, size);
}

static void either_byte_order(void **state)
{
	struct emit_dump d = { 0 };

	(void)state;
	begin(true);
	load(0x123456, "one");
	load(0x234567, "two");
	assert_true(take(&d, size, 1));
	assert_string_equal(lines, LINE("123456", "one"));
	take(&d, size, 1);
	assert_string_equal(lines, LINE("234567", "two"));
}

static void what_is_none_is_refused(void **state)
{
	struct emit_dump d = { 0 };

	(void)state;
	begin(false);
	load(0x123456, "one");
	file[20]++;		/* another process's */
	take(&d, size, 100);
	assert_true(d.refused);
	file[20]--;
	assert_false(take(&d, size, 100));
	d = (struct emit_dump){ 0 };
	file[44] = 15;		/* a record smaller than its head */
	file[45] = 0;
	take(&d, size, 100);
	assert_true(d.refused);
	assert_string_equal(lines, "");
}

static void any_bytes(void **state)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };

	(void)state;
	begin(false);
	load(0x123456, "one");
	load(0x234567, "two");
	for (size_t at = 0; at < size; at++) {
		uint8_t old = file[at];

		for (unsigned i = 0; i < sizeof(values); i++) {
			struct emit_dump d = { 0 };

			file[at] = values[i];
			for (unsigned n = 0; take(&d, size, 1); n++)
				assert_true(n < 3);
			assert_true(strlen(lines) < sizeof(lines) - 1);
		}
		file[at] = old;
	}
}

static void long_names_are_cut(void **state)
{
	char name[1001] = "";
	struct emit_dump d = { 0 };

	(void)state;
	memset(name, 'x', 1000);
	begin(false);
	load(1, name);
	load(2, "two");
	take(&d, size, 100);
	assert_int_equal(strcspn(lines, "\n"), 34 + 256);
	assert_non_null(strstr(lines, " two\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_grows),
		cmocka_unit_test(either_byte_order),
		cmocka_unit_test(what_is_none_is_refused),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
