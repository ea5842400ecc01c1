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
	bool text_whole;		/* as of rules_sections */
	struct granule_table told;	/* what code told: prologue.h */
};

/* The entry that covers pc: of the image's own tables, or where they have none,
 * of prepared ones. As cfi_find. */
int rules_entry(const struct rules_image *image, uintptr_t pc,
		struct cfi_fde *fde);

#endif
