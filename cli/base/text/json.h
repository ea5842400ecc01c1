/*
 * json.h: writes JSON as a stream, without a document in memory: a table of all
 * contexts of a large program may be larger than its model. Adds commas and
 * line breaks; RFC 8259. A row is a line.
 */
#ifndef GNOMON_JSON_H
#define GNOMON_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/base/text/buffer.h"

#define JSON_DEPTH_MAX 16

struct json {
	FILE *out;
	bool compact;		/* all in one line */
	unsigned depth;
	bool full[JSON_DEPTH_MAX];	/* this level has a member already */
};

/* `key` is NULL for the elements of arrays and the outermost value. */
void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);
void json_end_object(struct json *json);
void json_end_array(struct json *json);
/* NULL is written as null. */
void json_string(struct json *json, const char *key, const char *value);
/* `size` bytes, which may contain NULs; another NUL must follow them. */
void json_bytes(struct json *json, const char *key, const char *value,
		size_t size);
void json_uint(struct json *json, const char *key, uint64_t value);
void json_int(struct json *json, const char *key, int64_t value);
/* A number with this many decimals: 1500 with 3 is 1.5. */
void json_decimal(struct json *json, const char *key, uint64_t value,
		  unsigned decimals);
/* A number as text, "1.25e-3". */
void json_number(struct json *json, const char *key, const char *number);
void json_bool(struct json *json, const char *key, bool value);

/* Writes JSON into memory. */
struct json_text {
	struct json json;
	char *text;
	size_t size;
};

struct json *json_text_begin(struct json_text *text, bool compact);
/* Appends it to `out`; a compact one without a line end. */
void json_text_end(struct json_text *text, struct buffer *out);

#endif
