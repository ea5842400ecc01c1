/* test_page.c: what stands where a page says so, and that nothing in it can
 * end what is around it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/command/page.h"

static void put_owner(void *owner, FILE *out)
{
	fputs(owner, out);
}

static void put_nothing(void *owner, FILE *out)
{
	(void)owner, (void)out;
}

static const struct page_part parts[] = {
	{ "style", .text = "a<b{}" },
	{ "title", .plain = put_owner },
	{ "data", .json = put_owner },
	{ "none", .plain = put_nothing },
	{ 0 },
};

static void expect(const char *page, const char *owner, const char *wanted)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	page_write(page, parts, (void *)owner, out);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void each_in_its_place(void **state)
{
	(void)state;
	expect("", "x", "");
	expect("<p>plain</p><!-- a comment -->", "x",
	       "<p>plain</p><!-- a comment -->");
	expect("<!--gnomon:title-->|<!--gnomon:style-->|<!--gnomon:title-->",
	       "x", "x|a<b{}|x");
	expect("1<!--gnomon:none-->2<!--gnomon:other-->3<!--gnomon:titles-->4",
	       "x", "1234");
	expect("1<!--gnomon:title", "x", "1");
}

static void nothing_gets_out(void **state)
{
	(void)state;
	expect("<h1><!--gnomon:title--></h1>", "</h1>&\"<!--gnomon:data-->",
	       "<h1>&lt;/h1&gt;&amp;&quot;&lt;!--gnomon:data--&gt;</h1>");
	expect("<script><!--gnomon:data--></script>",
	       "[\"</script><!--\"]",
	       "<script>[\"\\u003c/script>\\u003c!--\"]</script>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_in_its_place),
		cmocka_unit_test(nothing_gets_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
