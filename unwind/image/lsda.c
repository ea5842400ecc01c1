/*
 * lsda.c: reads call-site tables of LSDAs.
 *
 *	FDE (cfi.h) --augmentation data--> LSDA
 *
 *	+-----------------+-----------------+-------------------+
 *	| encoding,       | encoding,       | encoding, size of |
 *	| landing pads'   | distance to the | the call sites    |
 *	| base, or 0xff   | types, or 0xff  |                   |
 *	+-----------------+-----------------+-------------------+
 *	| start, length, landing pad, action | ... by start     |
 *	+------------------------------------+------------------+
 *	| actions: (filter, next) ... | types                   |
 *	+-----------------------------+-------------------------+
 *
 * A call that cannot throw has no entry: an exception there ends the program,
 * so phase 1 stops. Phase 1 passes a call without a landing pad; also one with
 * the action 0, which is a cleanup.
 *
 * The actions are not read. A chain of cleanups alone would not stop phase 1
 * either, but compilers shorten it to 0, and older personality routines of Rust
 * take any other number for a catch.
 *
 * The personality routine defines a table's meaning. Those of compilers read
 * this format, and do not stop if the FDE has no table. An FDE whose CIE has a
 * personality but no LSDA encoding has another format.
 *
 * I1  Every byte is read through a cursor that ends with the segment in which
 *     it began, and the segment is readable.
 * I2  If a table cannot be read or is malformed, the result is true.
 */
#include <elf.h>

#include "unwind/base/assertion.h"
#include "unwind/image/lsda.h"
#include "unwind/rules/rules_exidx.h"

/* Limit for malformed tables. Reading so many takes some 40 us. */
#define CALL_SITES_MAX 8192u

/* Offsets are relative to the function; c is bounded to the entries. */
static bool site_may_catch(struct cfi_cursor *c, uint8_t encoding,
			   uintptr_t offset)
{
	const struct cfi_bases none = { 0 };
	unsigned int n;

	for (n = 0; n < CALL_SITES_MAX && cfi_left(c); n++) {
		uintptr_t start = cfi_pointer(c, encoding, &none);
		uintptr_t length = cfi_pointer(c, encoding, &none);
		uintptr_t pad = cfi_pointer(c, encoding, &none);
		uint64_t action = cfi_uleb(c);

		if (c->failed || offset < start)
			return true;
		DEBUG_ASSERT(c->at <= c->end);	/* I1 */
		if (offset - start < length)
			return pad != 0 && action != 0;
	}
	return true;
}

bool lsda_table_may_catch(uintptr_t lsda, uintptr_t end, uintptr_t function,
			  uintptr_t pc)
{
	const struct cfi_bases bases = { .function = function };
	struct cfi_cursor c = cfi_cursor_make(lsda, end);
	uint8_t encoding = cfi_u8(&c);
	uint64_t size;

	if (encoding != CFI_PE_OMIT)
		cfi_pointer(&c, encoding, &bases);
	if (cfi_u8(&c) != CFI_PE_OMIT)
		cfi_uleb(&c);
	encoding = cfi_u8(&c);
	size = cfi_uleb(&c);
	/* Offsets can be relative only to the function. */
	if (c.failed || encoding & ~CFI_PE_FORMAT || size > cfi_left(&c))
		return true;
	c.end = c.at + size;
	DEBUG_ASSERT((uintptr_t)c.end <= end);	/* I1 */
	return site_may_catch(&c, encoding, pc - function);
}

/* The end of the readable segment that holds the address; 0: none does. */
static uintptr_t segment_end(const struct image *image, uintptr_t address)
{
	const struct gl_image *g = image->public;
	uint32_t i;

	for (i = 0; i < g->segments && i < GL_SEGMENTS_MAX; i++) {
		const struct gl_segment *s = &g->segment[i];

		if (s->flags & PF_R && address >= s->start &&
		    address - s->start < s->size)
			return s->start + s->size;
	}
	return 0;
}

/* The address of the FDE's table; 0 if it has none. False: it cannot be read,
 * or the FDE has no field for it (CFI_PE_OMIT, an encoding without a
 * format). */
static bool find_table(const struct cfi_fde *fde, uintptr_t *lsda)
{
	const struct cfi_bases bases = { .function = fde->start };
	uint8_t encoding = fde->cie.lsda_encoding;
	struct cfi_cursor c = cfi_cursor_make(fde->data, fde->data_end), raw;

	if ((encoding & CFI_PE_BASE) == CFI_PE_ALIGNED)
		return false;
	/* "No table" is encoded as 0, whatever the base is. */
	raw = c;
	*lsda = cfi_pointer(&raw, encoding & CFI_PE_FORMAT, &bases);
	if (*lsda)
		*lsda = cfi_pointer(&c, encoding, &bases);
	return !raw.failed && !c.failed;
}

bool lsda_may_catch(const struct image *image, uintptr_t ra)
{
	const struct rules_image *rules = image_rules(image);
	struct cfi_fde fde;
	uintptr_t lsda, end;

	/* Personality routines of that ABI identify the handler's frame by
	 * their own stack pointer, and the stub's routine is not among them. */
	if (rules && rules_exidx_is_there(rules))
		return false;
	if (!rules || cfi_find(&rules->tables, ra - 1, &fde) ||
	    fde.cie.unknown_augmentation)
		return true;
	if (!fde.cie.has_personality)
		return false;
	if (!find_table(&fde, &lsda))
		return true;
	if (!lsda)
		return false;
	end = segment_end(image, lsda);
	return !end || lsda_table_may_catch(lsda, end, fde.start, ra - 1);
}
