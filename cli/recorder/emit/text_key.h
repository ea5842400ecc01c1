/*
 * text_key.h: builds the chunks INFO, COUNTERS and END from lines of text. The
 * recorder only.
 */
#ifndef GNOMON_TEXT_KEY_H
#define GNOMON_TEXT_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "cli/recorder/emit/chunk.h"

/* A chunk under construction. Write it before starting another chunk. */
struct text_key {
	struct chunk_out *out;
	size_t length;		/* of its lines; out->room at most */
};

void text_key_begin(struct text_key *text, struct chunk_out *out);

/* A line "key=value\n"; \n and \\ in the value are escaped; NULs of a byte
 * string become \0. A line that may not fit is left out, but the room exceeds
 * all known lines. */
void text_key_put(struct text_key *text, const char *key, const char *value);
void text_key_bytes(struct text_key *text, const char *key, const char *value,
		    size_t n);
void text_key_number(struct text_key *text, const char *key, uint64_t value);

void text_key_write(const struct text_key *text, enum gt_chunk_type type);

#endif
