/*
 * test_json.c: strings of any bytes and numbers of any size, and what stands
 * between them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/text/json.h"

static char *text;
static size_t size;

static struct json begin(void)
{
	return (struct json){ .out = open_memstream(&text, &size) };
}

static void end(struct json *json, const char *must)
{
	fclose(json->out);
	assert_string_equal(text, must);
	free(text);
}

static void check_string(const char *value, const char *must)
{
	struct json json = begin();

	json_string(&json, NULL, value);
	end(&json, must);
}

static void strings(void **state)
{
	(void)state;
	check_string("", "\"\"");
	check_string(NULL, "null");
	check_string("plain ~", "\"plain ~\"");
	check_string("a\"b\\c\n\x01\x7f", "\"a\\\"b\\\\c\\u000a\\u0001\\u007f\"");
	check_string("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 end",
		     "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 end\"");
	/* Cut short, too long a form, a surrogate, no start of anything. */
	check_string("\xc3", "\"\\ufffd\"");
	check_string("\xe2\x82", "\"\\ufffd\\ufffd\"");
	check_string("\xc0\xaf" "a", "\"\\ufffd\\ufffda\"");
	check_string("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
	check_string("\xff\"", "\"\\ufffd\\\"\"");
}

static void check_bytes(const char *value, size_t bytes, const char *must)
{
	struct json json = begin();

	json_bytes(&json, NULL, value, bytes);
	end(&json, must);
}

static void bytes_may_be_nul(void **state)
{
	(void)state;
	check_bytes("", 0, "\"\"");
	check_bytes("", 1, "\"\\u0000\"");
	check_bytes("a\0b", 3, "\"a\\u0000b\"");
	check_bytes("\0\0a\"", 4, "\"\\u0000\\u0000a\\\"\"");
	check_bytes("a\0", 2, "\"a\\u0000\"");
	check_bytes("\xff\0\xff", 3, "\"\\ufffd\\u0000\\ufffd\"");
}

static void numbers(void **state)
{
	static const uint64_t values[] = {
		0, 1, 9, 10, 99, 100, UINT32_MAX, INT64_MAX, UINT64_MAX - 1,
		UINT64_MAX,
	};
	char must[32];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct json json = begin();

		json_uint(&json, NULL, values[i]);
		snprintf(must, sizeof(must), "%llu",
			 (unsigned long long)values[i]);
		end(&json, must);
	}
}

static void check_decimal(uint64_t value, unsigned decimals, const char *must)
{
	struct json json = begin();

	json_decimal(&json, NULL, value, decimals);
	end(&json, must);
}

static void decimals(void **state)
{
	(void)state;
	check_decimal(0, 6, "0");
	check_decimal(1, 6, "0.000001");
	check_decimal(1500000, 6, "1.5");
	check_decimal(1020304, 6, "1.020304");
	check_decimal(2000000, 6, "2");
	check_decimal(17, 0, "17");
	check_decimal(UINT64_MAX, 6, "18446744073709.551615");
}

static void a_row_is_a_line(void **state)
{
	struct json json = begin();

	(void)state;
	json_object(&json, NULL);
	json_array(&json, "rows");
	for (int i = 0; i < 2; i++) {
		json_object(&json, NULL);
		json_bool(&json, "yes", i == 0);
		json_array(&json, "stack");
		json_uint(&json, NULL, 1);
		json_uint(&json, NULL, 2);
		json_end_array(&json);
		json_int(&json, "less", -i);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_array(&json, "none");
	json_end_array(&json);
	json_end_object(&json);
	end(&json, "{\n \"rows\": [\n"
	    "  {\"yes\":true,\"stack\":[1,2],\"less\":0},\n"
	    "  {\"yes\":false,\"stack\":[1,2],\"less\":-1}\n"
	    " ],\n \"none\": []\n}\n");
}

static void into_memory(void **state)
{
	LOCAL_BUFFER out = { 0 };
	struct json_text text;
	struct json *json = json_text_begin(&text, true);

	(void)state;
	buffer_string(&out, "data: ");
	json_object(json, NULL);
	json_uint(json, "n", 1);
	json_end_object(json);
	json_text_end(&text, &out);
	assert_string_equal(buffer_text(&out), "data: {\"n\": 1}");
	json = json_text_begin(&text, false);
	json_array(json, NULL);
	json_end_array(json);
	json_text_end(&text, &out);
	assert_string_equal(buffer_text(&out), "data: {\"n\": 1}[]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings),
		cmocka_unit_test(bytes_may_be_nul),
		cmocka_unit_test(numbers),
		cmocka_unit_test(decimals),
		cmocka_unit_test(a_row_is_a_line),
		cmocka_unit_test(into_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
