/*
 * patch_plan.h: parses a patch plan (patch_format.h), which is untrusted input.
 * All results keep to the limits of that file; patch.c checks whether they
 * match the code in memory. No state.
 */
#ifndef GNOMON_PATCH_PLAN_H
#define GNOMON_PATCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/patch_format.h"

struct patch_plan {
	const uint8_t *next, *end;
	bool bad;
};

struct patch_function {
	struct patch_entry entry;
	uint8_t code[PATCH_CODE_MAX];
	struct patch_fix fixes[PATCH_FIXES_MAX];
};

/* Decodes the text into at most `room` bytes; 0: it is not a valid text. */
size_t patch_plan_decode(const char *text, uint8_t *to, size_t room);

/* Whether the checksum at the end is right. Any error after this check was
 * written on purpose. */
bool patch_plan_is_whole(const uint8_t *bytes, size_t size);

/* Opens the plan without that check. False: another version. */
bool patch_plan_open(struct patch_plan *plan, const uint8_t *bytes,
		     size_t size);

/* Whether all fields keep to the limits. */
bool patch_function_is_valid(const struct patch_function *function);

/* The next image, then each of its functions. False: no more, or the plan is
 * damaged (`bad`). */
bool patch_plan_image(struct patch_plan *plan, struct patch_image *image);
bool patch_plan_function(struct patch_plan *plan,
			 struct patch_function *function);

#endif
