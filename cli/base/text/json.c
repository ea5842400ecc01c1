/*
 * json.c: see json.h. Strings come from file names, command lines and symbol
 * tables, so they may be any bytes: each byte that is not valid UTF-8 becomes
 * U+FFFD. Only one thread writes to a stream, so no locks are taken: locks took
 * most of the time of a large report.
 */
#include "cli/base/text/json.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/utf8.h"
#include "unwind/base/assertion.h"

/* Number of bytes from `s` on that need no escape. */
static size_t plain_length(const unsigned char *s)
{
	size_t n = 0;

	while (s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

/* Writes the text between the quotes. */
static void put_escaped(FILE *out, const char *string)
{
	const unsigned char *s = (const unsigned char *)string;

	for (;;) {
		size_t plain = plain_length(s);
		unsigned n;

		fwrite_unlocked(s, 1, plain, out);
		s += plain;
		if (*s == 0)
			break;
		n = utf8_length((const char *)s);
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(out, "\\u%04x", *s);
		else if (n == 0)
			fputs("\\ufffd", out);
		else
			fwrite_unlocked(s, 1, n, out);
		s += n ? n : 1;
	}
}

static void put_quoted(FILE *out, const char *string)
{
	putc_unlocked('"', out);
	put_escaped(out, string);
	putc_unlocked('"', out);
}

static void put_uint(FILE *out, uint64_t value)
{
	char digits[20];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	fwrite_unlocked(digits + n, 1, sizeof(digits) - n, out);
}

/* Depth of rows: deeper values stay on their row's line. A stack has many
 * frames, and a report many stacks. */
#define LINES_DEPTH 2

static void begin_line(const struct json *json, unsigned depth)
{
	if (depth > LINES_DEPTH || json->compact)
		return;
	putc('\n', json->out);
	for (unsigned i = 0; i < depth; i++)
		putc(' ', json->out);
}

static void begin_value(struct json *json, const char *key)
{
	DEBUG_ASSERT(json->depth < JSON_DEPTH_MAX);
	if (json->full[json->depth])
		putc_unlocked(',', json->out);
	if (json->depth > 0)
		begin_line(json, json->depth);
	json->full[json->depth] = true;
	if (key != NULL) {
		put_quoted(json->out, key);
		fputs_unlocked(json->depth > LINES_DEPTH ? ":" : ": ",
			       json->out);
	}
}

static void open_level(struct json *json, const char *key, char bracket)
{
	begin_value(json, key);
	putc_unlocked(bracket, json->out);
	assert(json->depth + 1 < JSON_DEPTH_MAX);
	json->full[++json->depth] = false;
}

static void close_level(struct json *json, char bracket)
{
	bool full = json->full[json->depth];

	assert(json->depth > 0);
	json->depth--;
	if (full && json->depth < LINES_DEPTH)
		begin_line(json, json->depth);
	putc_unlocked(bracket, json->out);
	if (json->depth == 0)
		putc('\n', json->out);
}

void json_object(struct json *json, const char *key)
{
	open_level(json, key, '{');
}

void json_array(struct json *json, const char *key)
{
	open_level(json, key, '[');
}

void json_end_object(struct json *json)
{
	close_level(json, '}');
}

void json_end_array(struct json *json)
{
	close_level(json, ']');
}

void json_string(struct json *json, const char *key, const char *value)
{
	begin_value(json, key);
	if (value != NULL)
		put_quoted(json->out, value);
	else
		fputs_unlocked("null", json->out);
}

void json_bytes(struct json *json, const char *key, const char *value,
		size_t size)
{
	begin_value(json, key);
	putc_unlocked('"', json->out);
	for (size_t at = 0; at < size; at++) {
		put_escaped(json->out, value + at);
		at += strlen(value + at);
		if (at < size)
			fputs_unlocked("\\u0000", json->out);
	}
	putc_unlocked('"', json->out);
}

void json_uint(struct json *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	put_uint(json->out, value);
}

void json_int(struct json *json, const char *key, int64_t value)
{
	begin_value(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void json_decimal(struct json *json, const char *key, uint64_t value,
		  unsigned decimals)
{
	uint64_t one = 1;

	assert(decimals < 20);
	for (unsigned i = 0; i < decimals; i++)
		one *= 10;
	json_uint(json, key, value / one);
	if ((value %= one) > 0)
		putc_unlocked('.', json->out);
	while (value > 0) {
		one /= 10;
		putc_unlocked((char)('0' + value / one), json->out);
		value %= one;
	}
}

void json_number(struct json *json, const char *key, const char *number)
{
	begin_value(json, key);
	fputs_unlocked(number, json->out);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	fputs_unlocked(value ? "true" : "false", json->out);
}

struct json *json_text_begin(struct json_text *text, bool compact)
{
	*text = (struct json_text){ .json.compact = compact };
	text->json.out = open_memstream(&text->text, &text->size);
	if (text->json.out == NULL)
		grow_failed(0);
	return &text->json;
}

void json_text_end(struct json_text *text, struct buffer *out)
{
	DEBUG_ASSERT(text->json.depth == 0);
	if (fclose(text->json.out) != 0)
		grow_failed(0);
	while (text->json.compact && text->size > 0 &&
	       text->text[text->size - 1] == '\n')
		text->size--;
	buffer_add(out, text->text, text->size);
	free(text->text);
}
