/* test_xml.c: text in XML: what it cannot hold, and what would end it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/base/text/xml.h"

static void is(const char *text, const char *wanted)
{
	struct buffer out = { 0 };

	buffer_string(&out, "");
	xml_text(&out, text);
	assert_string_equal(out.data ? out.data : "", wanted);
	buffer_free(&out);
}

static void texts(void **state)
{
	(void)state;
	is("", "");
	is("a<b>&\"c\"' ;", "a&lt;b&gt;&amp;&quot;c&quot;' ;");
	is("a\tb\nc\rd\033e\177f", "a\tb\nc?d?e?f");
	is("gr\303\266\303\237e \346\227\245 \360\237\230\200",
	   "gr\303\266\303\237e \346\227\245 \360\237\230\200");
	/* alone, too long, a surrogate, no characters, cut off */
	is("\200\303(\300\200", "?" "?(??");
	is("\355\240\200", "???");
	is("\357\277\276x\357\277\277", "?x?");
	is("\342\202", "??");
}

static void attributes(void **state)
{
	struct buffer out = { 0 };

	(void)state;
	xml_attribute(&out, "name", "a\"b");
	assert_string_equal(out.data, " name=\"a&quot;b\"");
	buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
