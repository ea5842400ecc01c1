/*
 * patch_read.h: parses a patch plan (patch_format.h), which is untrusted input.
 * All results keep to the limits of that file; patch.c checks whether they
 * match the code in memory. No state.
 */
#ifndef GNOMON_PATCH_READ_H
#define GNOMON_PATCH_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/patch_format.h"

struct patch_read {
	const uint8_t *next, *end;
	bool bad;
};

struct patch_function {
	struct patch_entry entry;
	uint8_t code[PATCH_CODE_MAX];
	struct patch_fix fixes[PATCH_FIXES_MAX];
};

/* Decodes the text into at most `room` bytes; 0: it is not a valid text. */
size_t patch_read_decode(const char *text, uint8_t *to, size_t room);

/* Whether the checksum at the end is right. Any error after this check was
 * written on purpose. */
bool patch_read_is_whole(const uint8_t *bytes, size_t size);

/* Opens the plan without that check. False: another version. */
bool patch_read_open(struct patch_read *plan, const uint8_t *bytes,
		     size_t size);

/* Whether all fields keep to the limits. */
bool patch_function_is_valid(const struct patch_function *function);

/* The next image, then each of its functions. False: no more, or the plan is
 * damaged (`bad`). */
bool patch_read_image(struct patch_read *plan, struct patch_image *image);
bool patch_read_function(struct patch_read *plan,
			 struct patch_function *function);

#endif
