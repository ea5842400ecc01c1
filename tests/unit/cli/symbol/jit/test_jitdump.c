/* test_jitdump.c: what compilers write down about code made at run time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/base/text/buffer.h"
#include "cli/symbol/jit/jitdump.h"

static struct buffer file;
static bool big;

static void put(uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++) {
		unsigned shift = 8 * (big ? size - 1 - i : i);
		char byte = (char)(value >> shift);

		buffer_add(&file, &byte, 1);
	}
}

static void text(const char *string)
{
	buffer_add(&file, string, strlen(string) + 1);
}

static void begin(bool is_big, uint64_t flags)
{
	big = is_big;
	buffer_clear(&file);
	put(0x4a695444, 4);
	put(1, 4);
	put(48, 4);		/* longer than what is known */
	put(62, 4);
	put(0, 4);
	put(4711, 4);
	put(99, 8);
	put(flags, 8);
	put(0, 8);
}

static void record(unsigned id, uint32_t size, uint64_t time)
{
	put(id, 4);
	put(16 + size, 4);
	put(time, 8);
}

static void load(uint64_t time, uint64_t address, uint64_t index,
		 const char *name)
{
	record(0, 40 + (uint32_t)strlen(name) + 1 + 16, time);
	put(1, 4);
	put(1, 4);
	put(address, 8);
	put(address, 8);
	put(16, 8);
	put(index, 8);
	text(name);
	buffer_add(&file, "0123456789abcdef", 16);
}

static void move(uint64_t time, uint64_t from, uint64_t to, uint64_t index)
{
	record(1, 48, time);
	put(1, 4);
	put(1, 4);
	put(to, 8);
	put(from, 8);
	put(to, 8);
	put(16, 8);
	put(index, 8);
}

static void lines(uint64_t address, uint64_t first)
{
	record(2, 16 + 3 * 16 + 4 + 2 + 4, 0);
	put(address, 8);
	put(3, 8);
	put(first + 8, 8);
	put(30, 4);
	put(0, 4);
	text("b.x");
	put(first + 8, 8);
	put(30, 4);
	put(0, 4);
	text("\xff");
	put(first, 8);
	put(10, 4);
	put(0, 4);
	text("a.x");
}

static int open_it(struct jitdump *dump, size_t size)
{
	char path[] = "/tmp/gnomon-unit-XXXXXX";
	int fd = mkstemp(path), error;

	if (fd < 0 || write(fd, file.data, size) != (ssize_t)size)
		abort();
	close(fd);
	error = jitdump_open(dump, path);
	unlink(path);
	return error;
}

static const char *name_at(struct jitdump *dump, uint64_t address,
			   uint64_t time)
{
	const struct jitdump_entry *entry = jitdump_find(dump, address, time);

	return entry ? entry->name : "";
}

static void check_epochs(bool is_big)
{
	const struct jitdump_entry *entry;
	struct jitdump dump;
	uint8_t *code;

	begin(is_big, 0);
	load(100, 0x1000, 1, "first");
	load(200, 0x1000, 2, "second");
	load(300, 0x1008, 3, "third");
	record(4, 24, 300);
	put(0, 8), put(0, 8), put(0, 8);
	move(400, 0x1008, 0x5000, 3);
	record(3, 0, 500);
	assert_int_equal(open_it(&dump, file.size), 0);
	assert_int_equal(dump.bad, 0);
	assert_int_equal(dump.cut, 0);
	assert_int_equal(dump.pid, 4711);
	assert_int_equal(dump.kind.machine, 62);
	assert_int_equal(dump.kind.big, is_big);
	assert_string_equal(name_at(&dump, 0x1000, 50), "first");
	assert_string_equal(name_at(&dump, 0x100f, 199), "first");
	assert_string_equal(name_at(&dump, 0x100f, 200), "second");
	assert_string_equal(name_at(&dump, 0x100f, 300), "third");
	assert_string_equal(name_at(&dump, 0x1007, 300), "second");
	assert_string_equal(name_at(&dump, 0x1017, 399), "third");
	/* moved away: what is known of there since is older */
	assert_string_equal(name_at(&dump, 0x100f, 400), "second");
	assert_string_equal(name_at(&dump, 0x5000, 400), "third");
	assert_string_equal(name_at(&dump, 0x500f, 100), "third");
	assert_string_equal(name_at(&dump, 0x5010, 400), "");
	assert_string_equal(name_at(&dump, 0xfff, 400), "");
	entry = jitdump_find(&dump, 0x5000, 400);
	code = jitdump_code(&dump, entry);
	assert_non_null(code);
	assert_memory_equal(code, "0123456789abcdef", 16);
	free(code);
	jitdump_free(&dump);
}

static void code_has_its_time(void **state)
{
	(void)state;
	check_epochs(false);
	check_epochs(true);
}

static void lines_belong_to_the_next_code(void **state)
{
	const struct jitdump_entry *entry;
	struct jitdump dump;

	(void)state;
	begin(false, 1);
	lines(0x1000, 0x1002);
	load(1, 0x1000, 1, "one");
	lines(0x2000, 0x2040);		/* as V8 has them */
	load(2, 0x2000, 2, "two");
	lines(0x9000, 0x9000);		/* of other code than what follows */
	load(3, 0x3000, 3, "three");
	assert_int_equal(open_it(&dump, file.size), 0);
	assert_true(dump.counter);
	entry = jitdump_find(&dump, 0x1000, 9);
	assert_null(jitdump_line(&dump, entry, 0x1001));
	assert_string_equal(jitdump_line(&dump, entry, 0x1002)->file, "a.x");
	assert_int_equal(jitdump_line(&dump, entry, 0x1009)->line, 10);
	assert_string_equal(jitdump_line(&dump, entry, 0x100a)->file, "b.x");
	assert_int_equal(jitdump_line(&dump, entry, 0x100f)->line, 30);
	entry = jitdump_find(&dump, 0x2000, 9);
	assert_int_equal(jitdump_line(&dump, entry, 0x2000)->line, 10);
	assert_int_equal(jitdump_line(&dump, entry, 0x2008)->line, 30);
	entry = jitdump_find(&dump, 0x3000, 9);
	assert_null(jitdump_line(&dump, entry, 0x3000));
	jitdump_free(&dump);
}

/* As V8 has them of scripts that are not its own. */
static void names_that_are_none(void **state)
{
	const struct jitdump_entry *entry;
	struct jitdump dump;

	(void)state;
	begin(false, 0);
	record(2, 16 + 3 * 24, 0);
	put(0x7fb624001000, 8);
	put(3, 8);
	for (uint64_t i = 0; i < 3; i++) {
		put(0x7fb624001000 + 4 * i, 8);
		put(20 + i, 4);
		put(0, 4);
		put(0x12000903, 8);	/* four NULs at its end */
	}
	load(2, 0x7fb624001000, 1, "JS:*f /a/b c.js:12:7");
	load(2, 0x2000, 1, "JS:*f");
	load(2, 0x3000, 1, "f :1:");
	assert_int_equal(open_it(&dump, file.size), 0);
	assert_int_equal(dump.line_count, 3);
	entry = jitdump_find(&dump, 0x7fb624001000, 9);
	assert_int_equal(jitdump_line(&dump, entry, entry->start + 7)->line, 21);
	assert_int_equal(jitdump_line(&dump, entry, entry->start + 8)->line, 22);
	assert_string_equal(jitdump_line(&dump, entry, entry->start + 8)->file,
			    "/a/b c.js");
	jitdump_free(&dump);
}

/* Only the first line has one of these; the others are as it. The function's
 * name has its line, not its column. */
static void names_of_freed_memory(void **state)
{
	static const char freed[] = "\xe2\x28s/script.js";
	const struct jitdump_entry *entry;
	struct jitdump dump;

	(void)state;
	begin(false, 0);
	record(2, 16 + 16 + sizeof(freed) + 16 + 2, 0);
	put(0x1000, 8);
	put(2, 8);
	put(0x1040, 8);
	put(3, 4);
	put(0, 4);
	buffer_add(&file, freed, sizeof(freed));
	put(0x1044, 8);
	put(4, 4);
	put(0, 4);
	buffer_add(&file, "\xff", 2);
	load(2, 0x1000, 1, "Function:^f /a/script.js:3");
	assert_int_equal(open_it(&dump, file.size), 0);
	entry = jitdump_find(&dump, 0x1000, 9);
	assert_int_equal(jitdump_line(&dump, entry, 0x1004)->line, 4);
	assert_string_equal(jitdump_line(&dump, entry, 0x1004)->file,
			    "/a/script.js");
	assert_string_equal(jitdump_line(&dump, entry, 0x1000)->file,
			    "/a/script.js");
	jitdump_free(&dump);
}

static void what_is_no_dump(void **state)
{
	struct jitdump dump;

	(void)state;
	begin(false, 0);
	for (size_t size = 0; size < 40; size++) {
		assert_int_equal(open_it(&dump, size), -74 /* EBADMSG */);
		jitdump_free(&dump);
	}
	file.data[0] ^= 1;
	assert_int_equal(open_it(&dump, file.size), -74);
	jitdump_free(&dump);
	file.data[0] ^= 1;
	file.data[4] = 2;		/* a later version */
	assert_int_equal(open_it(&dump, file.size), -74);
	jitdump_free(&dump);
	assert_int_equal(jitdump_open(&dump, "/nonexistent"), -2);
	jitdump_free(&dump);
	assert_int_equal(jitdump_open(&dump, "/dev/null"), -74);
	jitdump_free(&dump);
}

static void ask_all(struct jitdump *dump)
{
	for (uint64_t a = 0xff0; a < 0x1020; a += 8) {
		const struct jitdump_entry *entry = jitdump_find(dump, a, 150);

		if (entry == NULL)
			continue;
		jitdump_line(dump, entry, a);
		free(jitdump_code(dump, entry));
	}
}

/* Cut anywhere, each byte changed: what is left is read, and asked. */
static void damage(void **state)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct jitdump dump;

	(void)state;
	begin(false, 0);
	lines(0x1000, 0x1000);
	load(100, 0x1000, 1, "first");
	move(400, 0x1000, 0x5000, 1);
	for (size_t size = 0; size < file.size; size++) {
		if (open_it(&dump, size) == 0)
			assert_true(dump.count < 2);
		ask_all(&dump);
		jitdump_free(&dump);
	}
	for (size_t at = 0; at < file.size; at++) {
		char old = file.data[at];

		for (unsigned i = 0; i < sizeof(values); i++) {
			file.data[at] = (char)values[i];
			open_it(&dump, file.size);
			assert_true(dump.count <= 3);
			ask_all(&dump);
			jitdump_free(&dump);
		}
		file.data[at] = old;
	}
}

static void broken_orders_are_seen(void **state)
{
	struct jitdump_line lines[3] = { { .offset = 1 },
					 { .offset = 1 },
					 { .offset = 4 } };
	struct jitdump_entry list[2] = {
		{ .start = 10, .end = 20, .reach = 20, .line_count = 3 },
		{ .start = 15, .end = 18, .reach = 20, .order = 1 },
	};
	struct jitdump dump = { .list = list,
				.count = 2,
				.lines = lines,
				.line_count = 3,
				.sorted = true };

	(void)state;
	assert_true(jitdump_is_valid(&dump));
	lines[1].offset = 5; /* I1 */
	assert_false(jitdump_is_valid(&dump));
	lines[1].offset = 4;
	list[0].line_count = 4;
	assert_false(jitdump_is_valid(&dump));
	list[0].line_count = 3;
	list[1].reach = 18;
	assert_false(jitdump_is_valid(&dump));
	list[1].reach = 20;
	assert_true(jitdump_is_valid(&dump));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_has_its_time),
		cmocka_unit_test(lines_belong_to_the_next_code),
		cmocka_unit_test(names_that_are_none),
		cmocka_unit_test(names_of_freed_memory),
		cmocka_unit_test(what_is_no_dump),
		cmocka_unit_test(damage),
		cmocka_unit_test(broken_orders_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
