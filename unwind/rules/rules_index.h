/*
 * rules_index.h: rules of images with the unwind tables of 32-bit ARM
 * (exidx.h). On other architectures nothing here is called.
 *
 * Any thread, also signal handlers.
 */
#ifndef GNOMON_UNWIND_RULES_INDEX_H
#define GNOMON_UNWIND_RULES_INDEX_H

#include "unwind/rules/rules_image.h"

static inline bool rules_index_is_there(const struct rules_image *image)
{
	return ARCH_ELF_EXIDX && image->index.index_end;
}

/* Sets the index up from the image's segments. */
void rules_index_init(struct rules_image *image,
		      const struct rules_sections *sections);

/* Cuts *start and *end down to the code of the entry for pc; without an entry
 * they are unchanged. */
void rules_index_code(const struct rules_image *image, uintptr_t pc,
		      uintptr_t *start, uintptr_t *end);

/* Whether a thread's first function returns to ra: its caller is gone, and the
 * code there leads nowhere. */
bool rules_index_ends_thread(const struct rules_image *image, uintptr_t ra);

/*
 * Whether a return address without an index entry or analysable code is the
 * outermost frame's. It is if a thread ends there, if an entry that cannot be
 * unwound begins shortly before it, or if no call put it there.
 */
bool rules_index_is_outermost(const struct rules_image *image, uintptr_t ra);

/* Like rules_find, for a pc in the image's code without a stored rule. Code
 * that cannot be unwound has no rule. */
uint16_t rules_index_find(struct rules_image *image, uintptr_t pc);

/* Like rules_step_full, for such a pc. */
int rules_index_step(struct rules_image *image, struct arch_regs *regs,
		     bool pc_exact, bool *is_signal,
		     bool (*read)(void *ctx, uintptr_t address,
				  uint64_t *value),
		     void *ctx);

#endif
