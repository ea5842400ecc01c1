/*
 * patch_read.c: see patch_read.h.
 *
 * I1: nothing is read outside [next, end); if data is missing the plan is bad,
 * and no more of it is read.
 */
#include "preload/patch/patch_read.h"

#include <string.h>

#include "unwind/base/assertion.h"

static unsigned patch_read_digit(char c)
{
	const char *digits = PATCH_DIGITS;
	unsigned value;

	for (value = 0; value < 64; value++)
		if (digits[value] == c)
			return value;
	return 64;
}

size_t patch_read_decode(const char *text, uint8_t *to, size_t room)
{
	uint32_t bits = 0;
	unsigned count = 0;
	size_t size = 0;

	for (; *text; text++) {
		unsigned digit = patch_read_digit(*text);

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

/* Reads the next bytes. False: there are not enough (I1). */
static bool patch_read_take(struct patch_read *plan, void *to, size_t size)
{
	DEBUG_ASSERT(plan->next <= plan->end);
	if (size > (size_t)(plan->end - plan->next))
		plan->bad = true;
	if (plan->bad)
		return false;
	memcpy(to, plan->next, size);
	plan->next += size;
	return true;
}

bool patch_read_is_whole(const uint8_t *bytes, size_t size)
{
	uint64_t check;

	if (size < PATCH_CHECK)
		return false;
	size -= PATCH_CHECK;
	check = patch_hash(bytes, size);
	return memcmp(bytes + size, &check, PATCH_CHECK) == 0;
}

bool patch_read_open(struct patch_read *plan, const uint8_t *bytes,
		     size_t size)
{
	uint8_t version;

	*plan = (struct patch_read){ bytes, bytes + size, false };
	if (patch_read_take(plan, &version, sizeof(version)) &&
	    version != PATCH_VERSION)
		plan->bad = true;
	return !plan->bad;
}

bool patch_read_image(struct patch_read *plan, struct patch_image *image)
{
	if (plan->next == plan->end ||
	    !patch_read_take(plan, image, sizeof(*image)))
		return false;
	if ((image->kind != PATCH_PROGRAM && image->kind != PATCH_LIBRARY) ||
	    image->functions > PATCH_FUNCTIONS_MAX ||
	    image->name[PATCH_NAME_MAX])
		plan->bad = true;
	return !plan->bad;
}

bool patch_function_is_valid(const struct patch_function *f)
{
	const struct patch_entry *entry = &f->entry;
	const struct patch_shape *shape = &entry->shape;
	unsigned i;

	for (i = 0; i < entry->fix_count; i++)
		if (f->fixes[i].kind >= PATCH_FIX_KINDS ||
		    f->fixes[i].at + 4u + f->fixes[i].tail > entry->code_size)
			return false;
	return entry->size && entry->size <= PATCH_SIZE_MAX &&
	       entry->address + entry->size > entry->address &&
	       entry->displaced >= PATCH_JUMP &&
	       entry->displaced <= PATCH_DISPLACED_MAX &&
	       shape->op < PATCH_OPS && shape->block <= PATCH_NONE &&
	       shape->size <= PATCH_NONE && shape->count <= PATCH_NONE &&
	       (shape->op != PATCH_POINTER || shape->block < PATCH_NONE);
}

bool patch_read_function(struct patch_read *plan, struct patch_function *f)
{
	struct patch_entry *entry = &f->entry;

	if (!patch_read_take(plan, entry, sizeof(*entry)))
		return false;
	if (!entry->code_size || entry->code_size > PATCH_CODE_MAX ||
	    entry->fix_count > PATCH_FIXES_MAX ||
	    !patch_read_take(plan, f->code, entry->code_size) ||
	    !patch_read_take(plan, f->fixes,
			     entry->fix_count * sizeof(f->fixes[0])) ||
	    !patch_function_is_valid(f))
		plan->bad = true;
	return !plan->bad;
}
