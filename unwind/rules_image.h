/*
 * rules_image.h: what rules*.c, image_record.c and lsda.c share: the inside of
 * an image.
 */
#ifndef GNOMON_UNWIND_RULES_IMAGE_H
#define GNOMON_UNWIND_RULES_IMAGE_H

#include "unwind/cfi.h"
#include "unwind/exidx.h"
#include "unwind/granule.h"

struct rules_image {
	uintptr_t text_start, text_end;
	struct cfi_tables tables;
	struct cfi_tables prepared;	/* rule_files.h; no table: none */
	struct granule_table granules;
	struct exidx_image index;	/* index_end 0: there is none */
	struct rules_range code;	/* as of rules_sections */
	struct granule_table told;	/* what code told: prologue.h */
};

/* Whether n bytes of code are there to be read: between segments may be nothing. */
static inline bool rules_image_reads(const struct rules_image *image,
				     uintptr_t at, size_t n)
{
	return at >= image->code.start && at < image->code.end &&
	       n <= image->code.end - at;
}

/* The entry that covers pc: of the image's own tables, or where they have none,
 * of prepared ones. As cfi_find. */
int rules_entry(const struct rules_image *image, uintptr_t pc,
		struct cfi_fde *fde);

#endif
