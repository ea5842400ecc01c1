/*
 * patch_plan.h: reading a plan (patch_format.h) that anybody may have written.
 * Everything it yields lies inside the limits named there; whether it is true
 * of what is in memory is patch.c's to find out. No state.
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

/* The bytes that this text stands for, at most `room` of them; 0: it is no
 * such text. */
size_t patch_plan_decode(const char *text, uint8_t *to, size_t room);

/* Whether the check sum at their end is right: what could be wrong from here
 * on somebody has written on purpose. */
bool patch_plan_is_whole(const uint8_t *bytes, size_t size);

/* Without that. False: another version. */
bool patch_plan_open(struct patch_plan *plan, const uint8_t *bytes,
		     size_t size);

/* Whether all that is in it keeps to the limits. */
bool patch_function_is_valid(const struct patch_function *function);

/* The next image, then each of its functions. False: there is none, or the
 * plan is damaged (`bad`). */
bool patch_plan_image(struct patch_plan *plan, struct patch_image *image);
bool patch_plan_function(struct patch_plan *plan,
			 struct patch_function *function);

#endif
