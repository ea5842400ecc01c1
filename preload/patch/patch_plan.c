/*
 * patch_plan.c: see patch_plan.h.
 *
 * I1: nothing is read outside [next, end); what is missing reads as 0 and
 *     makes the plan bad.
 */
#include "preload/patch/patch_plan.h"

#include <string.h>

#include "unwind/claim.h"

static unsigned patch_plan_digit(char c)
{
	const char *digits = PATCH_DIGITS;
	unsigned value;

	for (value = 0; value < 64; value++)
		if (digits[value] == c)
			return value;
	return 64;
}

size_t patch_plan_decode(const char *text, uint8_t *to, size_t room)
{
	uint32_t bits = 0;
	unsigned count = 0;
	size_t size = 0;

	for (; *text; text++) {
		unsigned digit = patch_plan_digit(*text);

		if (digit == 64)
			return 0;
		bits = bits << 6 | digit;
		count += 6;
		if (count < 8)
			continue;
		if (size == room)
			return 0;
		count -= 8;
		to[size++] = bits >> count;
	}
	return size;
}

static uint8_t patch_plan_byte(struct patch_plan *plan)
{
	CLAIM_FULL(plan->next <= plan->end);
	if (plan->next == plan->end) {
		plan->bad = true;
		return 0;
	}
	return *plan->next++;
}

static uint64_t patch_plan_number(struct patch_plan *plan)
{
	uint64_t value = 0;
	unsigned shift;

	for (shift = 0; shift < 64; shift += 7) {
		uint8_t byte = patch_plan_byte(plan);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	plan->bad = true;
	return 0;
}

/* So many bytes; NULL: there are not. */
static const uint8_t *patch_plan_bytes(struct patch_plan *plan, uint64_t size)
{
	const uint8_t *bytes = plan->next;

	if (size > (uint64_t)(plan->end - plan->next)) {
		plan->bad = true;
		return NULL;
	}
	plan->next += size;
	return bytes;
}

static void patch_plan_text(struct patch_plan *plan,
			    char text[PATCH_NAME_MAX + 1])
{
	uint64_t size = patch_plan_number(plan);
	const uint8_t *bytes = NULL;

	if (size <= PATCH_NAME_MAX)
		bytes = patch_plan_bytes(plan, size);
	if (!bytes) {
		plan->bad = true;
		size = 0;
	}
	if (size)
		memcpy(text, bytes, size);
	text[size] = '\0';
}

bool patch_plan_is_whole(const uint8_t *bytes, size_t size)
{
	uint64_t check;

	if (size < PATCH_CHECK)
		return false;
	size -= PATCH_CHECK;
	check = patch_hash(bytes, size);
	return memcmp(bytes + size, &check, PATCH_CHECK) == 0;
}

bool patch_plan_open(struct patch_plan *plan, const uint8_t *bytes,
		     size_t size)
{
	plan->next = bytes;
	plan->end = bytes + size;
	plan->bad = false;
	if (patch_plan_byte(plan) != PATCH_VERSION)
		plan->bad = true;
	return !plan->bad;
}

bool patch_plan_image(struct patch_plan *plan, struct patch_image *image)
{
	uint64_t functions;

	image->kind = patch_plan_byte(plan);
	if (plan->bad || image->kind == PATCH_END)
		return false;
	patch_plan_text(plan, image->name);
	patch_plan_text(plan, image->allocator);
	image->told = patch_plan_byte(plan) == 1;
	functions = patch_plan_number(plan);
	if (image->kind > PATCH_LIBRARY || functions > PATCH_FUNCTIONS_MAX)
		plan->bad = true;
	image->functions = functions;
	return !plan->bad;
}

static uint64_t patch_plan_check(struct patch_plan *plan)
{
	uint64_t value = 0;
	unsigned i;

	for (i = 0; i < 8; i++)
		value |= (uint64_t)patch_plan_byte(plan) << 8 * i;
	return value;
}

bool patch_function_is_valid(const struct patch_function *f)
{
	const struct patch_shape *shape = &f->shape;
	unsigned i;

	for (i = 0; i < f->fix_count; i++)
		if (f->fixes[i].kind >= PATCH_FIX_KINDS ||
		    f->fixes[i].at + 4u + f->fixes[i].tail > f->code_size)
			return false;
	return f->size && f->size <= PATCH_SIZE_MAX &&
	       f->address + f->size > f->address &&
	       f->displaced >= PATCH_JUMP &&
	       f->displaced <= PATCH_DISPLACED_MAX &&
	       shape->op < PATCH_OPS && shape->block <= PATCH_NONE &&
	       shape->size <= PATCH_NONE && shape->count <= PATCH_NONE &&
	       (shape->op != PATCH_POINTER || shape->block < PATCH_NONE);
}

bool patch_plan_function(struct patch_plan *plan, struct patch_function *f)
{
	uint64_t size;
	unsigned i;

	f->address = patch_plan_number(plan);
	f->size = patch_plan_number(plan);
	f->check = patch_plan_check(plan);
	f->flags = patch_plan_byte(plan);
	f->shape.op = patch_plan_byte(plan);
	f->shape.block = patch_plan_byte(plan);
	f->shape.size = patch_plan_byte(plan);
	f->shape.count = patch_plan_byte(plan);
	f->displaced = patch_plan_byte(plan);
	size = patch_plan_number(plan);
	if (!size || size > PATCH_CODE_MAX)
		plan->bad = true;
	f->code_size = size;
	f->code = patch_plan_bytes(plan, f->code_size);
	size = patch_plan_number(plan);
	if (size > PATCH_FIXES_MAX)
		plan->bad = true;
	if (plan->bad)
		return false;
	f->fix_count = size;
	for (i = 0; i < f->fix_count; i++) {
		f->fixes[i].at = patch_plan_byte(plan);
		f->fixes[i].tail = patch_plan_byte(plan);
		f->fixes[i].kind = patch_plan_byte(plan);
		f->fixes[i].target = patch_plan_number(plan);
	}
	if (!patch_function_is_valid(f))
		plan->bad = true;
	return !plan->bad;
}
