/* test_route.c: parameters of URLs as words of commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/serve/route.h"

/* The words with blanks between them, or "! why". */
static const char *words(struct buffer *out, const char *name,
			 const struct route_parameter *list, size_t count)
{
	struct buffer raw = { 0 }, why = { 0 };
	const char *operand;

	buffer_clear(out);
	if (!route_words(route_find(name), list, count, &raw, &operand, &why)) {
		buffer_printf(out, "! %s", why.data);
	} else {
		for (size_t at = 0; at < raw.size;
		     at += strlen(raw.data + at) + 1)
			buffer_printf(out, "%s%s", at == 0 ? "" : " ",
				      raw.data + at);
		if (operand != NULL)
			buffer_printf(out, " [%s]", operand);
	}
	buffer_free(&raw);
	buffer_free(&why);
	return out->data;
}

#define WORDS(out, name, ...)						\
	words((out), (name), (struct route_parameter[]){ __VA_ARGS__ },	\
	      sizeof((struct route_parameter[]){ __VA_ARGS__ }) /	\
	      sizeof(struct route_parameter))

static void options_become_words(void **state)
{
	struct buffer out = { 0 };

	(void)state;
	assert_string_equal(
		WORDS(&out, "report", { "by", "stack" }, { "top", "5" },
		      { "size-min", "4k" }, { "thread", "a" },
		      { "thread", "b=c" }, { "temporary", "1" }),
		"report --json --by=stack --top=5 --size-min=4k --thread=a "
		"--thread=b=c --temporary=1");
	assert_string_equal(
		WORDS(&out, "report", { "sizes", NULL }, { "pages", "" },
		      { "full-names", NULL }, { "ticket", "t" }),
		"report --json --sizes --pages --full-names");
	assert_string_equal(
		WORDS(&out, "annotate", { "of", "--output=x" },
		      { "all", NULL }),
		"annotate --json --all [--output=x]");
	assert_string_equal(
		WORDS(&out, "source", { "file", "/a/b.c" }, { "from", "3" },
		      { "to", "9" }),
		"annotate --json --lines-of=/a/b.c --first-line=3 "
		"--last-line=9");
	assert_string_equal(
		WORDS(&out, "export/pprof", { "threads", NULL },
		      { "cost", "peak" }),
		"export --format=pprof --threads --cost=peak");
	buffer_free(&out);
}

static void others_are_refused(void **state)
{
	static const char *const never[] = {
		"output", "debug-path", "sysroot", "no-debuginfod", "index",
		"no-index", "merge", "csv", "json", "quiet", "help", "o", "",
		"--by", "by ", "top-down", "explain", "skip-empty", "nothing",
	};
	struct buffer out = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		WORDS(&out, "report", { never[i], "1" });
		assert_int_equal(out.data[0], '!');
		assert_non_null(strstr(out.data, never[i]));
	}
	assert_string_equal(WORDS(&out, "report", { "sizes", "yes" }),
			    "! sizes: takes no value: leave out `yes`");
	assert_string_equal(WORDS(&out, "annotate", { "all", NULL }),
			    "! of: the parameter is missing");
	assert_int_equal(WORDS(&out, "source", { "lines-of", "x" })[0], '!');
	assert_int_equal(WORDS(&out, "source", { "size-min", "1" })[0], '!');
	/* Of a group that the command has not. */
	assert_int_equal(WORDS(&out, "info", { "size-min", "1" })[0], '!');
	buffer_free(&out);
}

static void routes_are_found(void **state)
{
	(void)state;
	assert_non_null(route_find("export/flamegraph.svg"));
	assert_true(route_find("sql")->takes_statement);
	assert_null(route_find("export/"));
	assert_null(route_find("run"));
	assert_null(route_find(""));
	assert_true(route_has_symbols(route_find("info")));
	assert_true(route_has_symbols(route_find_diff("diff")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_become_words),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(routes_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
