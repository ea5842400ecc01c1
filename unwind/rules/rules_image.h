/*
 * rules_image.h: the internals of struct rules_image, for rules*.c,
 * image_record.c and lsda.c.
 */
#ifndef GNOMON_UNWIND_RULES_IMAGE_H
#define GNOMON_UNWIND_RULES_IMAGE_H

#include "unwind/rules/cfi.h"
#include "unwind/rules/exidx.h"
#include "unwind/rules/granule.h"

struct rules_image {
	uintptr_t text_start, text_end;
	struct cfi_tables tables;
	struct cfi_tables prepared;	/* from rule_files.h; no table: none */
	struct granule_table granules;
	struct exidx_image exidx;	/* index_end 0: there is none */
	struct rules_range code;	/* as in rules_sections */
	struct granule_table from_code;	/* rules found by prologue.h */
};

/* Whether n bytes of code at `at` are readable: there may be gaps between
 * segments. */
static inline bool rules_image_reads(const struct rules_image *image,
				     uintptr_t at, size_t n)
{
	return at >= image->code.start && at < image->code.end &&
	       n <= image->code.end - at;
}

/* The FDE that covers pc: from the image's own tables or, if those have none,
 * from prepared ones. Like cfi_find. */
int rules_entry(const struct rules_image *image, uintptr_t pc,
		struct cfi_fde *fde);

#endif
