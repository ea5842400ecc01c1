/*
 * rules_index.h: rules of images whose unwind tables are those of 32-bit ARM
 * (exidx.h). Where an architecture has none, nothing of it is called.
 *
 * Any thread, also signal handlers.
 */
#ifndef GNOMON_UNWIND_RULES_INDEX_H
#define GNOMON_UNWIND_RULES_INDEX_H

#include "unwind/rules_image.h"

static inline bool rules_index_is_there(const struct rules_image *image)
{
	return ARCH_ELF_EXIDX && image->index.index_end;
}

/* Takes what the image's segments say. */
void rules_index_init(struct rules_image *image,
		      const struct rules_sections *sections);

/* The code that the entry for pc speaks of, cut down to what *start and *end
 * are; without one these stay. */
void rules_index_code(const struct rules_image *image, uintptr_t pc,
		      uintptr_t *start, uintptr_t *end);

/* Whether a thread's first function returns there: whoever called it is gone,
 * and the code behind leads nowhere. */
bool rules_index_ends_thread(const struct rules_image *image, uintptr_t ra);

/*
 * Whether a return address of which neither the index nor the code says
 * anything is of the outermost frame: a thread ends there, an entry that cannot
 * be unwound begins shortly before it, or it was put there by something else
 * than a call.
 */
bool rules_index_is_outermost(const struct rules_image *image, uintptr_t ra);

/* As rules_find, of a pc in the image's code whose rule is not stored. What
 * cannot be unwound has none. */
uint16_t rules_index_find(struct rules_image *image, uintptr_t pc);

/* As rules_step_full, of the same. */
int rules_index_step(struct rules_image *image, struct arch_regs *regs,
		     bool pc_exact, bool *is_signal,
		     bool (*read)(void *ctx, uintptr_t address,
				  uint64_t *value),
		     void *ctx);

#endif
