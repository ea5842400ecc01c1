/*
 * pattern.c: see pattern.h. A UTF-8 sequence is one character for expressions.
 * Invalid bytes match nothing, because names may have any bytes. An expression
 * that is not valid UTF-8 is matched bytewise. Expressions and texts are
 * untrusted: memory and steps of a match are limited. Called by any thread,
 * each with its own patterns.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "cli/base/text/pattern.h"

#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

#define STEPS_MAX 1000000
#define HEAP_KIB_MAX 20000

struct pattern {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
};

static bool is_no_utf8(int error)
{
	return error <= PCRE2_ERROR_UTF8_ERR1 &&
		error >= PCRE2_ERROR_UTF8_ERR21;
}

static pcre2_code *compile(const char *expression, int *error,
			   PCRE2_SIZE *offset)
{
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)expression,
					 PCRE2_ZERO_TERMINATED,
					 PCRE2_UTF | PCRE2_MATCH_INVALID_UTF,
					 error, offset, NULL);

	if (code != NULL || !is_no_utf8(*error))
		return code;
	return pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED, 0,
			     error, offset, NULL);
}

/* Number of characters that begin in the first `size` bytes. */
static size_t characters(const char *text, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

struct pattern *pattern_new(const char *expression, char *why, size_t size)
{
	PCRE2_SIZE offset;
	int error;
	pcre2_code *code = compile(expression, &error, &offset);
	struct pattern *pattern;

	if (code == NULL) {
		PCRE2_UCHAR text[128] = "";

		pcre2_get_error_message(error, text, sizeof(text));
		snprintf(why, size, "%s at character %zu", (char *)text,
			 characters(expression, offset) + 1);
		return NULL;
	}
	pattern = grow_zeroed(1, sizeof(*pattern));
	pattern->code = code;
	pattern->data = pcre2_match_data_create(1, NULL);
	pattern->limits = pcre2_match_context_create(NULL);
	if (pattern->data == NULL || pattern->limits == NULL) {
		pattern_free(pattern);
		snprintf(why, size, "out of memory");
		return NULL;
	}
	pcre2_set_match_limit(pattern->limits, STEPS_MAX);
	pcre2_set_heap_limit(pattern->limits, HEAP_KIB_MAX);
	return pattern;
}

bool pattern_matches(const struct pattern *pattern, const char *text)
{
	return pcre2_match(pattern->code, (PCRE2_SPTR)text, strlen(text), 0,
			   0, pattern->data, pattern->limits) >= 0;
}

void pattern_free(struct pattern *pattern)
{
	if (pattern == NULL)
		return;
	pcre2_match_context_free(pattern->limits);
	pcre2_match_data_free(pattern->data);
	pcre2_code_free(pattern->code);
	free(pattern);
}
